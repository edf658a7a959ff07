/* basis.c -- ATOMO in an orthonormal basis (basis.h), and its codecs: entry, gspar and lq keep elements; dct, wavelet and hadamard
 * keep coefficients of a transform. */
#include "compress/atoms/basis.h"
#include "compress/atoms/waterfill.h"
#include "math/blockwise.h"
#include "math/vec/kernels.h"
#include "math/fourier_transform.h"
#include "math/dyadic_transform.h"

#include <float.h>
#include <math.h>

/* An orthonormal basis. A codec that uses the hooks below has its Basis in `Compressor.family`. */
typedef struct {
    /* Makes the AtomPlan for x, which says how the water level tau is chosen. NULL: basis_plan makes it. */
    Status (*plan)(const Call *c, const float *x, AtomPlan *plan);
    /* Transforms x (n) to coef (n); x and coef do not overlap. NULL: there is no transform, and the elements
     * are the atoms. */
    Status (*forward)(const Call *c, const float *x, float *coef);
    Status (*inverse)(const Call *c, float *coef, float *x); /* may overwrite coef */
    bool light; /* true: payloads list light atoms (p < 1) only */
} Basis;

static const Basis *basis_of(const Call *c)
{
    return c->self->ops->family;
}

/* ---- keys ---- */

AtomPlan basis_plan(const Call *c)
{
    const BasisKeys *k = c->self->params;
    AtomPlan plan = {.probs = k->probs, .empty = k->empty, .draw = k->draw};
    if (c->plan)
        plan.tau = (float)((const CurvePoint *)c->plan)->level;
    else
        plan.budget = k->ratio * (double)c->shape->n;
    return plan;
}

static Status open_coder(const Call *c, const float *x, AtomCoder *coder)
{
    const Basis *basis = basis_of(c);
    *coder = (AtomCoder){.light = basis->light};
    if (basis->plan)
        return basis->plan(c, x, &coder->plan);
    coder->plan = basis_plan(c);
    return OK;
}

unsigned basis_traits(const Codec *codec)
{
    return ((const BasisKeys *)codec->params)->empty == EMPTY_SEND ? UNBIASED : 0;
}

/* ---- keeping estimates within float32's range ---- */

double basis_lift(float largest)
{
    int exponent;
    if (largest == 0 || (largest >= 0x1p-40f && largest <= 0x1p40f))
        return 1;
    frexp((double)largest, &exponent);
    return ldexp(1, -exponent);
}

bool basis_scale(const float *from, size_t n, double lift, float *to)
{
    bool in = true;
    for (size_t i = 0; i < n; i++)
        in &= fabs((double)from[i] * lift) <= (double)FLT_MAX;
    for (size_t i = 0; i < n && in; i++)
        to[i] = (float)((double)from[i] * lift);
    return in;
}

/* `largest` is m = max |x|. Since |x|_2 <= sqrt(n) m, the sum of the coefficients' magnitudes is at most n m, and the water level at most n m /
 * budget. An estimate has at most n coefficients, each at most the water level or |x|_2, whichever is larger.
 * So the estimate's l2 norm is at most sqrt(n) times this maximum. */
Status basis_in_range(const Call *c, const AtomPlan *plan, const float *x)
{
    const size_t n = c->shape->n;
    const double side = sqrt((double)n), most = (double)blockwise_most(x, n, c->threads) * side;
    const double level = plan->budget > 0 ? most * side / plan->budget : (double)plan->tau;
    return side * fmax(most, level) <= (double)FLT_MAX / 4
               ? OK
               : FAIL(c->err, ERR_NUMERIC, "%s: a decoded value might be beyond float32", c->self->ops->name);
}

/* ---- the transform between a tensor and its coefficients ---- */

static Status transform(const Call *c, const float *x, float *coef)
{
    const size_t n = c->shape->n;
    const double lift = basis_lift(blockwise_most(x, n, c->threads));
    if (lift == 1)
        return basis_of(c)->forward(c, x, coef);
    const ArenaMark mark = arena_mark(c->scratch);
    float *lifted = NEW(c->scratch, float, n);
    TRY(arena_check(lifted, c->scratch, c->err));
    basis_scale(x, n, lift, lifted);
    TRY(basis_of(c)->forward(c, lifted, coef));
    arena_rewind(c->scratch, mark);
    if (!basis_scale(coef, n, 1 / lift, coef))
        return FAIL(c->err, ERR_NUMERIC, "%s: a coefficient is beyond float32", c->self->ops->name);
    return OK;
}

