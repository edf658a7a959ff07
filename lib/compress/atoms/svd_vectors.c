/* svd_vectors.c -- writes and reads singular vectors, and computes the bits and the noise of their rounding
 * (svd_vectors.h). */
#include "compress/atoms/svd_vectors.h"
#include "coder/elias.h"
#include "math/vec/kernels.h"

#include <math.h>
#include <stdio.h>

const char *const svd_vector_forms[] = {"f32", "bf16", "qsgd", NULL};

enum { BUCKET_SIZE = 512 }; /* the default of qsgd's key `bucket` */

bool svd_vectors_spec(VectorForm form, int64_t bits, char spec[PART_SPEC])
{
    if (form == VECTORS_BF16)
        snprintf(spec, PART_SPEC, "bf16:rounding=stochastic");
    if (form == VECTORS_QSGD)
        snprintf(spec, PART_SPEC, "qsgd:bits=%lld,bucket=%d", (long long)bits, BUCKET_SIZE);
    return form != VECTORS_F32;
}

Vectors svd_vectors_of(VectorForm form, int64_t bits, const Codec *codec)
{
    return (Vectors){.form = form, .codec = codec, .s = (UINT32_C(1) << bits) - 1};
}

static Call call_for(const Vectors *v, const Call *c, const Shape *shape)
{
    Call inner = *c;
    inner.self = v->codec;
    inner.shape = shape;
    inner.state = NULL;
    inner.streams = NULL;
    return inner;
}

/* True if qsgd sends a vector of n elements as raw floats. qsgd does so if the upper bound of its payload is at
 * least the size of raw floats. */
static bool goes_as_floats(const Vectors *v, const Call *c, size_t n)
{
    const Shape shape = shape_vector(n);
    const Call inner = call_for(v, c, &shape);
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

static VectorCost qsgd_cost(const Vectors *v, const Call *c, size_t n)
{
    if (goes_as_floats(v, c, n))
        return (VectorCost){8 * (double)(varint_size(1 + 4 * n) + 1 + 4 * n), 0};
    const size_t buckets = (n + BUCKET_SIZE - 1) / BUCKET_SIZE;
    const double run = (double)n / (double)buckets;
    const LevelMeans m = level_means(v->s / sqrt(run), v->s);
    const double sparse =
        m.sparse + m.density * gap_bits(m.density, run) + omega_bits(1 + (uint64_t)(run * m.density)) / run;
    const double levels = (double)n * fmin(sparse, m.dense);
    const size_t head = 2 + 4 * buckets; /* kind, form and norms */
    return (VectorCost){levels + 8 * (double)(head + varint_size(head + (size_t)levels / 8)),
                        run * m.rounding / ((double)v->s * v->s)};
}

VectorCost svd_vectors_cost(const Vectors *v, const Call *c, size_t n)
{
    /* Let P be the largest power of two that is at most |x|. Neighbouring values of bf16 differ by 2^-7 P, so
     * the mean variance of rounding is (2^-7 P)^2 / 6. If log |x| is evenly distributed, the mean of x^2 is
     * 2.16 times the mean of P^2 (if x is normally distributed, 1.85 times). */
    if (v->form == VECTORS_BF16)
        return (VectorCost){8 * (double)(varint_size(1 + 2 * n) + 1 + 2 * n), 0x1p-14 / 6 / 2.16};
    return v->form == VECTORS_QSGD && n ? qsgd_cost(v, c, n) : (VectorCost){32 * (double)n, 0};
}

/* ---- encoding and decoding one vector ---- */

size_t svd_vectors_most(size_t n)
{
    return VARINT_MAX + 1 + 4 * n;
}

Status svd_vectors_put(const Vectors *v, const Call *c, uint64_t index, const float *x, size_t n, Buf *out)
{
    const Shape shape = shape_vector(n);
    const ArenaMark mark = arena_mark(c->scratch);
    Call inner = call_for(v, c, &shape);
    Streams streams = {0};
    inner.rng = rng_below(&c->rng, index);
    inner.streams = c->streams ? &streams : NULL;
    Buf payload = {.cap = codec_bound(&inner)};
    payload.data = NEW(c->scratch, uint8_t, payload.cap);
    TRY(arena_check(payload.data, c->scratch, c->err));
    if (v->form == VECTORS_BF16 && kernels()->abs_max(x, n) > 0x1.fep127F) /* bf16 would saturate */
        return FAIL(c->err, ERR_NUMERIC, "svd: a vector is beyond bf16");
    TRY(codec_encode(&inner, x, &payload));
    buf_varint(out, payload.size);
    buf_copy(out, payload.data, payload.size);
    streams_bits(c->streams, streams.entropy_bits + 8 * (double)varint_size(payload.size));
    arena_rewind(c->scratch, mark);
    return OK;
}

const uint8_t *svd_vectors_take(const Vectors *v, Reader *r, size_t n, size_t *size)
{
    const uint64_t bytes = v->codec ? take_varint(r) : 4 * n;
    *size = (size_t)bytes;
    return r->bad ? NULL : take_bytes(r, (size_t)bytes);
}

Status svd_vectors_get(const Vectors *v, const Call *c, Bytes payload, size_t n, float *x)
{
    const Shape shape = shape_vector(n);
    const Call inner = call_for(v, c, &shape);
    if (v->codec)
        return codec_decode(&inner, payload, x);
    floats_load(x, payload.data, n);
    return OK;
}

/* Returns false only if x cannot be the decoded form of a vector of length one. For a qsgd payload, tests the
 * bucket norms in the payload, which were computed before rounding. bf16 multiplies each element by a factor
 * within 1 +- 2^-7. */
bool svd_vectors_unit(const Vectors *v, Bytes payload, const float *x, size_t n)
{
    const bool norms = v->form == VECTORS_QSGD && payload.data[0] == PAYLOAD_METHOD;
    const size_t count = norms ? (n + BUCKET_SIZE - 1) / BUCKET_SIZE : n;
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        const double value = (double)(norms ? load_f32(payload.data + 1 + 4 * i) : x[i]);
        sum += value * value;
    }
    return fabs(sum - 1) < (v->form == VECTORS_BF16 ? 0x1.02p-6 : 1e-5);
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

VectorNoise svd_vectors_noise(const Vectors *v, const Call *c, const float *x, size_t n)
{
    VectorNoise sum = {0};
    const double squares = kernels()->sum_squares(x, n);
    if (v->form == VECTORS_BF16)
        bf16_noise(x, n, &sum);
    else if (v->form == VECTORS_QSGD && !goes_as_floats(v, c, n))
        qsgd_noise(v->s, x, n, &sum);
    if (sum.noise == 0)
        return sum;
    return (VectorNoise){sum.noise / squares, sum.along / squares / squares, sum.squares / squares / squares};
}
