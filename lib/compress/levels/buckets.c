/* buckets.c -- encodes and decodes tensors that a quantiser cuts into buckets (buckets.h). A bucket's head is
 * its norm or range. Threads work on blocks of 2^16 elements, which need not begin or end with a bucket. */
#include "compress/levels/buckets.h"

#include <math.h>

void buckets_open(Buckets *b, const Call *c, int64_t bucket, uint32_t s, bool unsigned_levels, CodeKind kind)
{
    const BucketLaw *law = c->self->ops->family;
    const size_t n = c->shape->n, size = bucket ? (size_t)bucket : n ? n : 1;
    *b = (Buckets){.c = c,
                   .law = law,
                   .n = n,
                   .bucket = size,
                   .buckets = n / size + (n % size != 0),
                   .head_size = law->size,
                   .s = s};
    b->codes = (Codes){.c = c, .kind = kind, .unsigned_levels = unsigned_levels, .s = s, .run = size};
    b->wide = codes_wide(&b->codes);
}

static size_t most_bytes(const Buckets *b)
{
    return 1 + b->head_size * b->buckets + codes_most(&b->codes);
}

static bool goes_raw(const Buckets *b)
{
    return most_bytes(b) >= raw_size(b->c);
}

/* ---- the heads of buckets ---- */

static void find(const Buckets *b, size_t bucket, uint8_t *head)
{
    const size_t start = bucket * b->bucket, left = b->n - start;
    b->law->find(b, b->x + start, left < b->bucket ? left : b->bucket, head);
}

static void find_head(void *data, size_t bucket)
{
    const Buckets *b = data;
    find(b, bucket, b->head + b->head_size * bucket);
}

/* ---- quantising and dequantising one block ---- */

/* A bucket's head is computed just before its codes, while the bucket is in the cache. If a bucket spans two
 * blocks, both blocks compute the head, but only the block in which the bucket begins stores it. */
static void quantise(const void *data, size_t from, size_t n, void *code)
{
    const Buckets *b = data;
    const RngKey key = rounding_key(b->c, b->correlated, from / BLOCK);
    const size_t to = from + n, width = b->wide ? 4 : 1;
    size_t bucket = from / b->bucket, start = bucket * b->bucket;
    for (size_t i = from, end; i < to; i = end, bucket++, start += b->bucket) {
        uint8_t spare[BUCKET_HEAD_MOST], *head = b->head + b->head_size * bucket;
        end = to - start < b->bucket ? to : start + b->bucket;
        if (!b->known) {
            head = i > start ? spare : head;
            find(b, bucket, head);
        }
        char *own = (char *)code + (i - from) * width;
        const float scale = b->law->scale ? b->law->scale(head) : 1;
        /* if the scale is not finite, buckets_encode fails later */
        if (scale == 0 || !isfinite(scale))
            memset(own, 0, (end - i) * width);
        else
            b->law->quantise(b, head, b->x + i, end - i, &key, (uint32_t)(i % BLOCK), own);
    }
}

static bool all_zero(const char *code, size_t size)
{
    return code[0] == 0 && !memcmp(code, code + 1, size - 1);
}

static const char *dequantise(const void *data, size_t from, size_t n, const void *code)
{
    const Buckets *b = data;
    const size_t to = from + n, width = b->wide ? 4 : 1;
    const char *why = NULL;
    size_t bucket = from / b->bucket, start = bucket * b->bucket;
    for (size_t i = from, end; i < to && !why; i = end, bucket++, start += b->bucket) {
        const uint8_t *head = b->sent + b->head_size * bucket;
        const char *own = (const char *)code + (i - from) * width;
        end = to - start < b->bucket ? to : start + b->bucket;
        why = b->law->dequantise(b, head, own, end - i, b->decoded + i);
        if (!why && b->law->scale && b->law->scale(head) == 0 && !all_zero(own, (end - i) * width))
            why = "a level other than 0 in a bucket of scale 0";
    }
    return why;
}

/* ---- the hooks of the codec ---- */

static void open_buckets(Buckets *b, const Call *c)
{
    const BucketLaw *law = c->self->ops->family;
    law->open(b, c);
}

size_t buckets_bound(const Call *c)
{
    Buckets b;
    open_buckets(&b, c);
    return goes_raw(&b) ? raw_size(c) : most_bytes(&b);
}

Status buckets_encode(const Call *c, const float *x, Buf *out)
{
    Buckets b;
    open_buckets(&b, c);
    if (goes_raw(&b))
        return raw_put(c, x, out);
    buf_u8(out, PAYLOAD_METHOD);
    b.x = x;
    b.head = buf_room(out, b.head_size * b.buckets);
    b.known = b.law->find_all || b.bucket > BLOCK;
    if (b.law->find_all)
        TRY(b.law->find_all(&b, b.head));
    else if (b.known)
        parallel_for(c->threads, b.buckets, find_head, &b);
    streams_floats(c->streams, b.head_size / 4 * b.buckets);
    TRY(codes_put(&b.codes, quantise, &b, out));
    for (size_t i = 0; i < b.buckets; i++)
        if (!b.law->good(&b, b.head + b.head_size * i))
            return FAIL(c->err, ERR_NUMERIC, "%s: the %s of bucket %zu is beyond float32", c->self->ops->name,
                        b.law->name, i);
    return OK;
}

Status buckets_decode(const Call *c, Bytes in, float *x)
{
    Buckets b;
    Reader r = reader_open(in);
    open_buckets(&b, c);
    TRY(payload_kind(c, take_u8(&r), goes_raw(&b) ? PAYLOAD_RAW : PAYLOAD_METHOD));
    b.decoded = x;
    b.sent = take_bytes(&r, b.head_size * b.buckets);
    if (!b.sent)
        return payload_bad(c, "%zu bytes, want %zu %ss", in.size, b.buckets, b.law->name);
    for (size_t i = 0; i < b.buckets; i++)
        if (!b.law->good(&b, b.sent + b.head_size * i))
            return b.law->refuse(&b, i, b.sent + b.head_size * i);
    return codes_get(&b.codes, dequantise, &b, &r);
}

double buckets_variance(const Call *c, const float *x)
{
    Buckets b;
    double total = 0;
    uint8_t own[BUCKET_HEAD_MOST], *all = NULL;
    open_buckets(&b, c);
    b.x = x;
    if (goes_raw(&b))
        return 0;
    if (b.law->find_all) {
        all = NEW(c->scratch, uint8_t, b.head_size * b.buckets);
        if (!all || b.law->find_all(&b, all) != OK)
            return NAN;
    }
    for (size_t i = 0; i < b.buckets; i++) {
        const uint8_t *head = all ? all + b.head_size * i : own;
        const size_t start = i * b.bucket;
        if (!all)
            find(&b, i, own);
        total += b.law->variance(&b, head, x + start, codes_run_end(&b.codes, start, b.n) - start);
    }
    return total;
}
