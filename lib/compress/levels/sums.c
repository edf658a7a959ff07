/* sums.c -- writes, reads and merges payloads of scales (round 0) and of integers (round 1), see sums.h. */
#include "compress/levels/sums.h"

#include "compress/lowrank/addends.h"
#include "math/blockwise.h"
#include "math/finite.h"

#include <float.h>
#include <math.h>

enum { PIECE = 4096, WIDE = 8 };

/* ---- scales ---- */

static Status scales_check(const Sums *s, const uint8_t *scale)
{
    for (size_t i = 0; i < s->scales; i++) {
        const float v = load_f32(scale + 4 * i);
        if (!isfinite(v) || signbit(v))
            return payload_bad(s->c, "scale %zu is %g", i, (double)v);
    }
    return OK;
}

/* Reads a payload of round 0, of one worker or merged. *scale then points into the payload. */
static Status scales_get(const Sums *s, Bytes in, uint64_t *workers, const uint8_t **scale)
{
    Reader r = reader_open(in);
    const unsigned kind = take_u8(&r);
    *workers = kind == PAYLOAD_MERGED ? take_varint(&r) : 1;
    *scale = take_bytes(&r, 4 * s->scales);
    if (!reader_done(&r) || (kind != PAYLOAD_METHOD && kind != PAYLOAD_MERGED) || *workers == 0)
        return payload_bad(s->c, "%zu bytes that are not %zu scales", in.size, s->scales);
    return scales_check(s, *scale);
}

Status sums_heard(const Sums *s, const uint8_t **scale)
{
    uint64_t workers;
    return scales_get(s, s->c->heard[0], &workers, scale);
}

static Status merge_scales(const Sums *s, const Bytes *in, size_t count, Buf *out)
{
    uint64_t total = 0, workers;
    float *most = NEW_ZERO(s->c->scratch, float, s->scales + 1);
    TRY(arena_check(most, s->c->scratch, s->c->err));
    for (size_t w = 0; w < count; w++) {
        const uint8_t *scale;
        TRY(scales_get(s, in[w], &workers, &scale));
        TRY(payload_add_workers(s->c, workers, &total));
        for (size_t i = 0; i < s->scales; i++)
            most[i] = fmaxf(most[i], load_f32(scale + 4 * i));
    }
    buf_u8(out, PAYLOAD_MERGED);
    buf_varint(out, total);
    for (size_t i = 0; i < s->scales; i++)
        buf_f32(out, most[i]);
    return OK;
}

/* ---- codes ---- */

static int width_of(const Sums *s, uint64_t workers)
{
    int width = s->bits;
    while (width <= SUMS_WIDEST && workers > UINT64_C(1) << (width - s->bits))
        width++;
    return width;
}

static Status too_many(const Sums *s, uint64_t workers)
{
    FAIL(s->c->err, ERR_NUMERIC, "%s: %llu workers, want at most %d", s->c->self->ops->name,
         (unsigned long long)workers, 1 << (SUMS_WIDEST - s->bits));
    return error_hint(s->c->err, "fewer bits: they and the workers' log2, rounded up, may come to %d",
                      SUMS_WIDEST);
}

Status sums_open(const Sums *s, Bytes in, const uint8_t **scale, SumsTotal *t)
{
    const Call *c = s->c;
    const size_t n = c->shape->n;
    Reader r = reader_open(in);
    const unsigned own = s->raw ? PAYLOAD_RAW : PAYLOAD_METHOD, kind = take_u8(&r);
    const bool merged = s->shared && kind == PAYLOAD_MERGED;
    if (sums_scale_round(s) || (kind != own && !merged))
        return payload_bad(c, "kind %u in round %d, want %u%s in the last", kind, c->round, own,
                           s->shared ? " or 2" : "");
    *t = (SumsTotal){.workers = merged ? take_varint(&r) : 1};
    t->width = width_of(s, t->workers);
    *scale = NULL;
    if (r.bad || t->workers == 0 || (!s->raw && t->width > SUMS_WIDEST))
        return payload_bad(c, "the sum of %llu workers", (unsigned long long)t->workers);
    if (!s->raw && s->shared) {
        TRY(sums_heard(s, scale));
    } else if (!s->raw) {
        *scale = take_bytes(&r, 4 * s->scales);
        if (!*scale)
            return payload_bad(c, "%zu bytes, want %zu scales", in.size, s->scales);
        TRY(scales_check(s, *scale));
    }
    t->most = s->raw ? 0 : s->top * (uint32_t)t->workers;
    t->planes = take_bytes(&r, s->raw ? 4 * n : planes_size(n, t->width));
    return reader_done(&r) ? OK : payload_bad(c, "%zu bytes, which %zu elements do not take", in.size, n);
}