/* Computes the coefficients of x in scratch memory. If the basis is the standard basis, sets *coef to x
 * itself. */
static Status coefficients(const Call *c, const float *x, const float **coef)
{
    *coef = x;
    if (!basis_of(c)->forward)
        return OK;
    float *y = NEW(c->scratch, float, c->shape->n);
    *coef = y;
    return y ? transform(c, x, y) : arena_fail(c->scratch, c->err);
}

static Status basis_encode(const Call *c, const float *x, Buf *out)
{
    const size_t start = out->size;
    AtomCoder coder;
    const float *coef;
    TRY(open_coder(c, x, &coder));
    TRY(coefficients(c, x, &coef));
    TRY(atoms_encode(c, &coder, coef, c->shape->n, x, out));
    return coef == x || out->data[start] == PAYLOAD_RAW ? OK : basis_in_range(c, &coder.plan, x);
}

static Status basis_decode(const Call *c, Bytes in, float *x)
{
    const Basis *basis = basis_of(c);
    const size_t n = c->shape->n;
    if (!basis->inverse)
        return atoms_decode(c, basis->light, in, n, x);
    float *coef = NEW(c->scratch, float, n);
    TRY(arena_check(coef, c->scratch, c->err));
    const ArenaMark mark = arena_mark(c->scratch);
    TRY(atoms_decode(c, basis->light, in, n, coef));
    arena_rewind(c->scratch, mark);
    const double lift = basis_lift(blockwise_most(coef, n, c->threads));
    if (lift != 1)
        basis_scale(coef, n, lift, coef);
    TRY(basis->inverse(c, coef, x));
    if (lift != 1 && !basis_scale(x, n, 1 / lift, x))
        return payload_bad(c, "a value is beyond float32");
    return OK;
}

/* ---- formulas for the variance, the curve of variance against bits, and the moments of the error ---- */

static double basis_variance(const Call *c, const float *x)
{
    AtomCoder coder;
    const float *coef;
    if (open_coder(c, x, &coder) != OK || coefficients(c, x, &coef) != OK)
        return NAN;
    return atoms_variance(c, &coder, coef, c->shape->n);
}

static Status basis_curve(const Call *c, const float *x, CurvePoint *point, size_t *count)
{
    const float *coef;
    TRY(coefficients(c, x, &coef));
    return atoms_curve(c, coef, c->shape->n, point, count);
}

static ErrorLaw basis_moments(const Call *c, const float *x, AtomMoments *m)
{
    AtomCoder coder;
    const float *coef;
    if (open_coder(c, x, &coder) != OK || coder.plan.draw == DRAW_SYSTEMATIC)
        return DEPENDENT;
    const ErrorLaw law =
        coefficients(c, x, &coef) == OK ? atoms_law(c, &coder, coef, c->shape->n, m) : DEPENDENT;
    m->elements = !basis_of(c)->forward;
    return law;
}

/* Sets the water level of a plan; NaN: out of memory. */
static Status tau_of(const Call *c, double level, AtomPlan *plan)
{
    plan->tau = (float)level;
    return isnan(level) ? arena_fail(c->scratch, c->err) : OK;
}

/* The hooks of a Compressor whose `family` is a Basis. */
#define BASIS_HOOKS                                                                                          \
    .bound = atoms_bound, .encode = basis_encode, .decode = basis_decode, .variance = basis_variance
#define BASIS_CURVE .moments = basis_moments, .curve = basis_curve /* hooks for codecs with BASIS_KEYS */

/* ---- entry: element-wise ATOMO: the unbiased sparsification of least variance among those that keep a given
 * expected number of elements (Wang et al. 2018, Algorithm 1). The payload has the format of atoms.h. ---- */

typedef struct {
    BasisKeys keys;
    double budget, bits;
} Entry;

static const Param entry_schema[] = {
    PARAM(BasisKeys, ratio, "0.01", 0, 1, "expected atoms as a share of the elements", .above = true,
          .rate = true, .group = 1),
    PARAM(Entry, budget, NULL, 0, 1e15, "expected atoms", .above = true, .group = 1),
    PARAM(Entry, bits, NULL, 0, 64, "expected payload bits an element", .above = true, .group = 1),
    ATOM_PARAMS(BasisKeys),
    {0},
};

