/* fuzz_elias.c -- fuzzes the decoders of Elias codes and of quantisation levels. They must refuse the bytes, or
 * decode numbers that the encoder turns into the same bytes again. The format is unique: different bytes never
 * encode the same numbers. */
#include "rig/coder_rig.h"
#include "coder/levels.h"
#include "coder/planes.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void need(bool condition)
{
    if (!condition)
        abort();
}

static void read_numbers(Bytes in, uint64_t (*get)(BitReader *), void (*put)(BitWriter *, uint64_t),
                         unsigned (*bits)(uint64_t))
{
    uint8_t *out = malloc(in.size + 1);
    BitReader r = bits_reader(in);
    BitWriter w = bits_writer(out, in.size);
    uint64_t total = 0;
    for (uint64_t v; (v = get(&r)) != 0;) {
        need(r.at - total == bits(v));
        total = r.at;
        put(&w, v);
    }
    need(r.bad && total <= 8 * in.size);
    bits_close(&w);
    need(!w.full && !memcmp(out, in.data, total / 8));
    free(out);
}

static void read_levels(Bytes in, size_t n, size_t run, uint32_t s, LevelsForm form)
{
    const int bits = level_bits(s);
    Arena *a = arena_open(0);
    const Levels l = {.n = n, .run = run, .s = s, .bits = bits, .code = malloc(bits > CODE_BYTE_BITS ? 4 * n : n)};
    Reader r = reader_open(in);
    Error err;
    const char *why;
    if (levels_get(&l, form, 1, &r, a, &err, &why) == OK) {
        const size_t most = levels_most(n, run, s, form);
        uint8_t *room = malloc(most);
        Buf out = {.data = room, .cap = most};
        need(levels_put(&l, form, 1, a, &err, &out) == OK);
        need(out.size == in.size && !memcmp(room, in.data, in.size));
        free(room);
    }
    free(l.code);
    arena_close(a);
}

static void read_trits(Bytes in, size_t n)
{
    uint8_t *code = malloc(n + 1), *out = malloc(in.size + 1);
    if (in.size == trits_size(n) && trits_get(in.data, n, code)) {
        trits_put(code, n, out);
        need(!memcmp(out, in.data, in.size));
    }
    free(code);
    free(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const size_t ns[] = {1, 3, 64, 100, 1000, 5000, BLOCK + 1, 5 * BLOCK + 7};
    static const size_t runs[] = {1, 7, 64, 512, 1 << 20};
    static const uint32_t levels[] = {1, 2, 3, 15, 100, 127, 128, 1023, 65535};
    if (size < 4)
        return 0;
    const size_t n = ns[data[0] % countof(ns)];
    const Bytes in = {data + 4, size - 4};
    read_numbers(in, gamma_get, gamma_put, gamma_bits);
    read_numbers(in, omega_get, omega_put, omega_bits);
    read_levels(in, n, runs[data[1] % countof(runs)], levels[data[2] % countof(levels)],
                data[3] & 1 ? LEVELS_DENSE : LEVELS_SPARSE);
    read_trits(in, 5 * in.size - (in.size ? (size_t)(data[3] >> 1) % 5 : 0));
    return 0;
}