static bool get_piece(const SumsTotal *t, size_t from, size_t n, uint32_t *sum)
{
    const uint8_t *in = t->planes + planes_size(from, t->width);
    uint8_t narrow[PIECE];
    uint32_t most = 0;
    bool good;
    if (t->width > WIDE) {
        good = planes_get32(in, n, t->width, sum);
    } else {
        good = planes_get8(in, n, t->width, narrow);
        for (size_t i = 0; i < n; i++)
            sum[i] = narrow[i];
    }
    for (size_t i = 0; i < n; i++)
        most = sum[i] > most ? sum[i] : most;
    return good && most <= t->most;
}

bool sums_get(const SumsTotal *t, size_t from, size_t n, uint32_t *sum)
{
    bool good = true;
    for (size_t i = 0; i < n; i += PIECE)
        good &= get_piece(t, from + i, n - i < PIECE ? n - i : PIECE, sum + i);
    return good;
}

/* ---- merging the last round ---- */

/* Adds the codes or the raw floats of `count` payloads. */
static Status add_codes(const Sums *s, const SumsTotal *in, size_t count, int width, Buf *out)
{
    const Call *c = s->c;
    const size_t n = c->shape->n;
    PlaneSet *part = NEW(c->scratch, PlaneSet, count);
    TRY(arena_check(part, c->scratch, c->err));
    for (size_t w = 0; w < count; w++)
        part[w] = (PlaneSet){in[w].planes, in[w].width, in[w].most};
    return planes_add(part, count, n, width, c->threads, buf_room(out, planes_size(n, width)))
               ? OK
               : payload_bad(c, "codes that no encoder writes");
}

static Status add_floats(const Sums *s, const SumsTotal *in, size_t count, Buf *out)
{
    const size_t n = s->c->shape->n;
    const uint8_t **values = NEW(s->c->scratch, const uint8_t *, count);
    TRY(arena_check(values, s->c->scratch, s->c->err));
    for (size_t w = 0; w < count; w++)
        values[w] = in[w].planes;
    return addends_sum(s->c, values, count, n, 1, (double)FLT_MAX, "element", buf_room(out, 4 * n));
}

static Status merge_last(const Sums *s, const Bytes *in, size_t count, Buf *out)
{
    const Call *c = s->c;
    SumsTotal *part = NEW(c->scratch, SumsTotal, count + 1);
    uint64_t total = 0;
    TRY(arena_check(part, c->scratch, c->err));
    for (size_t w = 0; w < count; w++) {
        const uint8_t *scale;
        TRY(sums_open(s, in[w], &scale, &part[w]));
        TRY(payload_add_workers(c, part[w].workers, &total));
    }
    const int width = width_of(s, total);
    if (!s->raw && width > SUMS_WIDEST)
        return too_many(s, total);
    buf_u8(out, PAYLOAD_MERGED);
    buf_varint(out, total);
    return s->raw ? add_floats(s, part, count, out) : add_codes(s, part, count, width, out);
}

Status sums_merge(const Sums *s, const Bytes *in, size_t count, Buf *out)
{
    if (!s->shared)
        return FAIL(s->c->err, ERR_USAGE, "%s: with share=off each worker has scales of its own",
                    s->c->self->ops->name);
    if (!sums_scale_round(s))
        return merge_last(s, in, count, out);
    for (size_t w = 0; s->raw && w < count; w++)
        if (in[w].size)
            return payload_bad(s->c, "%zu bytes, want none", in[w].size);
    return s->raw ? OK : merge_scales(s, in, count, out);
}

/* ---- the hooks of codecs whose payloads all have this format ---- */

static Sums open_sums(const Call *c)
{
    const SumsFamily *family = c->self->ops->family;
    return family->open(c);
}

unsigned sums_traits(const Codec *codec)
{
    return ((const SumsParams *)codec->params)->share ? LINEAR | MERGEABLE : 0u;
}

int sums_rounds(const Codec *codec)
{
    return ((const SumsParams *)codec->params)->share ? 2 : 1;
}

size_t sums_bound(const Call *c)
{
    const Sums s = open_sums(c);
    if (sums_scale_round(&s))
        return s.raw ? 0 : 1 + 4 * s.scales;
    return s.raw ? raw_size(c) : 1 + (s.shared ? 0 : 4 * s.scales) + planes_size(c->shape->n, s.bits);
}

Status sums_merge_all(const Call *c, const Bytes *in, size_t count, Buf *out)
{
    const Sums s = open_sums(c);
    return sums_merge(&s, in, count, out);
}

Numbers sums_numbers(const Call *c)
{
    const Sums s = open_sums(c);
    const int width = width_of(&s, (uint64_t)c->workers);
    const size_t n = c->shape->n;
    if (sums_scale_round(&s) || !s.shared)
        return (Numbers){0};
    if (s.raw)
        return addends_numbers(n, 1, (double)FLT_MAX);
    return width > SUMS_WIDEST ? (Numbers){0} : numbers_in_planes(n, s.bits, width, s.top);
}