static Status entry_plan(const Call *c, const float *x, AtomPlan *plan)
{
    const Entry *e = c->self->params;
    *plan = basis_plan(c);
    if (!c->plan && e->bits > 0) {
        const size_t n = c->shape->n;
        plan->budget = 0;
        return tau_of(c, atoms_level_of_bits(x, n, e->bits * (double)n, c->threads, c->scratch), plan);
    }
    if (!c->plan && e->budget > 0)
        plan->budget = e->budget;
    return OK;
}

static const Basis entry_basis = {.plan = entry_plan};

static Status check(const Codec *codec, Error *err)
{
    const Entry *e = codec->params;
    if (e->bits > 0 && e->keys.probs == PROBS_CLIP)
        return FAIL(err, ERR_USAGE, "entry: bits goes with probs=optimal; clip wants ratio or budget");
    return OK;
}

const Compressor compressor_entry = {
    .name = "entry",
    .brief = "element-wise ATOMO: the least variance for a budget of s expected elements",
    .plain = "Keeps some elements at random: large ones surely, small ones with a probability in proportion"
             " to their magnitude, enlarged to make up for those left out. The mean over draws is the "
             "gradient. No other probabilities with the same expected number of elements have less "
             "variance.",
    .use_when = "you want an unbiased sparse gradient, and its elements differ much in size.",
    .example = "atomo-bench synth -o g.h5 --force --law laplace\n"
               "atomo-bench compare g.h5 -c entry:ratio=0.01/0.1",
    .formula = "keep g_i with p_i = min(1, |g_i| / tau), tau such that sum p = s; decode g_i / p_i\n"
               "|g_i| > tau: index and float; else index and sign, all of magnitude tau\n"
               "variance tau T1 - T2, T1 = sum |g|, T2 = sum g^2 over |g_i| <= tau",
    .paper = "Wang et al., ATOMO, NeurIPS 2018, Algorithm 1",
    .look = {HUE_ATOMS, 5, 0},
    .params = entry_schema,
    .promises = RANDOM | EXACT_BYTES,
    .traits = basis_traits,
    .family = &entry_basis,
    BASIS_HOOKS,
    BASIS_CURVE,
    .check = check,
};

/* ---- gspar: gradient sparsification (Wangni, Wang, Liu, Zhang 2018). Element i is kept with probability p_i =
 * min(1, |g_i| / tau). If `eps` is set, tau gives a variance of at most eps |g|^2 with the fewest expected
 * elements: the dual problem of element-wise ATOMO. If `density` is set, tau gives an expected share `density`
 * of elements: element-wise ATOMO. atoms.h describes the payload. ---- */

typedef struct {
    double density, eps;
} Gspar;

static const Param gspar_schema[] = {
    PARAM(Gspar, density, "0.01", 0, 1, "expected elements as a share of all", .above = true, .rate = true,
          .group = 1),
    PARAM(Gspar, eps, NULL, 0, 1e15, "variance as a share of |g|^2: as few elements as it takes",
          .above = true, .group = 1),
    {0},
};

static Status gspar_plan(const Call *c, const float *x, AtomPlan *plan)
{
    const Gspar *g = c->self->params;
    *plan = (AtomPlan){0};
    if (g->eps > 0)
        return tau_of(c, waterfill_of_variance(x, c->shape->n, g->eps, c->threads, c->scratch), plan);
    plan->budget = g->density * (double)c->shape->n;
    return OK;
}

static const Basis gspar_basis = {.plan = gspar_plan};

