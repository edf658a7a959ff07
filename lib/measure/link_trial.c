/* link_trial.c -- implements link_trial.h. A sample is the time of several exchanges in a row, divided by
 * their number; the time of one exchange could be too short for the clock's resolution. Before each sample
 * the ranks wait for each other. */
#include "measure/link_trial.h"
#include "measure/timing.h"
#include "measure/netcost.h"
#include "math/stats.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const char *const link_trial_names[] = {"ping-pong", "allgather", "ring", NULL};

enum { LEAST_SAMPLES = 3, LOOP_MOST = 1000 };
static const double sample_seconds = 2e-4; /* a sample lasts at least this long */
static const double kind_seconds = 2;      /* about the time of all samples of one kind and size */

typedef struct {
    Net *net;
    size_t size;
    uint8_t *in, *out;  /* (ranks x the largest size), (the largest size) */
    size_t *own, *each; /* (ranks) sizes of the parts of `out`, and of the parts of `in` */
    double *seconds;    /* (ranks) of one sample */
    double *sample;     /* (repeats) */
} Bench;

/* ---- one exchange ---- */

static void fill(size_t *size, int ranks, size_t value)
{
    for (int r = 0; r < ranks; r++)
        size[r] = value;
}

static void ping_pong(Bench *b)
{
    const int last = b->net->ranks - 1;
    net_move(b->net, 0, last, b->out, b->size);
    net_move(b->net, last, 0, b->out, b->size);
}

static void allgather(Bench *b)
{
    fill(b->each, b->net->ranks, b->size);
    net_gather(b->net, NET_ALL, b->in, b->each);
}

static size_t segment(const Bench *b, int rank)
{
    const size_t ranks = (size_t)b->net->ranks, r = (size_t)rank;
    return b->size * (r + 1) / ranks - b->size * r / ranks;
}

static void ring(Bench *b)
{
    for (int r = 0; r < b->net->ranks; r++)
        b->own[r] = segment(b, r);
    fill(b->each, b->net->ranks, segment(b, b->net->rank));
    net_scatter(b->net, b->out, b->own, b->in, b->each);
    net_gather(b->net, NET_RING, b->out, b->own);
}

static void (*const exchanges[TRIALS])(Bench *) = {
    [TRIAL_PING_PONG] = ping_pong, [TRIAL_ALLGATHER] = allgather, [TRIAL_RING] = ring};

/* Returns the messages and bytes of one exchange by the network model. In a ping-pong, the message there and
 * the message back are two exchanges. */
static LinkPoint model(LinkTrialKind kind, int ranks, size_t size)
{
    const Traffic t = {.topology = kind == TRIAL_RING ? TOPOLOGY_RING : TOPOLOGY_ALLGATHER,
                       .workers = kind == TRIAL_PING_PONG ? 2 : ranks,
                       .rounds = 1,
                       .payload = (double)size};
    const Link one = {"", 1, INFINITY};
    return (LinkPoint){.messages = link_seconds(&one, &t), .bytes = traffic_bytes(&t)};
}

/* ---- samples ---- */

/* Returns the slowest rank's seconds for one exchange. */
static double take_sample(Bench *b, LinkTrialKind kind, size_t loop)
{
    net_any(b->net, false);
    const double start = clock_now();
    for (size_t i = 0; i < loop; i++)
        exchanges[kind](b);
    b->seconds[b->net->rank] = clock_now() - start;
    net_table(b->net, b->seconds, sizeof *b->seconds);
    double slowest = 0;
    for (int r = 0; r < b->net->ranks; r++)
        slowest = fmax(slowest, b->seconds[r]);
    return slowest / (double)loop / (kind == TRIAL_PING_PONG ? 2 : 1);
}

static size_t bounded(double v, size_t low, size_t high)
{
    return v < (double)low ? low : v > (double)high ? high : (size_t)v;
}

/* The ranks make the same decisions, since they see the same times. */
static LinkTime take_time(Bench *b, LinkTrialKind kind, size_t size, size_t repeats)
{
    LinkTime t = {.kind = kind, .size = size, .point = model(kind, b->net->ranks, size)};
    b->size = size;
    take_sample(b, kind, 1); /* opens connections, and touches the memory */
    const double first = fmax(take_sample(b, kind, 1), 1e-7);
    const size_t loop = bounded(ceil(sample_seconds / first), 1, LOOP_MOST);
    const size_t most = repeats > LEAST_SAMPLES ? repeats : LEAST_SAMPLES;
    t.samples = bounded(kind_seconds / (first * (double)loop), LEAST_SAMPLES, most);
    for (size_t i = 0; i < t.samples; i++)
        b->sample[i] = take_sample(b, kind, loop);
    t.point.seconds = stats_median(b->sample, t.samples);
    t.seconds_se = sqrt(stats_median_variance(b->sample, t.samples));
    return t;
}

/* ---- all measurements ---- */

static Status open_bench(Bench *b, const LinkTrial *t, Arena *a, Error *err)
{
    const size_t ranks = (size_t)t->net->ranks, largest = counts_largest(t->sizes);
    const size_t samples = t->repeats > LEAST_SAMPLES ? t->repeats : LEAST_SAMPLES;
    *b = (Bench){.net = t->net,
                 .in = arena_zeroed(a, ranks, largest),
                 .out = arena_zeroed(a, 1, largest),
                 .own = NEW(a, size_t, ranks),
                 .each = NEW(a, size_t, ranks),
                 .seconds = NEW(a, double, ranks),
                 .sample = NEW(a, double, samples)};
    return arena_check(b->in && b->out && b->own && b->each && b->seconds && b->sample, a, err);
}

