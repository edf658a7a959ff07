/* fourier.c -- ATOMO in the Fourier basis. An atom is a frequency; its cosine and sine coefficients are one
 * complex number z. An atom is kept with p = min(1, gauge / tau). Its gauge is |z| or up to 0.12 % more
 * (phase.h). A heavy atom (gauge > tau) is sent as the two floats of z. A light atom (gauge <= tau) is sent as
 * its index and one of 64 phases, drawn at random so that the estimate is unbiased. All light atoms have the
 * amplitude tau.
 *
 *     payload    kind:8  heavy:set  { re:f32 im:f32 } x heavy  light:set  [ tau:f32  { phase:6 } x light ]
 *
 * The payload has no `im` for a real atom (a frequency that is its own conjugate). A light atom decodes to tau
 * times corner `phase` of phase.h's polygon (0 or 32 for a real atom). Phases fill each byte from its high bit;
 * padding bits are zeros. */
#include "compress/atoms/basis.h"
#include "compress/atoms/spectrum.h"
#include "base/bits.h"
#include "base/parallel.h"
#include "math/blockwise.h"
#include "math/phase.h"

#include <float.h>
#include <math.h>

typedef struct {
    BasisKeys keys;
    int64_t dims;
} Fourier;

static const Param schema[] = {
    BASIS_KEYS,
    PARAM(Fourier, dims, "1", 1, 2, "the tensor as one line, or as svd's matrix, both ways"),
    {0},
};

static FourierSpectrum shape_of(const Call *c)
{
    size_t rows = 1, cols = c->shape->n;
    if (((const Fourier *)c->self->params)->dims == 2)
        matrix_view(c->shape, RESHAPE_PAPER, &rows, &cols);
    return spectrum_shape(rows, cols);
}

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
    d->raw = atoms_phase_bits(d->s.atoms, (double)d->draw.heavy, d->draw.light) >= 8 * (double)raw_size(c);
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
        const AtomPiece p = atoms_kept(side->draw, b, atoms_room(side->draw, 0));
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
        const AtomPiece p = atoms_kept(side->draw, b, atoms_room(side->draw, 0));
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
    const size_t heavy = atom_side_count_heavy(&side), light = draw->count - heavy;
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
    TRY(atom_side_get(c, in, s->atoms, &kept->heavy));
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
    TRY(atom_side_get(c, in, s->atoms, &kept->light));
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

static void fill_heavy(const FourierSpectrum *s, const ReadPhases *kept, double lift)
{
    const uint8_t *value = kept->value;
    for (size_t k = 0, block = 0; k < kept->heavy.count; k++) {
        const Frequency f = spectrum_frequency(s, member(&kept->heavy, k, &block));
        const double factor = spectrum_factor(s, f, lift);
        for (size_t part = 0; part < (f.real ? 1 : 2); part++, value += sizeof(float))
            s->data[f.at + part] = (float)((double)load_f32(value) * factor);
    }
}

static void fill_light(const FourierSpectrum *s, const ReadPhases *kept, double lift)
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

static Status get_atoms(const Call *c, Bytes bytes, FourierSpectrum *s, float *x)
{
    Reader in = reader_open(bytes);
    ReadPhases kept = {0};
    bool within;
    TRY(payload_kind(c, take_u8(&in), PAYLOAD_METHOD));
    TRY(take_heavy(c, &in, s, &kept));
    TRY(take_light(c, &in, s, &kept));
    if (!reader_done(&in))
        return payload_bad(c, "%s", in.bad ? "it is cut short or holds no index set" : "bytes are left over");
    TRY(atom_sides_apart(c, &kept.heavy, &kept.light, s->atoms));
    const double lift = basis_lift((float)fmin(fmax(kept.most, (double)kept.tau), (double)FLT_MAX));
    TRY(spectrum_clear(c, s));
    fill_heavy(s, &kept, lift);
    fill_light(s, &kept, lift);
    TRY(spectrum_back(c, s, lift, x, &within));
    return within ? OK : payload_bad(c, "a value is beyond float32");
}

/* ---- the hooks of the codec ---- */

static size_t bound(const Call *c)
{
    const size_t n = shape_of(c).atoms;
    return 1 + 2 * indices_bound(n) + 2 * sizeof(float) * n + sizeof(float);
}

static Status decode(const Call *c, Bytes in, float *x)
{
    FourierSpectrum s = shape_of(c);
    return get_atoms(c, in, &s, x);
}

static Status encode(const Call *c, const float *x, Buf *out)
{
    const ArenaMark mark = arena_mark(c->scratch);
    const size_t start = out->size, n = c->shape->n;
    FourierDraw d;
    TRY(draw_open(c, x, &d));
    if (d.raw)
        return raw_put(c, x, out);
    TRY(atoms_toss(&d.plan, &d.draw));
    TRY(put_atoms(c, &d.s, &d.draw, out));
    if (basis_in_range(&d.plan, n, blockwise_most(x, n, c->threads)))
        return OK;
    arena_rewind(c->scratch, mark);
    return basis_check_range(c, (Bytes){out->data + start, out->size - start});
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
    .example = "atomo-bench synth -o g.h5\n"
               "atomo-bench compare g.h5 -c fourier:ratio=0.05 -c dct:ratio=0.05",
    .formula =
        "X = FFT of g / sqrt n; z_k = sqrt 2 X_k, one atom for each conjugate pair (z = X where X is real)\n"
        "keep z_k with p_k = min(1, a_k / tau), sum p = ratio n; a = |z| / rho, rho in [cos(pi/64), 1]\n"
        "a > tau: index and complex number; else index and phase, one of 64 with mean rho e^(i phase)\n"
        "variance tau T1 - T2, T1 = sum a, T2 = sum |z|^2 over a <= tau",
    .paper = "Wang et al., ATOMO, NeurIPS 2018, Algorithm 1 and section 4",
    .look = {HUE_ATOMS, 2, 2},
    .params = schema,
    .params_size = sizeof(Fourier),
    .promises = RANDOM,
    .traits = basis_traits,
    .bound = bound,
    .encode = encode,
    .decode = decode,
    .variance = variance,
    .moments = moments,
};
