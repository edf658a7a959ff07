/* svd.c -- spectral ATOMO: a matrix's singular vectors are the atoms, and few are sent (Wang et al., NeurIPS
 * 2018).
 *
 * A = sum lambda_i u_i v_i'. Atom i is kept with probability p_i and sent as u_i lambda_i / p_i and v_i, so
 * the mean is A. Algorithm 1 chooses p: of all with sum p = rank it has the least variance, sum lambda^2 (1/p
 * - 1). The payload:
 *
 *     kind:8 = 1   count:varint   { left:f32 x rows   right:f32 x cols } x count
 *
 * where the vector on the shorter side has length one and the other carries the scale. */
#include "../atoms.h"
#include "../spectral.h"
#include "../waterfill.h"

#include <float.h>
#include <math.h>

typedef struct {
    double rank;
    int reshape, method, probs, empty, draw;
} Svd;

static const char *const methods[] = {"gram", "gesdd", NULL}; /* as SpectralMethod counts */

static const Param schema[] = {
    PARAM(Svd, rank, "3", 0.001, 65536, "expected number of atoms; need not be whole", .rate = true),
    PARAM_OF(Svd, reshape, "paper", reshape_names, "how a tensor becomes a matrix"),
    PARAM_OF(Svd, method, "gram", methods,
             "eigenvectors of A'A, or LAPACK's gesdd: slow, 16 to 40 bytes an element"),
    ATOM_PARAMS(Svd),
    {0},
};

/* ---- which atoms, how likely ---- */

typedef struct {
    size_t rows, cols; /* of the matrix as it lies in memory */
    Spectral s;
    double *p;    /* (k) */
    double atoms; /* expected number sent */
    bool raw;     /* the atoms are expected to be no smaller than the floats */
} Plan;

static Status set_probabilities(const Call *c, Plan *plan)
{
    const Svd *o = c->self->params;
    const double *lambda = plan->s.lambda;
    const size_t k = plan->s.k;
    double sum = 0, level;
    plan->p = NEW(c->scratch, double, k);
    if (!plan->p)
        return arena_fail(c->scratch, c->err);
    for (size_t i = 0; i < k; i++)
        sum += lambda[i];
    level = o->probs == PROBS_CLIP ? sum / o->rank : waterfill_level(lambda, k, o->rank, c->scratch);
    if (isnan(level))
        return arena_fail(c->scratch, c->err);
    for (size_t i = 0; i < k; i++)
        plan->p[i] = level > 0 ? fmin(1, lambda[i] / level) : lambda[i] > 0;
    return OK;
}

/* The chance that a draw keeps nothing. */
static double chance_of_none(const Plan *plan, int draw)
{
    double none = 1, sum = 0;
    for (size_t i = 0; i < plan->s.k; i++) {
        none *= 1 - plan->p[i];
        sum += plan->p[i];
    }
    return draw == DRAW_SYSTEMATIC ? fmax(0, 1 - sum) : none;
}

static Status make_plan(const Call *c, const float *x, Plan *plan)
{
    const Svd *o = c->self->params;
    matrix_view(c->shape, (Reshape)o->reshape, &plan->rows, &plan->cols);
    TRY(spectral_open(&plan->s, tall_of(x, plan->rows, plan->cols), (SpectralMethod)o->method, c->threads,
                      c->scratch, c->err));
    TRY(set_probabilities(c, plan));
    plan->atoms = 0;
    for (size_t i = 0; i < plan->s.k; i++)
        plan->atoms += plan->p[i];
    if (o->empty == EMPTY_RESAMPLE && plan->atoms > 0)
        plan->atoms /= 1 - chance_of_none(plan, o->draw);
    plan->raw = 2 + 4 * plan->atoms * (double)(plan->rows + plan->cols) >= (double)raw_size(c);
    return OK;
}

/* ---- drawing ---- */

static size_t draw_independent(const Call *c, const Plan *plan, size_t *kept)
{
    size_t count = 0;
    for (size_t i = 0; i < plan->s.k; i++)
        if (plan->p[i] >= 1 || rng_unit(&c->rng, USE_ATOM, i) < plan->p[i])
            kept[count++] = i;
    return count;
}

/* One offset for all: an atom is kept where the running sum of p passes it plus a whole number. Those with p
 * = 1 stand aside, or rounding could lose them. */
