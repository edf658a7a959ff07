/* addends.c -- see addends.h. */
#include "addends.h"

#include <math.h>

/* The values of a payload of either kind; NULL with the reason recorded. */
static const uint8_t *values_of(const Call *c, Bytes in, unsigned own_kind, size_t count, uint64_t *workers)
{
    Reader r = reader_open(in);
    const unsigned kind = take_u8(&r);
    *workers = kind == PAYLOAD_MERGED ? take_varint(&r) : 1;
    const uint8_t *values = take_bytes(&r, 4 * count);
    if (in.size && kind != own_kind && kind != PAYLOAD_MERGED)
        payload_bad(c, "kind %u, want %u or %d", kind, own_kind, PAYLOAD_MERGED);
    else if (!reader_done(&r))
        payload_bad(c, "%zu bytes, want %zu values", in.size, count);
    else if (*workers == 0)
        payload_bad(c, "the sum of no workers");
    else
        return values;
    return NULL;
}

static Status not_finite(const Call *c, size_t i)
{
    return payload_bad(c, "value %zu is not finite", i);
}

Status addends_get(const Call *c, Bytes in, unsigned own_kind, size_t count, float *x)
{
    uint64_t workers;
    const uint8_t *values = values_of(c, in, own_kind, count, &workers);
    if (!values)
        return ERR_CORRUPT;
    if (count)
        memcpy(x, values, 4 * count);
    const size_t bad = first_nonfinite(x, count, NULL);
    return bad == count ? OK : not_finite(c, bad);
}

static Status add(const Call *c, const uint8_t *const *values, size_t workers, size_t count, double most,
                  uint8_t *out)
{
    for (size_t i = 0; i < count; i++) {
        double sum = 0;
        for (size_t w = 0; w < workers; w++) {
            const float v = load_f32(values[w] + 4 * i);
            if (!isfinite(v))
                return not_finite(c, i);
            sum += (double)v;
        }
        if (!(fabs(sum) <= most))
            return FAIL(c->err, ERR_NUMERIC, "%s: the sum of value %zu is beyond float32", c->self->ops->name,
                        i);
        store_f32(out + 4 * i, (float)sum);
    }
    return OK;
}

Status addends_merge(const Call *c, const Bytes *in, size_t workers, unsigned own_kind, size_t count,
                     double most, Buf *out)
{
    const uint8_t **values = NEW(c->scratch, const uint8_t *, workers);
    uint64_t total = 0, some;
    if (!values)
        return arena_fail(c->scratch, c->err);
    for (size_t w = 0; w < workers; w++) {
        values[w] = values_of(c, in[w], own_kind, count, &some);
        if (!values[w])
            return ERR_CORRUPT;
        if (__builtin_add_overflow(total, some, &total))
            return payload_bad(c, "more workers than there are numbers");
    }
    buf_u8(out, PAYLOAD_MERGED);
    buf_varint(out, total);
    return add(c, values, workers, count, most, buf_room(out, 4 * count));
}
