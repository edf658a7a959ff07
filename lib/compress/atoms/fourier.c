/* fourier.c -- ATOMO in the Fourier basis. An atom is a frequency; its cosine and sine coefficients are one
 * complex number z. An atom is kept with p = min(1, gauge / tau). Its gauge is |z| or up to 0.12 % more
 * (phases, below). A heavy atom (gauge > tau) is sent as the two floats of z. A light atom (gauge <= tau) is sent as
 * its index and one of 64 phases, drawn at random so that the estimate is unbiased. All light atoms have the
 * amplitude tau.
 *
 *     payload    kind:8  heavy:set  { re:f32 im:f32 } x heavy  light:set  [ tau:f32  { phase:6 } x light ]
 *
 * The payload has no `im` for a real atom (a frequency that is its own conjugate). A light atom decodes to tau
 * times corner `phase` of the 64-gon (0 or 32 for a real atom). Phases fill each byte from its high bit;
 * padding bits are zeros. */
#include "compress/atoms/basis.h"
#include "base/bits.h"
#include "math/blockwise.h"
#include "math/fourier_transform.h"
#include "compress/compressor.h"

#include <float.h>
#include <math.h>

typedef struct {
    BasisKeys keys;
    int64_t dims;
} FourierKeys;

static const Param schema[] = {
    BASIS_KEYS,
    PARAM(FourierKeys, dims, "1", 1, 2, "the tensor as one line, or as svd's matrix, both ways"),
    {0},
};

/* ---- phases: rounds complex numbers z at random, without bias, to one of 64 phases. Fourier ATOMO (gradient
 * compression by sampled Fourier coefficients) codes the phase of a small coefficient this way.
 *
 * The 64 directions are the corners of a regular 64-gon in the unit circle. Write z = gauge(z) e, where e lies
 * on the edge between two corners. One of the two corners is drawn, with probabilities that make e the mean.
 * The corner, scaled to the codec's threshold tau >= gauge(z), is kept with probability gauge(z) / tau;
 * otherwise the result is 0. So the mean of the result is z.
 *
 * gauge(z) = |z| / |e| is at most 0.12 % above |z|, since |e| is at least cos(pi / 64). If z has the direction
 * of a corner, such as a real number, the phase is not random. No trigonometric function is used, so results
 * are the same on every machine. */

/* A lower bound on |z| / gauge(z). The exact minimum is cos(pi / 64) = 0.99880; the difference is a margin
 * for rounding. */
#define PHASE_LEAST_RHO 0.9987

/* A number is first reflected into the first octant, for which there are tables. */
enum { EDGES = PHASES / 8, QUARTER = PHASES / 4, HALF = PHASES / 2 };

/* Element k is cos(2 pi k / 64) for k <= 16. Element 16 - k is the sine of the same angle. */
static const double phase_cosine[QUARTER + 1] = {1,
                                           0.99518472667219693,
                                           0.98078528040323043,
                                           0.95694033573220882,
                                           0.92387953251128674,
                                           0.88192126434835505,
                                           0.83146961230254524,
                                           0.77301045336273699,
                                           0.70710678118654757,
                                           0.63439328416364549,
                                           0.55557023301960229,
                                           0.47139673682599781,
                                           0.38268343236508984,
                                           0.29028467725446233,
                                           0.19509032201612833,
                                           0.09801714032956077,
                                           0};

/* The 8 edges of the 64-gon in the first octant. Edge j lies on the line re phase_edge_re[j] + im phase_edge_im[j] = 1.
 * The two coefficients are the cosine and sine of the direction of the edge's middle, over cos(pi / 64). */
static const float phase_edge_re[EDGES] = {
    1, 0.990369453f, 0.971201107f, 0.942679564f, 0.905079501f, 0.858763028f, 0.804176197f, 0.74184471f};
static const float phase_edge_im[EDGES] = {0.0491268498f, 0.146907431f, 0.243273213f, 0.337296141f,
                                     0.428070723f,  0.51472275f,  0.596417716f, 0.672368853f};