static size_t draw_systematic(const Call *c, const Plan *plan, size_t *kept)
{
    const double offset = rng_unit(&c->rng, USE_ATOM, 0);
    double sum = 0;
    size_t count = 0;
    for (size_t i = 0; i < plan->s.k; i++) {
        const double before = sum;
        sum += plan->p[i] < 1 ? plan->p[i] : 0;
        if (plan->p[i] >= 1 || ceil(sum - offset) > ceil(before - offset))
            kept[count++] = i;
    }
    return count;
}

/* What drawing again until something is kept ends with: the first atom from its distribution given that there
 * is one, the later ones as ever. */
static size_t draw_again(const Call *c, const Plan *plan, size_t *kept)
{
    const Svd *o = c->self->params;
    const size_t k = plan->s.k;
    double left = rng_unit(&c->rng, USE_ATOM, k) * (1 - chance_of_none(plan, o->draw)), none = 1;
    size_t first = k, count = 0;
    for (size_t i = 0; i < k; i++) {
        if (plan->p[i] <= 0)
            continue;
        first = i; /* the last one there is, should rounding leave a crumb of the interval */
        left -= none * plan->p[i];
        if (left < 0)
            break;
        none *= o->draw == DRAW_SYSTEMATIC ? 1 : 1 - plan->p[i];
    }
    if (first < k)
        kept[count++] = first;
    for (size_t i = first + 1; i < k && o->draw == DRAW_INDEPENDENT; i++)
        if (rng_unit(&c->rng, USE_ATOM, k + 1 + i) < plan->p[i])
            kept[count++] = i;
    return count;
}

static size_t draw(const Call *c, const Plan *plan, size_t *kept)
{
    const Svd *o = c->self->params;
    const size_t count = (o->draw == DRAW_SYSTEMATIC ? draw_systematic : draw_independent)(c, plan, kept);
    return count || o->empty == EMPTY_SEND ? count : draw_again(c, plan, kept);
}

/* ---- the payload ---- */

/* The atoms of a payload: left (count, rows), right (count, cols). */
typedef struct {
    size_t rows, cols, count;
    float *left, *right;
} Atoms;

