/* bench_solve.c -- --equal-bits: the rate at which a codec's payloads have a given size.
 *
 * The logarithm of a payload size is nearly linear in the logarithm of the argument, so the secant method
 * works well. First it looks for a bracket: one argument with a value below the target, one with a value
 * above. Until then each step follows the secant from the last argument; where the function is constant, the
 * step doubles each time. Inside a bracket the next argument is where the secant crosses the target. If the
 * secant keeps moving the same end of the bracket, or after four tries inside the bracket, the next argument
 * is the middle of the bracket, by the logarithm. */
#include "bench_solve.h"

#include "compress/rate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { DIGITS_MOST = 7, TRIES_MOST = 30, ROUGH_TRIES = 5 };

#define REACH log(64)
#define LEVEL 1e-4 /* a function whose log-log slope is smaller than this counts as constant */
#define STEEP 20   /* a log-log slope above this counts as a jump of the function */

typedef struct {
    double at, u, w; /* the argument, its logarithm, and log(value / target) */
} Try;

typedef struct Sought Sought;

/* The rate at which the payloads of a codec have a given size. The size is positive, close to a power of the rate, perhaps with
 * jumps, perhaps constant at both ends of the range. The rates tried are decimals with few digits. */
struct Sought {
    double target, tolerance; /* bits per element; the search ends at a size within target * (1 +- tolerance) */
    double low, high;         /* smallest and largest rate; low > 0 */
    bool whole;               /* the rate must be an integer */
    /* Sets *bits > 0 to the size at a rate. NaN: there is none, and the search ends. */
    Status (*size)(const Sought *p, double rate, double *bits, Error *err);
    const Comparison *c;
    const Codec *codec;
    Rate rate;
    size_t repeats; /* over which the size is a mean */
    Arena *a;
};

typedef struct {
    Sought p;
    double at, value; /* of the try nearest to the target; NaN: none gave a size */
    double slope;     /* estimate of d log size / d log rate near `at`; NaN: unknown */
    unsigned tries;
    bool ended; /* the target is reached, or a try had no size */
    Try first, last, under, over; /* under, over: the latest try with a value below, above the target */
    bool has_under, has_over;
    double direction; /* 1: the function rises, -1: it falls, 0: unknown */
    double presumed;  /* the assumed `direction` while that is unknown */
    /* true: the function had nearly the same value at the last two arguments */
    bool level;
    double reach; /* longest step in the argument's logarithm while there is no bracket */
    /* inside: tries inside the bracket; same: how many tries in a row moved the same end of the bracket as
     * the try before */
    int inside, same;
    double low_tried, high_tried; /* the least and the greatest argument tried so far */
} Search;

/* Returns v rounded to the fewest digits that give a result strictly between low and high; NaN: more than
 * seven are needed. v, low and high are above 0. */
static double solve_decimal(double v, double low, double high)
{
    char text[32];
    for (int digits = 1; digits <= DIGITS_MOST; digits++) {
        snprintf(text, sizeof text, "%.*e", digits - 1, v);
        const double rounded = strtod(text, NULL);
        if (rounded > low && rounded < high)
            return rounded;
    }
    return NAN;
}

/* ---- the size of payloads ---- */

typedef struct {
    const Comparison *c;
    double bits;
} Sizing;

static Status load_sized(void *data, const Vector *v, float *x, Error *err)
{
    const Sizing *s = data;
    return s->c->load(s->c->data, v, x, err);
}

static Status keep_size(void *data, const Record *r, Error *err)
{
    Sizing *s = data;
    (void)err;
    if (r->place + 1 == compare_places(s->c->vectors)) /* the record of all vectors */
        s->bits = r->vectors ? metric_value(metric_find("bits_per_element_expected"), &r->tally) : NAN;
    return OK;
}