/* Returns gauge(z) = |z| / |e|, where e is the point of the 64-gon in the direction of z = re + i im. It is
 * the largest x phase_edge_re[j] + y phase_edge_im[j] over the octant's edges j, where x + i y is z reflected into the
 * first octant. */
static inline float phase_gauge(float re, float im)
{
    const float a = fabsf(re), b = fabsf(im);
    const float x = a > b ? a : b, y = a > b ? b : a;
    float most = x * phase_edge_re[0] + y * phase_edge_im[0];
    for (int j = 1; j < EDGES; j++) {
        const float g = x * phase_edge_re[j] + y * phase_edge_im[j];
        most = g > most ? g : most;
    }
    return most;
}

/* Multiplies `count` complex numbers z (pairs re, im) by `scale` in place, and sets gauge[i] to the gauge of
 * product i. */
static void phase_gauges(float *z, size_t count, float scale, float *gauge)
{
    for (size_t i = 0; i < count; i++) {
        const float re = z[2 * i] * scale, im = z[2 * i + 1] * scale;
        z[2 * i] = re;
        z[2 * i + 1] = im;
        gauge[i] = phase_gauge(re, im);
    }
}

/* Writes the real and imaginary part of corner k to z. */
static void phase_corner(unsigned k, double z[2])
{
    const unsigned part = k % QUARTER;
    const double c = phase_cosine[part], s = phase_cosine[QUARTER - part];
    const unsigned quarter = k / QUARTER;
    z[0] = quarter == 0 ? c : quarter == 1 ? -s : quarter == 2 ? -c : s;
    z[1] = quarter == 0 ? s : quarter == 1 ? c : quarter == 2 ? -s : -c;
}

/* Draws one of the two corners between which z = re + i im points, for a uniform random number u in [0, 1).
 * Returns its index k; the corner is exp(2 pi i k / 64). `gauge` is the gauge of z and must not be 0. */
static unsigned phase_draw(float re, float im, float gauge, double u)
{
    const double a = fabs((double)re), b = fabs((double)im);
    const double x = a > b ? a : b, y = a > b ? b : a;
    /* index of the corner at the beginning of the edge to which z points */
    unsigned j = 0;
    for (unsigned k = 1; k < EDGES; k++)
        j = y * phase_cosine[k] >= x * phase_cosine[QUARTER - k] ? k : j;
    /* z lies between `gauge` c_j and `gauge` c_(j+1), where c_j is corner j on the unit circle. With q the
     * probability of c_(j+1), z = gauge ((1 - q) c_j + q c_(j+1)). So the cross product of c_j and z is q
     * gauge sin(2 pi / 64). */
    const double q = (phase_cosine[j] * y - phase_cosine[QUARTER - j] * x) / ((double)gauge * phase_cosine[QUARTER - 1]);
    unsigned k = j + (u < q);
    k = a > b ? k : QUARTER - k;
    k = re < 0 ? HALF - k : k;
    return im < 0 ? (PHASES - k) % PHASES : k;
}

/* ---- the Fourier atoms of a real matrix. An atom is a frequency; its coefficient is one complex number.
 *
 * Let X be the Fourier transform divided by sqrt(n). X[j, k] is the conjugate of X[-j, -k], so these two are
 * one atom with the coefficient z = sqrt(2) X[j, k]. Of the two, X[j, k] is the one with k <= cols / 2 (and if
 * k is 0 or cols / 2, with j <= rows / 2). A frequency that is its own conjugate is a real atom, with z = X[j,
 * k]. The sum of |z|^2 is the squared norm of the matrix. The atoms have this order:
 *
 *     j = 0 .. rows / 2 at k = 0;  k = 1 .. (cols - 1) / 2 for j = 0, for j = 1, ...;  and, for even cols,
 *     j = 0 .. rows / 2 at k = cols / 2
 *
 * For a vector this is the order of frequency. A matrix with more rows than columns is transposed first. ---- */

