/* compressor.c -- helper functions of codecs: write raw floats, refuse payloads, and report the entropy of
 * payloads. */
#include "compress/compressor.h"
#include "math/blockwise.h"

#include <math.h>
#include <stdlib.h>
#include <stdarg.h>
#include <stdio.h>

const char *const rounding_names[] = {"independent", "correlated", NULL};

RngKey rounding_key(const Call *c, bool correlated, uint64_t block)
{
    RngKey key = rng_key(&c->rng, USE_COIN, block);
    if (correlated && c->workers > 1) {
        const RngKey shared = rng_key(&c->rng_shared, USE_PLACE, block);
        rng_correlate(&key, &shared, (uint32_t)c->worker, (uint32_t)c->workers);
    }
    return key;
}

Status raw_put(const Call *c, const float *x, Buf *out)
{
    buf_u8(out, PAYLOAD_RAW);
    buf_floats(out, x, c->shape->n);
    streams_floats(c->streams, c->shape->n);
    if (c->streams)
        c->streams->raw = c->streams->mean_known = true;
    return OK;
}

Status payload_bad(const Call *c, const char *format, ...)
{
    char why[300];
    va_list args;
    va_start(args, format);
    vsnprintf(why, sizeof why, format, args);
    va_end(args);
    FAIL(c->err, ERR_CORRUPT, "%s payload: %s", c->self->ops->name, why);
    return error_hint(c->err, "the payload is damaged, or of another shape or spec");
}

Status payload_kind(const Call *c, unsigned kind, unsigned want)
{
    return kind == want ? OK : payload_bad(c, "kind %u, want %u", kind, want);
}

Status payload_kind_or_merged(const Call *c, unsigned kind, unsigned want)
{
    if (kind == want || kind == PAYLOAD_MERGED)
        return OK;
    return payload_bad(c, "kind %u, want %u or %d", kind, want, PAYLOAD_MERGED);
}

Status payload_finite(const Call *c, const float *x)
{
    const size_t bad = first_nonfinite(x, c->shape->n, NULL);
    return bad == c->shape->n ? OK : payload_bad(c, "element %zu is not finite", bad);
}

Status payload_floats(const Call *c, const uint8_t *bytes, float *x)
{
    return blockwise_load(bytes, c->shape->n, c->threads, x)
               ? OK
               : payload_bad(c, "element %zu is not finite", first_nonfinite(x, c->shape->n, NULL));
}

Status payload_set(const Call *c, Reader *in, size_t n, Places *set)
{
    if (!in->bad && !indices_get(in, n, c->scratch, set) && !in->bad)
        return arena_fail(c->scratch, c->err);
    return OK;
}

Status payload_add_workers(const Call *c, uint64_t more, uint64_t *total)
{
    return __builtin_add_overflow(*total, more, total) ? payload_bad(c, "more workers than there are numbers")
                                                       : OK;
}

/* ---- streams ---- */

void streams_bits(Streams *s, double bits)
{
    if (!s)
        return;
    s->entropy_bits += bits;
    s->reported = true;
}

void streams_symbols(Streams *s, const uint64_t *count, size_t symbols)
{
    /* n H = n log2 n - sum over symbols of c log2 c, where c is a symbol's count, n the sum of the counts, and
     * H the order-0 entropy */
    double total = 0, sum = 0;
    for (size_t i = 0; s && i < symbols; i++)
        if (count[i]) {
            total += (double)count[i];
            sum += (double)count[i] * log2((double)count[i]);
        }
    streams_bits(s, total > 0 ? total * log2(total) - sum : 0);
}

static int by_size(const void *x, const void *y)
{
    const uint64_t a = *(const uint64_t *)x, b = *(const uint64_t *)y;
    return (a > b) - (a < b);
}

/* gaps of SHORT_GAPS and more are listed, because they are few */
enum { SHORT_GAPS = 4096 };

/* Sets count[gap] to the number of gaps below SHORT_GAPS of each size, and count[SHORT_GAPS ...] to the longer gaps.
 * Returns how many these are. */
static size_t count_gaps(const Indices *set, uint64_t *count)
{
    size_t next = 0, longer = 0;
    for (size_t r = 0; r < set->runs; r++) {
        size_t room[INDEX_RUN], some;
        const size_t *index = set->run(set, r, room, &some);
        for (size_t i = 0; i < some; i++) {
            const size_t gap = index[i] - next;
            next = index[i] + 1;
            if (gap < SHORT_GAPS)
                count[gap]++;
            else
                count[SHORT_GAPS + longer++] = gap;
        }
    }
    return longer;
}

/* Replaces sorted numbers by how often each of them occurs. Returns how many differ. */
static size_t count_equal(uint64_t *number, size_t n)
{
    size_t differ = 0;
    for (size_t i = 0, from = 0; i < n; i++)
        if (i + 1 == n || number[i + 1] != number[i]) {
            number[differ++] = i + 1 - from;
            from = i + 1;
        }
    return differ;
}

void streams_gaps(const Call *c, const Indices *set)
{
    if (!c->streams)
        return;
    const ArenaMark mark = arena_mark(c->scratch);
    uint64_t *count = NEW_ZERO(c->scratch, uint64_t, SHORT_GAPS + c->shape->n / SHORT_GAPS + 1);
    if (count) {
        const size_t longer = count_gaps(set, count);
        qsort(count + SHORT_GAPS, longer, sizeof *count, by_size);
        streams_symbols(c->streams, count, SHORT_GAPS + count_equal(count + SHORT_GAPS, longer));
    } else {
        streams_bits(c->streams, NAN);
    }
    arena_rewind(c->scratch, mark);
}
