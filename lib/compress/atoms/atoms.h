/* atoms.h -- functions that ATOMO codecs share: they compute probabilities from coefficients and a budget, draw
 * atoms, and write the payload of a draw.
 *
 * An atom of coefficient x is kept with probability p = min(1, |x| / tau) and decodes to x / p. A heavy atom (|x|
 * > tau) decodes to x, which is sent as a float. A light atom decodes to +-tau, so its index and sign suffice.
 * tau, the water level, is rounded to float32 and sent, and every p is computed from the rounded tau.
 *
 *     payload    kind:8  heavy:set  { x:f32 } x heavy  light-list
 *     light-list light:set  [ tau:f32  { sign:1 } x light ]     the bracket only if a light atom is kept
 *
 * Sets are coded by indices.h. Sign bits fill each byte from its low bit; padding bits are zeros. */
#ifndef ATOMO_ATOMS_H
#define ATOMO_ATOMS_H

#include "codec/compressor.h"
#include "coder/indices.h"

enum { PROBS_OPTIMAL, PROBS_CLIP };
enum { EMPTY_SEND, EMPTY_RESAMPLE };
enum { DRAW_INDEPENDENT, DRAW_SYSTEMATIC };
extern const char *const atom_probs[], *const atom_empty[], *const atom_draws[];

/* The parameters that all ATOMO codecs share. T is a codec's struct of parameters, which has the members `int
 * probs, empty, draw`. */
#define ATOM_PARAMS(T)                                                                                       \
    PARAM_OF(T, probs, "optimal", atom_probs, "Algorithm 1, or the released coder's clipped shares"),        \
        PARAM_OF(T, empty, "send", atom_empty,                                                               \
                 "a draw that keeps nothing is sent, or drawn again (biased)"),                              \
        PARAM_OF(T, draw, "independent", atom_draws, "a coin for each atom, or one offset for all")

/* How the water level tau is chosen and atoms are drawn. Of the fields budget, bits, eps and tau, the first that
 * is above 0 determines tau; probs is used only with budget. */
typedef struct {
    double budget; /* expected number of atoms */
    /* expected bits of the payload, kind byte included; a value below the bits of one expected atom is raised to
     * these bits */
    double bits;
    double eps; /* expected variance of the estimate, divided by |x|^2 */
    float tau;  /* the water level */
    int probs, empty, draw;
} AtomPlan;

/* ---- drawing atoms (atoms_draw.c) ---- */

/* The atoms kept in one block of elements. */
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

/* Finds the water level tau for the n coefficients x, the number of heavy atoms (p = 1) and the expected number of
 * kept light atoms (p < 1). ERR_NUMERIC: tau is beyond float32. */
Status atoms_open(const Call *c, const AtomPlan *plan, const float *x, size_t n, AtomDraw *draw);

/* Draws the atoms: draw=independent keeps each by a random word of its own; a systematic draw uses one random word
 * for all atoms. The result does not depend on the number of threads. */
Status atoms_toss(const AtomPlan *plan, AtomDraw *draw);

/* Returns the atoms kept in a block of elements. The arrays are either those of `room`, which must hold a whole
 * block, or in memory of the draw. */
AtomPiece atoms_kept(const AtomDraw *draw, size_t block, AtomPiece room);

/* ---- expected bits and variance of a draw (atoms_cost.c) ---- */

/* Returns the expected payload bits of a draw from n atoms: `heavy` heavy atoms (p = 1), and `light` light atoms
 * (p < 1) expected to be kept. */
double atoms_bits(size_t n, double heavy, double light);
/* returns the expected bits of a payload's list of light atoms (p < 1) alone */
double atoms_light_bits(size_t n, double light);
/* like atoms_bits, for the complex atoms of fourier.c */
double atoms_phase_bits(size_t n, double heavy, double light);

/* Returns the water level at which the payload of x (n) is expected to take `bits` (atoms_bits); 0: `bits`
 * suffices to keep every non-zero atom; NaN: out of memory. */
double atoms_level_of_bits(const float *x, size_t n, double bits, int threads, Arena *scratch);

/* Returns E |estimate - x|^2 = sum over |x| <= tau of |x| (tau - |x|), for orthonormal atoms and empty=send, and
 * sets m to the moments (AtomMoments) of the atoms' errors; NaN: out of memory. */
double atoms_spread(const Call *c, float tau, const float *x, size_t n, AtomMoments *m);

/* Computes the curve of a codec with orthonormal atoms: expected bits and variance at 16 water levels per octave
 * (factor 2), from the level at which one kept atom is expected down to 0. */
Status atoms_curve(const Call *c, const float *x, size_t n, CurvePoint *point, size_t *count);

/* ---- payloads of drawn atoms (atoms.c) ---- */

typedef struct {
    AtomPlan plan;
    bool light; /* true: the payload lists light atoms (p < 1) only, because no |x| is above tau */
} AtomCoder;

/* Returns an upper bound on the bytes of a payload of n atoms. */
size_t atoms_bound(size_t n);

/* Draws atoms of the coefficients x (n) and appends the payload. If the expected payload is not shorter than raw
 * floats, appends instead the tensor `raw` as raw floats. */
Status atoms_encode(const Call *c, const AtomCoder *coder, const float *x, size_t n, const float *raw,
                    Buf *out);

/* Decodes a payload to the estimate x (n). `light`: true if the payload lists light atoms (p < 1) only.
 * ERR_CORRUPT: atoms_encode does not write this payload. */
Status atoms_decode(const Call *c, bool light, Bytes in, size_t n, float *x);

/* Returns the closed form of the variance of atoms_encode, which is 0 if the tensor is sent as raw floats; NaN: no
 * closed form. */
double atoms_variance(const Call *c, const AtomCoder *coder, const float *x, size_t n);

/* Returns which parts of the estimate's error are independent, and sets m to the moments of these parts (0 if the
 * tensor is sent as raw floats). For atoms other than single elements. */
ErrorLaw atoms_law(const Call *c, const AtomCoder *coder, const float *x, size_t n, AtomMoments *m);

/* The heavy atoms (p = 1) or the light atoms (p < 1) of a draw, for functions that write payloads. The functions
 * read the draw block by block, because no list of all kept atoms is in memory. */
typedef struct {
    const AtomDraw *draw;
    size_t n; /* number of atoms, kept and not kept */
    bool heavy;
    AtomPiece room;
    size_t *index; /* room for the indices of a block */
} AtomSide;

Status atom_side_open(const Call *c, const AtomDraw *draw, size_t n, AtomSide *side);

/* Returns the number of heavy atoms (p = 1). */
size_t atom_side_count_heavy(const AtomSide *side);

/* Writes the indices of the `count` kept atoms that are heavy (p = 1) if `heavy`, else light (p < 1). */
Status atom_side_put(const Call *c, AtomSide *side, bool heavy, size_t count, Buf *out);

/* Reads a set of atom indices below n. If the bytes do not code a set, sets in->bad and returns OK. */
Status atom_side_get(const Call *c, Reader *in, size_t n, Places *set);

/* Fails with ERR_CORRUPT if an index below n is in both sets, the set of heavy atoms (p = 1) and the set of light
 * atoms (p < 1). */
Status atom_sides_apart(const Call *c, const Places *heavy, const Places *light, size_t n);

#endif
