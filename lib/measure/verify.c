/* verify.c -- the statements of the ATOMO paper, the vector on which they are checked, the verdict of each check, and
 * the random draws of checks. */
#include "measure/verify_parts.h"
#include "dump/describe.h"
#include "math/stats.h"
#include "compress/spec.h"

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

/* ---- statements ---- */

static const VerifyStatement *const groups[] = {moment_statements, lemma_statements, level_statements,
                                                quantiser_statements, matrix_statements};

size_t statement_count(void)
{
    size_t count = 0;
    for (size_t g = 0; g < countof(groups); g++)
        for (const VerifyStatement *st = groups[g]; st->name; st++)
            count++;
    return count;
}

const VerifyStatement *statement_at(size_t i)
{
    for (size_t g = 0; g < countof(groups); g++)
        for (const VerifyStatement *st = groups[g]; st->name; st++)
            if (i-- == 0)
                return st;
    return NULL;
}

static bool is_matrix(const VerifySubject *s)
{
    size_t rows, cols;
    if (s->vector->joined || s->vector->shape.rank < 2)
        return false;
    matrix_view(&s->vector->shape, RESHAPE_PAPER, &rows, &cols);
    return rows > 1 && cols > 1 && s->nonzero > 0;
}

static bool may_apply(const VerifyStatement *st, const VerifySubject *s)
{
    switch (st->needs) {
    case NEEDS_NOTHING:
        return true;
    case NEEDS_NONZERO:
        return s->part.count > 0;
    case NEEDS_SEVERAL:
        return s->part.count > 1;
    case NEEDS_MATRIX:
        return is_matrix(s);
    }
    return false;
}

Status statement_check(const VerifyStatement *st, VerifySubject *s, VerifyVerdict *v)
{
    *v = (VerifyVerdict){.relation = st->relation, .left = NAN, .right = NAN};
    if (!may_apply(st, s))
        return OK;
    const Status status = st->check(s, v);
    if (status == ERR_NUMERIC) {
        *v = (VerifyVerdict){.applies = true, .relation = st->relation, .left = NAN, .right = NAN};
        snprintf(v->note, sizeof v->note, "%.127s", s->err->text);
        return OK;
    }
    return status;
}

/* ---- the library's functions that are under test ---- */

static Status draw(const Call *c, const float *x, Buf *payload, float *y)
{
    Message m;
    payload->size = 0;
    TRY(codec_send(c, x, payload, &m));
    return codec_receive(c, &m, y);
}

static bool keep(const Rng *rng, uint64_t i, double p)
{
    return rng_unit(rng, USE_ATOM, i) < p;
}

const VerifyMethods verify_methods = {
    .level = waterfill_floats,
    .level_of = waterfill_level,
    .draw = draw,
    .keep = keep,
};

/* ---- draws ---- */

/* Draws random estimates with codecs or from small sets of atoms, and bounds how far means
 * of draws may be from their expectations. */

/* ---- tolerances of means ---- */

double bernstein(double v, double most, double alarm)
{
    const double l = log(2 / alarm), third = most * l / 3;
    return third + sqrt(third * third + 2 * v * l);
}

size_t draws_for(double v, double want, double least, double most)
{
    return (size_t)fmin(most, fmax(least, ceil(2 * log(2 / VERIFY_ALARM) * v / (want * want))));
}

/* ---- random draws of codecs ---- */

Status coded_open(Coded *c, VerifySubject *s, const char *spec, const Shape *shape)
{
    const Vector *v = s->vector;
    *c = (Coded){.shape = *shape, .s = s};
    TRY(codec_open(&c->codec, spec, s->a, s->err));
    c->call = (Call){.self = c->codec,
                     .rng = vector_rng(v, s->seed, 0),
                     .rng_shared = vector_rng_shared(v, s->seed, 0),
                     .workers = 1,
                     .threads = s->threads,
                     .scratch = s->a,
                     .err = s->err};
    c->call.shape = &c->shape;
    c->payload.cap = codec_message_bound(&c->call);
    c->payload.data = NEW(s->a, uint8_t, c->payload.cap);
    c->y = NEW(s->a, float, c->shape.n);
    return c->payload.data && c->y ? OK : arena_fail(s->a, s->err);
}