static Status atoms_take(const Call *c, Atoms *a)
{
    a->left = NEW(c->scratch, float, a->count * a->rows);
    a->right = NEW(c->scratch, float, a->count * a->cols);
    return a->left && a->right ? OK : arena_fail(c->scratch, c->err);
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

/* No decoded value can be larger. */
static double ceiling(const Atoms *a)
{
    double sum = 0;
    for (size_t i = 0; i < a->count; i++)
        sum += largest(a->left + i * a->rows, a->rows) * largest(a->right + i * a->cols, a->cols);
    return sum;
}

/* Sums the atoms into x; false when a value is beyond float32. */
static bool add_up(const Call *c, const Atoms *a, float *x)
{
    linalg_outer(a->left, a->right, a->count, a->rows, a->cols, c->threads, x);
    return ceiling(a) <= (double)FLT_MAX / 2 || first_nonfinite(x, c->shape->n, NULL) == c->shape->n;
}

/* A vector that an encoder made has length one to the rounding of its entries. */
static bool is_unit(const float *v, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += (double)v[i] * (double)v[i];
    return fabs(sum - 1) < 1e-5;
}

static Status get(const Call *c, Bytes in, Atoms *a)
{
    Reader r = reader_open(in);
    const uint8_t kind = take_u8(&r);
    const uint64_t count = take_varint(&r);
    *a = (Atoms){0};
    matrix_view(c->shape, (Reshape)((const Svd *)c->self->params)->reshape, &a->rows, &a->cols);
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

/* ---- the hooks ---- */

static unsigned traits(const Codec *codec)
{
    const Svd *o = codec->params;
    return (o->empty == EMPTY_SEND ? UNBIASED : 0) | RANDOM;
}

static size_t bound(const Call *c)
{
    size_t rows, cols;
    matrix_view(c->shape, (Reshape)((const Svd *)c->self->params)->reshape, &rows, &cols);
    const size_t most = rows < cols ? rows : cols;
    return 1 + VARINT_MAX + 4 * most * (rows + cols);
}

/* Room for the vectors of `count` atoms in a payload. */
typedef struct {
    size_t count;
    uint8_t **left, **right;
} Slots;

static Status slots_take(const Call *c, const Plan *plan, Slots *s, Buf *out)
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

/* Decodes what is about to be sent. */
static Status check_range(const Call *c, Bytes payload)
{
    Atoms a;
    float *x = NEW(c->scratch, float, c->shape->n);
    if (!x)
        return arena_fail(c->scratch, c->err);
    Call quiet = *c;
    Error unread;
    quiet.err = &unread;
    const Status status = get(&quiet, payload, &a);
    if (status == ERR_MEMORY)
        return arena_fail(c->scratch, c->err);
    if (status == OK && add_up(c, &a, x))
        return OK;
    return FAIL(c->err, ERR_NUMERIC, "svd: a decoded value would be beyond float32");
}

static Status encode(const Call *c, const float *x, Buf *out)
{
    Plan plan;
    TRY(make_plan(c, x, &plan));
    if (plan.raw)
        return raw_put(c, x, out);
    size_t *kept = NEW(c->scratch, size_t, plan.s.k);
    double *scale = NEW(c->scratch, double, plan.s.k), most = 0;
    if (!kept || !scale)
        return arena_fail(c->scratch, c->err);
    const size_t start = out->size;
    Slots s = {.count = draw(c, &plan, kept)};
    TRY(slots_take(c, &plan, &s, out));
    for (size_t i = 0; i < s.count; i++) {
        scale[i] = 1 / plan.p[kept[i]];
        most += plan.s.lambda[kept[i]] * scale[i];
    }
    const bool turned = plan.s.a.turned;
    TRY(spectral_atoms(&plan.s, kept, scale, s.count, turned ? s.right : s.left, turned ? s.left : s.right,
                       c->scratch, c->err));
    return most <= (double)FLT_MAX / 4 ? OK : check_range(c, (Bytes){out->data + start, out->size - start});
}

static Status decode(const Call *c, Bytes in, float *x)
{
    Atoms a;
    TRY(get(c, in, &a));
    return add_up(c, &a, x) ? OK : payload_bad(c, "a value is beyond float32");
}

/* lambda^2 (1/p - 1): of one atom. */
static double atom_variance(const Plan *plan, size_t i)
{
    const double lambda = plan->s.lambda[i], p = plan->p[i];
    return p > 0 ? lambda * lambda * ((1 - p) / p) : 0;
}

/* The atoms are orthogonal, so coins that depend on one another change nothing. */
static double variance(const Call *c, const float *x)
{
    const Svd *o = c->self->params;
    Plan plan;
    if (make_plan(c, x, &plan) != OK)
        return NAN;
    double sum = 0;
    for (size_t i = 0; i < plan.s.k; i++)
        sum += atom_variance(&plan, i);
    return plan.raw ? 0 : o->empty == EMPTY_RESAMPLE ? NAN : sum;
}

static ErrorLaw moments(const Call *c, const float *x, AtomMoments *m)
{
    Plan plan;
    if (((const Svd *)c->self->params)->draw == DRAW_SYSTEMATIC || make_plan(c, x, &plan) != OK)
        return DEPENDENT;
    *m = (AtomMoments){0};
    for (size_t i = 0; i < plan.s.k && !plan.raw; i++) {
        const double v = atom_variance(&plan, i);
        m->squares += v * v;
        m->weighted += v * plan.s.lambda[i] * plan.s.lambda[i];
    }
    return ATOMWISE;
}

const Compressor compressor_svd = {
    .name = "svd",
    .brief = "spectral ATOMO: few singular vectors, sampled",
    .formula =
        "A = sum lambda_i u_i v_i'; atom i is sent as lambda_i u_i / p_i and v_i with probability p_i\n"
        "p_i = min(1, lambda_i / tau), sum p = rank (Algorithm 1); variance sum lambda_i^2 (1/p_i - 1)",
    .paper = "Wang et al., ATOMO: Communication-efficient Learning via Atomic Sparsification, NeurIPS 2018",
    .params = schema,
    .params_size = sizeof(Svd),
    .traits = traits,
    .bound = bound,
    .encode = encode,
    .decode = decode,
    .variance = variance,
    .moments = moments,
};