typedef struct {
    bool turned;             /* true: the matrix is transposed */
    size_t rows, cols, room; /* room: number of floats from one row to the next in memory */
    /* edge: number of atoms at k = 0; middle: number of atoms with 0 < k < cols / 2 for each j */
    size_t edge, middle;
    size_t atoms;
    float *data; /* (rows, room) in scratch: complex numbers; an atom's entry is z */
} FourierSpectrum;

typedef struct {
    size_t at; /* index into data; the imaginary part is at the next index */
    bool real;
} Frequency;

/* Returns the FourierSpectrum of a rows x cols matrix, with all fields but `data`. */
static FourierSpectrum spectrum_shape(size_t rows, size_t cols)
{
    const bool turned = rows > cols;
    FourierSpectrum s = {.turned = turned, .rows = turned ? cols : rows, .cols = turned ? rows : cols};
    if (rows == 0 || cols == 0)
        return (FourierSpectrum){0};
    s.room = fourier_room(s.cols);
    s.edge = s.rows / 2 + 1;
    s.middle = (s.cols - 1) / 2;
    s.atoms = s.edge * (s.cols % 2 ? 1 : 2) + s.rows * s.middle;
    return s;
}

static FourierSpectrum shape_of(const Call *c)
{
    size_t rows = 1, cols = c->shape->n;
    if (((const FourierKeys *)c->self->params)->dims == 2)
        matrix_view(c->shape, RESHAPE_PAPER, &rows, &cols);
    return spectrum_shape(rows, cols);
}

static size_t elements(const FourierSpectrum *s)
{
    return s->rows * s->cols;
}

/* Returns the position in s->data of the atom with number `atom`, and whether the atom is real. */
static Frequency spectrum_frequency(const FourierSpectrum *s, size_t atom)
{
    const bool inner = atom >= s->edge && atom - s->edge < s->rows * s->middle;
    if (inner) {
        const size_t i = atom - s->edge;
        return (Frequency){i / s->middle * s->room + 2 * (i % s->middle + 1), false};
    }
    const bool last = atom >= s->edge;
    const size_t j = last ? atom - s->edge - s->rows * s->middle : atom;
    return (Frequency){j * s->room + (last ? s->cols : 0), j == 0 || 2 * j == s->rows};
}

/* ---- copying between a tensor and rows of `room` floats ---- */

static void load(const FourierSpectrum *s, const float *x, double lift)
{
    for (size_t j = 0; j < s->rows && !s->turned; j++)
        basis_scale(x + j * s->cols, s->cols, lift, s->data + j * s->room);
    for (size_t i = 0; i < s->cols && s->turned; i++)
        for (size_t j = 0; j < s->rows; j++)
            s->data[j * s->room + i] = (float)((double)x[i * s->rows + j] * lift);
}

static bool store(const FourierSpectrum *s, double lift, float *x)
{
    bool in = true;
    for (size_t j = 0; j < s->rows && !s->turned; j++)
        in &= basis_scale(s->data + j * s->room, s->cols, lift, x + j * s->cols);
    for (size_t i = 0; i < s->cols && s->turned; i++)
        for (size_t j = 0; j < s->rows; j++) {
            const double v = (double)s->data[j * s->room + i] * lift;
            in &= fabs(v) <= (double)FLT_MAX;
            x[i * s->rows + j] = in ? (float)v : 0;
        }
    return in;
}

/* ---- forward transform ---- */

/* Computes the gauges of the atoms in column k, which is 0 or cols / 2. Rows j > rows / 2 hold the
 * conjugates of other rows, not atoms, so they get no gauge. */
static void measure_edge(const FourierSpectrum *s, size_t first, size_t k, float *gauge)
{
    const double n = (double)elements(s);
    for (size_t j = 0; j < s->rows; j++) {
        float *z = s->data + j * s->room + 2 * k, unread;
        const bool real = j == 0 || 2 * j == s->rows;
        z[1] = real ? 0 : z[1];
        phase_gauges(z, 1, (float)sqrt((real ? 1 : 2) / n), j < s->edge ? &gauge[first + j] : &unread);
    }
}

