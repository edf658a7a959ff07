/* svd_payload.c -- writes and reads the singular vectors of the kept atoms (svd_payload.h). */
#include "compress/atoms/svd_payload.h"

#include <math.h>

size_t svd_payload_most(const Call *c)
{
    size_t rows, cols;
    svd_view(c, &rows, &cols);
    const size_t most = rows < cols ? rows : cols;
    return 1 + VARINT_MAX + most * (svd_vectors_most(rows) + svd_vectors_most(cols));
}

/* Returns the largest |x|; infinity if an x is NaN or infinite. Compares the bits of |x| as integers, which
 * have the same order as the floats. */
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

/* ---- writing the vectors of atoms as floats ---- */

/* Where the vectors of atoms are written: the left vector of atom i (`rows` floats) at left[i], the right
 * vector (`cols` floats) at right[i]. */
typedef struct {
    uint8_t **left, **right;
} VectorSlots;

static Status slots_take(const Call *c, size_t count, VectorSlots *p)
{
    p->left = NEW(c->scratch, uint8_t *, count);
    p->right = NEW(c->scratch, uint8_t *, count);
    return p->left && p->right ? OK : arena_fail(c->scratch, c->err);
}

static Status make_atoms(const Call *c, SvdPlan *plan, const size_t *index, size_t count,
                         const VectorSlots *p)
{
    double *scale = NEW(c->scratch, double, count);
    const bool turned = plan->s.a.turned;
    TRY(arena_check(scale, c->scratch, c->err));
    for (size_t i = 0; i < count; i++)
        scale[i] = 1 / plan->p[index[i]];
    return spectral_atoms(&plan->s, index, scale, count, turned ? p->right : p->left,
                          turned ? p->left : p->right, c->scratch, c->err);
}

/* Number of atoms whose vectors are computed at a time before rounding; a small number saves memory. */
enum { AT_ONCE = 64 };

typedef struct {
    VectorSlots to;
    float *left, *right; /* vectors of up to AT_ONCE atoms: `rows` floats each in `left`, `cols` in `right` */
} VectorBatch;

static Status batch_take(const Call *c, const SvdPlan *plan, size_t count, VectorBatch *batch)
{
    const size_t most = count < AT_ONCE ? count : AT_ONCE;
    batch->left = NEW(c->scratch, float, most * plan->rows);
    batch->right = NEW(c->scratch, float, most * plan->cols);
    TRY(arena_check(batch->left && batch->right, c->scratch, c->err));
    TRY(slots_take(c, most, &batch->to));
    for (size_t i = 0; i < most; i++) {
        batch->to.left[i] = (uint8_t *)(batch->left + i * plan->rows);
        batch->to.right[i] = (uint8_t *)(batch->right + i * plan->cols);
    }
    return OK;
}

/* Makes the vectors of atoms as floats in this machine's byte order. */
static Status batch_make(const Call *c, SvdPlan *plan, const size_t *kept, size_t count, VectorBatch *batch)
{
    TRY(make_atoms(c, plan, kept, count, &batch->to));
    floats_order(batch->left, count * plan->rows);
    floats_order(batch->right, count * plan->cols);
    return OK;
}

/* ---- writing ---- */

static Status put_floats(const Call *c, SvdPlan *plan, const size_t *kept, size_t count, Buf *out)
{
    VectorSlots to;
    TRY(slots_take(c, count, &to));
    for (size_t i = 0; i < count; i++) {
        to.left[i] = buf_room(out, plan->rows * sizeof(float));
        to.right[i] = buf_room(out, plan->cols * sizeof(float));
    }
    streams_floats(c->streams, count * (plan->rows + plan->cols));
    return make_atoms(c, plan, kept, count, &to);
}

static Status put_rounded(const Call *c, SvdPlan *plan, const size_t *kept, size_t count, Buf *out)
{
    const Vectors *v = &plan->vectors;
    VectorBatch batch;
    TRY(batch_take(c, plan, count, &batch));
    for (size_t from = 0; from < count; from += AT_ONCE) {
        const size_t some = count - from < AT_ONCE ? count - from : AT_ONCE;
        TRY(batch_make(c, plan, kept + from, some, &batch));
        for (size_t i = 0; i < some; i++) {
            const uint64_t address = 2 * (uint64_t)kept[from + i];
            TRY(svd_vectors_put(v, c, address, batch.left + i * plan->rows, plan->rows, out));
            TRY(svd_vectors_put(v, c, address + 1, batch.right + i * plan->cols, plan->cols, out));
        }
    }
    return OK;
}