static const Compressor compressor_gspar = {
    .name = "gspar",
    .brief = "the least expected density for a variance; the dual of ATOMO over the entries",
    .plain = "Keeps elements at random, large ones more often, enlarged to make up for those left out. The "
             "mean over draws is the gradient. You set the variance, and it finds the fewest expected "
             "elements, or you set their number.",
    .use_when = "you know how much variance the training bears and want the fewest elements for it.",
    .example = "atomo-bench synth -o g.h5 --force --law laplace\n"
               "atomo-bench compare g.h5 -c gspar:eps=1 -c gspar:density=0.05",
    .formula =
        "keep g_i with p_i = min(1, |g_i| / tau); decode g_i / p_i\n"
        "density: tau such that sum p = density n, the limit of the paper's greedy iteration; the same draws\n"
        "as entry:ratio=density. Variance tau T1 - T2, T1 = sum |g|, T2 = sum g^2 over |g_i| <= tau\n"
        "eps: the least sum p with E |decoded|^2 <= (1 + eps) |g|^2: tau = (eps |g|^2 + T2) / T1,\n"
        "variance eps |g|^2, to float32 rounding of tau",
    .paper = "Wangni, Wang, Liu, Zhang: Gradient Sparsification for Communication-Efficient Distributed\n"
             "Optimization, NeurIPS 2018",
    .look = {HUE_ATOMS, 1, 2},
    .params = gspar_schema,
    .promises = UNBIASED | RANDOM | EXACT_BYTES,
    .family = &gspar_basis,
    BASIS_HOOKS,
};

/* ---- lq: quantises to {-N, 0, N} with N = |g|_q: q = 2 is 1-bit QSGD, q = inf is TernGrad. The codec is ATOMO
 * with the budget s = |g|_1 / |g|_q (Wang et al. 2018, Theorem 5). Element i is kept with p = |g_i| / N. The
 * payload is a list of light atoms (p < 1; atoms.h) with tau = N. ---- */

typedef struct {
    double q;
} Lq;

static const Param lq_schema[] = {
    PARAM(Lq, q, "2", 0, INFINITY, "which norm is the scale", .above = true),
    {0},
};

/* Promises equal bytes on all machines (EXACT_BYTES) only for q = 1, 2 and inf. Other norms use pow, and its
 * last bit may differ between machines. */
static unsigned traits(const Codec *codec)
{
    const double q = ((const Lq *)codec->params)->q;
    return q == 1 || q == 2 || isinf(q) ? EXACT_BYTES : 0;
}

/* ---- the norm |x|_q ---- */

/* Returns v^q. Multiples of one half up to 4 need no pow. */
static double power(double v, double q)
{
    const double halves = 2 * q;
    if (halves > 8 || halves != floor(halves))
        return pow(v, q);
    double p = (int)halves % 2 ? sqrt(v) : 1;
    for (int i = 0; i < (int)halves / 2; i++)
        p *= v;
    return p;
}

/* Returns |x|_q (a quasi-norm for q < 1). To avoid overflow, computes the powers of |x| / max |x|. */
static double norm(const Call *c, const float *x)
{
    const size_t n = c->shape->n;
    const double q = ((const Lq *)c->self->params)->q;
    double sum = 0;
    float most = 0;
    if (q == 2) {
        blockwise_moments(x, n, c->threads, NULL, &sum, &most);
        return fmax(sqrt(sum), (double)most);
    }
    const double largest = (double)blockwise_most(x, n, c->threads);
    if (largest == 0 || isinf(q))
        return largest;
    for (size_t b = 0; b < blocks_of(n); b++) {
        double own = q == 1 ? kernels()->sum_magnitudes(x + b * BLOCK, block_size(n, b)) : 0;
        for (size_t i = b * BLOCK, end = i + block_size(n, b); q != 1 && i < end; i++)
            own += power(fabs((double)x[i]) / largest, q);
        sum += own;
    }
    return fmax(q == 1 ? sum : largest * pow(sum, 1 / q), largest);
}

static Status lq_plan(const Call *c, const float *x, AtomPlan *plan)
{
    const double scale = norm(c, x);
    if (scale > (double)FLT_MAX)
        return FAIL(c->err, ERR_NUMERIC, "lq: the norm %.3g is beyond float32", scale);
    *plan = (AtomPlan){.tau = (float)scale};
    return OK;
}

static const Basis lq_basis = {.plan = lq_plan, .light = true};

