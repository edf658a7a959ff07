/* buckets.h -- quantisers that cut the flattened tensor into buckets, consecutive runs, the last one shorter, each
 * with a head (its norm, its range) and a level for each element:
 *
 *     kind:8  { head } x buckets  codes            (codes.h)
 *
 * Raw floats travel instead where spec and shape allow a payload that is no smaller: the decision is made from the
 * worst case, before any draw. A quantiser says what a head is and how it rounds a run under one; cutting, threads,
 * what goes raw and what is refused are here. Its entry in the registry points to its law and has the hooks below. */
#ifndef ATOMO_BUCKETS_H
#define ATOMO_BUCKETS_H

#include "compress/levels/codes.h"

enum { BUCKET_HEAD_MOST = 1024 };

struct Buckets;
typedef struct BucketLaw {
    /* Calls buckets_open with what the parameters say. */
    void (*open)(struct Buckets *b, const Call *c);
    size_t size;      /* bytes of a head, or what `open` puts into head_size */
    const char *name; /* "norm" */
    void (*find)(const struct Buckets *b, const float *x, size_t n, uint8_t *head);
    /* In place of `find`, where that takes memory: the heads of all buckets. */
    Status (*find_all)(const struct Buckets *b, uint8_t *head);
    bool (*good)(const struct Buckets *b, const uint8_t *head);
    /* Says why a head is not good. */
    Status (*refuse)(const struct Buckets *b, size_t bucket, const uint8_t *head);
    /* Codes of n elements, part of one bucket; random words are those of elements first, first + 1, ... of the
     * block. The head may be one that is not good: whatever the codes are then, encoding fails. */
    void (*quantise)(const struct Buckets *b, const uint8_t *head, const float *x, size_t n,
                     const RngKey *key, uint32_t first, void *code);
    /* Back, under a good head; false: no encoder's codes. */
    bool (*dequantise)(const struct Buckets *b, const uint8_t *head, const void *code, size_t n, float *x);
    /* What a whole bucket adds to the variance, under the head that travels; NaN: no closed form. */
    double (*variance)(const struct Buckets *b, const uint8_t *head, const float *x, size_t n);
} BucketLaw;

typedef struct Buckets {
    const Call *c;
    const BucketLaw *law;
    size_t n, bucket, buckets, head_size;
    uint32_t s;
    bool wide; /* codes are 32-bit words */
    const float *x;
    float *decoded;
    uint8_t *head;       /* encode: where the payload's heads go */
    const uint8_t *sent; /* decode: where they stand */
    bool known;          /* heads are found beforehand: those of long buckets, and by find_all */
    Codes codes;
} Buckets;

/* `bucket` elements to one, 0: all. */
void buckets_open(Buckets *b, const Call *c, int64_t bucket, uint32_t s, CodeKind kind);
void buckets_open_unsigned(Buckets *b, const Call *c, int64_t bucket, uint32_t s, CodeKind kind);

/* The hooks. */
size_t buckets_bound(const Call *c);
Status buckets_encode(const Call *c, const float *x, Buf *out);
Status buckets_decode(const Call *c, Bytes in, float *x);
double buckets_variance(const Call *c, const float *x);

/* f (1 - f), f = frac(v s / top): the variance, in squared steps of top / s, of rounding 0 <= v <= top to a neighbouring step so that the
 * mean is kept. */
double rounding_variance(double v, double top, uint32_t s);

/* Refuses a head that is a norm. */
Status buckets_refuse_norm(const Buckets *b, size_t bucket, const uint8_t *head);

/* The l2 norm as the float32 that travels. */
float buckets_norm(const float *x, size_t n);

#endif
