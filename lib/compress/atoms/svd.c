/* svd.c -- spectral ATOMO: the atoms are outer products of left and right singular vectors of a matrix (Wang et
 * al., NeurIPS 2018).
 *
 * A = sum lambda_i u_i v_i'. Atom i is kept with probability p_i and sent as u_i lambda_i / p_i and v_i, so the
 * mean of the estimate is A. svd_parts.h describes the plan and the payload. */
#include "compress/atoms/svd_parts.h"
#include "compress/atoms/waterfill.h"
#include "math/blockwise.h"

#include <float.h>
#include <math.h>
#include <stdio.h>

/* ---- the plan: chooses the probabilities p of the atoms, and draws atoms. By the ATOMO paper's
 * Algorithm 1, p has the least variance sum lambda^2 (1/p - 1) for sum p = rank.
 *
 * If singular vectors are rounded, an atom's variance is lambda^2 ((1 + w)(1 + w') / p - 1), where w and w' are
 * the mean squared errors of its two vectors. Then the best p is proportional to lambda sqrt((1 + w)(1 + w') /
 * bits), where `bits` is the size of the atom. The square root is nearly the same for all atoms of a matrix, so
 * p is computed from lambda alone. With each atom's own w, the variance on gradients of ResNet-18 would be
 * lower by only one part in 10^4 at 2 bits. And the vectors of all atoms would have to be computed, not only
 * the vectors of the sent atoms. */

bool svd_takes_leading(const Codec *svd, const Shape *shape)
{
    const Svd *o = svd->params;
    size_t rows, cols;
    matrix_view(shape, (Reshape)o->reshape, &rows, &cols);
    return o->method == SVD_RANDOMIZED || (o->method == SVD_AUTO && rows > SVD_SIDE_MOST && cols > SVD_SIDE_MOST);
}

/* Decomposes the matrix `a` of the tensor x, with memory from `arena`. */
static Status decompose(const Call *c, Tall a, Spectral *s, Arena *arena)
{
    const Svd *o = c->self->params;
    if (svd_takes_leading(c->self, c->shape))
        return spectral_open_leading(s, a, (size_t)o->directions, c->threads, arena, c->err);
    return spectral_open(s, a, o->method == SVD_GESDD ? SPECTRAL_GESDD : SPECTRAL_GRAM, c->threads, arena, c->err);
}

/* Takes the decomposition from c->kept. It depends on x alone, so the draws of atoms in several calls are independent given
 * x, as without c->kept. That holds for the randomized range finder, too: its random signs are the same for every tensor
 * and draw, and the mean over the draws of atoms is A for any orthonormal basis. */
static Status decompose_once(const Call *c, Tall a, Spectral *s)
{
    Kept *kept = c->kept;
    if (!kept->found || kept->x != a.x) {
        Spectral *own = NEW(kept->arena, Spectral, 1);
        TRY(arena_check(own, kept->arena, c->err));
        TRY(decompose(c, a, own, kept->arena));
        *kept = (Kept){kept->arena, own, a.x};
    }
    *s = *(const Spectral *)kept->found;
    return OK;
}

/* Sets all members of *plan except `level`, `p`, `atoms`, `bits` and `raw`; the memory is in c->scratch. */
static Status svd_plan_open(const Call *c, const float *x, SvdPlan *plan)
{
    const Svd *o = c->self->params;
    *plan = (SvdPlan){0};
    svd_view(c, &plan->rows, &plan->cols);
    const VectorCost left = svd_vectors_cost(c, plan->rows),
                     right = svd_vectors_cost(c, plan->cols);
    plan->atom_bits = left.bits + right.bits;
    plan->atom_noise = (1 + left.noise) * (1 + right.noise);
    const Tall a = tall_of(x, plan->rows, plan->cols);
    /* gesdd's singular vectors take more memory than x */
    return c->kept && o->method != SVD_GESDD ? decompose_once(c, a, &plan->s) : decompose(c, a, &plan->s, c->scratch);
}

static double chance_of_none(const SvdPlan *plan, int draw)
{
    double none = 1, sum = 0;
    for (size_t i = 0; i < plan->s.k; i++) {
        none *= 1 - plan->p[i];
        sum += plan->p[i];
    }
    return draw == DRAW_SYSTEMATIC ? fmax(0, 1 - sum) : none;
}

