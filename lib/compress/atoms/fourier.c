/* fourier.c -- ATOMO in the Fourier basis: a frequency, its cosine and its sine, is one atom with an amplitude and
 * a phase. Heavy atoms travel as complex numbers; a light one as its index and one of 64 phases, drawn so that
 * the mean is right (phase.h), at the common amplitude tau. The payload is atoms_phase.h's. */
#include "compress/atoms/atoms_phase.h"
#include "compress/atoms/basis.h"
#include "vec/kernels.h"

#include <math.h>

typedef struct {
    double ratio;
    int64_t dims;
    int probs, empty, draw;
} Fourier;

static const Param schema[] = {
    BASIS_PARAMS(Fourier),
    PARAM(Fourier, dims, "1", 1, 2, "the tensor as one line, or as svd's matrix, both ways"),
    {0},
};

static Spectrum shape_of(const Call *c)
{
    size_t rows = 1, cols = c->shape->n;
    if (((const Fourier *)c->self->params)->dims == 2)
        matrix_view(c->shape, RESHAPE_PAPER, &rows, &cols);
    return spectrum_shape(rows, cols);
}

/* A tensor's spectrum and the draw of its gauges, not yet tossed. */
typedef struct {
    AtomPlan plan;
    Spectrum s;
    float *gauge; /* (atoms) */
    AtomDraw draw;
    bool raw; /* the atoms are expected to be no smaller than the floats */
} Scene;

static Status scene_open(const Call *c, const float *x, Scene *scene)
{
    const Fourier *o = c->self->params;
    *scene = (Scene){.plan = BASIS_PLAN(o, c), .s = shape_of(c)};
    scene->gauge = NEW(c->scratch, float, scene->s.atoms);
    if (!scene->gauge)
        return arena_fail(c->scratch, c->err);
    TRY(spectrum_of(c, x, &scene->s, scene->gauge));
    TRY(atoms_open(c, &scene->plan, scene->gauge, scene->s.atoms, &scene->draw));
    scene->raw =
        phases_bits(scene->s.atoms, (double)scene->draw.heavy, scene->draw.light) >= 8 * (double)raw_size(c);
    return OK;
}

/* ---- the hooks ---- */

static unsigned traits(const Codec *codec)
{
    const Fourier *o = codec->params;
    return RANDOM | (o->empty == EMPTY_SEND ? UNBIASED : 0);
}

static size_t bound(const Call *c)
{
    return phases_bound(shape_of(c).atoms);
}

static Status decode(const Call *c, Bytes in, float *x)
{
    Spectrum s = shape_of(c);
    return phases_get(c, in, &s, x);
}

/* Decodes what is about to be sent. */
static Status check_range(const Call *c, Bytes payload)
{
    float *x = NEW(c->scratch, float, c->shape->n);
    if (!x)
        return arena_fail(c->scratch, c->err);
    const Status status = decode(c, payload, x);
    if (status != ERR_CORRUPT)
        return status;
    return FAIL(c->err, ERR_NUMERIC, "fourier: a decoded value would be beyond float32");
}

static Status encode(const Call *c, const float *x, Buf *out)
{
    const ArenaMark mark = arena_mark(c->scratch);
    const size_t start = out->size, n = c->shape->n;
    Scene scene;
    TRY(scene_open(c, x, &scene));
    if (scene.raw)
        return raw_put(c, x, out);
    TRY(atoms_toss(&scene.plan, &scene.draw));
    TRY(phases_put(c, &scene.s, &scene.draw, out));
    if (basis_in_range(&scene.plan, n, kernels()->abs_max(x, n)))
        return OK;
    arena_rewind(c->scratch, mark);
    return check_range(c, (Bytes){out->data + start, out->size - start});
}

/* gauge tau - |z|^2 of each light atom: it is tau long when it is there, with p = gauge / tau. */
static double spread(const Scene *scene, AtomMoments *m)
{
    double sum = 0;
    *m = (AtomMoments){0};
    for (size_t i = 0; i < scene->s.atoms; i++) {
        const float *z = scene->s.data + spectrum_frequency(&scene->s, i).at;
        const double size2 = (double)z[0] * (double)z[0] + (double)z[1] * (double)z[1];
        const double v = fmax(0, (double)scene->gauge[i] * (double)scene->draw.tau - size2);
        if (scene->gauge[i] > scene->draw.tau)
            continue;
        sum += v;
        m->squares += v * v;
        m->weighted += v * size2;
    }
    return sum;
}

static double variance(const Call *c, const float *x)
{
    const Fourier *o = c->self->params;
    Scene scene;
    AtomMoments m;
    if (scene_open(c, x, &scene) != OK)
        return NAN;
    if (scene.raw)
        return 0;
    return o->empty == EMPTY_RESAMPLE ? NAN : spread(&scene, &m);
}

/* An atom's error lies along its phase, but for the little that rounding turns it. */
static ErrorLaw moments(const Call *c, const float *x, AtomMoments *m)
{
    Scene scene;
    *m = (AtomMoments){0};
    if (((const Fourier *)c->self->params)->draw == DRAW_SYSTEMATIC || scene_open(c, x, &scene) != OK)
        return DEPENDENT;
    if (!scene.raw)
        spread(&scene, m);
    return ATOMWISE;
}

const Compressor compressor_fourier = {
    .name = "fourier",
    .brief = "ATOMO over frequencies: few of a Fourier transform's, sampled by amplitude",
    .formula =
        "X = FFT of g / sqrt n; z_k = sqrt 2 X_k, one atom for each conjugate pair (z = X where X is real)\n"
        "keep z_k with p_k = min(1, a_k / tau), sum p = ratio n; a = |z| / rho, rho in [cos(pi/64), 1]\n"
        "a > tau: index and complex number; else index and phase, one of 64 with mean rho e^(i phase)\n"
        "variance tau T1 - T2, T1 = sum a, T2 = sum |z|^2 over a <= tau",
    .paper = "Wang et al., ATOMO, NeurIPS 2018, Algorithm 1 and section 4",
    .params = schema,
    .params_size = sizeof(Fourier),
    .traits = traits,
    .bound = bound,
    .encode = encode,
    .decode = decode,
    .variance = variance,
    .moments = moments,
};