Status compare_bits(const Comparison *c, const Codec *codec, size_t repeats, double *bits, Error *err)
{
    Sizing s = {.c = c, .bits = NAN};
    Comparison own = *c;
    Arena *a = arena_open(0);
    size_t failures;
    own.codec = &codec;
    own.codecs = 1;
    own.repeats = repeats;
    own.costs_only = own.untimed = true;
    own.data = &s;
    own.load = load_sized;
    own.record = keep_size;
    const Status status = compare_run(&own, &failures, a, err);
    arena_close(a);
    *bits = s.bits;
    return status;
}

/* ---- trying a rate ---- */

/* Computes the bits per element at a rate. Sets `*bits` to NaN, which ends the search, if the codec refuses
 * the rate or fails on all vectors, or if all payloads are empty. */
static Status size_at(const Sought *p, double rate, double *bits, Error *err)
{
    const ArenaMark mark = arena_mark(p->a);
    const Codec *codec;
    Error why;
    *bits = NAN;
    const Status status =
        rate_set(&codec, p->codec, &p->rate, rate, p->a, &why) == OK ? compare_bits(p->c, codec, p->repeats, bits, err) : OK;
    arena_rewind(p->a, mark);
    if (*bits == 0)
        *bits = NAN;
    return status;
}

static void note_slope(Search *q, Try from, Try to)
{
    const double slope = (to.w - from.w) / (to.u - from.u);
    q->level = fabs(slope) <= LEVEL;
    if (q->level)
        return;
    if (q->direction == 0)
        q->direction = slope > 0 ? 1 : -1;
    q->slope = q->direction * fmin(fmax(fabs(slope), 0.05), 4);
}

static void note_side(Search *q, Try t)
{
    Try *end = t.w < 0 ? &q->under : &q->over;
    bool *has = t.w < 0 ? &q->has_under : &q->has_over;
    const bool again = *has && (t.w < 0) == (q->last.w < 0);
    q->same = again ? q->same + 1 : 0;
    *end = t;
    *has = true;
}

static Status try_at(Search *q, double at, Error *err)
{
    double value;
    TRY(q->p.size(&q->p, at, &value, err));
    const Try t = {at, log(at), log(value / q->p.target)};
    q->ended = isnan(value);
    if (q->ended)
        return OK;
    if (isnan(q->value) || fabs(value / q->p.target - 1) < fabs(q->value / q->p.target - 1)) {
        q->at = at;
        q->value = value;
    }
    q->ended = fabs(q->value / q->p.target - 1) <= q->p.tolerance;
    if (q->tries++)
        note_slope(q, q->last, t);
    else
        q->first = t;
    note_side(q, t);
    q->last = t;
    q->low_tried = fmin(q->low_tried, at);
    q->high_tried = fmax(q->high_tried, at);
    return OK;
}

/* ---- choosing the next argument to try ---- */

/* Returns by how much rounding to few digits may change the logarithm of the next argument. Near the target,
 * such a change moves the function's value by less than the tolerance. */
static double room(const Search *q)
{
    const double slope = isnan(q->slope) ? 1 : fmax(fabs(q->slope), 0.1);
    return fmax(0.6 * q->p.tolerance, 0.1 * fabs(q->last.w) - 0.02) / slope;
}

/* Returns an argument with few digits, strictly between `low` and `high`, whose logarithm is near u. NaN:
 * there is none. */
static double choose(const Search *q, double u, double low, double high)
{
    const double h = room(q), at = exp(u);
    if (!q->p.whole) {
        const double near = solve_decimal(at, fmax(low, exp(u - h)), fmin(high, exp(u + h)));
        return isnan(near) ? solve_decimal(at, low, high) : near;
    }
    const double inside = fmin(fmax(round(at), low + 1), high - 1);
    return inside > low && inside < high ? inside : NAN;
}

/* Returns the next argument inside the bracket; NaN: the bracket is so narrow that the function must have a
 * jump there. */