static void measure(const FourierSpectrum *s, float *gauge)
{
    for (size_t j = 0; j < s->rows; j++)
        phase_gauges(s->data + j * s->room + 2, s->middle, (float)sqrt(2 / (double)elements(s)),
                     gauge + s->edge + j * s->middle);
    measure_edge(s, 0, 0, gauge);
    if (s->cols % 2 == 0)
        measure_edge(s, s->edge + s->rows * s->middle, s->cols / 2, gauge);
}

static Status transform(const Call *c, const FourierSpectrum *s, FourierWay way, float *spare)
{
    Fourier f;
    const ArenaMark mark = arena_mark(c->scratch);
    TRY(fourier_open(&f, s->rows, s->cols, FOURIER_MATRIX, way, s->data, spare, c->threads, c->scratch,
                     c->err));
    fourier_run(&f, s->data);
    fourier_close(&f);
    arena_rewind(c->scratch, mark);
    return OK;
}

/* Computes s->data from x. Sets gauge[i] to the gauge of atom i: its |z| or up to 0.12 % more .
 * ERR_NUMERIC: a gauge is beyond float32's range. */
static Status spectrum_of(const Call *c, const float *x, FourierSpectrum *s, float *gauge)
{
    const double lift = basis_lift(blockwise_most(x, elements(s), c->threads));
    s->data = NEW(c->scratch, float, s->rows * s->room);
    TRY(arena_check(s->data, c->scratch, c->err));
    if (s->atoms == 0)
        return OK;
    load(s, x, lift);
    TRY(transform(c, s, FOURIER_FORWARD, NULL));
    measure(s, gauge);
    if (lift == 1)
        return OK;
    if (!basis_scale(gauge, s->atoms, 1 / lift, gauge))
        return FAIL(c->err, ERR_NUMERIC, "%s: a coefficient is beyond float32", c->self->ops->name);
    basis_scale(s->data, s->rows * s->room, 1 / lift, s->data);
    return OK;
}

/* ---- inverse transform ---- */

/* The inverse transform does not divide by sqrt(n), nor by the sqrt(2) of atoms that are not real, so the
 * factor does both. */
static double spectrum_factor(const FourierSpectrum *s, Frequency f, double lift)
{
    return lift / sqrt((f.real ? 1 : 2) * (double)elements(s));
}

/* Fills in the conjugates of the atoms in column k (0 or cols / 2), because the inverse transform reads the
 * conjugates too. */
static void mirror(const FourierSpectrum *s, size_t k)
{
    for (size_t j = 1; 2 * j < s->rows; j++) {
        const float *z = s->data + j * s->room + 2 * k;
        float *partner = s->data + (s->rows - j) * s->room + 2 * k;
        partner[0] = z[0];
        partner[1] = -z[1];
    }
}

/* Computes the tensor x from the atoms in s->data, which include the factor `lift` of spectrum_factor. `lift`
 * should be basis_lift of the largest |z|, so that values stay within float32's range. Sets *in to false if a
 * value is beyond float32's range. */
static Status spectrum_back(const Call *c, FourierSpectrum *s, double lift, float *x, bool *in)
{
    *in = true;
    if (s->atoms == 0)
        return OK;
    mirror(s, 0);
    if (s->cols % 2 == 0)
        mirror(s, s->cols / 2);
    TRY(transform(c, s, FOURIER_BACK, x));
    *in = store(s, 1 / lift, x);
    return OK;
}

/* ---- drawing ---- */

/* The state before atoms are drawn: a tensor's spectrum, the atoms' gauges and the water level tau. */
typedef struct {
    AtomPlan plan;
    FourierSpectrum s;
    float *gauge;
    AtomDraw draw;
    bool raw; /* the tensor is sent as raw floats, because the expected payload of atoms is not shorter */
} FourierDraw;

static Status draw_open(const Call *c, const float *x, FourierDraw *d)
{
    *d = (FourierDraw){.plan = basis_plan(c), .s = shape_of(c)};
    d->gauge = NEW(c->scratch, float, d->s.atoms);
    TRY(arena_check(d->gauge, c->scratch, c->err));
    TRY(spectrum_of(c, x, &d->s, d->gauge));
    TRY(atoms_open(c, &d->plan, d->gauge, d->s.atoms, &d->draw));
    d->raw = atoms_bits(d->s.atoms, (double)d->draw.heavy, d->draw.light, true) >= 8 * (double)raw_size(c);
    return OK;
}

