/* svd_payload.c -- see svd_payload.h. */
#include "svd_payload.h"

#include <math.h>

size_t svd_payload_most(const Call *c)
{
    size_t rows, cols;
    svd_view(c, &rows, &cols);
    const size_t most = rows < cols ? rows : cols;
    return 1 + VARINT_MAX + 4 * most * (rows + cols);
}

/* The largest |x|; infinite when any is NaN or infinite. Without their signs floats order as integers do. */
static double largest(const float *x, size_t n)
{
    int32_t most = 0;
    for (size_t i = 0; i < n; i++) {
        const int32_t bits = (int32_t)(float_bits(x[i]) & 0x7fffffff);
        most = bits > most ? bits : most;
    }
    const float value = bits_float((uint32_t)most);
    return isfinite(value) ? (double)value : INFINITY;
}

double svd_ceiling(const SvdAtoms *a)
{
    double sum = 0;
    for (size_t i = 0; i < a->count; i++)
        sum += largest(a->left + i * a->rows, a->rows) * largest(a->right + i * a->cols, a->cols);
    return sum;
}

/* ---- writing ---- */

/* Room for the vectors of `count` atoms in a payload. */
typedef struct {
    size_t count;
    uint8_t **left, **right;
} Slots;

static Status slots_take(const Call *c, const SvdPlan *plan, Slots *s, Buf *out)
{
    s->left = NEW(c->scratch, uint8_t *, s->count);
    s->right = NEW(c->scratch, uint8_t *, s->count);
    if (!s->left || !s->right)
        return arena_fail(c->scratch, c->err);
    buf_u8(out, PAYLOAD_METHOD);
    buf_varint(out, s->count);
    for (size_t i = 0; i < s->count; i++) {
        s->left[i] = buf_room(out, plan->rows * sizeof(float));
        s->right[i] = buf_room(out, plan->cols * sizeof(float));
    }
    streams_floats(c->streams, s->count * (plan->rows + plan->cols));
    streams_bits(c->streams, 8 * (double)varint_size(s->count));
    return OK;
}

Status svd_put(const Call *c, SvdPlan *plan, const size_t *kept, size_t count, Buf *out)
{
    double *scale = NEW(c->scratch, double, count);
    Slots s = {.count = count};
    if (!scale)
        return arena_fail(c->scratch, c->err);
    TRY(slots_take(c, plan, &s, out));
    for (size_t i = 0; i < count; i++)
        scale[i] = 1 / plan->p[kept[i]];
    const bool turned = plan->s.a.turned;
    return spectral_atoms(&plan->s, kept, scale, count, turned ? s.right : s.left, turned ? s.left : s.right,
                          c->scratch, c->err);
}

/* ---- reading ---- */

static Status atoms_take(const Call *c, SvdAtoms *a)
{
    a->left = NEW(c->scratch, float, a->count * a->rows);
    a->right = NEW(c->scratch, float, a->count * a->cols);
    return a->left && a->right ? OK : arena_fail(c->scratch, c->err);
}

/* A vector that an encoder made has length one to the rounding of its entries. */
static bool is_unit(const float *v, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += (double)v[i] * (double)v[i];
    return fabs(sum - 1) < 1e-5;
}

Status svd_get(const Call *c, Bytes in, SvdAtoms *a)
{
    Reader r = reader_open(in);
    const uint8_t kind = take_u8(&r);
    const uint64_t count = take_varint(&r);
    *a = (SvdAtoms){0};
    svd_view(c, &a->rows, &a->cols);
    const size_t most = a->rows < a->cols ? a->rows : a->cols, each = 4 * (a->rows + a->cols);
    if (kind != PAYLOAD_METHOD)
        return payload_bad(c, "kind %d, want %d", kind, PAYLOAD_METHOD);
    if (r.bad)
        return payload_bad(c, "no count of atoms");
    if (count > most)
        return payload_bad(c, "%llu atoms, want at most %zu", (unsigned long long)count, most);
    if (reader_left(&r) != count * each)
        return payload_bad(c, "%zu bytes of atoms, want %zu", reader_left(&r), (size_t)count * each);
    a->count = (size_t)count;
    TRY(atoms_take(c, a));
    for (size_t i = 0; i < a->count; i++) {
        float *left = a->left + i * a->rows, *right = a->right + i * a->cols;
        memcpy(left, take_bytes(&r, 4 * a->rows), 4 * a->rows);
        memcpy(right, take_bytes(&r, 4 * a->cols), 4 * a->cols);
        if (!isfinite(largest(left, a->rows)) || !isfinite(largest(right, a->cols)))
            return payload_bad(c, "atom %zu is not finite", i);
        if (!(a->rows >= a->cols ? is_unit(right, a->cols) : is_unit(left, a->rows)))
            return payload_bad(c, "atom %zu has no vector of length one", i);
    }
    return OK;
}
