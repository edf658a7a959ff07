/* svd_payload.c -- writes and reads singular vectors, with the bits and the noise of their rounding, and the payloads of
 * the kept atoms (svd_parts.h). */
#include "compress/atoms/svd_parts.h"
#include "coder/elias.h"
#include "math/blockwise.h"
#include "math/vec/kernels.h"

#include <math.h>

/* The form in which singular vectors are sent. */
static VectorForm form_of(const Call *c)
{
    return (VectorForm)((const Svd *)c->self->params)->vectors;
}

/* The highest level of a vector in the form qsgd. */
static uint32_t top_of(const Call *c)
{
    return (UINT32_C(1) << ((const Svd *)c->self->params)->vbits) - 1;
}

static Call call_for(const Call *c, const Shape *shape)
{
    Call inner = *c;
    inner.self = c->self->other;
    inner.shape = shape;
    inner.state = NULL;
    inner.streams = NULL;
    return inner;
}

/* True if qsgd sends a vector of n elements as raw floats. qsgd does so if the upper bound of its payload is at
 * least the size of raw floats. */
static bool goes_as_floats(const Call *c, size_t n)
{
    const Shape shape = shape_vector(n);
    const Call inner = call_for(c, &shape);
    return inner.self->ops->bound(&inner) >= raw_size(&inner);
}

/* ---- expected bits and rounding noise of a vector ---- */

/* Means over the elements of a random unit vector that qsgd rounds to levels. An element's magnitude divided by
 * the distance between levels is |Z| t, with Z from N(0, 1) and a constant t. */
typedef struct {
    double density; /* probability that the level is not 0 */
    /* mean of f (1 - f), where f is the fractional part of |Z| t: the variance of rounding, divided by the
     * squared distance between levels */
    double rounding;
    /* mean bits of an element: the Elias omega code of level + 1, and a sign if the level is not 0 */
    double dense;
    /* mean bits of an element: the Elias omega code of the level and a sign; none if the level is 0 */
    double sparse;
} LevelMeans;

static void add_level(LevelMeans *m, double chance, uint32_t level, uint32_t s)
{
    m->density += level ? chance : 0;
    m->dense += chance * (omega_bits(level + 1) + (level > 0));
    m->sparse += level ? chance * (1 + (s > 1 ? omega_bits(level) : 0)) : 0;
}

static LevelMeans level_means(double t, uint32_t s)
{
    enum { POINTS = 256 };
    LevelMeans m = {0};
    double weight[POINTS], total = 0;
    for (size_t i = 0; i < POINTS; i++) {
        const double z = 6 * ((double)i + 0.5) / POINTS;
        total += weight[i] = exp(-z * z / 2);
    }
    for (size_t i = 0; i < POINTS; i++) {
        const double steps = fmin(6 * ((double)i + 0.5) / POINTS * t, s), w = weight[i] / total;
        const uint32_t level = (uint32_t)steps;
        const double f = steps - level;
        add_level(&m, w * (1 - f), level, s);
        add_level(&m, w * f, level + 1, s);
        m.rounding += w * f * (1 - f);
    }
    return m;
}

/* Returns the expected bits of the Elias omega code of the gap between two non-zero elements. A bucket has
 * `run` elements, each non-zero with probability `density`, independently. */
static double gap_bits(double density, double run)
{
    double bits = 0, chance = density;
    for (uint32_t gap = 1; gap <= run; gap++, chance *= 1 - density)
        bits += chance * omega_bits(gap);
    return bits;
}

static VectorCost qsgd_cost(const Call *c, size_t n)
{
    if (goes_as_floats(c, n))
        return (VectorCost){8 * (double)(varint_size(1 + 4 * n) + 1 + 4 * n), 0};
    const size_t buckets = (n + BUCKET_SIZE - 1) / BUCKET_SIZE;
    const double run = (double)n / (double)buckets;
    const uint32_t s = top_of(c);
    const LevelMeans m = level_means(s / sqrt(run), s);
    const double sparse =
        m.sparse + m.density * gap_bits(m.density, run) + omega_bits(1 + (uint64_t)(run * m.density)) / run;
    const double levels = (double)n * fmin(sparse, m.dense);
    const size_t head = 2 + 4 * buckets; /* kind, form and norms */
    return (VectorCost){levels + 8 * (double)(head + varint_size(head + (size_t)levels / 8)),
                        run * m.rounding / ((double)s * s)};
}

VectorCost svd_vectors_cost(const Call *c, size_t n)
{
    /* Let P be the largest power of two that is at most |x|. Neighbouring values of bf16 differ by 2^-7 P, so
     * the mean variance of rounding is (2^-7 P)^2 / 6. If log |x| is evenly distributed, the mean of x^2 is
     * 2.16 times the mean of P^2 (if x is normally distributed, 1.85 times). */
    if (form_of(c) == VECTORS_BF16)
        return (VectorCost){8 * (double)(varint_size(1 + 2 * n) + 1 + 2 * n), 0x1p-14 / 6 / 2.16};
    return form_of(c) == VECTORS_QSGD && n ? qsgd_cost(c, n) : (VectorCost){32 * (double)n, 0};
}