static double choose_inside(Search *q)
{
    const Try a = q->under, b = q->over;
    const double secant = a.u + a.w / (a.w - b.w) * (b.u - a.u);
    const double u = q->same >= 2 || q->inside++ >= 4 ? (a.u + b.u) / 2 : secant;
    if (!q->p.whole && fabs(a.u - b.u) < q->p.tolerance / STEEP)
        return NAN;
    return choose(q, u, fmin(a.at, b.at), fmax(a.at, b.at));
}

/* Returns the next argument while there is no bracket: outside the range of the earlier arguments, towards
 * the target. NaN: no argument is left there. */
static double choose_outside(Search *q)
{
    double step = -q->last.w / (isnan(q->slope) ? q->presumed : q->slope);
    const double way = step > 0 ? 1 : -1;
    if (q->level || fabs(step) > q->reach) {
        step = way * q->reach;
        q->reach *= 2;
    }
    const double beyond = way > 0 ? q->high_tried : q->low_tried, limit = way > 0 ? q->p.high : q->p.low;
    const double u = q->last.u + step, to_limit = log(limit) - u;
    if (beyond == limit)
        return NAN;
    const double at = way * to_limit < 1e-12 ? NAN : choose(q, u, fmin(beyond, limit), fmax(beyond, limit));
    /* no argument is left before the limit, so the limit itself is tried once */
    return isnan(at) && (q->p.whole || way * to_limit < 1e-12) ? limit : at;
}

static double choose_next(Search *q)
{
    if (q->has_under && q->has_over)
        return choose_inside(q);
    const double at = choose_outside(q);
    if (!isnan(at) || q->direction != 0 || q->presumed < 0)
        return at;
    /* The function is constant up to the limit of the argument. So now a falling function is assumed, and the
     * search goes the other way from the first argument. */
    q->presumed = -1;
    q->last = q->first;
    q->reach = REACH;
    return choose_outside(q);
}

/* Searches from the rate q->at with the slope q->slope (NaN: unknown), in `most` tries; sets both anew. */
static Status search(Search *q, unsigned most, Error *err)
{
    double at = fmin(fmax(q->at, q->p.low), q->p.high);
    *q = (Search){.p = q->p, .at = NAN, .value = NAN, .slope = q->slope, .direction = isnan(q->slope) ? 0 : q->slope > 0 ? 1 : -1,
                  .presumed = 1, .reach = REACH, .low_tried = INFINITY, .high_tried = -INFINITY};
    while (!isnan(at) && q->tries < most) {
        TRY(try_at(q, at, err));
        at = q->ended ? NAN : choose_next(q);
    }
    return OK;
}

/* ---- finding the rate that gives a wanted payload size ---- */

/* The search aims closer than SIZE_TOLERANCE, so that a mean over few repeats that is taken as reached is near the
 * expected size. The first search of `compare_solve` computes at most ROUGH_TRIES sizes, and stops within the relative
 * tolerance ROUGH. */
#define AIM (SIZE_TOLERANCE / 4)
#define ROUGH 0.03

Status compare_solve(const Comparison *c, const Codec **out, const Codec *codec, double bits, unsigned *tries, Arena *a, Error *err)
{
    Search q = {.p = {.target = bits, .tolerance = ROUGH, .size = size_at, .c = c, .codec = codec, .repeats = 1, .a = a}, .slope = NAN};
    *tries = 0;
    *out = codec;
    if (!rate_find(&q.p.rate, codec, true))
        return OK;
    q.p.whole = q.p.rate.key->type == PARAM_INT;
    rate_range(&q.p.rate, &q.p.low, &q.p.high, &q.at);
    if (c->repeats > 1 && codec_traits(codec) & RANDOM) {
        TRY(search(&q, ROUGH_TRIES, err));
        *tries = q.tries;
    }
    if (isnan(q.at))
        return OK;
    q.p.tolerance = AIM;
    q.p.repeats = c->repeats;
    TRY(search(&q, TRIES_MOST, err));
    *tries += q.tries;
    return isnan(q.at) ? OK : rate_set(out, codec, &q.p.rate, q.at, a, err);
}
