/* verify.h -- the statements of the ATOMO paper (Wang et al., NeurIPS 2018), each checked on a vector of
 * numbers.
 *
 * A check gives a VerifyVerdict: two numbers (left and right), the relation that the statement claims between
 * them, and a tolerance. Second moments are divided by |g|^2, water levels (thresholds tau above which a
 * coefficient lambda is always sent) by the largest |lambda|, norms of matrices by the Frobenius norm. For a
 * mean over random draws, the tolerance is from Bernstein's inequality with the closed-form variance: a true
 * statement fails with probability 5e-10 at most.
 *
 * Checks with linear cost use all elements. Others use a part: VERIFY_PART
 * elements, the first of each of VERIFY_PART stretches of equal length, or a submatrix whose rows and columns
 * are chosen in the same way. A part is scaled by a power of two, so that no codec leaves float32's range; the
 * scale changes no statement. */
#ifndef ATOMO_VERIFY_H
#define ATOMO_VERIFY_H

#include "compress/harness.h"
#include "dump/groups.h"
#include "compress/atoms/waterfill.h"

enum {
    VERIFY_PART = 4096,     /* most elements of a part that is no submatrix */
    VERIFY_SHORT = 512,     /* most rows or columns of a submatrix on its shorter side */
    VERIFY_LONG = 1 << 18,  /* most rows or columns on its longer side */
};

typedef enum { EQUAL, AT_MOST, AT_LEAST, ABOVE } Relation;
extern const char *const relation_names[]; /* names of the relations: "=", "<=", ">=", ">" */

typedef struct {
    bool applies;
    Relation relation;
    double left, right, tolerance;
    /* the case nearest to failing (verdict_strain), or why `left` and `right` are missing */
    char note[128];
} VerifyVerdict;

/* Returns how near a verdict is to failing: the deviation as a share of the tolerance, or for ABOVE the
 * tolerance as a share of left - right. At most 1 if the statement holds; infinite if left or right is
 * missing. */
double verdict_strain(const VerifyVerdict *v);
static inline bool verdict_holds(const VerifyVerdict *v)
{
    return verdict_strain(v) <= 1;
}

/* A part of a vector: some of its elements, scaled. */
typedef struct {
    float *x;
    size_t n;
    double *lambda; /* (VerifyPart.count) the non-zero |x|, largest first */
    size_t count;
    double l1, squares, most;
} VerifyPart;

/* A matrix, or a submatrix, and its singular values. */
typedef struct {
    const float *x; /* rows x cols */
    Shape shape;
    size_t rows, cols, k;
    double l1, squares, most;
    double *sigma; /* k singular values, largest first up to rounding errors */
    double nuclear;
} VerifyMatrix;

/* A vector, and intermediate results that several statements share, NULL until their first use. */
typedef struct {
    const Vector *vector;
    const float *x;
    size_t n, nonzero;
    double l1, squares, most; /* sum of |x|, sum of x^2, and largest |x| */
    uint64_t seed;
    int threads;
    VerifyPart part;
    VerifyMatrix *matrix;
    double *norm;                          /* for Theorem 5: the norms |x|_q */
    struct Spendings *spendings;           /* results for Algorithm 1 */
    struct EntrySample *entries;           /* results for Lemma 1 */
    struct SvdSample *svd;                 /* results for Lemma 1 */
    Arena *a;
    Error *err;
} VerifySubject;

typedef struct {
    const char *name, *says; /* `says`: the statement in one line, with the paper's misprints corrected */
    Relation relation;
    enum { NEEDS_NOTHING, NEEDS_NONZERO, NEEDS_SEVERAL, NEEDS_MATRIX } needs;
    Status (*check)(VerifySubject *s, VerifyVerdict *v);
} VerifyStatement;

size_t statement_count(void);
const VerifyStatement *statement_at(size_t i); /* returns NULL if i is statement_count() or more */

/* Opens *s, to check statements on the finite vector x (vector->shape.n), which must outlive *s. Intermediate
 * results are in the arena. */
Status subject_open(VerifySubject *s, const Vector *vector, const float *x, uint64_t seed, int threads, Arena *a, Error *err);

/* Checks the statement. If a computation fails with ERR_NUMERIC (for example overflow), the verdict has no
 * numbers and does not hold; other errors are returned. */
Status statement_check(const VerifyStatement *statement, VerifySubject *s, VerifyVerdict *v);

#endif
