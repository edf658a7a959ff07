/* atoms.h -- functions that ATOMO codecs share: they compute probabilities from coefficients and a budget, draw
 * atoms, and write the payload of a draw.
 *
 * An atom of coefficient x is kept with probability p = min(1, |x| / tau) and decodes to x / p. A heavy atom
 * (|x| > tau) decodes to x, which is sent as a float. A light atom decodes to +-tau, so its index and sign
 * suffice. tau, the water level, is rounded to float32 and sent, and every p is computed from the rounded tau.
 *
 *     payload    kind:8  heavy:set  { x:f32 } x heavy  light-list
 *     light-list light:set  [ tau:f32  { sign:1 } x light ]     the bracket only if a light atom is kept
 *
 * Sets are coded by indices.h. Sign bits fill each byte from its low bit; padding bits are zeros. */
#ifndef ATOMO_ATOMS_H
#define ATOMO_ATOMS_H

#include "compress/compressor.h"
#include "coder/indices.h"

enum { PHASE_BITS = 6, PHASES = 1 << PHASE_BITS }; /* of light Fourier atoms */
enum { PROBS_OPTIMAL, PROBS_CLIP };
enum { EMPTY_SEND, EMPTY_RESAMPLE };
enum { DRAW_INDEPENDENT, DRAW_SYSTEMATIC };
extern const char *const atom_probs[], *const atom_empty[], *const atom_draws[];

/* The parameters that entry, svd and the codecs of transforms share. T is a codec's struct of parameters,
 * which has the members `int probs, empty, draw`. */
#define ATOM_PARAMS(T)                                                                                       \
    PARAM_OF(T, probs, "optimal", atom_probs, "Algorithm 1, or the released coder's clipped shares"),        \
        PARAM_OF(T, empty, "send", atom_empty,                                                               \
                 "a draw that keeps nothing is sent, or drawn again (biased)"),                              \
        PARAM_OF(T, draw, "independent", atom_draws, "a coin for each atom, or one offset for all")

/* How the water level tau is chosen and how atoms are drawn. tau is computed from
 * `budget` if that is above 0. `probs` is used only with `budget`. */
typedef struct {
    double
        budget; /* expected number of atoms; with probs=clip, or with fewer atoms that are not 0, fewer are */
    float tau;  /* the water level */
    int probs, empty, draw;
} AtomPlan;

/* ---- drawing atoms (atoms_draw.c) ---- */

/* The atoms kept in one block of elements or, before the draw, the atoms that may be kept (atoms_draw.c). */
typedef struct {
    uint32_t *at; /* (count) positions of the kept atoms in the block, rising */
    float *value; /* (count) coefficients of the kept atoms, not divided by p */
    size_t count;
    double sum; /* sum of |x| over all elements of the block, kept and not kept */
} AtomPiece;

typedef struct {
    float tau;    /* the water level; 0: every non-zero atom has p = 1 */
    size_t heavy; /* number of heavy atoms (|x| > tau, p = 1), which are always kept */
    double light; /* expected number of light atoms (p < 1) that are kept */
    size_t count; /* number of atoms kept; set by atoms_toss */
    struct Candidates *from;
} AtomDraw;

/* Finds the water level tau for the n coefficients x, the number of heavy atoms (p = 1) and the expected number
 * of kept light atoms (p < 1). ERR_NUMERIC: tau is beyond float32. */
Status atoms_open(const Call *c, const AtomPlan *plan, const float *x, size_t n, AtomDraw *draw);

/* Draws the atoms. With draw=independent each atom has its own random word. A systematic draw uses one
 * random word for all atoms. The result does not depend on the number of threads. */
Status atoms_toss(const AtomPlan *plan, AtomDraw *draw);

/* Returns the kept atoms of one block of elements, after `atoms_toss`. The arrays in the result are valid until the next
 * call with this `slot`, which is less than ATOM_ROOMS and less than the number of blocks. */
enum { ATOM_ROOMS = 16 };
AtomPiece atoms_kept(const AtomDraw *draw, size_t block, size_t slot);

/* ---- expected bits and variance of a draw ---- */

/* Returns the expected payload bits of a draw from n atoms. `heavy`: number of atoms with p = 1. `light`:
 * expected number of kept atoms with p < 1. `phases`: the atoms are the complex ones of fourier.c. */
double atoms_bits(size_t n, double heavy, double light, bool phases);

/* Returns the water level at which the payload of the n coefficients x takes `bits` in expectation
 * (atoms_bits); `bits` too few for a payload with one expected atom are raised. Returns 0 if `bits` suffices to keep every non-zero atom, and NaN if memory runs out. */
double atoms_level_of_bits(const float *x, size_t n, double bits, int threads, Arena *scratch);

/* Computes the curve of expected bits against variance of a codec with orthonormal atoms. The curve's points
 * are at 16 water levels per factor of 2, downwards from the level at which one kept atom is expected, and at
 * the level max |x|. The last point is at water level 0. */
Status atoms_curve(const Call *c, const float *x, size_t n, CurvePoint *point, size_t *count);

/* ---- payloads of drawn atoms (atoms.c) ---- */

typedef struct {
    AtomPlan plan;
    bool light; /* true: the payload lists light atoms (p < 1) only, because no |x| is above tau */
} AtomCoder;

/* The hook `bound` of a Compressor with an atom for each element. */
size_t atoms_bound(const Call *c);

/* Draws atoms from the n coefficients x and appends the payload to `out`. If the expected payload is not
 * shorter than raw floats, appends the tensor `raw` as raw floats instead. */
Status atoms_encode(const Call *c, const AtomCoder *coder, const float *x, size_t n, const float *raw,
                    Buf *out);

/* Decodes a payload to the n coefficients x. `light`: true if the payload lists light atoms (p < 1) only.
 * ERR_CORRUPT: atoms_encode does not write such a payload. */
Status atoms_decode(const Call *c, bool light, Bytes in, size_t n, float *x);

/* Returns the variance of the estimate of atoms_encode from its closed form; 0 if the tensor is sent as raw
 * floats; NaN if there is no closed form. */
double atoms_variance(const Call *c, const AtomCoder *coder, const float *x, size_t n);

/* Returns which parts of the estimate's error are independent, and sets *m to the moments of these parts.
 * The moments are 0 if the tensor is sent as raw floats. Only for codecs whose atoms are not single
 * elements. */
ErrorLaw atoms_law(const Call *c, const AtomCoder *coder, const float *x, size_t n, AtomMoments *m);

/* All heavy atoms (p = 1) or all light atoms (p < 1) of a draw, for functions that write payloads. A draw
 * that keeps many atoms has no list of them in memory, so these functions read the draw block by block. */
typedef struct {
    const AtomDraw *draw;
    size_t n; /* number of atoms, kept and not kept */
    /* before[heavy][b]: number of heavy or light atoms kept before block b; the last entry counts all */
    size_t *before[2];
    size_t heavy; /* number of heavy atoms */
    int threads;
} AtomSide;

/* Counts the atoms that the draw keeps. */
Status atom_side_open(const Call *c, const AtomDraw *draw, size_t n, AtomSide *side);

/* Writes the indices of the kept heavy atoms (p = 1), or with `heavy` false of the kept light atoms (p < 1).
 * `count` is their number. */
Status atom_side_put(const Call *c, const AtomSide *side, bool heavy, size_t count, Buf *out);

/* Fails with ERR_CORRUPT if some atom is both in the set of heavy atoms and in the set of light atoms. n is
 * the number of atoms, kept and not kept. */
Status atom_sides_apart(const Call *c, const Places *heavy, const Places *light, size_t n);

#endif
