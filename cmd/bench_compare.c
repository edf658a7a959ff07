/* bench_compare.c -- compare FILE.h5 -c SPEC...: applies each codec to a gradient dump and reports the
 * metrics. */
#include "bench_commands.h"

#include "app/compare_job.h"
#include "compress/rate.h"
#include "compress/spec.h"
#include "math/stats.h"
#include "report/report_compare.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ==== --equal-bits: the argument at which a function has a given value ====
 *
 * The logarithm of a payload size is nearly linear in the logarithm of the argument, so the secant method
 * works well. First it looks for a bracket: one argument with a value below the target, one with a value
 * above. Until then each step follows the secant from the last argument; where the function is constant, the
 * step doubles each time. Inside a bracket the next argument is where the secant crosses the target. If the
 * secant keeps moving the same end of the bracket, or after four tries inside the bracket, the next argument
 * is the middle of the bracket, by the logarithm. */

enum { DIGITS_MOST = 7, TRIES_MOST = 30 };

#define REACH log(64)
#define LEVEL 1e-4 /* a function whose log-log slope is smaller than this counts as constant */
#define STEEP 20   /* a log-log slope above this counts as a jump of the function */

/* Finds the argument at which an expensive, roughly monotone function has a given value.
 *
 * It is made for the payload size of a codec as a function of its rate parameter: positive, close to a power
 * of the argument, perhaps with jumps, perhaps constant at both ends of the range. The arguments tried are
 * decimals with few digits. */
typedef struct {
    double target, tolerance; /* the search ends at a value within target * (1 +- tolerance) */
    double low, high;         /* smallest and largest argument; low > 0 */
    bool whole;               /* the argument must be an integer */
    unsigned most;            /* the most evaluations of the function; 0: 30 */
    /* Sets *value > 0 to the function's value at `at`. NaN: there is no value, and the search ends. */
    Status (*of)(void *data, double at, double *value, Error *err);
    void *data;
} Solve;

typedef struct {
    double at, value; /* of the evaluation nearest to the target; NaN: no evaluation gave a value */
    double slope;     /* estimate of d log value / d log argument near `at`; NaN: unknown */
    bool reached;
    unsigned tries;
} Solution;

typedef struct {
    double at, u, w; /* the argument, its logarithm, and log(value / target) */
} Try;

