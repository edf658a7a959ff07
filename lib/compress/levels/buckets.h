/* buckets.h -- quantisers that cut the flattened tensor into buckets of consecutive elements (the last bucket
 * may be shorter). A payload has a head for each bucket (such as its norm or its range), and a level for each
 * element:
 *
 *     kind:8  { head } x buckets  codes            (codes.h)
 *
 * If all workers share the heads, they are scales, sent in round 0 and merged by maximum, and round 1 has the codes only:
 *
 *     round 0   kind:8=1 { scale:f32 } x scales          merged: kind:8=2 workers:varint { scale:f32 } x scales
 *     round 1   kind:8=1 codes
 *
 * Round 0 is empty for tensors that are sent as raw floats.
 *
 * A tensor is sent as raw floats if its longest possible payload is not shorter, which depends on spec and
 * shape alone.
 *
 * A quantiser (BucketLaw) defines its heads and how it rounds to levels. buckets.c handles buckets, threads,
 * raw floats and bad payloads. A quantiser's Compressor has `.family = &law, BUCKET_HOOKS`. */
#ifndef ATOMO_BUCKETS_H
#define ATOMO_BUCKETS_H

#include "compress/levels/codes.h"

#include <math.h>

enum { BUCKET_HEAD_MOST = 1024 }; /* most bytes of a head */

struct Buckets;

/* A quantiser. `scale` may be NULL. One of `find` and `find_all` is NULL. `size` may be 0 if `open` sets
 * head_size. */
typedef struct BucketLaw {
    void (*open)(struct Buckets *b, const Call *c); /* calls buckets_open with values from the parameters */
    size_t size;                                    /* bytes of a bucket's head */
    const char *name;                               /* the name of a head in messages, such as "norm" */

    /* `find` computes the head of one bucket of n elements, `find_all` the heads of all buckets. `find_all` may
     * use memory and may fail. */
    void (*find)(const struct Buckets *b, const float *x, size_t n, uint8_t *head);
    Status (*find_all)(const struct Buckets *b, uint8_t *head);

    /* Returns false for a head that no encoder sends: encode then fails with ERR_NUMERIC, and decode with ERR_CORRUPT. */
    bool (*good)(const struct Buckets *b, const uint8_t *head);

    /* Returns a bucket's scale: its norm or the width of its range. If the scale is 0, the encoder sets all
     * codes of the bucket to 0 without `quantise`, and the decoder refuses other codes. */
    float (*scale)(const uint8_t *head);

    /* Rounds the n elements x, a part of one bucket, to the codes `code`: bytes, or 32-bit words if
     * Buckets.wide. Element i of x draws random word `first` + i of `key`. */
    void (*quantise)(const struct Buckets *b, const uint8_t *head, const float *x, size_t n,
                     const RngKey *key, uint32_t first, void *code);

    /* Decodes n codes to x; the head is good. Returns NULL, or the reason why no encoder writes these codes. */
    const char *(*dequantise)(const struct Buckets *b, const uint8_t *head, const void *code, size_t n,
                              float *x);

    /* Returns E |decoded - x|^2 of a whole bucket, or NaN if there is no closed form. */
    double (*variance)(const struct Buckets *b, const uint8_t *head, const float *x, size_t n);
} BucketLaw;

typedef struct Buckets {
    const Call *c;
    const BucketLaw *law;
    /* n: number of elements; bucket: elements in a bucket; buckets: number of buckets */
    size_t n, bucket, buckets;
    size_t head_size; /* bytes of a bucket's head */
    uint32_t s;       /* the highest level */
    bool wide;        /* true: codes are 32-bit words */
    bool correlated;  /* true: rounding is correlated between workers (rounding_key) */
    bool share;       /* true: all workers share the heads, which are scales (floats) */
    const float *x;
    float *decoded;
    uint8_t *head;       /* encode: where the heads (buckets x head_size bytes) are written in the payload */
    const uint8_t *sent; /* where the heads are read, in a payload */
    bool known;          /* encode: true if all heads are computed before the first element is rounded */
    Codes codes;
} Buckets;

/* Opens buckets of `bucket` elements (0: one bucket of all elements) with a level 0 .. s for each element, and a sign unless
 * `unsigned_levels`. */
void buckets_open(Buckets *b, const Call *c, int64_t bucket, uint32_t s, bool unsigned_levels, CodeKind kind);

size_t buckets_bound(const Call *c);
Status buckets_encode(const Call *c, const float *x, Buf *out);
Status buckets_decode(const Call *c, Bytes in, float *x);
double buckets_variance(const Call *c, const float *x);
Status buckets_merge(const Call *c, const Bytes *in, size_t n, Buf *out); /* merges shared heads */

#define BUCKET_HOOKS                                                                                         \
    .bound = buckets_bound, .encode = buckets_encode, .decode = buckets_decode, .variance = buckets_variance

/* Functions for codecs whose workers share `count` scales. scales_check fails if a scale is not finite or is negative.
 * scales_heard points *scale to the merged scales of round 0 in c->heard. scales_merge merges the payloads of round 0. */
Status scales_check(const Call *c, size_t count, const uint8_t *scale);
Status scales_heard(const Call *c, size_t count, const uint8_t **scale);
Status scales_merge(const Call *c, size_t count, bool raw, const Bytes *in, size_t payloads, Buf *out);

/* Returns f (1 - f), where f is the fractional part of v s / top. f (1 - f) is the variance of rounding v
 * without bias to a multiple of top / s, in units of (top / s)^2; 0 <= v <= top. */
static inline double rounding_variance(double v, double top, uint32_t s)
{
    const double t = fmin(v * s / top, s), f = t - floor(t);
    return f * (1 - f);
}

#define BAD_LEVEL "a level above the highest, or a sign of level 0" /* an error that `dequantise` returns */

#endif
