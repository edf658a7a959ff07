/* verify_draws.c -- draws random estimates with codecs or from small sets of atoms, and bounds how far means
 * of draws may be from their expectations. */
#include "measure/verify_parts.h"
#include "compress/spec.h"

#include <math.h>

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
