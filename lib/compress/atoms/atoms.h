/* atoms.h -- what the ATOMO family shares: from coefficients and a budget to probabilities, a draw and bytes.
 *
 * An atom of coefficient x is kept with probability p = min(1, |x| / tau) and then stands for x / p: for
 * itself where it is heavy (|x| > tau, so its float travels), for +-tau where it is light (so index and sign
 * are all it costs). tau is the float32 that travels, and every p is computed from it.
 *
 *     payload    kind:8  heavy:set  { x:f32 } x heavy  light-list
 *     light-list light:set  [ tau:f32  { sign:1 } x light ]     the bracket only when there are light ones
 *
 * A set is indices.h's; signs run from the low end of each byte on, padded with zeros. */
#ifndef ATOMO_ATOMS_H
#define ATOMO_ATOMS_H

#include "codec/compressor.h"

enum { PROBS_OPTIMAL, PROBS_CLIP };
enum { EMPTY_SEND, EMPTY_RESAMPLE };
enum { DRAW_INDEPENDENT, DRAW_SYSTEMATIC };
extern const char *const atom_probs[], *const atom_empty[], *const atom_draws[];

/* The keys that all of the family have; T has `int probs, empty, draw`. */
#define ATOM_PARAMS(T)                                                                                       \
    PARAM_OF(T, probs, "optimal", atom_probs, "Algorithm 1, or the released coder's clipped shares"),        \
        PARAM_OF(T, empty, "send", atom_empty,                                                               \
                 "a draw that keeps nothing is sent, or drawn again (biased)"),                              \
        PARAM_OF(T, draw, "independent", atom_draws, "a coin for each atom, or one offset for all")

/* What to keep. Of the first four the first above 0 counts; probs goes with budget. */
typedef struct {
    double budget; /* expected atoms */
    double bits;   /* expected payload bits in all, kind byte included; never less than one atom is spent */
    double eps;    /* variance as a share of |x|^2 */
    float tau;     /* the level itself */
    int probs, empty, draw;
} AtomPlan;

/* ---- drawing: atoms_draw.c ---- */

/* What is kept of one block of elements. */
typedef struct {
    uint32_t *at; /* places in the block, in order */
    float *value; /* coefficients, not yet divided by p */
    size_t count;
    double sum; /* of the block's |x| */
} AtomPiece;

typedef struct {
    float tau;    /* 0: every non-zero atom is heavy */
    size_t heavy; /* how many are: they are all kept */
    double light; /* how many of the others are kept on average */
    size_t count; /* atoms kept, once they are drawn */
    struct Candidates *from;
} AtomDraw;

/* The level, and what a draw at it costs on average; then the draw. Element i's coin is word i of c->rng; the
 * systematic offset is one word. The same for any number of threads. ERR_NUMERIC when tau is beyond float32. */
Status atoms_open(const Call *c, const AtomPlan *plan, const float *x, size_t n, AtomDraw *draw);
Status atoms_toss(const AtomPlan *plan, AtomDraw *draw);

/* The atoms kept of a block, in `room` for a block's or somewhere else. */
AtomPiece atoms_kept(const AtomDraw *draw, size_t block, AtomPiece room);

/* E |estimate - x|^2 = sum over |x| <= tau of |x| (tau - |x|), for orthonormal atoms and draws that may be
 * empty, and the moments of its parts; NaN when scratch has no memory. */
double atoms_spread(const Call *c, float tau, const float *x, size_t n, AtomMoments *m);

/* ---- costs: atoms_bits.c ---- */

/* Mean payload bits of n atoms with `heavy` always kept and `light` of the others on average. */
double atoms_bits(size_t n, double heavy, double light);
double atoms_light_bits(size_t n, double light); /* of a light list alone */

/* The level at which atoms_bits is `bits`; 0 when that is enough for every non-zero atom, NaN without memory. */
double atoms_level_of_bits(const float *x, size_t n, double bits, int threads, Arena *scratch);

/* What draws of x's atoms cost at levels 16 to the octave (the curve hook of codecs with orthonormal atoms;
 * `plan` then hands the coder its level): the highest spends one atom on average. atoms_curve.c. */
Status atoms_curve(const Call *c, const float *x, size_t n, CurvePoint *point, size_t *count);

/* The plan, at the level that the Call brings along, if it does. */
static inline AtomPlan atoms_at_level(const Call *c, AtomPlan plan)
{
    if (c->plan) {
        plan.budget = plan.bits = 0;
        plan.tau = (float)((const CurvePoint *)c->plan)->level;
    }
    return plan;
}

/* ---- payloads: atoms.c ---- */

typedef struct {
    AtomPlan plan;
    bool light; /* the payload is a light list alone: no |x| is above tau */
} AtomCoder;

size_t atoms_bound(size_t n);

/* `raw` is the tensor itself: it is what travels where atoms would not be expected to take fewer bytes. */
Status atoms_encode(const Call *c, const AtomCoder *coder, const float *x, size_t n, const float *raw,
                    Buf *out);
Status atoms_decode(const Call *c, const AtomCoder *coder, Bytes in, size_t n, float *x);

/* The closed form of what atoms_encode sends: 0 where the tensor travels raw, NaN where there is none. */
double atoms_variance(const Call *c, const AtomCoder *coder, const float *x, size_t n);

/* The law of its error, and the moments, which are 0 where the tensor travels raw: for atoms that are not the
 * tensor's elements. */
ErrorLaw atoms_law(const Call *c, const AtomCoder *coder, const float *x, size_t n, AtomMoments *m);

#endif
