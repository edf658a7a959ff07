/* verify_parts.h -- functions and types that verify_*.c share. They check statements of the ATOMO
 * paper (verify.h). */
#ifndef ATOMO_VERIFY_PARTS_H
#define ATOMO_VERIFY_PARTS_H

#include "compress/compressor.h"
#include "measure/verify.h"

/* Stores the numbers of a case in the verdict `v` if the case is nearer to failing than all earlier cases
 * (verdict_strain). */
void verdict_take(VerifyVerdict *v, double left, double right, double tolerance, const char *note, ...)
    PRINTF(5);

/* Returns a random stream for one purpose, independent of the random numbers that codecs draw. */
Rng subject_rng(const VerifySubject *s, uint64_t purpose);
enum { FOR_PART = 1, FOR_MATRIX, FOR_CHANCES = 4, FOR_ATOMS, FOR_SIGNS };

/* Divides the indices 0 .. n - 1 into min(size, n) ranges of equal length, draws one index of each to
 * `place`, and returns their number. */
size_t places_take(size_t *place, size_t size, size_t n, const Rng *rng);

/* ---- water levels ---- */

/* Returns the water level tau, at which the probabilities min(1, lambda_i / tau) add up to `budget`; 0 if budget >= n, NaN
 * if memory runs out. lambda (n) has no zeros and is sorted, largest first. */
double level_sorted(const double *lambda, size_t n, double budget, Arena *scratch);

static inline double chance_at(double tau, double lambda)
{
    return lambda < tau ? lambda / tau : lambda > 0;
}

/* Sums over the elements, for the probabilities p = min(1, lambda / tau) of one water level tau. */
typedef struct {
    double sum;       /* sum of p */
    double second;    /* sum of lambda^2 / p; NaN: p is not feasible */
    double violation; /* largest violation of the paper's optimality conditions (14) */
    double least;     /* least p / (Lemma 9's lower bound on p); NaN: p is not feasible */
    size_t heavy;
} Spent;
Status spend_floats(VerifySubject *s, double budget, const Level *level, Spent *out); /* over all elements */
Spent spend_part(const double *lambda, size_t n, double budget, double tau); /* lambda must have no zeros */

/* ---- random draws ---- */

#define VERIFY_ALARM 5e-10

/* Returns the t of Bernstein's inequality, P(|S - E S| > t) <= alarm. S is a sum of independent terms with
 * total variance v; each term differs from its mean by at most `most`. */
double bernstein(double v, double most, double alarm);

/* Returns a number of draws, from `least` to `most`, such that the mean of draws with variance v differs from
 * its expected value by at most about `want`. */
size_t draws_for(double v, double want, double least, double most);

typedef struct {
    const Codec *codec;
    Shape shape;
    Call call;
    Buf payload;
    float *y;
    const VerifySubject *s;
} Coded;
Status coded_open(Coded *c, VerifySubject *s, const char *spec, const Shape *shape);
Status coded_draw(Coded *c, const float *x, uint64_t repeat);
static inline bool coded_raw(const Coded *c)
{
    return c->payload.size && c->payload.data[0] == PAYLOAD_RAW;
}
/* True if the payload is x itself as raw floats: then no random numbers were drawn. */
static inline bool coded_plain(const Coded *c, const float *x)
{
    return coded_raw(c) && !memcmp(c->y, x, c->shape.n * sizeof *x);
}

extern const VerifyStatement moment_statements[], matrix_statements[]; /* verify_moments.c */

/* Atoms a_i of length 1 with g = sum lambda_i a_i, so few that all outcomes of a random draw can be listed. */
enum { ATOMS_MOST = 10 };
typedef struct AtomSet {
    size_t count, dim;
    double lambda[ATOMS_MOST], p[ATOMS_MOST], budget;
    double *atom, *g; /* atom: count x dim elements; g: dim elements */
    double gram[ATOMS_MOST][ATOMS_MOST];
    double l1, squares, cross; /* norms |lambda|_1, |g|^2, and the cross terms phi(g) of Lemma 1 */
} AtomSet;
Status atomset_take(VerifySubject *s, AtomSet *set, size_t count, size_t dim);
/* Turns the vectors lambda_i a_i in `set->atom` into the atoms a_i. Sets lambda, g, gram and the norms. */
void atomset_settle(AtomSet *set);
/* makes atoms that are not orthogonal; `set->count` 0: too few non-zero elements */
Status atomset_overlapping(VerifySubject *s, AtomSet *set);
/* sets `set->p`, the probabilities of keeping each atom, which add up to `budget` */
Status atomset_spend(VerifySubject *s, AtomSet *set, double budget);
typedef struct {
    double mean, variance, most; /* of |estimate|^2; `most`: largest distance from the mean */
} Outcomes;
Outcomes atomset_outcomes(const AtomSet *set); /* over all 2^count outcomes */

#endif
