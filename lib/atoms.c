/* atoms.c -- a draw as bytes, and back. */
#include "atoms.h"

#include "indices.h"
#include "parallel.h"

#include <math.h>

size_t atoms_bound(size_t n)
{
    return 1 + 2 * indices_bound(n) + 4 * n + 4 + n / 8 + 1;
}

/* ---- writing ---- */

static bool is_heavy(const AtomDraw *d, size_t i)
{
    return fabsf(d->value[i]) > d->tau;
}

static Status put_heavy(const Call *c, const AtomDraw *d, size_t n, Buf *out)
{
    size_t *index = NEW(c->scratch, size_t, d->heavy), k = 0;
    if (!index)
        return arena_fail(c->scratch, c->err);
    for (size_t i = 0; i < d->count; i++)
        if (is_heavy(d, i))
            index[k++] = d->index[i];
    indices_put(index, k, n, out);
    for (size_t i = 0; i < d->count; i++)
        if (is_heavy(d, i))
            buf_f32(out, d->value[i]);
    streams_subset(c->streams, n, k);
    streams_floats(c->streams, k);
    return OK;
}

static Status put_light(const Call *c, const AtomDraw *d, size_t n, Buf *out)
{
    const size_t count = d->count - d->heavy;
    size_t *index = NEW(c->scratch, size_t, count), k = 0;
    uint8_t *sign = NEW_ZERO(c->scratch, uint8_t, count / 8 + 1);
    if (!index || !sign)
        return arena_fail(c->scratch, c->err);
    for (size_t i = 0; i < d->count; i++) {
        if (is_heavy(d, i))
            continue;
        sign[k / 8] |= (uint8_t)((d->value[i] < 0) << k % 8);
        index[k++] = d->index[i];
    }
    indices_put(index, count, n, out);
    if (count) {
        buf_f32(out, d->tau);
        buf_copy(out, sign, count / 8 + (count % 8 != 0));
    }
    streams_subset(c->streams, n, count);
    streams_bits(c->streams, (double)count);
    streams_floats(c->streams, count > 0);
    return OK;
}

static bool goes_raw(const Call *c, const AtomCoder *coder, const AtomDraw *d, size_t n)
{
    const double bits =
        coder->light ? 8 + atoms_light_bits(n, d->light) : atoms_bits(n, (double)d->heavy, d->light);
    return bits >= 8 * (double)raw_size(c);
}

Status atoms_encode(const Call *c, const AtomCoder *coder, const float *x, size_t n, const float *raw,
                    Buf *out)
{
    AtomDraw draw;
    TRY(atoms_draw(c, &coder->plan, x, n, &draw));
    assert(!coder->light || draw.heavy == 0);
    if (goes_raw(c, coder, &draw, n))
        return raw_put(c, raw, out);
    buf_u8(out, PAYLOAD_METHOD);
    if (!coder->light)
        TRY(put_heavy(c, &draw, n, out));
    return put_light(c, &draw, n, out);
}

double atoms_variance(const Call *c, const AtomCoder *coder, const float *x, size_t n)
{
    AtomDraw draw;
    AtomPlan plan = coder->plan;
    plan.draw = DRAW_INDEPENDENT; /* the level is the same, and the draw does not matter */
    plan.empty = EMPTY_SEND;
    if (atoms_draw(c, &plan, x, n, &draw) != OK)
        return NAN;
    if (goes_raw(c, coder, &draw, n))
        return 0;
    return coder->plan.empty == EMPTY_RESAMPLE ? NAN : atoms_spread(c, draw.tau, x, n);
}

/* ---- reading ---- */

/* Kept atoms of one kind, as read: value i is value[i], or +-tau where value is NULL. */
typedef struct {
    size_t *index, count;
    const uint8_t *value, *sign;
    float tau;
} Atoms;

typedef struct {
    Atoms heavy, light;
    size_t n;
    float *x;
} Estimate;