/* Sets `level`, `p`, `atoms`, `bits` and `raw`, for a given water level. */
static Status svd_plan_level(const Call *c, SvdPlan *plan, double level)
{
    const Svd *o = c->self->params;
    const double *lambda = plan->s.lambda;
    plan->level = level;
    plan->atoms = 0;
    plan->p = NEW(c->scratch, double, plan->s.k);
    TRY(arena_check(plan->p, c->scratch, c->err));
    for (size_t i = 0; i < plan->s.k; i++) {
        plan->p[i] = level > 0 ? fmin(1, lambda[i] / level) : lambda[i] > 0;
        plan->atoms += plan->p[i];
    }
    if (o->empty == EMPTY_RESAMPLE && plan->atoms > 0)
        plan->atoms /= 1 - chance_of_none(plan, o->draw);
    plan->bits = 16 + plan->atoms * plan->atom_bits;
    /* If a plan covers all tensors of a step, water level 0 asks for the exact tensor. Rounded vectors are not
     * exact, so the tensor is sent raw. */
    const bool exact = c->plan && level == 0 && plan->atoms > 0 && plan->atom_noise > 1;
    plan->raw = exact || plan->bits >= 8 * (double)raw_size(c);
    return OK;
}

/* Sets `level`, `p`, `atoms`, `bits` and `raw`, for an expected number of `rank` atoms. */
static Status svd_plan_rank(const Call *c, SvdPlan *plan)
{
    const Svd *o = c->self->params;
    double sum = 0, level;
    for (size_t i = 0; i < plan->s.k; i++)
        sum += plan->s.lambda[i];
    level = o->probs == PROBS_CLIP ? sum / o->rank
                                   : waterfill_level(plan->s.lambda, plan->s.k, o->rank, c->scratch);
    if (isnan(level))
        return arena_fail(c->scratch, c->err);
    return svd_plan_level(c, plan, level);
}

/* ---- drawing ---- */

static size_t draw_independent(const Call *c, const SvdPlan *plan, size_t *kept)
{
    size_t count = 0;
    for (size_t i = 0; i < plan->s.k; i++)
        if (plan->p[i] >= 1 || rng_unit(&c->rng, USE_ATOM, i) < plan->p[i])
            kept[count++] = i;
    return count;
}

/* Systematic sampling with one random offset. Atom i owns the interval from the sum of p before i to the sum
 * that includes i. Atom i is kept if the interval contains the offset plus an integer. Atoms with p = 1 are
 * always kept and left out of the sums: rounding errors of the sums could drop them. */
static size_t draw_systematic(const Call *c, const SvdPlan *plan, size_t *kept)
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

/* Draws atoms under the condition that at least one is kept. First draws which atom is the first kept one.
 * Then, for independent draws, draws the later atoms. A systematic draw that can be empty never keeps a
 * second atom. */
