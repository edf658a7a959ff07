/* atoms_phase.c -- complex atoms to bytes, and back. */
#include "compress/atoms/atoms_phase.h"

#include "compress/atoms/atoms_side.h"
#include "compress/atoms/basis.h"
#include "base/bits.h"
#include "base/parallel.h"
#include "num/phase.h"

#include <float.h>
#include <math.h>

static size_t phase_bytes(size_t count)
{
    return count / 8 * PHASE_BITS + (count % 8 * PHASE_BITS + 7) / 8;
}

size_t phases_bound(size_t n)
{
    return 1 + 2 * indices_bound(n) + 2 * sizeof(float) * n + sizeof(float);
}

double phases_bits(size_t n, double heavy, double light)
{
    const double some = -expm1(-light); /* chance that there is one at all, about */
    return 8 + indices_mean_bits((double)n, heavy) + 64 * heavy + indices_mean_bits((double)n, light) +
           some * (32 + 4) + PHASE_BITS * light;
}

/* ---- writing ---- */

static void put_values(const Call *c, const Spectrum *s, const AtomSide *side, Buf *out)
{
    size_t floats = 0;
    for (size_t b = 0; b < blocks_of(side->n); b++) {
        const AtomPiece p = atoms_kept(side->draw, b, side->room);
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

static void put_phases(const Call *c, const Spectrum *s, const AtomSide *side, BitWriter *w)
{
    for (size_t b = 0; b < blocks_of(side->n); b++) {
        const AtomPiece p = atoms_kept(side->draw, b, side->room);
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

Status phases_put(const Call *c, const Spectrum *s, const AtomDraw *draw, Buf *out)
{
    AtomSide side;
    TRY(side_open(c, draw, s->atoms, &side));
    const size_t heavy = side_count_heavy(&side), light = draw->count - heavy;
    buf_u8(out, PAYLOAD_METHOD);
    TRY(side_put(c, &side, true, heavy, out));
    put_values(c, s, &side, out);
    TRY(side_put(c, &side, false, light, out));
    if (light == 0)
        return OK;
    buf_f32(out, draw->tau);
    BitWriter w = bits_writer(buf_room(out, phase_bytes(light)), phase_bytes(light));
    put_phases(c, s, &side, &w);
    streams_floats(c->streams, 1);
    streams_bits(c->streams, PHASE_BITS * (double)light);
    return OK;
}

/* ---- reading ---- */

typedef struct {
    Places heavy, light;
    const uint8_t *value, *phase;
    float tau;
    double least, most; /* |z| of the heavy ones */
} Kept;

/* The k-th member, *block being where the one before it stood. */
static size_t member(const Places *set, size_t k, size_t *block)
{
    while (k >= set->before[*block + 1])
        ++*block;
    return *block * BLOCK + set->at[k];
}

/* OK with in->bad set when the bytes are wrong. */
static Status take_set(const Call *c, Reader *in, size_t n, Places *set)
{
    if (!in->bad && !indices_get(in, n, c->scratch, set) && !in->bad)
        return arena_fail(c->scratch, c->err);
    return OK;
}

static Status take_heavy(const Call *c, Reader *in, const Spectrum *s, Kept *kept)
{
    TRY(take_set(c, in, s->atoms, &kept->heavy));
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

/* A real atom's phase is 0 or a half turn. */
static bool phases_fit(const Spectrum *s, const Kept *kept, BitReader *r)
{
    bool fit = true;
    for (size_t k = 0, block = 0; k < kept->light.count; k++) {
        const uint64_t phase = bits_get(r, PHASE_BITS);
        const bool real = spectrum_frequency(s, member(&kept->light, k, &block)).real;
        fit &= !real || phase % (PHASES / 2) == 0;
    }
    return fit;
}

static Status take_light(const Call *c, Reader *in, const Spectrum *s, Kept *kept)
{
    TRY(take_set(c, in, s->atoms, &kept->light));
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
    /* gauge > tau, and |z| is not much less */
    if (kept->least < (double)kept->tau * PHASE_LEAST_RHO - 2 * (double)FLT_TRUE_MIN)
        return payload_bad(c, "a coefficient under the common magnitude travels as floats");
    return OK;
}

static void fill_heavy(const Spectrum *s, const Kept *kept, double lift)
{
    const uint8_t *value = kept->value;
    for (size_t k = 0, block = 0; k < kept->heavy.count; k++) {
        const Frequency f = spectrum_frequency(s, member(&kept->heavy, k, &block));
        const double factor = spectrum_factor(s, f, lift);
        for (size_t part = 0; part < (f.real ? 1 : 2); part++, value += sizeof(float))
            s->data[f.at + part] = (float)((double)load_f32(value) * factor);
    }
}

static void fill_light(const Spectrum *s, const Kept *kept, double lift)
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

Status phases_get(const Call *c, Bytes bytes, Spectrum *s, float *x)
{
    Reader in = reader_open(bytes);
    Kept kept = {0};
    bool within;
    TRY(payload_kind(c, take_u8(&in), PAYLOAD_METHOD));
    TRY(take_heavy(c, &in, s, &kept));
    TRY(take_light(c, &in, s, &kept));
    if (!reader_done(&in))
        return payload_bad(c, "%s", in.bad ? "it is cut short or holds no index set" : "bytes are left over");
    TRY(sides_apart(c, &kept.heavy, &kept.light, s->atoms));
    const double lift = basis_lift((float)fmin(fmax(kept.most, (double)kept.tau), (double)FLT_MAX));
    TRY(spectrum_clear(c, s));
    fill_heavy(s, &kept, lift);
    fill_light(s, &kept, lift);
    TRY(spectrum_back(c, s, lift, x, &within));
    return within ? OK : payload_bad(c, "a value is beyond float32");
}
