/* verify.h -- the statements of the ATOMO paper (Wang et al., NeurIPS 2018), each checked on a vector of numbers.
 *
 * A statement becomes a VerifyVerdict: two figures, how they should relate, and what may lie between them. Second
 * moments are in units of |g|^2, so 1 is g itself; water levels in units of the largest |lambda|; norms of
 * matrices in units of the Frobenius norm. What rests on draws says so by its tolerance: Bernstein's
 * inequality with the closed form's variance gives it, so that a true statement fails one time in 2e9 at most.
 *
 * What is linear in the number of elements is done on all of them. The rest looks at a part: VERIFY_PART
 * elements, one drawn from each of as many equal stretches, or a submatrix whose rows and columns are drawn
 * so. Parts are scaled by a power of two, which changes no statement and keeps every codec in range. */
#ifndef ATOMO_VERIFY_H
#define ATOMO_VERIFY_H

#include "codec/harness.h"
#include "dump/groups.h"
#include "num/waterfill.h"

enum {
    VERIFY_CODED = 1 << 26, /* elements that codecs are given whole, from the first on */
    VERIFY_PART = 4096,     /* elements */
    VERIFY_SHORT = 512,     /* rows or columns of a matrix on its shorter side, */
    VERIFY_LONG = 1 << 18,  /* and on its longer one */
};

typedef enum { EQUAL, AT_MOST, AT_LEAST, ABOVE } Relation;
extern const char *const relation_names[]; /* "=", "<=", ">=", ">" */

typedef struct {
    bool applies;
    Relation relation;
    double left, right, tolerance;
    char note[128]; /* which of several cases this is; why there are no figures */
} VerifyVerdict;

/* The share of the tolerance that is used: at most 1 if it holds, infinite where a figure is missing. */
double verdict_strain(const VerifyVerdict *v);
static inline bool verdict_holds(const VerifyVerdict *v)
{
    return verdict_strain(v) <= 1;
}

/* What is under test, so that tests can break it. */
typedef struct {
    bool (*level)(const float *x, size_t n, double budget, int threads, Arena *scratch, Level *out);
    double (*level_of)(const double *lambda, size_t n, double budget, Arena *scratch);
    /* One draw of a codec: the payload, and what it decodes to. */
    Status (*draw)(const Call *c, const float *x, Buf *payload, float *y);
    bool (*keep)(const Rng *rng, uint64_t i, double p); /* t_i of the estimator (2) */
    /* Lemma 8: from a feasible q, q[0] < 1, lambda descending and s-unbalanced at 0, a p with p[0] = 1. */
    void (*raise)(const double *lambda, const double *q, size_t n, double *p);
} VerifyMethods;
extern const VerifyMethods verify_methods;

/* Some elements of a vector, scaled. */
typedef struct {
    float *x;
    size_t n;
    double *lambda; /* (count) |x| where it is not 0, largest first */
    size_t count;
    double l1, squares, most;
} VerifyPart;

/* A matrix, or a submatrix, and its singular values. */
typedef struct {
    const float *x; /* (rows, cols) */
    Shape shape;
    size_t rows, cols, k;
    double l1, squares, most;
    double *sigma; /* (k) largest first */
    double nuclear;
} VerifyMatrix;

/* One vector with what statements share; each thing is made when first asked for. */
typedef struct {
    const VerifyMethods *methods;
    const Vector *vector;
    const float *x;
    size_t n, nonzero;
    double l1, squares, most; /* of x */
    uint64_t seed;
    int threads;
    VerifyPart part;
    VerifyMatrix *matrix;
    struct Leading *leading;               /* of Theorem 5 */
    struct Spendings *spendings;           /* of Algorithm 1 */
    struct EntrySample *entries;           /* of Lemma 1 */
    struct AtomSample *spectral, *overlap; /* of Lemma 1 */
    struct Contest *contest;               /* of Table 1 and Theorem 6 */
    Arena *a;
    Error *err;
} VerifySubject;

typedef struct {
    const char *name, *says; /* `says` in one line, in the corrected form where the paper has a misprint */
    Relation relation;
    enum { NEEDS_NOTHING, NEEDS_NONZERO, NEEDS_SEVERAL, NEEDS_MATRIX } needs;
    Status (*check)(VerifySubject *s, VerifyVerdict *v);
} VerifyStatement;

size_t statement_count(void);
const VerifyStatement *statement_at(size_t i); /* NULL behind the last */

/* x (vector->shape.n), finite, and everything made later live in the arena and outlast the subject. */
Status subject_open(VerifySubject *s, const VerifyMethods *methods, const Vector *vector, const float *x,
                    uint64_t seed, int threads, Arena *a, Error *err);

/* What cannot be computed for want of range is a verdict without figures; other failures are the Status. */
Status statement_check(const VerifyStatement *statement, VerifySubject *s, VerifyVerdict *v);

#endif
