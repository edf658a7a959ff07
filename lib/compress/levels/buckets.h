/* buckets.h -- quantisers that cut the flattened tensor into buckets, which are consecutive runs (the last one may be
 * shorter). A bucket has a head (its norm, its range) and a level for each element:
 *
 *     kind:8  { head } x buckets  codes            (codes.h)
 *
 * The tensor is sent raw if the longest payload that spec and shape allow is no shorter; random draws do not matter. A
 * quantiser defines its heads and how it rounds to levels. Buckets, threads, raw floats and the
 * refusal of bad payloads are here. Its Compressor has `.family = &law, BUCKET_HOOKS`. */
#ifndef ATOMO_BUCKETS_H
#define ATOMO_BUCKETS_H

#include "compress/levels/codes.h"

enum { BUCKET_HEAD_MOST = 1024 }; /* bytes */

struct Buckets;

/* A quantiser. `find`, `find_all` and `scale` may be NULL (one of `find` and `find_all` must not be); `size` may be 0 if `open` sets
 * head_size. */
typedef struct BucketLaw {
    void (*open)(struct Buckets *b, const Call *c); /* calls buckets_open with values from the parameters */
    size_t size;                                    /* bytes of a head */
    const char *name;                               /* of a head, for messages: "norm" */

    /* The head of one bucket of n elements; or the heads of all buckets, if that needs memory or can fail. */
    void (*find)(const struct Buckets *b, const float *x, size_t n, uint8_t *head);
    Status (*find_all)(const struct Buckets *b, uint8_t *head);

    /* False for a head that no encoder sends: encode fails with ERR_NUMERIC, decode with `refuse`'s ERR_CORRUPT. */
    bool (*good)(const struct Buckets *b, const uint8_t *head);
    Status (*refuse)(const struct Buckets *b, size_t bucket, const uint8_t *head);

    /* The factor of all levels: where it is 0, all codes must be 0, and `quantise` is not called. */
    float (*scale)(const uint8_t *head);

    /* x (n), a part of one bucket -> code (n), bytes or 32-bit words (Buckets.wide). Draws the words first, first + 1, ... of the key. */
    void (*quantise)(const struct Buckets *b, const uint8_t *head, const float *x, size_t n,
                     const RngKey *key, uint32_t first, void *code);

    /* Back to x, under a good head. NULL, or why an encoder cannot have written these codes. */
    const char *(*dequantise)(const struct Buckets *b, const uint8_t *head, const void *code, size_t n,
                              float *x);

    /* E |decoded - x|^2 of a whole bucket; NaN: no closed form. */
    double (*variance)(const struct Buckets *b, const uint8_t *head, const float *x, size_t n);
} BucketLaw;

typedef struct Buckets {
    const Call *c;
    const BucketLaw *law;
    size_t n, bucket, buckets; /* elements, elements of a bucket, buckets */
    size_t head_size;          /* bytes */
    uint32_t s;                /* the highest level */
    bool wide;                 /* codes are 32-bit words */
    const float *x;
    float *decoded;
    uint8_t *head;       /* encode: (buckets x head_size) in the payload */
    const uint8_t *sent; /* decode: the same */
    bool known;          /* encode: all heads are in place before the first level is rounded */
    Codes codes;
} Buckets;

/* `bucket` elements each, 0: one bucket for all; levels 0 .. s, with signs or without. */
void buckets_open(Buckets *b, const Call *c, int64_t bucket, uint32_t s, CodeKind kind);
void buckets_open_unsigned(Buckets *b, const Call *c, int64_t bucket, uint32_t s, CodeKind kind);

size_t buckets_bound(const Call *c);
Status buckets_encode(const Call *c, const float *x, Buf *out);
Status buckets_decode(const Call *c, Bytes in, float *x);
double buckets_variance(const Call *c, const float *x);

#define BUCKET_HOOKS                                                                                         \
    .bound = buckets_bound, .encode = buckets_encode, .decode = buckets_decode, .variance = buckets_variance

/* The variance, in squared steps of top / s, of rounding 0 <= v <= top up or down to a multiple of that step without bias:
 * f (1 - f), f = frac(v s / top). */
double rounding_variance(double v, double top, uint32_t s);

#define BAD_LEVEL "a level above the highest, or a sign of level 0" /* a reason for `dequantise` */

/* Heads that are one float32 norm. */
float buckets_norm(const float *x, size_t n); /* the l2 norm */
float buckets_norm_scale(const uint8_t *head);
Status buckets_refuse_norm(const Buckets *b, size_t bucket, const uint8_t *head);

#endif
