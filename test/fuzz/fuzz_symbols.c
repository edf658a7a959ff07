/* fuzz_symbols.c -- fuzzes the decoders of Huffman and rANS tables and streams. They must refuse the bytes, or
 * decode symbols that the encoder, with the same table, turns into the same bytes again. The format is unique:
 * different bytes never encode the same symbols. */
#include "rig/coder_rig.h"
#include "coder/huffman.h"
#include "coder/symbols.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void need(bool condition)
{
    if (!condition)
        abort();
}

enum { N = 700, WORDS = BLOCK + 100 };

static void read_huffman(Bytes in, uint32_t alphabet, Arena *a)
{
    static uint8_t number[N];
    uint64_t count[HUFFMAN_ALPHABET];
    uint8_t *room = malloc(huffman_most(N, alphabet));
    Buf out = {.data = room, .cap = huffman_most(N, alphabet)};
    Reader r = reader_open(in);
    Error err;
    const char *why;
    if (huffman_get(&r, N, alphabet, 1, a, &err, number, &why) == OK) {
        need(huffman_put(number, N, alphabet, 1, a, &err, &out, count) == OK && out.size <= out.cap);
        for (uint32_t k = 0; k < N; k++)
            need(number[k] < alphabet);
    }
    free(room);
}

static void read_rans(Bytes in, uint32_t alphabet, unsigned lanes)
{
    static uint8_t byte[N], room[2 * N + 64];
    static RansReader reader;
    static RansWriter writer;
    Rans rans;
    BitReader r = bits_reader(in);
    if (!rans_table_get(&rans, alphabet, &r))
        return;
    need(rans_table_put(&rans, NULL) == r.at);
    const size_t at = (size_t)((r.at + 7) / 8);
    rans_reader(&reader, &rans);
    if (!rans_get(&reader, lanes, (Bytes){in.data + at, in.size - at}, N, byte))
        return;
    rans_writer(&writer, &rans);
    const size_t size = rans_put(&writer, lanes, byte, N, room + sizeof room);
    need(size == in.size - at && !memcmp(room + sizeof room - size, in.data + at, size));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint32_t alphabets[] = {1, 2, 7, 31, 256, 300, 65536};
    static const size_t ns[] = {1, 5, 64, 1000, WORDS};
    if (size < 4)
        return 0;
    Arena *a = arena_open(0);
    const Bytes in = {data + 4, size - 4};
    const uint32_t alphabet = alphabets[data[0] % countof(alphabets)];
    read_huffman(in, alphabet < 2 ? 2 : alphabet < HUFFMAN_ALPHABET ? alphabet : HUFFMAN_ALPHABET, a);
    read_rans(in, alphabet, 1u << 2 * (data[1] / 2 % 3));
    Symbols s = {.n = ns[data[2] / 2 % countof(ns)],
                 .width = 1 + data[3] % SYMBOLS_WIDTH,
                 .threads = 1};
    s.code = malloc((s.width > 8 ? 4 : 1) * s.n);
    Error err;
    const char *why;
    const Status status = symbols_get(&s, in, a, &err, &why);
    need(status == OK || status == ERR_CORRUPT);
    for (size_t i = 0; i < s.n && status == OK; i++)
        need((s.width > 8 ? ((uint32_t *)s.code)[i] : ((uint8_t *)s.code)[i]) >> s.width == 0);
    free(s.code);
    arena_close(a);
    return 0;
}
