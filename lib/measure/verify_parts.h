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

/* ---- water levels ---- */

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
/* Returns the sums over the n elements x, with p = 1 for a heavy element and x / tau for a light one. Lemma 9's bound on p is
 * `bound` times x^2. */
Spent spend(const float *x, size_t n, double bound, double budget, const Level *level);

/* Sets *second to E|ghat|^2 = sum x_i^2 / p_i, divided by `squares`, for the p of Algorithm 1; NaN: p does not spend the budget. */
Status second_moment(VerifySubject *s, const float *x, size_t n, double squares, double budget, double *second);

/* ---- random draws ---- */

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
/* True if the payload is x itself as raw floats: then no random numbers were drawn. */
static inline bool coded_plain(const Coded *c, const float *x)
{
    return c->payload.size && c->payload.data[0] == PAYLOAD_RAW && !memcmp(c->y, x, c->shape.n * sizeof *x);
}

extern const VerifyStatement moment_statements[], matrix_statements[]; /* verify_subject.c */

#endif