Status coded_draw(Coded *c, const float *x, uint64_t repeat)
{
    const Vector *v = c->s->vector;
    /* set again, since c may have been copied after `coded_open` */
    c->call.shape = &c->shape;
    c->call.rng = vector_rng(v, c->s->seed, repeat);
    c->call.rng_shared = vector_rng_shared(v, c->s->seed, repeat);
    return c->s->methods->draw(&c->call, x, &c->payload, c->y);
}

/* ---- small sets of atoms ---- */

static double dot(const double *a, const double *b, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

Status atomset_take(VerifySubject *s, AtomSet *set, size_t count, size_t dim)
{
    *set = (AtomSet){.count = count, .dim = dim};
    set->atom = NEW_ZERO(s->a, double, count *dim);
    set->g = NEW_ZERO(s->a, double, dim);
    return set->atom && set->g ? OK : arena_fail(s->a, s->err);
}

void atomset_settle(AtomSet *set)
{
    for (size_t i = 0; i < set->count; i++) {
        double *a = set->atom + i * set->dim;
        const double length = sqrt(dot(a, a, set->dim));
        for (size_t k = 0; k < set->dim; k++) {
            set->g[k] += a[k];
            a[k] = length > 0 ? a[k] / length : 0;
        }
        set->lambda[i] = length;
        set->l1 += length;
    }
    set->squares = dot(set->g, set->g, set->dim);
    for (size_t i = 0; i < set->count; i++)
        for (size_t k = 0; k < set->count; k++) {
            set->gram[i][k] = dot(set->atom + i * set->dim, set->atom + k * set->dim, set->dim);
            set->cross += i == k ? 0 : set->lambda[i] * set->lambda[k] * set->gram[i][k];
        }
}

/* Makes atoms that overlap. g is cut into pieces; the vector of atom i is 3/2 of piece i minus half of piece
 * i - 1. So these vectors add up to g, neighbours are neither equal nor orthogonal, and phi (the cross terms
 * of Lemma 1) is negative. */
Status atomset_overlapping(VerifySubject *s, AtomSet *set)
{
    enum { DIM = 64 };
    const VerifyPart *p = &s->part;
    const size_t dim = p->count < DIM ? p->count : DIM, count = dim < ATOMS_MOST ? dim : ATOMS_MOST;
    *set = (AtomSet){0};
    if (count < 2)
        return OK;
    TRY(atomset_take(s, set, count, dim));
    for (size_t k = 0, i = 0; i < p->n && k < dim; i++) {
        if (p->x[i] == 0)
            continue;
        const size_t piece = k * count / dim;
        set->atom[piece * dim + k] += 1.5 * (double)p->x[i];
        set->atom[(piece + 1) % count * dim + k] -= 0.5 * (double)p->x[i];
        k++;
    }
    atomset_settle(set);
    return OK;
}

Status atomset_spend(VerifySubject *s, AtomSet *set, double budget)
{
    const double tau = s->methods->level_of(set->lambda, set->count, budget, s->a);
    if (isnan(tau))
        return arena_fail(s->a, s->err);
    set->budget = budget;
    for (size_t i = 0; i < set->count; i++)
        set->p[i] = chance_at(tau, set->lambda[i]);
    return OK;
}

Outcomes atomset_outcomes(const AtomSet *set)
{
    double size[1 << ATOMS_MOST], chance[1 << ATOMS_MOST];
    const size_t all = (size_t)1 << set->count;
    Outcomes o = {0};
    for (size_t mask = 0; mask < all; mask++) {
        double weight[ATOMS_MOST];
        chance[mask] = 1;
        size[mask] = 0;
        for (size_t i = 0; i < set->count; i++) {
            const bool kept = mask >> i & 1;
            chance[mask] *= kept ? set->p[i] : 1 - set->p[i];
            weight[i] = kept && set->p[i] > 0 ? set->lambda[i] / set->p[i] : 0;
        }
        for (size_t i = 0; i < set->count; i++)
            size[mask] += weight[i] * dot(weight, set->gram[i], set->count);
        o.mean += chance[mask] * size[mask];
    }
    for (size_t mask = 0; mask < all; mask++) {
        const double off = size[mask] - o.mean;
        o.variance += chance[mask] * off * off;
        o.most = chance[mask] > 0 ? fmax(o.most, fabs(off)) : o.most;
    }
    return o;
}