static size_t phase_bytes(size_t count)
{
    return count / 8 * PHASE_BITS + (count % 8 * PHASE_BITS + 7) / 8;
}

/* ---- writing atoms ---- */

static void put_values(const Call *c, const FourierSpectrum *s, const AtomSide *side, Buf *out)
{
    size_t floats = 0;
    for (size_t b = 0; b < blocks_of(side->n); b++) {
        const AtomPiece p = atoms_kept(side->draw, b, 0);
        for (size_t i = 0; i < p.count; i++) {
            if (!(p.value[i] > side->draw->tau))
                continue;
            const Frequency f = spectrum_frequency(s, b * BLOCK + p.at[i]);
            buf_f32(out, s->data[f.at]);
            if (!f.real)
                buf_f32(out, s->data[f.at + 1]);
            floats += f.real ? 1 : 2;
        }
    }
    streams_floats(c->streams, floats);
}

static void put_phases(const Call *c, const FourierSpectrum *s, const AtomSide *side, BitWriter *w)
{
    for (size_t b = 0; b < blocks_of(side->n); b++) {
        const AtomPiece p = atoms_kept(side->draw, b, 0);
        const RngKey key = rng_key(&c->rng, USE_PHASE, b);
        for (size_t i = 0; i < p.count; i++) {
            if (p.value[i] > side->draw->tau)
                continue;
            const float *z = s->data + spectrum_frequency(s, b * BLOCK + p.at[i]).at;
            const uint64_t word = (uint64_t)rng_word(&key, p.at[i]) << 32 | rng_word_more(&key, p.at[i]);
            bits_put(w, phase_draw(z[0], z[1], p.value[i], (double)(word >> 11) * 0x1p-53), PHASE_BITS);
        }
    }
    bits_close(w);
}

static Status put_atoms(const Call *c, const FourierSpectrum *s, const AtomDraw *draw, Buf *out)
{
    AtomSide side;
    TRY(atom_side_open(c, draw, s->atoms, &side));
    const size_t heavy = side.heavy, light = draw->count - heavy;
    buf_u8(out, PAYLOAD_METHOD);
    TRY(atom_side_put(c, &side, true, heavy, out));
    put_values(c, s, &side, out);
    TRY(atom_side_put(c, &side, false, light, out));
    if (light == 0)
        return OK;
    buf_f32(out, draw->tau);
    BitWriter w = bits_writer(buf_room(out, phase_bytes(light)), phase_bytes(light));
    put_phases(c, s, &side, &w);
    streams_floats(c->streams, 1);
    streams_bits(c->streams, PHASE_BITS * (double)light);
    return OK;
}

/* ---- reading atoms ---- */

typedef struct {
    Places heavy, light;
    const uint8_t *value, *phase;
    float tau;
    double least, most; /* smallest and largest |z| of the heavy atoms (p = 1) */
} ReadPhases;

/* Returns the index of member k of the set. On entry *block is the block (of 2^16 atoms) of member k - 1, or 0
 * if k = 0. On return *block is the block of member k. */
static size_t member(const Places *set, size_t k, size_t *block)
{
    while (k >= set->before[*block + 1])
        ++*block;
    return *block * BLOCK + set->at[k];
}

static Status take_heavy(const Call *c, Reader *in, const FourierSpectrum *s, ReadPhases *kept)
{
    TRY(payload_set(c, in, s->atoms, &kept->heavy));
    kept->value = in->at;
    kept->least = INFINITY;
    for (size_t k = 0, block = 0; !in->bad && k < kept->heavy.count; k++) {
        const bool real = spectrum_frequency(s, member(&kept->heavy, k, &block)).real;
        const double re = (double)take_f32(in), im = real ? 0 : (double)take_f32(in);
        const double size = sqrt(re * re + im * im);
        if (!in->bad && !(size > 0 && isfinite(size)))
            return payload_bad(c, "%g %+g i as an atom's coefficient, want finite numbers, not both 0", re,
                               im);
        kept->least = fmin(kept->least, size);
        kept->most = fmax(kept->most, size);
    }
    return OK;
}