static size_t draw_again(const Call *c, const SvdPlan *plan, size_t *kept)
{
    const Svd *o = c->self->params;
    const size_t k = plan->s.k;
    double left = rng_unit(&c->rng, USE_ATOM, k) * (1 - chance_of_none(plan, o->draw)), none = 1;
    size_t first = k, count = 0;
    for (size_t i = 0; i < k; i++) {
        if (plan->p[i] <= 0)
            continue;
        /* rounding errors can leave left >= 0 at the end of the loop; then the last atom is the first kept
         * one */
        first = i;
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

/* Draws atoms: writes the indices of the kept atoms to kept (k) in rising order, and returns their number. */
static size_t svd_draw(const Call *c, const SvdPlan *plan, size_t *kept)
{
    const Svd *o = c->self->params;
    const size_t count = (o->draw == DRAW_SYSTEMATIC ? draw_systematic : draw_independent)(c, plan, kept);
    return count || o->empty == EMPTY_SEND ? count : draw_again(c, plan, kept);
}

/* ---- the distribution of the number of kept atoms ---- */

/* For k < most, chance[k] is the probability of k atoms; chance[most] is the probability of `most` or more. */
static void count_law(const SvdPlan *plan, const Svd *o, size_t most, double *chance)
{
    double mean = 0;
    chance[0] = 1;
    for (size_t i = 0; i < plan->s.k; i++) {
        const double p = plan->p[i];
        mean += p;
        for (size_t j = most; j > 0 && o->draw == DRAW_INDEPENDENT; j--)
            chance[j] = chance[j] * (j == most ? 1 : 1 - p) + chance[j - 1] * p;
        chance[0] *= 1 - p;
    }
    /* systematic sampling keeps floor(mean) or floor(mean) + 1 atoms */
    if (o->draw == DRAW_SYSTEMATIC) {
        const size_t low = (size_t)mean;
        chance[0] = 0;
        chance[low < most ? low : most] += 1 - (mean - (double)low);
        chance[low + 1 < most ? low + 1 : most] += mean - (double)low;
    }
    for (size_t j = most; j > 0 && o->empty == EMPTY_RESAMPLE && chance[0] < 1; j--)
        chance[j] /= 1 - chance[0];
    chance[0] = o->empty == EMPTY_RESAMPLE ? 0 : chance[0];
}

/* codec_encode sends raw floats if raw floats are shorter, so the result is at most the bits of raw floats. */
static double payload_bits(const Call *c, const SvdPlan *plan, size_t count)
{
    return fmin(8 * (double)raw_size(c),
                8 + 8 * (double)varint_size(count) + (double)count * plan->atom_bits);
}

/* Returns the bits of a payload of `count` atoms minus the mean bits of a payload. The result is exact if all
 * atoms take the same number of bits, and otherwise approximate. Returns 0 if memory runs out. */
static double svd_excess(const Call *c, const SvdPlan *plan, size_t count)
{
    /* a draw of `most` or more atoms is sent as raw floats, so all such draws take the same number of bits */
    size_t most = 1;
    while (most < plan->s.k && payload_bits(c, plan, most) < 8 * (double)raw_size(c))
        most++;
    double *chance = NEW_ZERO(c->scratch, double, most + 1), mean = 0;
    if (!chance)
        return 0;
    count_law(plan, c->self->params, most, chance);
    for (size_t k = 0; k <= most; k++)
        mean += chance[k] * payload_bits(c, plan, k);
    return payload_bits(c, plan, count) - mean;
}

/* ---- the codec ---- */

/* names of the values of the key `method`, in the order of SvdMethod */
static const char *const methods[] = {"auto", "gram", "gesdd", "randomized", NULL};
static const char *const vector_forms[] = {"f32", "bf16", "qsgd", NULL}; /* in the order of VectorForm */

enum { VBITS = 8, DIRECTIONS = 64 }; /* the defaults of the keys vbits and directions */

static const Param schema[] = {
    PARAM(Svd, rank, "3", 0.001, 65536, "expected number of atoms; need not be whole", .rate = true),
    PARAM_OF(Svd, reshape, "paper", reshape_names, "how a tensor becomes a matrix"),
    PARAM_OF(
        Svd, method, "auto", methods,
        "gram: eigenvectors of A'A; gesdd: LAPACK's, slow, 16 to 40 bytes an element; randomized: few leading "
        "singular vectors, and any orthonormal vectors beyond them; auto: randomized where rows and columns are "
        "over 1024, else gram"),
    PARAM(Svd, directions, "64", 1, 65536,
          "leading singular vectors of randomized; under 4 columns for each: gram"),
    PARAM_OF(Svd, vectors, "f32", vector_forms, "singular vectors as floats, or rounded without bias"),
    PARAM(Svd, vbits, "8", 1, 16, "bits of a level, where vectors=qsgd"),
    ATOM_PARAMS(Svd),
    {0},
};

static unsigned traits(const Codec *codec)
{
    const Svd *o = codec->params;
    return o->empty == EMPTY_SEND ? UNBIASED : 0;
}

/* Writes the spec of the codec that rounds singular vectors; f32 needs none. */
static bool part(const Codec *codec, char spec[PART_SPEC])
{
    const Svd *o = codec->params;
    if (o->vectors == VECTORS_BF16)
        snprintf(spec, PART_SPEC, "bf16:rounding=stochastic");
    if (o->vectors == VECTORS_QSGD)
        snprintf(spec, PART_SPEC, "qsgd:bits=%lld,bucket=%d", (long long)o->vbits, BUCKET_SIZE);
    return o->vectors != VECTORS_F32;
}

static Status check(const Codec *codec, Error *err)
{
    const Svd *o = codec->params;
    if (o->directions != DIRECTIONS && o->method != SVD_RANDOMIZED) {
        FAIL(err, ERR_USAGE, "svd: directions=%lld without method=randomized", (long long)o->directions);
        return error_hint(err, "svd:method=randomized,directions=%lld", (long long)o->directions);
    }
    if (o->vectors == VECTORS_QSGD || o->vbits == VBITS)
        return OK;
    FAIL(err, ERR_USAGE, "svd: vbits=%lld without vectors=qsgd", (long long)o->vbits);
    return error_hint(err, "svd:vectors=qsgd,vbits=%lld", (long long)o->vbits);
}

static Status make_plan(const Call *c, const float *x, SvdPlan *plan)
{
    TRY(svd_plan_open(c, x, plan));
    return c->plan ? svd_plan_level(c, plan, ((const CurvePoint *)c->plan)->level) : svd_plan_rank(c, plan);
}

/* A vector of n elements takes at most VARINT_MAX + 1 + 4 n bytes, in any form. */
static size_t bound(const Call *c)
{
    size_t rows, cols;
    svd_view(c, &rows, &cols);
    return 1 + VARINT_MAX + (rows < cols ? rows : cols) * (2 * (VARINT_MAX + 1) + 4 * (rows + cols));
}

/* Returns an upper bound on the magnitude of every element of the atoms' sum. */
static double ceiling_of(const SvdAtoms *a)
{
    double sum = 0;
    for (size_t i = 0; i < a->count; i++)
        sum += (double)blockwise_most(a->left + i * a->rows, a->rows, 1) *
               (double)blockwise_most(a->right + i * a->cols, a->cols, 1);
    return sum;
}

static bool add_up(const Call *c, const SvdAtoms *a, float *x)
{
    linalg_outer(a->left, a->right, a->count, a->rows, a->cols, c->threads, x);
    return ceiling_of(a) <= (double)FLT_MAX / 2 || first_nonfinite(x, c->shape->n, NULL) == c->shape->n;
}

static Status encode(const Call *c, const float *x, Buf *out)
{
    SvdPlan plan;
    TRY(make_plan(c, x, &plan));
    if (plan.raw)
        return raw_put(c, x, out);
    size_t *kept = NEW(c->scratch, size_t, plan.s.k);
    double most = 0;
    TRY(arena_check(kept, c->scratch, c->err));
    const size_t count = svd_draw(c, &plan, kept);
    if (c->streams) {
        c->streams->excess += svd_excess(c, &plan, count);
        c->streams->mean_known = ((const Svd *)c->self->params)->vectors != VECTORS_QSGD;
    }
    TRY(svd_put(c, &plan, kept, count, out));
    for (size_t i = 0; i < count; i++)
        most += plan.s.lambda[kept[i]] / plan.p[kept[i]];
    return most <= (double)FLT_MAX / 4
               ? OK
               : FAIL(c->err, ERR_NUMERIC, "svd: a decoded value might be beyond float32");
}

static Status decode(const Call *c, Bytes in, float *x)
{
    SvdAtoms a;
    TRY(svd_get(c, in, &a));
    return add_up(c, &a, x) ? OK : payload_bad(c, "a value is beyond float32");
}

/* ---- closed forms of the variance and of the error's moments ---- */

typedef struct {
    SvdPlan plan;
    /* (k) rounding error of each atom's left and right singular vector */
    VectorNoise *left, *right;
} NoisyPlan;

static Status make_noisy(const Call *c, const float *x, NoisyPlan *n)
{
    TRY(make_plan(c, x, &n->plan));
    n->left = NEW(c->scratch, VectorNoise, n->plan.s.k);
    n->right = NEW(c->scratch, VectorNoise, n->plan.s.k);
    return n->left && n->right ? svd_noise(c, &n->plan, n->left, n->right) : arena_fail(c->scratch, c->err);
}

/* Returns the sum of lambda^2 ((1 + w)(1 + w') / p - 1), where w and w' are the mean squared errors of rounding
 * the vectors u and v. The formula also holds for dependent draws, because the atoms are orthogonal. */
static double variance(const Call *c, const float *x)
{
    NoisyPlan n;
    double sum = 0;
    if (make_noisy(c, x, &n) != OK)
        return NAN;
    for (size_t i = 0; i < n.plan.s.k; i++) {
        const double lambda = n.plan.s.lambda[i], p = n.plan.p[i], w = n.left[i].noise, w1 = n.right[i].noise;
        sum += p > 0 ? lambda * lambda * ((1 - p + (w + w1 + w * w1)) / p) : 0;
    }
    return n.plan.raw ? 0 : ((const Svd *)c->self->params)->empty == EMPTY_RESAMPLE ? NAN : sum;
}

/* Adds one atom lambda u v' to the moments of the error. Let q = 1/p, let x be the Kronecker product, and let D
 * and D' be the covariances of the rounding errors of u and v. In units of lambda^2, the atom's error has the
 * covariance uu' x ((q - 1) vv' + q D') + q D x (vv' + D'). The trace of this covariance's square is added to
 * `squares`. Only the coin counts in `fourths`. lambda^2 times the variance of the estimate along the atom is added to `weighted`. */
static void add_atom(double lambda2, double p, const VectorNoise *u, const VectorNoise *v, AtomMoments *m)
{
    const double q = 1 / p, coin = (1 - p) / p, along = u->along + v->along + u->along * v->along;
    const double rounding = u->squares + v->squares + u->squares * v->squares +
                            2 * (u->along * v->along + u->squares * v->along + u->along * v->squares);
    m->fourths += lambda2 * lambda2 * coin * (q * q - 6 * coin);
    m->squares += lambda2 * lambda2 * (coin * coin + 2 * coin * q * along + q * q * rounding);
    m->weighted += lambda2 * lambda2 * (coin + q * along);
}

/* Unless the sampling is systematic, atoms are kept and rounded independently, so their errors are
 * independent. */
static ErrorLaw moments(const Call *c, const float *x, AtomMoments *m)
{
    NoisyPlan n;
    if (((const Svd *)c->self->params)->draw == DRAW_SYSTEMATIC || make_noisy(c, x, &n) != OK)
        return DEPENDENT;
    *m = (AtomMoments){.none = !n.plan.raw && ((const Svd *)c->self->params)->empty == EMPTY_SEND};
    for (size_t i = 0; i < n.plan.s.k && !n.plan.raw; i++)
        if (n.plan.p[i] > 0) {
            add_atom(n.plan.s.lambda[i] * n.plan.s.lambda[i], n.plan.p[i], &n.left[i], &n.right[i], m);
            m->none *= 1 - n.plan.p[i];
        }
    return ATOMWISE;
}

/* ---- the curve of bits and variance ---- */

/* Returns the plan's variance. Takes the expected rounding error of random vectors, so the singular vectors
 * need not be computed. */
static double expected_variance(const SvdPlan *plan)
{
    double sum = 0;
    for (size_t i = 0; i < plan->s.k && !plan->raw; i++) {
        const double lambda = plan->s.lambda[i], p = plan->p[i];
        sum += p > 0 ? lambda * lambda * (plan->atom_noise / p - 1) : 0;
    }
    return sum;
}

/* Appends a point to the curve, after removing earlier points with as many bits or more. */
static void add_point(CurvePoint *point, size_t *count, CurvePoint added)
{
    while (*count && point[*count - 1].bits >= added.bits)
        (*count)--;
    point[(*count)++] = added;
}

static Status add_level(const Call *c, SvdPlan *plan, double level, CurvePoint *point, size_t *count)
{
    const ArenaMark mark = arena_mark(c->scratch);
    TRY(svd_plan_level(c, plan, level));
    const double bits = plan->raw ? 8 * (double)raw_size(c) : plan->bits;
    add_point(point, count, (CurvePoint){level, bits, expected_variance(plan)});
    arena_rewind(c->scratch, mark);
    return OK;
}

/* Writes points of bits and variance at falling water levels, each 2^(1/16) times lower than the one before. At
 * the first level 1/1024 atoms are expected. The levels end above the smallest non-zero singular value (at
 * this value, if singular vectors are rounded), or where raw floats are shorter. The last point has level 0:
 * it keeps all atoms or, if singular vectors are rounded, stands for raw floats. */
static Status curve(const Call *c, const float *x, CurvePoint *point, size_t *count)
{
    SvdPlan plan;
    double top = 0, least = INFINITY;
    TRY(svd_plan_open(c, x, &plan));
    for (size_t i = 0; i < plan.s.k; i++) {
        top += 1024 * plan.s.lambda[i];
        least = plan.s.lambda[i] > 0 ? fmin(least, plan.s.lambda[i]) : least;
    }
    *count = 0;
    plan.raw = false;
    for (int i = 0; top * exp2(-i / 16.0) > least && !plan.raw && i < CURVE_MOST - 2; i++)
        TRY(add_level(c, &plan, top * exp2(-i / 16.0), point, count));
    if (plan.atom_noise <= 1 || top <= 0)
        return add_level(c, &plan, 0, point, count);
    if (!plan.raw)
        TRY(add_level(c, &plan, least, point, count));
    add_point(point, count, (CurvePoint){0, 8 * (double)raw_size(c), 0});
    return OK;
}

const Compressor compressor_svd = {
    .name = "svd",
    .brief = "spectral ATOMO: few singular vectors, sampled",
    .plain = "Takes each tensor as a matrix and sends few of its singular vectors, chosen at random in "
             "proportion to the singular values. The mean over draws is the gradient. The decomposition "
             "takes far more time than rounding does.",
    .use_when = "the gradients of layers are close to low rank (`inspect` then says svd under theorem 6) "
                "and the link is slow.",
    .example = "atomo-bench synth -o g.h5 --force --law lowrank --shape 128x128\n"
               "atomo-bench compare g.h5 -c svd:rank=1/2/4",
    .formula =
        "A = sum lambda_i u_i v_i'; atom i is sent as lambda_i u_i / p_i and v_i with probability p_i\n"
        "p_i = min(1, lambda_i / tau), sum p = rank (Algorithm 1); variance sum lambda_i^2 (1/p_i - 1)\n"
        "method=randomized: A = sum (A v_i) v_i' with lambda_i = |A v_i| holds for every orthonormal basis v_i:\n"
        "the mean is still A, the variance the same sum. The first `directions` v_i are near the leading singular\n"
        "vectors (a range finder with a power iteration: Halko, Martinsson, Tropp, SIAM Review 53(2), 2011); any\n"
        "others complete the basis. sum lambda_i, and so the variance, is least for singular vectors. On 1024 x\n"
        "1024, rank 3, the variance is 1.34 times that of svd for normal elements; 1.14, 1.33 and 1.11 times for\n"
        "singular values i^-0.5, i^-1 and i^-2, and 2.67 times for exp(-i/50); with directions=128 1.30, 1.08,\n"
        "1.13, 1.03 and 1.37 times. On 2048 x 1536, rank 4: 1.23 times for normal elements, 1.17 for 16 strong\n"
        "directions in noise, and 4.4 for 100. The time of an element does not grow with the short side\n"
        "vectors=bf16|qsgd: u^ and v^ are rounded without bias and independently, so u^ v^' is unbiased;\n"
        "variance sum lambda_i^2 ((1 + w_i)(1 + w'_i) / p_i - 1), w = E |u^ - u|^2 / |u|^2, w' = that of v.\n"
        "qsgd: l2 norms of 512 elements, s = 2^vbits - 1 levels, Elias codes; w + w' is near 85 / s^2 for\n"
        "long vectors, whatever the rank",
    .paper = "Wang et al., ATOMO: Communication-efficient Learning via Atomic Sparsification, NeurIPS 2018",
    .look = {HUE_ATOMS, 0, 0},
    .params = schema,
    .promises = RANDOM | WHOLE | NEEDS_ALL,
    .traits = traits,
    .part = part,
    .bound = bound,
    .encode = encode,
    .decode = decode,
    .check = check,
    .variance = variance,
    .moments = moments,
    .curve = curve,
};