typedef struct {
    const Solve *p;
    Solution *s;
    Try first, last, under, over; /* under, over: the latest try with a value below, above the target */
    bool has_under, has_over;
    double direction; /* 1: the function rises, -1: it falls, 0: unknown */
    double presumed;  /* the assumed `direction` while that is unknown */
    bool ended;       /* a try had no value, which ends the search */
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

/* ---- trying an argument and recording the result ---- */

static void note_nearest(Search *q, double at, double value)
{
    Solution *s = q->s;
    const double off = fabs(value / q->p->target - 1), best = fabs(s->value / q->p->target - 1);
    if (isnan(s->value) || off < best) {
        s->at = at;
        s->value = value;
    }
    s->reached = fabs(s->value / q->p->target - 1) <= q->p->tolerance;
}

static void note_slope(Search *q, Try from, Try to)
{
    const double slope = (to.w - from.w) / (to.u - from.u);
    q->level = fabs(slope) <= LEVEL;
    if (q->level)
        return;
    if (q->direction == 0)
        q->direction = slope > 0 ? 1 : -1;
    q->s->slope = q->direction * fmin(fmax(fabs(slope), 0.05), 4);
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
    const Solve *p = q->p;
    double value;
    TRY(p->of(p->data, at, &value, err));
    const Try t = {at, log(at), log(value / p->target)};
    q->ended = isnan(value);
    if (q->ended)
        return OK;
    note_nearest(q, at, value);
    if (q->s->tries++)
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
    const double slope = isnan(q->s->slope) ? 1 : fmax(fabs(q->s->slope), 0.1);
    return fmax(0.6 * q->p->tolerance, 0.1 * fabs(q->last.w) - 0.02) / slope;
}

/* Returns an argument with few digits, strictly between `low` and `high`, whose logarithm is near u. NaN:
 * there is none. */
static double choose(const Search *q, double u, double low, double high)
{
    const double h = room(q), at = exp(u);
    if (!q->p->whole) {
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
    if (!q->p->whole && fabs(a.u - b.u) < q->p->tolerance / STEEP)
        return NAN;
    return choose(q, u, fmin(a.at, b.at), fmax(a.at, b.at));
}

/* Returns the next argument while there is no bracket: outside the range of the earlier arguments, towards
 * the target. NaN: no argument is left there. */
static double choose_outside(Search *q)
{
    const Solve *p = q->p;
    double step = -q->last.w / (isnan(q->s->slope) ? q->presumed : q->s->slope);
    const double way = step > 0 ? 1 : -1;
    if (q->level || fabs(step) > q->reach) {
        step = way * q->reach;
        q->reach *= 2;
    }
    const double beyond = way > 0 ? q->high_tried : q->low_tried, limit = way > 0 ? p->high : p->low;
    const double u = q->last.u + step, to_limit = log(limit) - u;
    if (beyond == limit)
        return NAN;
    const double at = way * to_limit < 1e-12 ? NAN : choose(q, u, fmin(beyond, limit), fmax(beyond, limit));
    /* no argument is left before the limit, so the limit itself is tried once */
    return isnan(at) && (p->whole || way * to_limit < 1e-12) ? limit : at;
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

/* Searches for the argument and fills s. The caller sets s->at to the first argument to try, and s->slope to
 * the slope there (NaN: unknown). */
static Status solve_search(const Solve *problem, Solution *s, Error *err)
{
    Search q = {
        .p = problem, .s = s, .presumed = 1, .reach = REACH, .low_tried = INFINITY, .high_tried = -INFINITY};
    const unsigned most = problem->most ? problem->most : TRIES_MOST;
    double at = fmin(fmax(s->at, problem->low), problem->high);
    if (!isnan(s->slope))
        q.direction = s->slope > 0 ? 1 : -1;
    s->at = s->value = NAN;
    s->tries = 0;
    s->reached = false;
    while (!isnan(at) && s->tries < most) {
        TRY(try_at(&q, at, err));
        at = s->reached || q.ended ? NAN : choose_next(&q);
    }
    return OK;
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

/* Computes the expected bits per element over all vectors: bits_per_element_expected of a comparison with the same number
 * of repeats. Vectors on which the codec fails are left out; NaN: the codec fails on all. Ignores c->codec and
 * c->record. */
static Status compare_bits(const Comparison *c, const Codec *codec, size_t repeats, double *bits, Error *err)
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

/* ---- finding the rate that gives a wanted payload size ---- */

typedef struct {
    const Comparison *c;
    const Codec *codec;
    Rate rate;
    size_t repeats;
    Arena *a;
} Turned;

/* Computes the bits per element at a rate. Sets `*bits` to NaN, which ends the search, if the codec refuses
 * the rate or fails on all vectors, or if all payloads are empty. */
static Status size_at(void *data, double rate, double *bits, Error *err)
{
    const Turned *t = data;
    const ArenaMark mark = arena_mark(t->a);
    const Codec *codec;
    Error why;
    *bits = NAN;
    const Status status = rate_set(&codec, t->codec, &t->rate, rate, t->a, &why) == OK
                              ? compare_bits(t->c, codec, t->repeats, bits, err)
                              : OK;
    arena_rewind(t->a, mark);
    if (*bits == 0)
        *bits = NAN;
    return status;
}

/* The search aims closer than SIZE_TOLERANCE, so that a mean over few repeats that is taken as reached is near the
 * expected size. The first search of `compare_solve` computes at most ROUGH_TRIES sizes, and stops within the relative
 * tolerance ROUGH. */
#define AIM (SIZE_TOLERANCE / 4)
enum { ROUGH_TRIES = 5 };
#define ROUGH 0.03

/* Searches for the value of the codec's rate parameter (rate.h) at which `compare_bits` gives `bits`, within the
 * relative error SIZE_TOLERANCE. If no value comes that near, takes the value whose size is nearest to `bits`.
 * Sets `*out` to the codec with this value, or to `codec` itself if it has no rate parameter. Sets `*tries` to
 * the number of calls of `compare_bits`.
 *
 * For random codecs, searches first with repeat 0 only, then with all repeats, from the rate that the first
 * search found. */
static Status compare_solve(const Comparison *c, const Codec **out, const Codec *codec, double bits, unsigned *tries,
                     Arena *a, Error *err)
{
    Turned t = {.c = c, .codec = codec, .repeats = c->repeats, .a = a};
    *tries = 0;
    *out = codec;
    if (!rate_find(&t.rate, codec, true))
        return OK;
    Solve problem = {.target = bits,
                     .tolerance = AIM,
                     .whole = t.rate.key->type == PARAM_INT,
                     .of = size_at,
                     .data = &t};
    Solution found = {.slope = NAN};
    rate_range(&t.rate, &problem.low, &problem.high, &found.at);
    if (t.repeats > 1 && codec_traits(codec) & RANDOM) {
        t.repeats = 1;
        problem.most = ROUGH_TRIES;
        problem.tolerance = ROUGH;
        TRY(solve_search(&problem, &found, err));
        *tries += found.tries;
        t.repeats = c->repeats;
        problem.most = 0;
        problem.tolerance = AIM;
    }
    if (isnan(found.at))
        return OK;
    TRY(solve_search(&problem, &found, err));
    *tries += found.tries;
    return isnan(found.at) ? OK : rate_set(out, codec, &t.rate, found.at, a, err);
}

/* ==== the command ==== */

/* The codecs that `compare` applies if the user gives no -c: the codecs of the ATOMO paper. `add_entry` adds
 * the codec `entry`. */
static const char *const paper_set[] = {"none", "qsgd:bits=1/2/4/8", "terngrad", "svd:rank=1/2/3/4"};
static const char sized_by[] = "svd:rank=3"; /* gives the size of `entry` */
static const char *const equal_set[] = {"none", "qsgd", "terngrad", "svd", "entry"};

/* ---- --against: the rows ----
 *
 * The reference is codec 0 of the comparison. A row is about one metric of another codec in one record of the
 * comparison (a tensor, a step or all steps). Rows are in the order of records, then codecs, then metrics. */

/* Family-wise error level: the probability that a table reports any difference although there are none. */
#define AGAINST_LEVEL 0.05

/* The values of a codec's metric on the vectors of one record. */
typedef struct {
    PairedDraws draws;     /* `draws.count` 0: the codec failed, or has not run */
    double mean, se; /* the metric and its standard error; NaN: unknown */
} Drawn;

typedef struct {
    Paired paired;
    Drawn own; /* `own.draws` is valid until the next record */
} Contrast;

typedef struct {
    const Metric **metric; /* (metrics) */
    size_t metrics;
    Drawn *reference;   /* [places][metrics]; a place is the position of a record (report_compare.h) */
    double *drawn;      /* [places][metrics][repeats] the reference's draws */
    double *draw;       /* (repeats) values of the codec that is compared with the reference */
    Contrast *contrast; /* [places][codecs][metrics] */
    const Results *results;
} Against;

/* The metrics compared without --metrics. */
static const char against_usual[] = "bits_per_element,relative_error,second_moment,cosine,wasserstein_mean";

/* The columns up to `repeats`, except `against`, are also columns of the results of `compare`. */
static const Column pair_columns[] = {
    {"step", false},
    {"worker", false},
    {"tensor", false},
    {"compressor", true},
    {"against", true},
    {"repeats", false},
    {"metric", true},
    {"result", true},
    {"result_se", false},
    {"result_against", true},
    {"result_against_se", false},
    {"difference", true},
    {"difference_se", false},
    {"interval", true},
    {"difference_low", false},
    {"difference_high", false},
    {"difference_p", false},
    {"difference_p_holm", false},
    {"differs", true},
    {"error", false},
    {"spec", false},
};
enum { PAIR_COLUMNS = countof(pair_columns) };

static Status refuse_metric(const char *name, Arena *a, Error *err)
{
    TextBuf can = {.arena = a};
    for (const Metric *m = metrics; m->name; m++)
        if (m->draw)
            text_addf(&can, "%s%s", can.size ? ", " : "", m->name);
    const char *list = text_done(&can);
    TRY(arena_check(list, a, err));
    FAIL(err, ERR_USAGE, "--metrics: %s has no value for each repeat, so --against cannot pair it", name);
    return error_hint(err, "--against pairs %s", list);
}

static Status against_metrics(Against *g, const char *names, Arena *a, Error *err)
{
    *g = (Against){.metric = NEW(a, const Metric *, strlen(names) / 2 + 1)};
    TRY(arena_check(g->metric, a, err));
    for (const char *at = names; *at; at += strspn(at, ",")) {
        const size_t length = strcspn(at, ",");
        const char *name = text_slice(a, at, length);
        TRY(arena_check(name, a, err));
        const Metric *m = metric_find(name);
        if (!m || !m->draw)
            return refuse_metric(name, a, err);
        g->metric[g->metrics++] = m;
        at += length;
    }
    return OK;
}

static Status against_open(Against *g, const Results *results, Arena *a, Error *err)
{
    const size_t rows = results->places * g->metrics;
    g->results = results;
    g->reference = NEW_ZERO(a, Drawn, rows);
    g->drawn = arena_take(a, rows, results->repeats * sizeof *g->drawn);
    g->draw = NEW(a, double, results->repeats);
    g->contrast = arena_zeroed(a, rows, results->codecs * sizeof *g->contrast);
    return arena_check(g->reference && g->drawn && g->draw && g->contrast, a, err);
}

/* Returns the standard error of a metric, which is the metric NAME_se; NaN: there is none. */
static double se_of(const Metric *m, const Tally *t)
{
    char name[64];
    snprintf(name, sizeof name, "%s_se", m->name);
    const Metric *se = metric_find(name);
    return se ? metric_value(se, t) : (double)NAN;
}

static Contrast *contrast_of(const Against *g, size_t place, size_t codec, size_t metric)
{
    return &g->contrast[(place * g->results->codecs + codec) * g->metrics + metric];
}

static Drawn draw_all(const Metric *m, const Tally *t, double *draw)
{
    for (size_t r = 0; r < t->decoded; r++)
        draw[r] = m->draw(t, r);
    return (Drawn){.draws = {draw, t->decoded, t->decoded > 1 || !t->spread_known},
                   .mean = metric_value(m, t),
                   .se = se_of(m, t)};
}

/* A record whose measurement failed on some vectors is not compared, as it covers fewer vectors. */
static void against_put(Against *g, const Record *record)
{
    const size_t place = record->place, repeats = g->results->repeats;
    if (record->error || !record->vectors)
        return;
    for (size_t i = 0; i < g->metrics; i++) {
        const size_t at = place * g->metrics + i;
        Drawn *reference = &g->reference[at];
        if (record->codec == 0) {
            *reference = draw_all(g->metric[i], &record->tally, g->drawn + at * repeats);
        } else if (reference->draws.count) {
            const Drawn own = draw_all(g->metric[i], &record->tally, g->draw);
            *contrast_of(g, place, record->codec, i) =
                (Contrast){paired_difference(own.draws, reference->draws), own};
        }
    }
}

static Value *cell(Value *row, const char *field)
{
    return row + report_column(pair_columns, field);
}

/* Writes the p-values of all codecs and metrics in the records at position `place` to `sorted`, ascending;
 * returns their number. */
static size_t collect_p(const Against *g, size_t place, double *sorted)
{
    const Contrast *c = contrast_of(g, place, 0, 0);
    size_t tests = 0;
    for (size_t i = 0; i < g->results->codecs * g->metrics; i++)
        if (c[i].own.draws.count && !isnan(c[i].paired.p))
            sorted[tests++] = c[i].paired.p;
    stats_sort(sorted, tests);
    return tests;
}

static Value difference_words(const Contrast *c, double holm, Arena *a)
{
    const Paired *d = &c->paired;
    if (isnan(d->difference))
        return value_none();
    if (!isnan(d->p) && holm >= AGAINST_LEVEL)
        return value_text("not seen");
    if (!isnan(d->p))
        return value_text(text_format(a, "%s (%s)", d->difference > 0 ? "larger" : "smaller", p_words(holm, a)));
    if (isnan(d->se))
        return value_text("cannot be seen with one repeat");
    return value_text(d->exact             ? "exact"
                      : d->difference == 0 ? "equal in each repeat"
                                           : "the same in each repeat");
}

/* Returns the text of the 95 % interval, with as many digits as the standard error supports. */
static Value interval_words(const Paired *d, Arena *a)
{
    if (isnan(d->low))
        return value_none();
    const double size = fmax(fabs(d->low), fabs(d->high));
    const int digits = (int)fmin(fmax(ceil(log10(size / d->se)) + 1, 2), 12);
    return value_text(text_format(a, "%#.*g to %#.*g", digits, d->low, digits, d->high));
}

static void fill_identity(const Results *r, size_t place, size_t codec, Value *row)
{
    const Value *from = r->rows + (place * r->codecs + codec) * r->column_count;
    for (size_t i = 0; i < PAIR_COLUMNS; i++)
        for (size_t k = 0; k <= r->error; k++)
            if (!strcmp(pair_columns[i].name, r->columns[k].name))
                row[i] = from[k];
    *cell(row, "against") = value_text(r->codec[0]);
    *cell(row, "spec") = value_text(r->spec[codec]);
}

static void fill_figures(const Contrast *c, const Drawn *reference, double holm, Value *row, Arena *a)
{
    const Paired *d = &c->paired;
    *cell(row, "result") = value_real(c->own.mean);
    *cell(row, "result_se") = value_real(c->own.se);
    *cell(row, "result_against") = value_real(reference->mean);
    *cell(row, "result_against_se") = value_real(reference->se);
    *cell(row, "difference") = value_real(d->difference);
    *cell(row, "difference_se") = value_real(d->se);
    *cell(row, "interval") = interval_words(d, a);
    *cell(row, "difference_low") = value_real(d->low);
    *cell(row, "difference_high") = value_real(d->high);
    *cell(row, "difference_p") = value_real(d->p);
    *cell(row, "difference_p_holm") = value_real(holm);
    *cell(row, "differs") = difference_words(c, holm, a);
}

static Status write_place(const Against *g, size_t place, bool shown, Report *report, Arena *a, Error *err)
{
    const Results *r = g->results;
    double *sorted = NEW(a, double, r->codecs * g->metrics);
    TRY(arena_check(sorted, a, err));
    const size_t tests = collect_p(g, place, sorted);
    for (size_t k = 1; k < r->codecs; k++)
        for (size_t i = 0; i < g->metrics && r->have[place * r->codecs + k]; i++) {
            const Contrast *c = contrast_of(g, place, k, i);
            Value row[PAIR_COLUMNS] = {0};
            fill_identity(r, place, k, row);
            *cell(row, "metric") = value_text(g->metric[i]->name);
            if (c->own.draws.count)
                fill_figures(c, &g->reference[place * g->metrics + i],
                             isnan(c->paired.p) ? NAN : stats_holm(sorted, tests, c->paired.p), row, a);
            TRY(report_row(report, row, shown, err));
        }
    return OK;
}

static Status write_places(const Against *g, bool per_tensor, Report *report, Arena *a, Error *err)
{
    const Results *r = g->results;
    for (size_t place = 0; place < r->places; place++) {
        const bool shown = place + 1 == r->places || (per_tensor && r->level[place] == LEVEL_VECTOR);
        TRY(write_place(g, place, shown, report, a, err));
    }
    return OK;
}

static Status against_write(const Against *g, bool per_tensor, ReportSpec spec, Arena *a, Error *err)
{
    const Results *r = g->results;
    Report *report;
    Column columns[PAIR_COLUMNS];
    const bool steps = per_tensor && r->level[r->places - 1] == LEVEL_RUN;
    bool errors = false;
    memcpy(columns, pair_columns, sizeof columns);
    columns[report_column(columns, "tensor")].shown = per_tensor;
    columns[report_column(columns, "step")].shown = steps;
    columns[report_column(columns, "worker")].shown = steps;
    for (size_t i = 0; i < r->places * r->codecs; i++)
        errors |= r->rows[i * r->column_count + r->error].type != VALUE_NONE;
    columns[report_column(columns, "error")].shown = errors;
    spec.columns = columns;
    spec.column_count = PAIR_COLUMNS;
    TRY(report_open(&report, &spec, a, err));
    return report_finish(report, write_places(g, per_tensor, report, a, err), err);
}

/* ---- the command ---- */

typedef struct {
    CompareJob job;
    const char *against; /* spec of --against; NULL: not given */
    Against pairs;
} Compare;

static Compare *compare_of(CompareJob *j)
{
    return (Compare *)j; /* the job is Compare's first member */
}

/* Moves the codec of --against to the front of the list, or adds it there. */
static Status put_first(const Codec ***codec, size_t *count, const char *spec, Arena *a, Error *err)
{
    const Codec **all = NEW(a, const Codec *, *count + 1);
    TRY(arena_check(all, a, err));
    if (codec_open(&all[0], spec, a, err) != OK)
        return error_at(err, "--against");
    memcpy(all + 1, *codec, *count * sizeof *all);
    *codec = all;
    *count += 1;
    return codec_unique(all, count, a, err);
}

static void put_pairs(CompareJob *j, const Record *record)
{
    against_put(&compare_of(j)->pairs, record);
}

/* The differences of --against need the metrics of each repeat, which FILE.part does not hold, so a comparison with
 * --against cannot be resumed. */
static Status prepare_pairs(CompareJob *j)
{
    if (j->common.resume) {
        FAIL(j->err, ERR_USAGE,
             "--resume: cannot continue a comparison with --against, which keeps no records");
        return error_hint(j->err, "leave --resume out");
    }
    if (j->view.sort) {
        FAIL(j->err, ERR_USAGE, "--sort: rows of --against stand in the order of codecs and metrics");
        return error_hint(j->err, "leave --sort out");
    }
    j->keeps_no_part = true;
    j->figures = put_pairs;
    if (!j->view.metrics)
        j->view.metrics = against_usual;
    TRY(view_check(&j->view, j->own, j->err));
    return against_metrics(&compare_of(j)->pairs, j->view.metrics, j->a, j->err);
}

/* ---- --equal-bits: the rate at which each codec sends a given number of bits per element ---- */

/* Loads a vector. Redraws the progress bar too, because the search for one codec's rate takes long and loads
 * many vectors. */
static Status load_slowly(void *data, const Vector *v, float *x, Error *err)
{
    CompareJob *j = data;
    progress_step(&j->progress, j->progress.done);
    return vector_load(j->dump, v, x, err);
}

/* Sets the codec's rate to the value at which the search starts. Specs that differ only in the rate become
 * equal, so the search runs once for them. */
static Status unset_rate(CompareJob *j, const Codec **codec)
{
    Rate r;
    double low, high, start;
    if (!rate_find(&r, *codec, true))
        return OK;
    if (rate_named(&r)) {
        const char *spec = codec_typed(*codec, j->a);
        TRY(arena_check(spec, j->a, j->err));
        progress_note(&j->progress, "note: %s: --equal-bits sets %s's %s, whatever the spec says", spec,
                      r.stage->ops->name, r.key->key);
    }
    rate_range(&r, &low, &high, &start);
    return rate_set(codec, *codec, &r, start, j->a, j->err);
}

static Status solve_one(CompareJob *j, const Comparison *c, const Codec **codec)
{
    unsigned tries;
    const char *name = codec_typed(*codec, j->a);
    progress_at(&j->progress, "%s", name ? name : "");
    TRY(compare_solve(c, codec, *codec, j->target_bits, &tries, j->a, j->err));
    return arena_check(name, j->a, j->err);
}

static Status solve_all(CompareJob *j, const Comparison *c, const Codec **codec, size_t count)
{
    progress_close(&j->progress);
    progress_open(&j->progress, "solving", "codecs", count, j->common.quiet);
    for (size_t k = 0; k < count; k++) {
        TRY(solve_one(j, c, &codec[k]));
        progress_step(&j->progress, k + 1);
    }
    return OK;
}

/* Returns a comparison of sizes, for compare_solve and compare_bits. */
static Comparison sizes_of(CompareJob *j)
{
    return (Comparison){.vectors = &j->list,
                        .repeats = (size_t)j->repeats,
                        .seed = (uint64_t)j->common.seed,
                        .threads = (int)j->common.threads,
                        .data = j,
                        .load = load_slowly,
                        .stopped = cli_stopped};
}

static Status equal_bits(CompareJob *j, const Codec **codec, size_t *count)
{
    const Comparison c = sizes_of(j);
    for (size_t k = 0; k < *count; k++)
        TRY(unset_rate(j, &codec[k]));
    TRY(codec_unique(codec, count, j->a, j->err));
    TRY(solve_all(j, &c, codec, *count));
    return codec_unique(codec, count, j->a, j->err);
}

static const char *why_not(const Codec *codec)
{
    Rate r;
    double low, high, start;
    if (!rate_find(&r, codec, true))
        return "it has no rate to set";
    rate_range(&r, &low, &high, &start);
    const double value = rate_value(&r);
    if (value <= low || value >= high)
        return "its sizes end there";
    return r.key->type == PARAM_INT ? "its sizes come in steps, of which this is the nearest" : "no rate came nearer";
}

static void note_unreached(CompareJob *j)
{
    const size_t whole = j->results.places - 1;
    for (size_t k = 0; k < j->codecs && !j->common.quiet; k++) {
        const double bits = results_number(&j->results, whole, k, "bits_per_element_expected");
        if (!isnan(bits) && fabs(bits / j->target_bits - 1) > SIZE_TOLERANCE)
            progress_note(&j->progress, "note: %s: %.4g bits per element: %s", j->name[k], bits, why_not(j->codec[k]));
    }
}

/* ---- the codecs ---- */

/* Adds `entry` as the last codec, at the expected bits per element of svd of rank 3. */
static Status add_entry(CompareJob *j, const Codec ***codec, size_t *count)
{
    const Comparison c = sizes_of(j);
    const Codec **all = NEW(j->a, const Codec *, *count + 1), *svd;
    char spec[64] = "entry";
    double bits;
    TRY(arena_check(all, j->a, j->err));
    TRY(codec_open(&svd, sized_by, j->a, j->err));
    TRY(compare_bits(&c, svd, c.repeats, &bits, j->err));
    if (bits > 0)
        snprintf(spec, sizeof spec, "entry:bits=%.3g", fmin(bits, 64));
    memcpy(all, *codec, *count * sizeof *all);
    *codec = all;
    return codec_open(&all[(*count)++], spec, j->a, j->err);
}

static Status compare_set(CompareJob *j, const Codec **codec, size_t count)
{
    if (j->target_bits > 0)
        TRY(equal_bits(j, codec, &count));
    else if (!j->specs.count)
        TRY(add_entry(j, &codec, &count));
    TRY(compare_job_codecs(j, codec, count));
    if (compare_of(j)->against)
        TRY(against_open(&compare_of(j)->pairs, &j->results, j->a, j->err));
    return compare_job_run(j);
}

static Status compare_write(CompareJob *j, ReportSpec spec)
{
    if (j->target_bits > 0) {
        target_fill(&j->results, j->target_bits);
        note_unreached(j);
    }
    return compare_of(j)->against ? against_write(&compare_of(j)->pairs, j->view.per_tensor, spec, j->a, j->err)
                                  : results_write(&j->results, &j->view, spec, j->err);
}

static Status run(CompareJob *j)
{
    const TextList paper = {(const char **)(uintptr_t)paper_set, countof(paper_set)},
                   equal = {(const char **)(uintptr_t)equal_set, countof(equal_set)};
    const char *against = compare_of(j)->against;
    const Codec **codec;
    size_t count;
    if (j->target_bits > 0)
        j->own = target_fields;
    TRY(codec_list(&codec, &count,
                   j->specs.count       ? &j->specs
                   : j->target_bits > 0 ? &equal
                                        : &paper,
                   j->a, j->err));
    if (against) {
        TRY(prepare_pairs(j));
        TRY(put_first(&codec, &count, against, j->a, j->err));
    }
    if (j->hints.sample && (against || j->target_bits > 0 || !j->specs.count))
        return FAIL(j->err, ERR_USAGE, "--sample: want -c SPEC, and neither --against nor --equal-bits");
    if (j->hints.sample)
        return sample_run(j, codec, count);
    j->schema = against ? "atomo-against/1" : "atomo-compare/1";
    TRY(compare_job_open(j, codec, count));
    return compare_job_finish(j, compare_set(j, codec, count), compare_write);
}

int bench_compare(int argc, char **argv)
{
    Compare c = {0};
    const Option options[] = {
        OPTION(0, "against", "SPEC", &c.against,
               "report each metric's difference to this codec, with interval and p-value"),
        OPTION(0, "equal-bits", "B", &c.job.target_bits,
               "set each codec's rate so that it sends B bits per element", .low = 1e-6, .high = 64),
        OPTION(0, "sample", "K", &c.job.hints.sample,
               "estimate the results from K random rows of each matrix, drawn anew in each repeat", .low = 2, .high = 1e9),
        {0},
    };
    const Command command = {
        .program = "atomo-bench",
        .command = "compare",
        .usage = "FILE.h5 [-c SPEC]...",
        .brief = "apply each codec to a gradient dump, report size, time and error",
        .examples = "FILE.h5\n"
                    "FILE.h5 -c qsgd:bits=2/4/8 -c ef+topk:ratio=0.01\n"
                    "FILE.h5 -t '*conv*' --per-tensor -o result.csv\n"
                    "FILE.h5 --equal-bits 1\n"
                    "model.safetensors.index.json --sample 64 -c qsgd -c topk\n",
        .details =
            "Without -c: none, qsgd at 1, 2, 4 and 8 bits, terngrad, svd of rank 1 to 4, and entry at the bits per "
            "element that svd of rank 3 took on this selection, to three digits.\n"
            "--equal-bits solves for each codec's rate (the key that list CODEC marks; for qsgd its levels), so that its "
            "expected size over the whole selection is B bits per element within 1 %: bits_per_element_expected, which is "
            "exact where its standard error is 0, and else a mean over these repeats. The field "
            "reached says whether the codec gets there: one whose sizes come in steps, or end before B, is shown at the "
            "nearest size, one without a rate as it is.\n"
            "--against reports paired differences: codecs draw the same random numbers in the same repeat, so the "
            "differences of their results vary less than the results. Each row is a codec and a metric: both means, their "
            "difference with its 95 % interval (Student's t over the repeats), and a verdict at p = 0.05, after Holm's "
            "correction for all rows on the same tensors. Where no repeat differs from another there is no interval. --metrics takes "
            "metrics that are means over repeats; without it: bits_per_element, relative_error, second_moment, cosine and "
            "wasserstein_mean. No time is measured.\n"
            "--sample reads K random slices along the first axis of each tensor, and 256 K elements of a vector. Each row of the result is a codec and "
            "a metric of the whole selection, with a 95 % interval that has the sampling in it. Codecs of whole matrices (svd, powersgd) and "
            "those that divide bits between tensors are refused.\n",
        .options = options,
    };
    return compare_job_main(&c.job, &command, argc, argv, run);
}
