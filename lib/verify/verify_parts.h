/* verify_parts.h -- what the files of verify.h share. */
#ifndef ATOMO_VERIFY_PARTS_H
#define ATOMO_VERIFY_PARTS_H

#include "codec/compressor.h"
#include "verify/verify.h"

/* Takes the case if it strains the statement more than the ones before it. */
void verdict_take(VerifyVerdict *v, double left, double right, double tolerance, const char *note, ...)
    PRINTF(5);

/* Numbers of our own: never the words of a draw. */
Rng subject_rng(const VerifySubject *s, uint64_t purpose);
enum { FOR_PART = 1, FOR_MATRIX, FOR_CUT, FOR_CHANCES, FOR_ATOMS, FOR_SIGNS };

/* `size` places out of n, one from each of as many equal stretches; all of them where size >= n. */
size_t places_take(size_t *place, size_t size, size_t n, const Rng *rng);

/* ---- matrices: verify_matrices.c ---- */

Status subject_matrix(VerifySubject *s); /* makes s->matrix */
Status matrix_cut(VerifySubject *s, size_t longer, size_t shorter, uint64_t purpose,
                  VerifyMatrix *out); /* spectrum, too */

/* At nearly the largest s that Theorem 6 allows, and s' = s / (n + m). */
typedef struct {
    double entry_budget, svd_budget; /* s, s' */
    double entry_second, svd_second; /* Table 1, over |X|_F^2 */
    double ratio;                    /* of these, as the theorem predicts: (n + m) |X|_*^2 / |X|_{1,1}^2 */
} MatrixTheory;
MatrixTheory matrix_theory(const VerifyMatrix *m);
const char *theory_winner(double ratio);
#define RANK_LEAST 0.001 /* that the codec `svd` takes */

/* ---- water levels by other ways, for lambda largest first and not 0: verify_levels.c ---- */

double level_sorted(const double *lambda, size_t n, double budget, Arena *scratch);
double level_bisected(const double *lambda, size_t n, double budget, Arena *scratch);
double level_selected(const double *lambda, size_t n, double budget, Arena *scratch);
/* Wangni et al.: the least sum p whose second moment is at most 1 + eps times |lambda|^2. */
double level_gspar(const double *lambda, size_t n, double eps);
/* The least sum lambda^2 / p over sum p = budget, 0 < p <= 1, by projected descent. */
double least_by_descent(const double *lambda, size_t n, double budget); /* n <= 64, budget < n */

static inline double chance_at(double tau, double lambda)
{
    return lambda < tau ? lambda / tau : lambda > 0;
}

/* What a level spends and gives. */
typedef struct {
    double sum;       /* of p */
    double second;    /* sum of lambda^2 / p; NaN where p is not feasible */
    double violation; /* of the conditions (14), see verify_waterfill.c */
    double least;     /* of p over Lemma 9's bound; NaN where p is not feasible */
    size_t heavy;
} Spent;
Status spend_floats(VerifySubject *s, double budget, const Level *level, Spent *out); /* all elements */
Spent spend_part(const double *lambda, size_t n, double budget, double tau); /* lambda without zeros */

/* ---- draws: verify_draws.c ---- */

#define VERIFY_ALARM 5e-10

/* Least t with P(|S - E S| > t) <= alarm for a sum of independent terms with total variance v, none further
 * than `most` from its mean (Bernstein). */
double bernstein(double v, double most, double alarm);

/* So many draws that the tolerance comes to `want` where one draw has the variance v. */
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
/* What was drawn travels as floats. */
static inline bool coded_raw(const Coded *c)
{
    return c->payload.size && c->payload.data[0] == PAYLOAD_RAW;
}
/* The vector itself does: nothing was drawn. */
static inline bool coded_plain(const Coded *c, const float *x)
{
    return coded_raw(c) && !memcmp(c->y, x, c->shape.n * sizeof *x);
}

extern const VerifyStatement lemma_statements[], level_statements[], moment_statements[],
    quantiser_statements[], matrix_statements[], contest_statements[];

/* VerifyMethods's own. */
void verify_raise(const double *lambda, const double *q, size_t n, double *p);

/* Atoms a_i of length one with g = sum lambda_i a_i: few enough to go through all outcomes. */
enum { ATOMS_MOST = 10 };
typedef struct AtomSet {
    size_t count, dim;
    double lambda[ATOMS_MOST], p[ATOMS_MOST], budget;
    double *atom, *g; /* (count, dim), (dim) */
    double gram[ATOMS_MOST][ATOMS_MOST];
    double l1, squares, cross; /* |lambda|_1, |g|^2, phi(g) */
} AtomSet;
Status atomset_take(VerifySubject *s, AtomSet *set, size_t count, size_t dim);
void atomset_settle(AtomSet *set);                          /* from atom = lambda_i a_i, all the rest */
Status atomset_overlapping(VerifySubject *s, AtomSet *set); /* count 0: no such set */
Status matrix_atoms(VerifySubject *s, const VerifyMatrix *m,
                    AtomSet *set);                                   /* singular vectors; k <= ATOMS_MOST */
Status atomset_spend(VerifySubject *s, AtomSet *set, double budget); /* p by the methods under test */
typedef struct {
    double mean, variance, most; /* of |estimate|^2; most: distance from the mean */
} Outcomes;
Outcomes atomset_outcomes(const AtomSet *set); /* all 2^count of them */

#endif