/* True if the phase of every light real atom is 0 or half a turn. */
static bool phases_fit(const FourierSpectrum *s, const ReadPhases *kept, BitReader *r)
{
    bool fit = true;
    for (size_t k = 0, block = 0; k < kept->light.count; k++) {
        const uint64_t phase = bits_get(r, PHASE_BITS);
        const bool real = spectrum_frequency(s, member(&kept->light, k, &block)).real;
        fit &= !real || phase % (PHASES / 2) == 0;
    }
    return fit;
}

static Status take_light(const Call *c, Reader *in, const FourierSpectrum *s, ReadPhases *kept)
{
    TRY(payload_set(c, in, s->atoms, &kept->light));
    if (in->bad || kept->light.count == 0)
        return OK;
    kept->tau = take_f32(in);
    kept->phase = take_bytes(in, phase_bytes(kept->light.count));
    if (in->bad)
        return OK;
    if (!(kept->tau > 0 && isfinite(kept->tau)))
        return payload_bad(c, "common magnitude %g, want a finite number above 0", (double)kept->tau);
    BitReader r = bits_reader((Bytes){kept->phase, phase_bytes(kept->light.count)});
    if (!phases_fit(s, kept, &r))
        return payload_bad(c, "a real atom has a phase other than 0 and a half turn");
    if (!bits_finish(&r))
        return payload_bad(c, "padding behind the phases is not zero");
    /* a heavy atom (p = 1) has gauge > tau, and |z| >= PHASE_LEAST_RHO gauge */
    if (kept->least < (double)kept->tau * PHASE_LEAST_RHO - 2 * (double)FLT_TRUE_MIN)
        return payload_bad(c, "a coefficient under the common magnitude travels as floats");
    return OK;
}

static void set_heavy(const FourierSpectrum *s, const ReadPhases *kept, double lift)
{
    const uint8_t *value = kept->value;
    for (size_t k = 0, block = 0; k < kept->heavy.count; k++) {
        const Frequency f = spectrum_frequency(s, member(&kept->heavy, k, &block));
        const double factor = spectrum_factor(s, f, lift);
        for (size_t part = 0; part < (f.real ? 1 : 2); part++, value += sizeof(float))
            s->data[f.at + part] = (float)((double)load_f32(value) * factor);
    }
}

static void set_light(const FourierSpectrum *s, const ReadPhases *kept, double lift)
{
    BitReader r = bits_reader((Bytes){kept->phase, phase_bytes(kept->light.count)});
    for (size_t k = 0, block = 0; k < kept->light.count; k++) {
        const Frequency f = spectrum_frequency(s, member(&kept->light, k, &block));
        const double length = (double)kept->tau * spectrum_factor(s, f, lift);
        double corner[2];
        phase_corner((unsigned)bits_get(&r, PHASE_BITS), corner);
        s->data[f.at] = (float)(length * corner[0]);
        s->data[f.at + 1] = f.real ? 0 : (float)(length * corner[1]);
    }
}

/* ---- the hooks of the codec ---- */

static size_t bound(const Call *c)
{
    const size_t n = shape_of(c).atoms;
    return 1 + 2 * indices_bound(n) + 2 * sizeof(float) * n + sizeof(float);
}

static Status decode(const Call *c, Bytes bytes, float *x)
{
    FourierSpectrum shape = shape_of(c), *const s = &shape;
    Reader in = reader_open(bytes);
    ReadPhases kept = {0};
    bool within;
    TRY(payload_kind(c, take_u8(&in), PAYLOAD_METHOD));
    TRY(take_heavy(c, &in, s, &kept));
    TRY(take_light(c, &in, s, &kept));
    TRY(payload_end(c, &in));
    TRY(atom_sides_apart(c, &kept.heavy, &kept.light, s->atoms));
    const double lift = basis_lift((float)fmin(fmax(kept.most, (double)kept.tau), (double)FLT_MAX));
    s->data = NEW_ZERO(c->scratch, float, s->rows * s->room);
    TRY(arena_check(s->data, c->scratch, c->err));
    set_heavy(s, &kept, lift);
    set_light(s, &kept, lift);
    TRY(spectrum_back(c, s, lift, x, &within));
    return within ? OK : payload_bad(c, "a value is beyond float32");
}

