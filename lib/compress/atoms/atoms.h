/* atoms.h -- shared by the ATOMO family: from coefficients and a budget to probabilities, a draw, and its payload.
 *
 * An atom of coefficient x is kept with probability p = min(1, |x| / tau) and decodes to x / p. A heavy atom
 * (|x| > tau) decodes to x, which is sent as a float; a light atom decodes to +-tau, so its index and sign suffice.
 * tau, the water level, is rounded to the float32 that is sent, and every p is computed from that float.
 *
 *     payload    kind:8  heavy:set  { x:f32 } x heavy  light-list
 *     light-list light:set  [ tau:f32  { sign:1 } x light ]     the bracket only if a light atom is kept
 *
 * Sets are coded by indices.h. Signs fill each byte from its low end; the padding is zeros. */
#ifndef ATOMO_ATOMS_H
#define ATOMO_ATOMS_H

#include "codec/compressor.h"
#include "coder/indices.h"

enum { PROBS_OPTIMAL, PROBS_CLIP };
enum { EMPTY_SEND, EMPTY_RESAMPLE };
enum { DRAW_INDEPENDENT, DRAW_SYSTEMATIC };
extern const char *const atom_probs[], *const atom_empty[], *const atom_draws[];

/* The keys that the whole family has; T has `int probs, empty, draw`. */
#define ATOM_PARAMS(T)                                                                                       \
    PARAM_OF(T, probs, "optimal", atom_probs, "Algorithm 1, or the released coder's clipped shares"),        \
        PARAM_OF(T, empty, "send", atom_empty,                                                               \
                 "a draw that keeps nothing is sent, or drawn again (biased)"),                              \
        PARAM_OF(T, draw, "independent", atom_draws, "a coin for each atom, or one offset for all")

/* How the level is chosen and atoms are drawn. Of the first four fields the first above 0 sets the level; probs
 * applies to budget only. */
typedef struct {
    double budget; /* expected number of atoms */
    double
        bits; /* expected bits of the payload, kind byte included; at least one atom is expected all the same */
    double eps; /* variance as a share of |x|^2 */
    float tau;  /* the level itself */
    int probs, empty, draw;
} AtomPlan;

/* ---- drawing: atoms_draw.c ---- */

/* Atoms kept in one block of elements. */
typedef struct {
    uint32_t *at; /* (count) positions in the block, rising */
    float *value; /* (count) coefficients, not divided by p */
    size_t count;
    double sum; /* of |x| over the whole block */
} AtomPiece;

typedef struct {
    float tau;    /* 0: every non-zero atom is heavy */
    size_t heavy; /* number of heavy atoms; all of them are kept */
    double light; /* expected number of light atoms kept */
    size_t count; /* atoms kept; set by atoms_toss */
    struct Candidates *from;
} AtomDraw;

/* Finds the level of x (n) and the expected numbers of atoms. ERR_NUMERIC when tau is beyond float32. */
Status atoms_open(const Call *c, const AtomPlan *plan, const float *x, size_t n, AtomDraw *draw);

/* Draws. Element i's coin is word i of c->rng; a systematic draw takes one word in all. The same for any number of
 * threads. */
Status atoms_toss(const AtomPlan *plan, AtomDraw *draw);

/* The atoms kept in a block: in `room`, which holds a whole block, or in the draw's own memory. */
AtomPiece atoms_kept(const AtomDraw *draw, size_t block, AtomPiece room);

/* ---- costs: atoms_cost.c ---- */

/* Expected payload bits of n atoms when `heavy` are heavy and `light` light ones are expected. */
double atoms_bits(size_t n, double heavy, double light);
double atoms_light_bits(size_t n, double light);               /* of a light list alone */
double atoms_phase_bits(size_t n, double heavy, double light); /* of complex atoms (fourier.c) */

/* The level at which atoms_bits is `bits`; 0 when `bits` pays for every non-zero atom, NaN when scratch has no
 * memory. */
double atoms_level_of_bits(const float *x, size_t n, double bits, int threads, Arena *scratch);

/* E |estimate - x|^2 = sum over |x| <= tau of |x| (tau - |x|), for orthonormal atoms and empty=send, and the moments
 * of the error's parts; NaN when scratch has no memory. */
double atoms_spread(const Call *c, float tau, const float *x, size_t n, AtomMoments *m);

/* Bits and variance of draws at 16 levels to the octave, from the level that expects one atom down to 0: the curve
 * hook of codecs with orthonormal atoms. */
Status atoms_curve(const Call *c, const float *x, size_t n, CurvePoint *point, size_t *count);

/* ---- payloads: atoms.c ---- */

typedef struct {
    AtomPlan plan;
    bool light; /* the payload is a light list alone: no |x| is above tau */
} AtomCoder;

/* Most bytes of a payload of n atoms. */
size_t atoms_bound(size_t n);

/* Draws atoms of x (n) and appends the payload. Sends `raw`, the tensor itself, as floats where atoms are expected to
 * take no fewer bytes. */
Status atoms_encode(const Call *c, const AtomCoder *coder, const float *x, size_t n, const float *raw,
                    Buf *out);

/* The estimate x (n); ERR_CORRUPT for a payload that atoms_encode does not write. `light` as in AtomCoder. */
Status atoms_decode(const Call *c, bool light, Bytes in, size_t n, float *x);

/* The closed form of the variance of atoms_encode: 0 where the tensor is sent raw, NaN where there is no closed form. */
double atoms_variance(const Call *c, const AtomCoder *coder, const float *x, size_t n);

/* The law of the error and its moments (0 where the tensor is sent raw), for atoms other than single elements. */
ErrorLaw atoms_law(const Call *c, const AtomCoder *coder, const float *x, size_t n, AtomMoments *m);

/* The heavy or the light atoms of a draw, for writers of payloads: they walk the draw block by block, as no list of all
 * kept atoms is in memory. */
typedef struct {
    const AtomDraw *draw;
    size_t n; /* atoms in all, kept or not */
    bool heavy;
    AtomPiece room;
    size_t *index; /* room for a block's indices */
} AtomSide;

Status atom_side_open(const Call *c, const AtomDraw *draw, size_t n, AtomSide *side);

/* Number of heavy atoms kept. */
size_t atom_side_count_heavy(const AtomSide *side);

/* Writes the indices of the heavy or the light atoms, `count` of them. */
Status atom_side_put(const Call *c, AtomSide *side, bool heavy, size_t count, Buf *out);

/* Reads a set of indices under n; OK with in->bad set where the bytes are no set. */
Status atom_side_get(const Call *c, Reader *in, size_t n, Places *set);

/* ERR_CORRUPT when an index under n is in both sets. */
Status atom_sides_apart(const Call *c, const Places *heavy, const Places *light, size_t n);

#endif
