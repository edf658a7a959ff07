/* verify_subject.c -- what the checks of the ATOMO paper's statements share: the vector and the verdict, water levels,
 * random draws of codecs and of small sets of atoms, and bounds on how far means of draws may be from their
 * expectations. */
#include "measure/verify_parts.h"

#include "dump/describe.h"
#include "math/stats.h"
#include "compress/spec.h"
#include "base/parallel.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <float.h>

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

/* ---- the water level tau of the probabilities min(1, lambda_i / tau) by the paper's Algorithm 1, which shares no code
 * with the codecs' solver (waterfill.h) ---- */

/* Returns tail[i] = lambda_i + ... + lambda_(n-1), added from the smallest. */
static double *tails(const double *lambda, size_t n, Arena *scratch)
{
    double *tail = NEW(scratch, double, n + 1);
    if (!tail)
        return NULL;
    tail[n] = 0;
    for (size_t i = n; i-- > 0;)
        tail[i] = tail[i + 1] + lambda[i];
    return tail;
}

/* The paper's Algorithm 1 with a misprint corrected: the sums are over |lambda_j|, where the paper prints
 * |lambda_i|. */
double level_sorted(const double *lambda, size_t n, double budget, Arena *scratch)
{
    const ArenaMark mark = arena_mark(scratch);
    const double *tail = tails(lambda, n, scratch);
    double level = tail ? 0 : NAN;
    for (size_t i = 0; tail && i < n && budget < (double)n; i++)
        if (lambda[i] * (budget - (double)i) <= tail[i] || i + 1 == n) {
            level = tail[i] / (budget - (double)i);
            break;
        }
    arena_rewind(scratch, mark);
    return level;
}

/* ---- sums over the probabilities at a level ---- */

/* waterfill.h counts an element as light (kept with p < 1) if its magnitude is at most tau * BALANCED. */
#define BALANCED (1 + 4 * DBL_EPSILON)

typedef struct {
    const float *x;
    size_t n;
    /* `root`: the water level sqrt(mu) by the paper's equation (16), from the number of heavy elements (p =
     * 1) and the sum of the light ones (p < 1) */
    double tau, root;
    double bound; /* Lemma 9's lower bound on p, divided by lambda^2 */
    Spent *part;  /* the sums of each block */
} Spending;

static void spend_block(void *data, size_t block)
{
    const Spending *s = data;
    const float *x = s->x + block * BLOCK;
    const double tau = s->tau, root = s->root;
    Spent out = {.least = INFINITY};
    for (size_t i = 0; i < block_size(s->n, block); i++) {
        const double v = fabs((double)x[i]);
        if (v == 0)
            continue;
        const bool heavy = v > tau * BALANCED;
        const double p = heavy ? 1 : v / tau, slack = (heavy ? v : tau) / root;
        out.heavy += heavy;
        out.sum += p;
        out.second += heavy ? v * v : v * tau;
        out.violation = fmax(out.violation, heavy ? 1 - slack * slack : fmax(p - 1, fabs(slack * slack - 1)));
        out.least = fmin(out.least, p / (s->bound * v * v));
    }
    s->part[block] = out;
}

Status spend_floats(VerifySubject *subject, double budget, const Level *level, Spent *out)
{
    const size_t blocks = blocks_of(subject->n);
    Spending s = {.x = subject->x,
                  .n = subject->n,
                  .tau = level->tau,
                  .root = level->tail / (budget - (double)level->heavy),
                  .bound = budget / ((double)subject->nonzero * subject->squares),
                  .part = NEW(subject->a, Spent, blocks)};
    TRY(arena_check(s.part, subject->a, subject->err));
    parallel_for(subject->threads, blocks, spend_block, &s);
    *out = (Spent){.least = INFINITY};
    for (size_t b = 0; b < blocks; b++) {
        out->sum += s.part[b].sum;
        out->second += s.part[b].second;
        out->heavy += s.part[b].heavy;
        out->violation = fmax(out->violation, s.part[b].violation);
        out->least = fmin(out->least, s.part[b].least);
    }
    if (!(s.root > 0 && isfinite(s.root)))
        out->violation = INFINITY;
    if (!(fabs(out->sum - budget) <= 1e-9 * budget)) /* true also if the sum is NaN; p is not feasible then */
        out->second = out->least = NAN;
    return OK;
}

Spent spend_part(const double *lambda, size_t n, double budget, double tau)
{
    Spent s = {.least = INFINITY};
    for (size_t i = n; i-- > 0;) {
        const double p = chance_at(tau, lambda[i]);
        s.heavy += p == 1;
        s.sum += p;
        s.second += lambda[i] * (lambda[i] / p);
    }
    if (!(fabs(s.sum - budget) <= 1e-9 * budget))
        s.second = NAN;
    return s;
}

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
