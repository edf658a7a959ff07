/* fuzz_decode.c -- every codec's decoder, on raw bytes and on valid payloads that were tampered with.
 *
 * Input: codec, shape, mode; mode even: the rest is the payload; odd: a vector is encoded and the rest are edits
 * (position, value) and a cut. Whatever comes in, decode refuses or gives finite numbers. */
#include "num/finite.h"
#include "compress/spec.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const specs[] = {
    "none",
    "fp16",
    "bf16",
    "qsgd",
    "qsgd:levels=1,bucket=0",
    "qsgd:code=elias-sparse,bucket=64",
    "qsgd:code=elias-dense,bits=3",
    "qsgd:code=fixed",
    "qsgd:bits=12,code=fixed",
    "qsgd:bits=16",
    "terngrad",
    "intsgd:bits=4,share=off",
    "terngrad:code=2bit",
    "terngrad:code=elias",
    "entry:ratio=0.1",
    "entry:ratio=0.6",
    "entry:budget=3",
    "lq",
    "lq:q=1",
    "svd",
    "svd:rank=1,method=gesdd",
    "ef+entry:ratio=0.2",
    "gspar:eps=1",
    "randk:ratio=0.1",
    "randk:ratio=0.6,shared=off",
    "randk:ratio=1",
    "topk:ratio=0.3",
    "threshold:rel=0.4",
    "threshold:tau=1",
    "gaussiank:ratio=0.2",
    "dgc:ratio=0.1",
    "svd:rank=2,vectors=bf16",
    "svd:rank=4,vectors=qsgd,vbits=3",
    "wavelet:ratio=0.2,family=db4",
    "hadamard:ratio=0.2",
    "rotated:bits=3",
    "thc:bits=3,share=off",
    "drive",
    "eden:bits=2.4",
    "eden:bits=0.2",
    "joint:bits=3",
    "joint:bits=2+entry",
    "sign",
    "scaledsign",
    "scaledsign:scale=bucket",
    "onebit",
    "onebit:scope=tensor",
    "stc:ratio=0.2",
    "adaq:ratio=0.2",
    "natural",
    "nuqsgd:bucket=64",
    "minmax",
    "minmax:bits=9,bucket=7",
    "zipml:levels=3,bucket=30",
    "strom",
    "strom:tau=1",
    "powersgd",
    "powersgd:rank=1,iters=2",
    "lowrank:rank=5",
    "ef21:alpha=0.5+none",
    "diana+randk:ratio=0.4",
    "induced:with=natural+topk:ratio=0.2",
    "countsketch:rows=3,cols=5,topk=4",
    "countmin:cols=2",
    "sketchml:quantiles=9,groups=3",
    "sketchml:quantiles=9,groups=3,keys=delta-adaptive",
    "zstd+none",
    "zstd+ef+qsgd:bits=2",
    "blosc+none",
    "blosc:shuffle=bit+sign",
    "fourier:ratio=0.2",
    "dct:ratio=0.2,dims=2",
    "sidco:ratio=0.3",
    "cas:min=20,clusters=3",
    "cas:min=0,clusters=1,buckets=9,index=bitmap",
};

static const size_t shapes[][2] = {{1, 1},   {3, 1},   {8, 8},   {1, 100},  {65, 3},
                                   {30, 20}, {513, 1}, {16, 90}, {66000, 1}};

static void encode_and_edit(Call *c, Buf *payload, Message *m, const uint8_t *edit, size_t edits)
{
    const size_t n = c->shape->n;
    float *x = NEW(c->scratch, float, n);
    for (size_t i = 0; i < n; i++)
        x[i] = (float)rng_normal(&c->rng, USE_TEST, i);
    if (codec_send(c, x, payload, m) != OK)
        abort();
    for (; edits >= 3; edit += 3, edits -= 3)
        if (payload->size)
            payload->data[(size_t)(edit[0] << 8 | edit[1]) % payload->size] ^= edit[2];
    if (edits && payload->size)
        payload->size -= edit[0] % (payload->size + 1);
}

/* Deals the bytes out to the rounds: as many as each had, the rest to the last. */
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
    if (size < 3)
        return 0;
    Arena *a = arena_open(0);
    Error err;
    const Codec *codec;
    const size_t *dim = shapes[data[1] % countof(shapes)];
    Shape shape;
    if (codec_open(&codec, specs[data[0] % countof(specs)], a, &err) != OK || !shape_make(&shape, 2, dim))
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
        encode_and_edit(&c, &payload, &m, data + 3, size - 3);
    else
        payload = (Buf){(uint8_t *)(uintptr_t)(data + 3), size - 3, size - 3};
    for (int i = 0; i < m.rounds && !(data[2] & 1); i++)
        m.round[i].size = payload.size / (size_t)m.rounds;
    uint8_t *exact = malloc(payload.size + 1); /* its own block: a read past the end is seen */
    memcpy(exact, payload.data, payload.size);
    divide(&m, exact, payload.size);
    float *x = NEW(a, float, shape.n);
    const Status status = codec_receive(&c, &m, x);
    if (status != OK && status != ERR_CORRUPT)
        abort();
    if (status == OK && first_nonfinite(x, shape.n, NULL) != shape.n)
        abort();
    free(exact);
    arena_close(a);
    return 0;
}
