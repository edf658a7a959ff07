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
static inline bool coded_raw(const Coded *c)
{
    return c->payload.size && c->payload.data[0] == PAYLOAD_RAW;
}
/* True if the payload is x itself as raw floats: then no random numbers were drawn. */
static inline bool coded_plain(const Coded *c, const float *x)
{
    return coded_raw(c) && !memcmp(c->y, x, c->shape.n * sizeof *x);
}

extern const VerifyStatement moment_statements[], matrix_statements[]; /* verify_subject.c */

#endif