/* The first of the atoms at or behind element i. */
static size_t lower_bound(const Atoms *a, size_t i)
{
    size_t low = 0, high = a->count;
    while (low < high) {
        const size_t mid = low + (high - low) / 2;
        if (a->index[mid] < i)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

/* A block is cleared and filled while it is in the cache. */
static void fill_block(void *data, size_t block)
{
    const Estimate *e = data;
    const Atoms h = e->heavy, l = e->light;
    float *const x = e->x;
    const size_t from = block * BLOCK, to = from + block_size(e->n, block);
    const uint32_t tau = float_bits(l.tau);
    memset(x + from, 0, (to - from) * sizeof *x);
    for (size_t k = lower_bound(&l, from); k < l.count && l.index[k] < to; k++)
        x[l.index[k]] = bits_float(tau | (uint32_t)(l.sign[k / 8] >> k % 8 & 1) << 31);
    for (size_t k = lower_bound(&h, from); k < h.count && h.index[k] < to; k++)
        x[h.index[k]] = load_f32(h.value + 4 * k);
}

/* OK with in->bad set when the bytes are wrong. */
static Status take_set(const Call *c, Reader *in, size_t n, Atoms *atoms)
{
    if (!indices_get(in, n, c->scratch, &atoms->index, &atoms->count) && !in->bad)
        return arena_fail(c->scratch, c->err);
    return OK;
}

static Status take_heavy(const Call *c, Reader *in, size_t n, Atoms *heavy)
{
    TRY(take_set(c, in, n, heavy));
    heavy->value = in->bad ? NULL : take_bytes(in, 4 * heavy->count);
    for (size_t k = 0; !in->bad && k < heavy->count; k++) {
        const float v = load_f32(heavy->value + 4 * k);
        if (!isfinite(v) || v == 0)
            return payload_bad(c, "%g as an atom's coefficient, want a finite number that is not 0",
                               (double)v);
    }
    return OK;
}

static Status take_light(const Call *c, Reader *in, size_t n, Atoms *light)
{
    TRY(take_set(c, in, n, light));
    if (in->bad || light->count == 0)
        return OK;
    light->tau = take_f32(in);
    light->sign = take_bytes(in, light->count / 8 + (light->count % 8 != 0));
    if (!in->bad && !(light->tau > 0 && isfinite(light->tau)))
        return payload_bad(c, "common magnitude %g, want a finite number above 0", (double)light->tau);
    if (!in->bad && light->count % 8 && light->sign[light->count / 8] >> light->count % 8)
        return payload_bad(c, "padding behind the signs is not zero");
    return OK;
}

/* No atom in both lists, and the heavy ones above the level: what encoders write. */
static Status check_lists(const Call *c, const Atoms *heavy, const Atoms *light)
{
    for (size_t h = 0, l = 0; h < heavy->count && light->count; h++) {
        if (!(fabsf(load_f32(heavy->value + 4 * h)) > light->tau))
            return payload_bad(c, "a coefficient under the common magnitude travels as a float");
        while (l < light->count && light->index[l] < heavy->index[h])
            l++;
        if (l < light->count && light->index[l] == heavy->index[h])
            return payload_bad(c, "element %zu is there twice", heavy->index[h]);
    }
    return OK;
}

Status atoms_decode(const Call *c, const AtomCoder *coder, Bytes bytes, size_t n, float *x)
{
    Reader in = reader_open(bytes);
    Estimate e = {.n = n, .x = x};
    if (take_u8(&in) != PAYLOAD_METHOD)
        return payload_bad(c, "its kind is not one this codec writes");
    if (!coder->light)
        TRY(take_heavy(c, &in, n, &e.heavy));
    if (!in.bad)
        TRY(take_light(c, &in, n, &e.light));
    if (!reader_done(&in))
        return payload_bad(c, "%s", in.bad ? "it is cut short or holds no index set" : "bytes are left over");
    TRY(check_lists(c, &e.heavy, &e.light));
    parallel_for(c->threads, blocks_of(n), fill_block, &e);
    return OK;
}
