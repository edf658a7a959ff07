/* fuzz_decode.c -- fuzzes every codec's decoder with random bytes and with valid payloads that are then
 * modified.
 *
 * Input: spec (two bytes, see spec_of), shape (one byte), mode (one byte), then further bytes. If the mode is even, the
 * further bytes are the payload. If the mode is odd, the payload is that of a vector of normal numbers. The
 * further bytes then are edits (position, value) and a length to which the payload is cut; bits 1 and 2 of the mode are
 * the most edits: 1, 2, 3, or all. The decoder must refuse the payload or return finite numbers.
 *
 * CODEC=name in the environment: only specs that name this codec or wrapper. */
#include "math/blockwise.h"
#include "compress/spec.h"
#include "rig/more_specs.h"
#include "rig/normal_table.h"

#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { SPECS_MOST = 1000 };
/* every codec with default parameters (wrappers wrap the codec `none`), and the specs in more_specs.h */
static const char *specs[SPECS_MOST];
static size_t spec_count;

/* Returns true if one of the spec's stages is of the codec or wrapper `name`. */
static bool names_codec(const char *spec, const char *name)
{
    const size_t length = strlen(name);
    for (const char *stage = spec;; stage++) {
        if (!strncmp(stage, name, length) && strchr(":+", stage[length]))
            return true;
        stage = strchr(stage, '+');
        if (!stage)
            return false;
    }
}

static void add_spec(const char *spec)
{
    const char *only = getenv("CODEC");
    if (!only || names_codec(spec, only))
        specs[spec_count++] = spec;
}

static void collect_specs(void)
{
    static char wrapped[SPECS_MOST][32];
    for (size_t i = 0; compressor_number(i); i++) {
        const bool wraps = compressor_number(i)->wraps && !compressor_number(i)->alone[0];
        snprintf(wrapped[i], sizeof wrapped[i], "%s%s", compressor_number(i)->name, wraps ? "+none" : "");
        add_spec(wrapped[i]);
    }
    for (size_t i = 0; i < countof(more_specs); i++)
        add_spec(more_specs[i].spec);
    if (spec_count == 0)
        abort(); /* CODEC names none */
}

/* Stored inputs name a spec by this number, so that they keep their meaning when specs are added. */
static unsigned code_of(const char *spec)
{
    return (unsigned)(rng_hash(spec) & 0x7fff) | 0x8000;
}

/* Returns the spec of this code, or else the one of this index. */
static const char *spec_of(unsigned code)
{
    for (size_t i = 0; code & 0x8000 && i < spec_count; i++)
        if (code_of(specs[i]) == code)
            return specs[i];
    return specs[code % spec_count];
}

static const size_t shapes[][2] = {{1, 1}, {3, 1}, {8, 8}, {1, 100}, {65, 3}, {30, 20}, {513, 1}, {16, 90}};
static const size_t two_blocks[] = {66000, 1}; /* a slow case: one input in 256 */

static void encode_and_edit(Call *c, Buf *payload, Message *m, uint8_t mode, const uint8_t *edit,
                            size_t edits)
{
    const size_t n = c->shape->n;
    float *x = NEW(c->scratch, float, n);
    normal_table_take(x, n, mode, 1);
    if (codec_send(c, x, payload, m) != OK)
        abort();
    const size_t most = 3 * (size_t)(mode >> 1 & 3);
    edits = most < 9 && edits > most + 3 ? most + 3 : edits;
    for (; edits >= 3; edit += 3, edits -= 3)
        if (payload->size)
            payload->data[(size_t)(edit[0] << 8 | edit[1]) % payload->size] ^= edit[2];
    if (edits && payload->size)
        payload->size -= edit[0] % (payload->size + 1);
}

/* Divides the bytes among the rounds of the message. Each round gets as many bytes as its `size`; the last
 * round gets all remaining bytes. */
static void divide(Message *m, const uint8_t *data, size_t size)
{
    for (int i = 0; i < m->rounds; i++) {
        const size_t had = m->round[i].size, some = i == m->rounds - 1 || had > size ? size : had;
        m->round[i] = (Bytes){data, some};
        data += some;
        size -= some;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 4)
        return 0;
    if (!spec_count)
        collect_specs();
    const char *spec = spec_of((unsigned)(data[0] << 8 | data[1]));
    data++, size--;
    static Arena *a;
    a = a ? a : arena_open(0);
    const ArenaMark mark = arena_mark(a);
    Error err;
    const Codec *codec;
    const size_t *dim = data[1] == 255 ? two_blocks : shapes[data[1] % countof(shapes)];
    Shape shape;
    if (codec_open(&codec, spec, a, &err) != OK || !shape_make(&shape, 2, dim))
        abort();
    Call c = {.self = codec,
              .shape = &shape,
              .rng = rng_open(1, data[2], 0, 0, 1),
              .workers = 1,
              .threads = 1,
              .scratch = a,
              .err = &err};
    c.rng_shared = c.rng;
    Message m = {.rounds = codec_rounds(codec)};
    Buf payload = {.cap = codec_message_bound(&c)};
    payload.data = NEW(a, uint8_t, payload.cap);
    if (data[2] & 1)
        encode_and_edit(&c, &payload, &m, data[2], data + 3, size - 3);
    else
        payload = (Buf){(uint8_t *)(uintptr_t)(data + 3), size - 3, size - 3};
    for (int i = 0; i < m.rounds && !(data[2] & 1); i++)
        m.round[i].size = payload.size / (size_t)m.rounds;
    /* The payload is copied to a block of exactly its size, so that ASan detects reads past its end. */
    uint8_t *exact = malloc(payload.size + 1);
    memcpy(exact, payload.data, payload.size);
    divide(&m, exact, payload.size);
    float *x = NEW(a, float, shape.n);
    const Status status = codec_receive(&c, &m, x);
    if (status != OK && status != ERR_CORRUPT)
        abort();
    if (status == OK && first_nonfinite(x, shape.n, NULL) != shape.n)
        abort();
    free(exact);
    arena_rewind(a, mark);
    return 0;
}
