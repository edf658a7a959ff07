/* buckets.c -- encodes and decodes tensors that a quantiser cuts into buckets (buckets.h). A bucket's head is
 * its norm or range. Threads work on blocks of 2^16 elements, which need not begin or end with a bucket. */
#include "compress/levels/buckets.h"

#include <math.h>

/* ---- scales that all workers share ---- */

Status scales_check(const Call *c, size_t count, const uint8_t *scale)
{
    for (size_t i = 0; i < count; i++) {
        const float v = load_f32(scale + 4 * i);
        if (!isfinite(v) || signbit(v))
            return payload_bad(c, "scale %zu is %g", i, (double)v);
    }
    return OK;
}

/* Reads a payload of round 0, of one worker or merged. *scale then points into the payload. */
static Status scales_get(const Call *c, size_t count, Bytes in, uint64_t *workers, const uint8_t **scale)
{
    Reader r = reader_open(in);
    const unsigned kind = take_u8(&r);
    *workers = kind == PAYLOAD_MERGED ? take_varint(&r) : 1;
    *scale = take_bytes(&r, 4 * count);
    if (!reader_done(&r) || (kind != PAYLOAD_METHOD && kind != PAYLOAD_MERGED) || *workers == 0)
        return payload_bad(c, "%zu bytes that are not %zu scales", in.size, count);
    return scales_check(c, count, *scale);
}

Status scales_heard(const Call *c, size_t count, const uint8_t **scale)
{
    uint64_t workers;
    return scales_get(c, count, c->heard[0], &workers, scale);
}

Status scales_merge(const Call *c, size_t count, bool raw, const Bytes *in, size_t payloads, Buf *out)
{
    uint64_t total = 0, workers;
    float *most = NEW_ZERO(c->scratch, float, count + 1);
    TRY(arena_check(most, c->scratch, c->err));
    for (size_t w = 0; w < payloads; w++) {
        const uint8_t *scale;
        if (raw && in[w].size)
            return payload_bad(c, "%zu bytes, want none", in[w].size);
        if (raw)
            continue;
        TRY(scales_get(c, count, in[w], &workers, &scale));
        TRY(payload_add_workers(c, workers, &total));
        for (size_t i = 0; i < count; i++)
            most[i] = fmaxf(most[i], load_f32(scale + 4 * i));
    }
    if (raw)
        return OK;
    buf_u8(out, PAYLOAD_MERGED);
    buf_varint(out, total);
    for (size_t i = 0; i < count; i++)
        buf_f32(out, most[i]);
    return OK;
}

/* ---- buckets ---- */

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
    return 1 + b->share + b->head_size * b->buckets + codes_most(&b->codes);
}

static bool goes_raw(const Buckets *b)
{
    return most_bytes(b) >= raw_size(b->c);
}

/* ---- the heads of buckets ---- */

static size_t scales_in(const Buckets *b)
{
    return b->head_size / 4 * b->buckets;
}

static bool head_round(const Buckets *b)
{
    return b->share && b->c->round == 0;
}

static const uint8_t *head_of(const Buckets *b, size_t bucket)
{
    return b->sent + b->head_size * bucket;
}

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

/* Makes room for the heads, and computes them unless `quantise` does. */
static Status put_heads(Buckets *b, Buf *out)
{
    b->sent = b->head = buf_room(out, b->head_size * b->buckets);
    streams_floats(b->c->streams, scales_in(b));
    if (b->law->find_all)
        return b->law->find_all(b, b->head);
    if (b->known)
        parallel_for(b->c->threads, b->buckets, find_head, b);
    return OK;
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
        uint8_t spare[BUCKET_HEAD_MOST], *found = i > start ? spare : b->head + b->head_size * bucket;
        const uint8_t *head = b->known ? head_of(b, bucket) : found;
        end = to - start < b->bucket ? to : start + b->bucket;
        if (!b->known)
            find(b, bucket, found);
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
        const uint8_t *head = head_of(b, bucket);
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
    if (head_round(&b))
        return goes_raw(&b) ? 0 : 1 + b.head_size * b.buckets;
    return goes_raw(&b) ? raw_size(c) : most_bytes(&b);
}

Status buckets_encode(const Call *c, const float *x, Buf *out)
{
    Buckets b;
    open_buckets(&b, c);
    if (goes_raw(&b))
        return head_round(&b) ? OK : raw_put(c, x, out);
    buf_u8(out, PAYLOAD_METHOD);
    b.x = x;
    b.known = b.share || b.law->find_all || b.bucket > BLOCK;
    TRY(b.share && !head_round(&b) ? scales_heard(c, scales_in(&b), &b.sent) : put_heads(&b, out));
    if (!head_round(&b))
        TRY(codes_put(&b.codes, quantise, &b, out));
    for (size_t i = 0; i < b.buckets; i++)
        if (!b.law->good(&b, head_of(&b, i)))
            return FAIL(c->err, ERR_NUMERIC, "%s: the %s of bucket %zu is beyond float32", c->self->ops->name,
                        b.law->name, i);
    return OK;
}

Status buckets_merge(const Call *c, const Bytes *in, size_t n, Buf *out)
{
    Buckets b;
    open_buckets(&b, c);
    if (!head_round(&b))
        return FAIL(c->err, ERR_USAGE, "%s: only the scales of share=on merge, not the codes", c->self->ops->name);
    return scales_merge(c, scales_in(&b), goes_raw(&b), in, n, out);
}

Status buckets_decode(const Call *c, Bytes in, float *x)
{
    Buckets b;
    Reader r = reader_open(in);
    open_buckets(&b, c);
    TRY(payload_last_round(c));
    TRY(payload_kind(c, take_u8(&r), goes_raw(&b) ? PAYLOAD_RAW : PAYLOAD_METHOD));
    b.decoded = x;
    if (b.share)
        TRY(scales_heard(c, scales_in(&b), &b.sent));
    else
        b.sent = take_bytes(&r, b.head_size * b.buckets);
    if (!b.sent)
        return payload_bad(c, "%zu bytes, want %zu %ss", in.size, b.buckets, b.law->name);
    for (size_t i = 0; i < b.buckets; i++)
        if (!b.law->good(&b, head_of(&b, i)))
            return payload_bad(c, "bucket %zu has a %s that no encoder writes", i, b.law->name);
    return codes_get(&b.codes, dequantise, &b, &r);
}

double buckets_variance(const Call *c, const float *x)
{
    Buckets b;
    double total = 0;
    uint8_t own[BUCKET_HEAD_MOST];
    open_buckets(&b, c);
    b.x = x;
    if (goes_raw(&b))
        return 0;
    if (b.share && c->round > 0 && c->heard) {
        if (scales_heard(c, scales_in(&b), &b.sent) != OK)
            return NAN;
    } else if (b.law->find_all) {
        b.sent = b.head = NEW(c->scratch, uint8_t, b.head_size * b.buckets);
        if (!b.head || b.law->find_all(&b, b.head) != OK)
            return NAN;
    }
    for (size_t i = 0; i < b.buckets; i++) {
        const size_t start = i * b.bucket;
        if (!b.sent)
            find(&b, i, own);
        total += b.law->variance(&b, b.sent ? head_of(&b, i) : own, x + start, codes_run_end(&b.codes, start, b.n) - start);
    }
    return total;
}