Status svd_put(const Call *c, SvdPlan *plan, const size_t *kept, size_t count, Buf *out)
{
    buf_u8(out, PAYLOAD_METHOD);
    buf_varint(out, count);
    streams_bits(c->streams, 8 * (double)varint_size(count));
    return (plan->vectors.codec ? put_rounded : put_floats)(c, plan, kept, count, out);
}

/* ---- the variance that rounding adds to the vectors ---- */

Status svd_noise(const Call *c, SvdPlan *plan, VectorNoise *left, VectorNoise *right)
{
    const size_t k = plan->s.k;
    size_t *sent = NEW(c->scratch, size_t, k), count = 0;
    VectorBatch batch;
    TRY(arena_check(sent, c->scratch, c->err));
    for (size_t i = 0; i < k; i++) {
        left[i] = right[i] = (VectorNoise){0};
        if (plan->p[i] > 0 && !plan->raw)
            sent[count++] = i;
    }
    if (!plan->vectors.codec)
        return OK;
    TRY(batch_take(c, plan, count, &batch));
    for (size_t from = 0; from < count; from += AT_ONCE) {
        const size_t some = count - from < AT_ONCE ? count - from : AT_ONCE;
        TRY(batch_make(c, plan, sent + from, some, &batch));
        for (size_t i = 0; i < some; i++) {
            const size_t atom = sent[from + i];
            left[atom] = svd_vectors_noise(&plan->vectors, c, batch.left + i * plan->rows, plan->rows);
            right[atom] = svd_vectors_noise(&plan->vectors, c, batch.right + i * plan->cols, plan->cols);
        }
    }
    return OK;
}

/* ---- reading ---- */

static Status atoms_take(const Call *c, SvdAtoms *a)
{
    a->left = NEW(c->scratch, float, a->count * a->rows);
    a->right = NEW(c->scratch, float, a->count * a->cols);
    return a->left && a->right ? OK : arena_fail(c->scratch, c->err);
}

static Status get_vector(const Vectors *v, const Call *c, Reader *r, size_t atom, bool unit, size_t n,
                         float *x)
{
    size_t size;
    const uint8_t *data = svd_vectors_take(v, r, n, &size);
    if (!data)
        return payload_bad(c, "atom %zu is cut short", atom);
    const Bytes payload = {data, size};
    if (svd_vectors_get(v, c, payload, n, x) != OK)
        return error_at(c->err, "svd payload: atom %zu", atom);
    if (!isfinite(largest(x, n)))
        return payload_bad(c, "atom %zu is not finite", atom);
    if (unit && !svd_vectors_unit(v, payload, x, n))
        return payload_bad(c, "atom %zu has no vector of length one", atom);
    return OK;
}

Status svd_get(const Call *c, Bytes in, SvdAtoms *a)
{
    const Svd *o = c->self->params;
    Reader r = reader_open(in);
    const uint8_t kind = take_u8(&r);
    const uint64_t count = take_varint(&r);
    const Vectors v = svd_vectors_of((VectorForm)o->vectors, o->vbits, c->self->other);
    *a = (SvdAtoms){0};
    svd_view(c, &a->rows, &a->cols);
    const size_t most = a->rows < a->cols ? a->rows : a->cols, each = 4 * (a->rows + a->cols);
    TRY(payload_kind(c, kind, PAYLOAD_METHOD));
    if (r.bad)
        return payload_bad(c, "no count of atoms");
    if (count > most)
        return payload_bad(c, "%llu atoms, want at most %zu", (unsigned long long)count, most);
    if (!v.codec && reader_left(&r) != count * each)
        return payload_bad(c, "%zu bytes of atoms, want %zu", reader_left(&r), (size_t)count * each);
    a->count = (size_t)count;
    TRY(atoms_take(c, a));
    for (size_t i = 0; i < a->count; i++) {
        /* true: the right vectors have length one; false: the left vectors have length one */
        const bool right = a->rows >= a->cols;
        TRY(get_vector(&v, c, &r, i, !right, a->rows, a->left + i * a->rows));
        TRY(get_vector(&v, c, &r, i, right, a->cols, a->right + i * a->cols));
    }
    return reader_done(&r) ? OK : payload_bad(c, "%zu bytes behind the last atom", reader_left(&r));
}
