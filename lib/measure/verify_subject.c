/* verify_subject.c -- the vector on which the statements of the ATOMO paper are checked, and the verdict of
 * each check. */
#include "measure/verify_parts.h"

#include "dump/describe.h"
#include "math/stats.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

const char *const relation_names[] = {"=", "<=", ">=", ">"};

/* ---- verdicts ---- */

static double share(double excess, double tolerance)
{
    return excess <= 0 ? 0 : excess / tolerance; /* infinite if the tolerance is 0 */
}

static double strain(Relation relation, double left, double right, double tolerance)
{
    const double ahead = left - right;
    if (!isfinite(left) || !isfinite(right) || !(tolerance >= 0))
        return INFINITY;
    switch (relation) {
    case EQUAL:
        return share(fabs(ahead), tolerance);
    case AT_MOST:
        return share(ahead, tolerance);
    case AT_LEAST:
        return share(-ahead, tolerance);
    case ABOVE:
        return ahead > tolerance ? tolerance / ahead : INFINITY;
    }
    return INFINITY;
}

double verdict_strain(const VerifyVerdict *v)
{
    return strain(v->relation, v->left, v->right, v->tolerance);
}

void verdict_take(VerifyVerdict *v, double left, double right, double tolerance, const char *note, ...)
{
    va_list args;
    if (v->applies && strain(v->relation, left, right, tolerance) <= verdict_strain(v))
        return;
    v->applies = true;
    v->left = left;
    v->right = right;
    v->tolerance = tolerance;
    va_start(args, note);
    vsnprintf(v->note, sizeof v->note, note, args);
    va_end(args);
}

/* ---- subjects ---- */

Rng subject_rng(const VerifySubject *s, uint64_t purpose)
{
    const Vector *v = s->vector;
    const Rng rng = vector_rng(v, s->seed, 0);
    const Rng ours = rng_below(&rng, rng_hash("verify"));
    return rng_below(&ours, purpose);
}

size_t places_take(size_t *place, size_t size, size_t n, const Rng *rng)
{
    const size_t count = size < n ? size : n;
    for (size_t i = 0; i < count; i++) {
        const size_t from = (size_t)((double)n / (double)count * (double)i);
        const size_t next = (size_t)((double)n / (double)count * (double)(i + 1)), to = next < n ? next : n;
        const double u = count < n ? rng_unit(rng, USE_SAMPLE, i) : 0;
        place[i] = to > from ? from + (size_t)(u * (double)(to - from)) : from;
    }
    return count;
}

static Status take_part(VerifySubject *s)
{
    VerifyPart *p = &s->part;
    const size_t size = s->n < VERIFY_PART ? s->n : VERIFY_PART;
    const Rng rng = subject_rng(s, FOR_PART);
    size_t *place = NEW(s->a, size_t, size);
    int exponent;
    p->x = NEW(s->a, float, size);
    p->lambda = NEW(s->a, double, size);
    TRY(arena_check(place && p->x && p->lambda, s->a, s->err));
    p->n = places_take(place, size, s->n, &rng);
    for (size_t i = 0; i < p->n; i++)
        p->most = fmax(p->most, fabs((double)s->x[place[i]]));
    frexp(p->most, &exponent);
    p->most = 0;
    for (size_t i = 0; i < p->n; i++) {
        p->x[i] = (float)ldexp((double)s->x[place[i]], -exponent);
        if (p->x[i] != 0)
            p->lambda[p->count++] = -fabs((double)p->x[i]);
    }
    /* p->lambda has negated magnitudes here, so that the largest come first */
    stats_sort(p->lambda, p->count);
    for (size_t i = p->count; i-- > 0;) {
        p->lambda[i] = -p->lambda[i];
        p->l1 += p->lambda[i];
        p->squares += p->lambda[i] * p->lambda[i];
        p->most = p->lambda[i];
    }
    return OK;
}

Status subject_open(VerifySubject *s, const VerifyMethods *methods, const Vector *vector, const float *x,
                    uint64_t seed, int threads, Arena *a, Error *err)
{
    const Description d = describe(x, vector->shape.n);
    *s = (VerifySubject){.methods = methods,
                         .vector = vector,
                         .x = x,
                         .n = vector->shape.n,
                         .nonzero = d.n - d.zeros,
                         .l1 = d.l1,
                         .squares = d.l2 * d.l2,
                         .most = d.linf,
                         .seed = seed,
                         .threads = threads,
                         .a = a,
                         .err = err};
    return take_part(s);
}
