/* compressor.c -- functions with which codecs write payloads, refuse payloads and report entropy; see
 * compressor.h. */
#include "codec/compressor.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

Status raw_put(const Call *c, const float *x, Buf *out)
{
    buf_u8(out, PAYLOAD_RAW);
    buf_copy(out, x, 4 * c->shape->n);
    streams_floats(c->streams, c->shape->n);
    if (c->streams)
        c->streams->raw = true;
    return OK;
}

Status payload_bad(const Call *c, const char *format, ...)
{
    char why[300];
    va_list args;
    va_start(args, format);
    vsnprintf(why, sizeof why, format, args);
    va_end(args);
    return FAIL(c->err, ERR_CORRUPT, "%s payload: %s", c->self->ops->name, why);
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
    double total = 0, sum = 0; /* n H = n log2 n - sum of c log2 c, for counts c with sum n */
    for (size_t i = 0; s && i < symbols; i++)
        if (count[i]) {
            total += (double)count[i];
            sum += (double)count[i] * log2((double)count[i]);
        }
    streams_bits(s, total > 0 ? total * log2(total) - sum : 0);
}

void streams_floats(Streams *s, size_t count)
{
    streams_bits(s, 32.0 * (double)count);
}

void streams_subset(Streams *s, uint64_t n, uint64_t k)
{
    const double dn = (double)n, dk = (double)k;
    if (s)
        streams_bits(s, (lgamma(dn + 1) - lgamma(dk + 1) - lgamma(dn - dk + 1)) * M_LOG2E);
}