/* ---- encoding and decoding one vector ---- */

/* Rounds the n elements x, unless they are sent as floats, and appends them to `out`. `index` selects the random words for the
 * vector. ERR_NUMERIC: a value is beyond the range of the form. */
static Status svd_vectors_put(const Call *c, uint64_t index, const float *x, size_t n, Buf *out)
{
    if (!c->self->other) {
        buf_floats(out, x, n);
        streams_floats(c->streams, n);
        return OK;
    }
    const Shape shape = shape_vector(n);
    const ArenaMark mark = arena_mark(c->scratch);
    Call inner = call_for(c, &shape);
    Streams streams = {0};
    inner.rng = rng_below(&c->rng, index);
    inner.streams = c->streams ? &streams : NULL;
    Buf payload = {.cap = codec_bound(&inner)};
    payload.data = NEW(c->scratch, uint8_t, payload.cap);
    TRY(arena_check(payload.data, c->scratch, c->err));
    if (form_of(c) == VECTORS_BF16 && kernels()->abs_max(x, n) > 0x1.fep127F) /* bf16 would saturate */
        return FAIL(c->err, ERR_NUMERIC, "svd: a vector is beyond bf16");
    TRY(codec_encode(&inner, x, &payload));
    buf_varint(out, payload.size);
    buf_copy(out, payload.data, payload.size);
    streams_bits(c->streams, streams.entropy_bits + 8 * (double)varint_size(payload.size));
    arena_rewind(c->scratch, mark);
    return OK;
}

/* Returns false only if the encoder cannot have made this payload from a unit vector. x (n) is the decoded
 * payload. For a qsgd payload, tests the bucket norms in the payload, which were computed before rounding. bf16
 * multiplies each element by a factor within 1 +- 2^-7. */
static bool svd_vectors_unit(const Call *c, Bytes payload, const float *x, size_t n)
{
    const bool norms = form_of(c) == VECTORS_QSGD && payload.data[0] == PAYLOAD_METHOD;
    const size_t count = norms ? (n + BUCKET_SIZE - 1) / BUCKET_SIZE : n;
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        const double value = (double)(norms ? load_f32(payload.data + 1 + 4 * i) : x[i]);
        sum += value * value;
    }
    return fabs(sum - 1) < (form_of(c) == VECTORS_BF16 ? 0x1.02p-6 : 1e-5);
}

/* ---- rounding noise of an element: (up - |x|)(|x| - down), where |x| is rounded to `up` or to `down` ---- */

static void add_element(VectorNoise *sum, double x, double noise)
{
    sum->noise += noise;
    sum->along += noise * x * x;
    sum->squares += noise * noise;
}

/* `part` is |x| minus the largest bf16 number that is at most |x|. `step` is the distance from this number to
 * the next larger bf16 number: 2^-7 times the largest power of two that is at most |x|, but at least 2^-133. */
static void bf16_noise(const float *x, size_t n, VectorNoise *sum)
{
    for (size_t i = 0; i < n; i++) {
        const uint32_t bits = float_bits(x[i]) & 0x7fffffff, power = bits & 0x7f800000;
        const double value = (double)bits_float(bits), part = value - (double)bits_float(bits & 0xffff0000);
        const double step = (double)bits_float(power ? power : 0x00800000) * 0x1p-7;
        add_element(sum, value, part * (step - part));
    }
}

static void qsgd_noise(double s, const float *x, size_t n, VectorNoise *sum)
{
    for (size_t from = 0; from < n; from += BUCKET_SIZE) {
        const size_t some = n - from < BUCKET_SIZE ? n - from : BUCKET_SIZE;
        const double norm = (double)(float)sqrt(kernels()->sum_squares(x + from, some)), step = norm / s;
        for (size_t i = from; i < from + some && norm > 0; i++) {
            const double t = fmin(s * fabs((double)x[i]) / norm, s), f = t - (double)(int32_t)t;
            add_element(sum, (double)x[i], step * step * (f * (1 - f)));
        }
    }
}

static VectorNoise svd_vectors_noise(const Call *c, const float *x, size_t n)
{
    VectorNoise sum = {0};
    const double squares = kernels()->sum_squares(x, n);
    if (form_of(c) == VECTORS_BF16)
        bf16_noise(x, n, &sum);
    else if (form_of(c) == VECTORS_QSGD && !goes_as_floats(c, n))
        qsgd_noise(top_of(c), x, n, &sum);
    if (sum.noise == 0)
        return sum;
    return (VectorNoise){sum.noise / squares, sum.along / squares / squares, sum.squares / squares / squares};
}

/* ---- the vectors of atoms as floats ---- */