static const Compressor compressor_lq = {
    .name = "lq",
    .brief = "signs times the l_q norm, kept with p = |g_i| / |g|_q: ATOMO at the budget |g|_1 / |g|_q",
    .plain = "Sends each element as its sign times the l_q norm of the tensor, or as zero. The probability "
             "of sending is the magnitude over the norm. q = 2 is qsgd with one level and q = inf is "
             "terngrad.",
    .use_when = "you study Theorem 5 of the ATOMO paper, or what lies between qsgd and terngrad.",
    .example = "atomo-bench synth -o g.h5 --force\n"
               "atomo-bench compare g.h5 -c lq -c lq:q=inf -c terngrad",
    .formula = "N = |g|_q; decode N sign(g_i) with p_i = |g_i| / N, else 0\n"
               "variance |g|_1 |g|_q - |g|_2^2",
    .paper = "Wang et al., ATOMO, NeurIPS 2018, Theorem 5",
    .look = {HUE_ATOMS, 0, 1},
    .params = lq_schema,
    .promises = UNBIASED | RANDOM | NEEDS_ALL,
    .traits = traits,
    .family = &lq_basis,
    BASIS_HOOKS,
};

/* ---- dct: ATOMO in the cosine basis: the atoms are the basis vectors of an orthonormal DCT-II. atoms.h
 * describes the payload. ---- */

typedef struct {
    BasisKeys keys;
    int64_t dims;
} Dct;

static const Param dct_schema[] = {
    BASIS_KEYS,
    PARAM(Dct, dims, "1", 1, 2, "the tensor as one line, or as svd's matrix, both ways"),
    {0},
};

static void view(const Call *c, size_t *rows, size_t *cols)
{
    const Dct *o = c->self->params;
    *rows = 1;
    *cols = c->shape->n;
    if (o->dims == 2)
        matrix_view(c->shape, RESHAPE_PAPER, rows, cols);
}

static Status dct_forward(const Call *c, const float *x, float *coef)
{
    size_t rows, cols;
    view(c, &rows, &cols);
    return cosine_forward(x, rows, cols, coef, c->threads, c->scratch, c->err);
}

static Status dct_inverse(const Call *c, float *coef, float *x)
{
    size_t rows, cols;
    view(c, &rows, &cols);
    return cosine_back(coef, rows, cols, x, c->threads, c->scratch, c->err);
}

static const Basis dct_basis = {.forward = dct_forward, .inverse = dct_inverse};

static const Compressor compressor_dct = {
    .name = "dct",
    .brief = "ATOMO over the coefficients of a cosine transform",
    .plain = "Transforms each tensor to cosines and keeps few coefficients, chosen at random in proportion "
             "to their magnitude. The mean over draws is the gradient.",
    .use_when = "neighbouring elements are alike, so that few slow cosines hold most of the gradient.",
    .example = "atomo-bench synth -o g.h5 --force\n"
               "atomo-bench compare g.h5 -c dct:ratio=0.05 -c entry:ratio=0.05",
    .formula = "y = DCT-II of g, orthonormal; keep y_k with p_k = min(1, |y_k| / tau), sum p = ratio n\n"
               "decode y_k / p_k and transform back; variance tau T1 - T2 over |y_k| <= tau, as for entry",
    .paper = "Wang et al., ATOMO, NeurIPS 2018, Algorithm 1; Makhoul, IEEE Trans. ASSP 28, 1980",
    .look = {HUE_ATOMS, 3, 3},
    .params = dct_schema,
    .promises = RANDOM,
    .traits = basis_traits,
    .family = &dct_basis,
    BASIS_HOOKS,
    BASIS_CURVE,
};

/* ---- wavelet: ATOMO in an orthonormal wavelet basis: an atom is a wavelet of one width at one position, which
 * suits gradients whose neighbouring elements are similar. The payload has the format of atoms.h. ---- */

typedef struct {
    BasisKeys keys;
    int family;
    int64_t levels;
} Wavelet;

static const char *const wavelet_families[] = {
    [WAVELET_HAAR] = "haar", [WAVELET_DB2] = "db2", [WAVELET_DB4] = "db4", [WAVELETS] = NULL};

static const Param wavelet_schema[] = {
    BASIS_KEYS,
    PARAM_OF(Wavelet, family, "haar", wavelet_families, "filters: Haar, Daubechies' of 4 and of 8 taps"),
    PARAM(Wavelet, levels, "0", 0, 64, "how often smooths are split again; 0: down to one"),
    {0},
};

static Status wavelet_forward(const Call *c, const float *x, float *coef)
{
    const Wavelet *w = c->self->params;
    TRY(arena_check(wavelet(w->family, (int)w->levels, x, coef, c->shape->n, c->threads, c->scratch),
                    c->scratch, c->err));
    return OK;
}