static Status measure(LinkTrial *t, Bench *b, Error *err)
{
    for (size_t s = 0; s < t->sizes->count; s++)
        for (int k = 0; k < TRIALS; k++) {
            t->time[t->times++] = take_time(b, (LinkTrialKind)k, t->sizes->number[s], t->repeats);
            char at[80];
            snprintf(at, sizeof at, "%s of %zu bytes", link_trial_names[k], t->sizes->number[s]);
            const bool stops = t->progress && !t->progress(t->data, t->times, at);
            if (net_any(t->net, stops))
                return FAIL(err, ERR_STOPPED, "stopped");
        }
    return OK;
}

/* Fits the exchanges of one kind; kind TRIALS: all. */
static Status fit(const LinkTrial *t, int kind, LinkFit *out, Arena *a, Error *err)
{
    const ArenaMark mark = arena_mark(a);
    LinkPoint *point = NEW(a, LinkPoint, t->times);
    size_t count = 0;
    TRY(arena_check(point, a, err));
    for (const LinkTime *i = t->time; i < t->time + t->times; i++)
        if (kind == TRIALS || (int)i->kind == kind)
            point[count++] = i->point;
    const Status status = link_fit(out, point, count, err);
    arena_rewind(a, mark);
    return status;
}

/* Fits the exchanges of each kind alone, and all exchanges. */
static Status fit_all(LinkTrial *t, Arena *a, Error *err)
{
    for (int k = 0; k < TRIALS; k++) {
        const Status status = fit(t, k, &t->fit[k], a, err);
        if (status != ERR_NUMERIC)
            TRY(status);
        else
            t->fit[k] = (LinkFit){.latency = NAN,
                                  .bandwidth = NAN,
                                  .latency_se = NAN,
                                  .bandwidth_se = NAN,
                                  .deviation = NAN,
                                  .worst = NAN,
                                  .points = t->sizes->count};
    }
    const Status status = fit(t, TRIALS, &t->all, a, err);
    return status == ERR_NUMERIC
               ? error_hint(err, "larger --sizes and more --repeats help where other programs keep the machine busy")
               : status;
}

Status link_trial(LinkTrial *t, Arena *a, Error *err)
{
    Bench b;
    t->times = 0;
    t->time = NEW(a, LinkTime, TRIALS * t->sizes->count);
    Status status = arena_check(t->time, a, err);
    if (status == OK)
        status = open_bench(&b, t, a, err);
    TRY(net_agree(t->net, status, err));
    TRY(net_agree(t->net, measure(t, &b, err), err));
    return net_agree(t->net, fit_all(t, a, err), err);
}

/* ---- the fit ---- */

/* Weighted linear least squares with the unknowns a (latency) and g = 1/b
 * (seconds per byte). */

/* Sums over the points of products of x = messages / seconds and y = bytes / seconds. The fit minimises the sum of
 * (a x + g y - 1)^2. */
typedef struct {
    double xx, xy, yy, x, y;
} Sums;

static Sums add_up(const LinkPoint *point, size_t count)
{
    Sums s = {0};
    for (const LinkPoint *p = point; p < point + count; p++) {
        const double x = p->messages / p->seconds, y = p->bytes / p->seconds;
        s.xx += x * x;
        s.xy += x * y;
        s.yy += y * y;
        s.x += x;
        s.y += y;
    }
    return s;
}

double link_fit_seconds(const LinkFit *fit, const LinkPoint *p)
{
    return p->messages * fit->latency + p->bytes / fit->bandwidth;
}

/* Sets the deviations. Returns the sum of their squares. */
static double compare(LinkFit *fit, const LinkPoint *point, size_t count)
{
    double squares = 0;
    fit->worst = 0;
    for (const LinkPoint *p = point; p < point + count; p++) {
        const double off = link_fit_seconds(fit, p) / p->seconds - 1;
        squares += off * off;
        fit->worst = fmax(fit->worst, fabs(off));
    }
    fit->deviation = sqrt(squares / (double)count);
    return squares;
}

Status link_fit(LinkFit *out, const LinkPoint *point, size_t count, Error *err)
{
    const Sums s = add_up(point, count);
    const double det = s.xx * s.yy - s.xy * s.xy;
    double a = (s.yy * s.x - s.xy * s.y) / det, g = (s.xx * s.y - s.xy * s.x) / det;
    const bool at_limit = !(a >= 0);
    if (at_limit) {
        a = 0;
        g = s.y / s.yy;
    }
    if (!(g > 0 && isfinite(g)))
        return FAIL(err, ERR_NUMERIC, "the times do not grow with the number of bytes");
    *out = (LinkFit){.latency = a, .bandwidth = 1 / g, .points = count};
    const double squares = compare(out, point, count), freedom = (double)count - (at_limit ? 1 : 2);
    const double variance = freedom > 0 ? squares / freedom : NAN;
    out->latency_se = at_limit ? NAN : sqrt(variance * s.yy / det);
    /* the standard error of the bandwidth 1/g is the standard error of g, divided by g^2 */
    out->bandwidth_se = sqrt(at_limit ? variance / s.yy : variance * s.xx / det) / (g * g);
    return OK;
}