static Status encode(const Call *c, const float *x, Buf *out)
{
    FourierDraw d;
    TRY(draw_open(c, x, &d));
    if (d.raw)
        return raw_put(c, x, out);
    TRY(atoms_toss(&d.plan, &d.draw));
    TRY(put_atoms(c, &d.s, &d.draw, out));
    return basis_in_range(c, &d.plan, x);
}

/* Returns the sum of gauge tau - |z|^2 over the light atoms (p < 1). Each term is the variance of an atom
 * that is kept with p = gauge / tau, and then sent with amplitude tau. */
static double spread(const FourierDraw *d, AtomMoments *m)
{
    double sum = 0;
    *m = (AtomMoments){0};
    for (size_t i = 0; i < d->s.atoms; i++) {
        const float *z = d->s.data + spectrum_frequency(&d->s, i).at;
        const double size2 = (double)z[0] * (double)z[0] + (double)z[1] * (double)z[1];
        const double v = fmax(0, (double)d->gauge[i] * (double)d->draw.tau - size2);
        if (d->gauge[i] > d->draw.tau)
            continue;
        sum += v;
        m->squares += v * v;
        m->fourths += v * (double)d->draw.tau * (double)d->draw.tau - 6 * v * v;
        m->weighted += v * size2;
    }
    return sum;
}

static double variance(const Call *c, const float *x)
{
    FourierDraw d;
    AtomMoments m;
    if (draw_open(c, x, &d) != OK)
        return NAN;
    if (d.raw)
        return 0;
    return d.plan.empty == EMPTY_RESAMPLE ? NAN : spread(&d, &m);
}

/* Approximation: each atom's error is taken to lie along the atom's phase; rounding to 64 phases turns the
 * error a little. */
static ErrorLaw moments(const Call *c, const float *x, AtomMoments *m)
{
    FourierDraw d;
    *m = (AtomMoments){0};
    if (((const BasisKeys *)c->self->params)->draw == DRAW_SYSTEMATIC || draw_open(c, x, &d) != OK)
        return DEPENDENT;
    if (!d.raw)
        spread(&d, m);
    return ATOMWISE;
}

const Compressor compressor_fourier = {
    .name = "fourier",
    .brief = "ATOMO over frequencies: few Fourier coefficients, sampled by amplitude",
    .plain = "Transforms each tensor to frequencies and keeps few of them, chosen at random in proportion "
             "to their amplitude. The mean over draws is the gradient. Weak frequencies are sent as a phase"
             " of 6 bits.",
    .use_when = "neighbouring elements vary together, as in smooth or periodic filters.",
    .example = "atomo-bench synth -o g.h5 --force\n"
               "atomo-bench compare g.h5 -c fourier:ratio=0.05 -c dct:ratio=0.05",
    .formula =
        "X = FFT of g / sqrt n; z_k = sqrt 2 X_k, one atom for each conjugate pair (z = X where X is real)\n"
        "keep z_k with p_k = min(1, a_k / tau), sum p = ratio n; a = |z| / rho, rho in [cos(pi/64), 1]\n"
        "a > tau: index and complex number; else index and phase, one of 64 with mean rho e^(i phase)\n"
        "variance tau T1 - T2, T1 = sum a, T2 = sum |z|^2 over a <= tau",
    .paper = "Wang et al., ATOMO, NeurIPS 2018, Algorithm 1 and section 4",
    .look = {HUE_ATOMS, 2, 2},
    .params = schema,
    .promises = RANDOM | WHOLE,
    .traits = basis_traits,
    .bound = bound,
    .encode = encode,
    .decode = decode,
    .variance = variance,
    .moments = moments,
};