static Status wavelet_inverse(const Call *c, float *coef, float *x)
{
    const Wavelet *w = c->self->params;
    wavelet_back(w->family, (int)w->levels, coef, x, c->shape->n, c->threads);
    return OK;
}

static const Basis wavelet_basis = {.forward = wavelet_forward, .inverse = wavelet_inverse};

static const Compressor compressor_wavelet = {
    .name = "wavelet",
    .brief = "ATOMO in an orthonormal wavelet basis, of any length",
    .plain = "Transforms each tensor to wavelets, which are differences at several scales, and keeps few "
             "coefficients, chosen at random in proportion to their magnitude. The mean over draws is the "
             "gradient.",
    .use_when = "large elements stand together in runs.",
    .example = "atomo-bench synth -o g.h5 --force --law sparse\n"
               "atomo-bench compare g.h5 -c wavelet:ratio=0.05 -c entry:ratio=0.05",
    .formula =
        "a level: m values to h = floor(m/2) smooths sum_t s_t x_(2k+t mod 2h) and h details, d_t = (-1)^t s_(T-1-t);\n"
        "an odd last value stays as it is; the next level splits the smooths. Orthonormal at every length\n"
        "keep coefficient c_k with p_k = min(1, |c_k| / tau), sum p = ratio n; decode the inverse of c_k / p_k\n"
        "variance tau T1 - T2, T1 = sum |c|, T2 = sum c^2 over |c_k| <= tau",
    .paper =
        "Wang et al., ATOMO, NeurIPS 2018 (any orthonormal atoms); Daubechies, Comm. Pure Appl. Math. 41, 1988",
    .look = {HUE_ATOMS, 4, 4},
    .params = wavelet_schema,
    .promises = RANDOM | EXACT_BYTES,
    .traits = basis_traits,
    .family = &wavelet_basis,
    BASIS_HOOKS,
    BASIS_CURVE,
};

/* ---- hadamard: ATOMO in the Walsh-Hadamard basis. An atom has the same magnitude at all elements of a
 * block, so a draw's error is spread evenly over the block. The payload has the format of atoms.h. ---- */

static const Param hadamard_schema[] = {
    BASIS_KEYS,
    {0},
};

static Status hadamard_forward(const Call *c, const float *x, float *coef)
{
    hadamard_of(x, coef, c->shape->n, c->threads);
    return OK;
}

static Status hadamard_inverse(const Call *c, float *coef, float *x)
{
    hadamard_of(coef, x, c->shape->n, c->threads);
    return OK;
}

static const Basis hadamard_basis = {.forward = hadamard_forward, .inverse = hadamard_inverse};

static const Compressor compressor_hadamard = {
    .name = "hadamard",
    .brief = "ATOMO in the Walsh-Hadamard basis: the error of a draw spreads evenly over the tensor",
    .plain = "Transforms each tensor by sums and differences alone (Walsh-Hadamard) and keeps few "
             "coefficients, chosen at random in proportion to their magnitude. The mean over draws is the "
             "gradient, and the error spreads evenly over all elements.",
    .use_when = "no single element may bear a large error, and the transform must be fast.",
    .example = "atomo-bench synth -o g.h5 --force\n"
               "atomo-bench compare g.h5 -c hadamard:ratio=0.05 -c entry:ratio=0.05",
    .formula =
        "blocks of 2^L elements, the powers of two that make up n, the largest first; in each\n"
        "c_k = 2^(-L/2) sum_i (-1)^popcount(i & k) g_i; keep c_k with p_k = min(1, |c_k| / tau), sum p = ratio n\n"
        "decode the same transform of c_k / p_k; variance tau T1 - T2, T1 = sum |c|, T2 = sum c^2 over |c_k| <= tau",
    .paper =
        "Wang et al., ATOMO, NeurIPS 2018 (any orthonormal atoms); Fino and Algazi, IEEE Trans. Computers, 1976",
    .look = {HUE_ATOMS, 1, 1},
    .params = hadamard_schema,
    .promises = RANDOM | EXACT_BYTES,
    .traits = basis_traits,
    .family = &hadamard_basis,
    BASIS_HOOKS,
    BASIS_CURVE,
};

const Compressor *const compressors_bases[] = {&compressor_dct, &compressor_wavelet, &compressor_hadamard, &compressor_lq, &compressor_gspar, NULL};