typedef struct {
    float *left, *right; /* (count, rows), (count, cols) */
} VectorBatch;

static Status batch_make(const Call *c, SvdPlan *plan, const size_t *kept, size_t count, VectorBatch *batch)
{
    double *scale = NEW(c->scratch, double, count);
    uint8_t **left = NEW(c->scratch, uint8_t *, count), **right = NEW(c->scratch, uint8_t *, count);
    const bool turned = plan->s.a.turned;
    batch->left = NEW(c->scratch, float, count * plan->rows);
    batch->right = NEW(c->scratch, float, count * plan->cols);
    TRY(arena_check(scale && left && right && batch->left && batch->right, c->scratch, c->err));
    for (size_t i = 0; i < count; i++) {
        left[i] = (uint8_t *)(batch->left + i * plan->rows);
        right[i] = (uint8_t *)(batch->right + i * plan->cols);
        scale[i] = 1 / plan->p[kept[i]];
    }
    TRY(spectral_atoms(&plan->s, kept, scale, count, turned ? right : left, turned ? left : right, c->scratch, c->err));
    floats_order(batch->left, count * plan->rows);
    floats_order(batch->right, count * plan->cols);
    return OK;
}

/* ---- writing ---- */

Status svd_put(const Call *c, SvdPlan *plan, const size_t *kept, size_t count, Buf *out)
{
    VectorBatch batch;
    buf_u8(out, PAYLOAD_METHOD);
    buf_varint(out, count);
    streams_bits(c->streams, 8 * (double)varint_size(count));
    TRY(batch_make(c, plan, kept, count, &batch));
    for (size_t i = 0; i < count; i++) {
        const uint64_t address = 2 * (uint64_t)kept[i];
        TRY(svd_vectors_put(c, address, batch.left + i * plan->rows, plan->rows, out));
        TRY(svd_vectors_put(c, address + 1, batch.right + i * plan->cols, plan->cols, out));
    }
    return OK;
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
    if (!c->self->other)
        return OK;
    TRY(batch_make(c, plan, sent, count, &batch));
    for (size_t i = 0; i < count; i++) {
        left[sent[i]] = svd_vectors_noise(c, batch.left + i * plan->rows, plan->rows);
        right[sent[i]] = svd_vectors_noise(c, batch.right + i * plan->cols, plan->cols);
    }
    return OK;
}

/* ---- reading ---- */

/* Reads a vector. ERR_CORRUPT: svd_vectors_put cannot have written it. */
static Status get_vector(const Call *c, Reader *r, size_t atom, bool unit, size_t n, float *x)
{
    const size_t size = c->self->other ? (size_t)take_varint(r) : 4 * n;
    const Bytes payload = {r->bad ? NULL : take_bytes(r, size), size};
    const Shape shape = shape_vector(n);
    const Call inner = call_for(c, &shape);
    if (!payload.data)
        return payload_bad(c, "atom %zu is cut short", atom);
    if (!c->self->other)
        floats_load(x, payload.data, n);
    else if (codec_decode(&inner, payload, x) != OK)
        return error_at(c->err, "svd payload: atom %zu", atom);
    if (!isfinite(blockwise_most(x, n, 1)))
        return payload_bad(c, "atom %zu is not finite", atom);
    if (unit && !svd_vectors_unit(c, payload, x, n))
        return payload_bad(c, "atom %zu has no vector of length one", atom);
    return OK;
}

Status svd_get(const Call *c, Bytes in, SvdAtoms *a)
{
    Reader r = reader_open(in);
    const uint8_t kind = take_u8(&r);
    const uint64_t count = take_varint(&r);
    *a = (SvdAtoms){0};
    svd_view(c, &a->rows, &a->cols);
    const size_t most = a->rows < a->cols ? a->rows : a->cols, each = 4 * (a->rows + a->cols);
    TRY(payload_kind(c, kind, PAYLOAD_METHOD));
    if (r.bad)
        return payload_bad(c, "no count of atoms");
    if (count > most)
        return payload_bad(c, "%llu atoms, want at most %zu", (unsigned long long)count, most);
    if (!c->self->other && reader_left(&r) != count * each)
        return payload_bad(c, "%zu bytes of atoms, want %zu", reader_left(&r), (size_t)count * each);
    a->count = (size_t)count;
    a->left = NEW(c->scratch, float, a->count * a->rows);
    a->right = NEW(c->scratch, float, a->count * a->cols);
    TRY(arena_check(a->left && a->right, c->scratch, c->err));
    for (size_t i = 0; i < a->count; i++) {
        /* true: the right vectors have length one; false: the left vectors have length one */
        const bool right = a->rows >= a->cols;
        TRY(get_vector(c, &r, i, !right, a->rows, a->left + i * a->rows));
        TRY(get_vector(c, &r, i, right, a->cols, a->right + i * a->cols));
    }
    return reader_done(&r) ? OK : payload_bad(c, "%zu bytes behind the last atom", reader_left(&r));
}
