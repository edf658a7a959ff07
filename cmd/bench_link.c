/* bench_link.c -- link: measures the latency and bandwidth between the processes that mpirun has started, and writes the fit of all
 * exchanges, the fit of each kind, and all measured times.
 *
 * A sample is the time of several exchanges in a row, divided by their number; the time of one exchange could be too short
 * for the clock's resolution. Before each sample the ranks wait for each other.
 *
 * An exchange of `messages` messages that follow one another, with `bytes` bytes through the busiest link, takes
 * messages a + bytes / b seconds on a link of latency a and bandwidth b (measure/netcost.h). Least squares find a and 1/b.
 * Each deviation is relative to its measured time, since the times range over orders of magnitude. */
#include "bench_commands.h"

#include "app/progress.h"
#include "base/counts.h"
#include "exchange/net.h"
#include "math/stats.h"
#include "measure/netcost.h"
#include "measure/timing.h"
#include "report/report.h"

#include <math.h>
#include <string.h>

/* The exchanges. Ping-pong: half of the time of a message from rank 0 to the last rank and back. All-gather
 * and ring: the exchanges of these topologies, as training makes them. In a ring, each rank sends each other rank a segment,
 * and then the segments go round. */
typedef enum { TRIAL_PING_PONG, TRIAL_ALLGATHER, TRIAL_RING, TRIALS } LinkTrialKind;
static const char *const link_trial_names[TRIALS + 1] = {"ping-pong", "allgather", "ring", "all"};

typedef struct {
    double messages, bytes; /* of one exchange */
    double seconds;         /* measured; above 0 */
} LinkPoint;

typedef struct {
    double latency, bandwidth; /* seconds; bytes per second */
    /* Standard errors, from the deviations. NaN: unknown. Both are unknown for two points with a latency
     * above 0; latency_se is unknown if the latency is at its limit 0. */
    double latency_se, bandwidth_se;
    double deviation; /* root mean square of predicted / measured - 1 */
    double worst;     /* the largest |predicted / measured - 1| */
} LinkFit;

/* The times of one kind of exchange with payloads of one size. */
typedef struct {
    LinkTrialKind kind;
    size_t size;       /* bytes of a rank's payload */
    size_t samples;    /* number of times measured */
    LinkPoint point;   /* `seconds`: the median over samples of the slowest rank's time */
    double seconds_se; /* standard error of the median */
} LinkTime;

typedef struct {
    Common common;
    const char *sizes_text;
    int64_t repeats; /* samples for each kind and size; fewer, but at least 3, if they took over two seconds */

    Net *net; /* NULL: one process */
    Counts sizes;
    size_t size;        /* of the exchange that is timed */
    uint8_t *in, *out;  /* (ranks x the largest size), (the largest size) */
    size_t *own, *each; /* (ranks) sizes of the parts of `out`, and of the parts of `in` */
    double *seconds;    /* (ranks) of one sample */
    double *sample;     /* (repeats) */
    LinkTime *time;     /* (times) the same on all ranks */
    size_t times;
    LinkFit fit[TRIALS + 1]; /* of each kind of exchange alone, NaN: its times do not grow with the bytes; and of all together */
    Progress progress;
    Arena *a;
    Error *err;
} LinkJob;

/* ---- the fit ---- */

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

/* Returns the time that the fit predicts for an exchange, in seconds. */
static double link_fit_seconds(const LinkFit *fit, const LinkPoint *p)
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

/* Fits a link to at least two points; the unknowns are a (latency) and g = 1/b (seconds per byte). If the least squares have a
 * negative latency, the latency is 0, and only the bandwidth is fitted. ERR_NUMERIC, and NaN: times that do not grow with the
 * bytes, so there is no bandwidth. */
static Status link_fit(LinkFit *out, const LinkPoint *point, size_t count, Error *err)
{
    const Sums s = add_up(point, count);
    const double det = s.xx * s.yy - s.xy * s.xy;
    double a = (s.yy * s.x - s.xy * s.y) / det, g = (s.xx * s.y - s.xy * s.x) / det;
    const bool at_limit = !(a >= 0);
    if (at_limit) {
        a = 0;
        g = s.y / s.yy;
    }
    *out = (LinkFit){.latency = NAN, .bandwidth = NAN, .latency_se = NAN, .bandwidth_se = NAN, .deviation = NAN, .worst = NAN};
    if (!(g > 0 && isfinite(g)))
        return FAIL(err, ERR_NUMERIC, "the times do not grow with the number of bytes");
    *out = (LinkFit){.latency = a, .bandwidth = 1 / g};
    const double squares = compare(out, point, count), freedom = (double)count - (at_limit ? 1 : 2);
    const double variance = freedom > 0 ? squares / freedom : NAN;
    out->latency_se = at_limit ? NAN : sqrt(variance * s.yy / det);
    /* the standard error of the bandwidth 1/g is the standard error of g, divided by g^2 */
    out->bandwidth_se = sqrt(at_limit ? variance / s.yy : variance * s.xx / det) / (g * g);
    return OK;
}

/* ==== the measurement ==== */

enum { LEAST_SAMPLES = 3, LOOP_MOST = 1000 };
static const double sample_seconds = 2e-4; /* a sample lasts at least this long */
static const double kind_seconds = 2;      /* about the time of all samples of one kind and size */

/* ---- one exchange ---- */

static void fill(size_t *size, int ranks, size_t value)
{
    for (int r = 0; r < ranks; r++)
        size[r] = value;
}

static void ping_pong(LinkJob *b)
{
    const int last = b->net->ranks - 1;
    net_move(b->net, 0, last, b->out, b->size);
    net_move(b->net, last, 0, b->out, b->size);
}

static void allgather(LinkJob *b)
{
    fill(b->each, b->net->ranks, b->size);
    net_gather(b->net, NET_ALL, b->in, b->each);
}

static size_t segment(const LinkJob *b, int rank)
{
    const size_t ranks = (size_t)b->net->ranks, r = (size_t)rank;
    return b->size * (r + 1) / ranks - b->size * r / ranks;
}

static void ring(LinkJob *b)
{
    for (int r = 0; r < b->net->ranks; r++)
        b->own[r] = segment(b, r);
    fill(b->each, b->net->ranks, segment(b, b->net->rank));
    net_scatter(b->net, b->out, b->own, b->in, b->each);
    net_gather(b->net, NET_RING, b->out, b->own);
}

static void (*const exchanges[TRIALS])(LinkJob *) = {
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
static double take_sample(LinkJob *b, LinkTrialKind kind, size_t loop)
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
static LinkTime take_time(LinkJob *b, LinkTrialKind kind, size_t size)
{
    LinkTime t = {.kind = kind, .size = size, .point = model(kind, b->net->ranks, size)};
    b->size = size;
    take_sample(b, kind, 1); /* opens connections, and touches the memory */
    const double first = fmax(take_sample(b, kind, 1), 1e-7);
    const size_t loop = bounded(ceil(sample_seconds / first), 1, LOOP_MOST);
    t.samples = bounded(kind_seconds / (first * (double)loop), LEAST_SAMPLES, (size_t)b->repeats);
    for (size_t i = 0; i < t.samples; i++)
        b->sample[i] = take_sample(b, kind, loop);
    t.point.seconds = stats_median(b->sample, t.samples);
    t.seconds_se = sqrt(stats_median_variance(b->sample, t.samples));
    return t;
}

/* ---- all measurements ---- */

static Status open_bench(LinkJob *b)
{
    const size_t ranks = (size_t)b->net->ranks, largest = counts_largest(&b->sizes);
    b->in = arena_zeroed(b->a, ranks, largest);
    b->out = arena_zeroed(b->a, 1, largest);
    b->own = NEW(b->a, size_t, ranks);
    b->each = NEW(b->a, size_t, ranks);
    b->seconds = NEW(b->a, double, ranks);
    b->sample = NEW(b->a, double, (size_t)b->repeats);
    b->time = NEW(b->a, LinkTime, TRIALS * b->sizes.count);
    return arena_check(b->in && b->out && b->own && b->each && b->seconds && b->sample && b->time, b->a, b->err);
}

static Status measure(LinkJob *b)
{
    for (size_t s = 0; s < b->sizes.count; s++)
        for (int k = 0; k < TRIALS; k++) {
            progress_at(&b->progress, "%s of %zu bytes", link_trial_names[k], b->sizes.number[s]);
            b->time[b->times++] = take_time(b, (LinkTrialKind)k, b->sizes.number[s]);
            progress_step(&b->progress, b->times);
            if (net_any(b->net, cli_stopped()))
                return FAIL(b->err, ERR_STOPPED, "stopped");
        }
    return OK;
}

/* Fits the exchanges of one kind; kind TRIALS: all. */
static Status fit(LinkJob *b, int kind)
{
    LinkPoint *point = NEW(b->a, LinkPoint, b->times);
    size_t count = 0;
    TRY(arena_check(point, b->a, b->err));
    for (const LinkTime *i = b->time; i < b->time + b->times; i++)
        if (kind == TRIALS || (int)i->kind == kind)
            point[count++] = i->point;
    return link_fit(&b->fit[kind], point, count, b->err);
}

static Status fit_all(LinkJob *b)
{
    Status status = OK;
    for (int k = 0; k <= TRIALS; k++) {
        status = fit(b, k);
        if (status != ERR_NUMERIC)
            TRY(status);
    }
    return status == ERR_NUMERIC
               ? error_hint(b->err, "larger --sizes and more --repeats help where other programs keep the machine busy")
               : status;
}

/* Measures and fits; called on all ranks, with at least two of them and two sizes. Errors are the same on all ranks. */
static Status link_trial(LinkJob *b)
{
    TRY(net_agree(b->net, open_bench(b), b->err));
    TRY(net_agree(b->net, measure(b), b->err));
    return net_agree(b->net, fit_all(b), b->err);
}

/* ==== the command ==== */

/* ---- records; members of a row that a record does not have are empty ---- */

static const Column columns[] = {{"record", false},         {"exchange", true},
                                 {"alpha_ms", true},        {"beta_gbps", true},
                                 {"deviation", true},       {"worst_deviation", true},
                                 {"bytes", false},          {"repeats", false},
                                 {"measured_ms", false},    {"predicted_ms", false},
                                 {"predicted_ratio", false}, {"alpha_ms_se", false},
                                 {"beta_gbps_se", false},   {"measured_ms_se", false}};

static Status write_fit(const LinkJob *j, Report *report, int kind)
{
    const LinkFit *f = &j->fit[kind];
    const Value row[countof(columns)] = {value_text("fit"),
                                         value_text(link_trial_names[kind]),
                                         value_real(1e3 * f->latency),
                                         value_real(f->bandwidth / 1e9),
                                         value_real(f->deviation),
                                         value_real(f->worst),
                                         [11] = value_real(1e3 * f->latency_se),
                                         value_real(f->bandwidth_se / 1e9)};
    return report_row(report, row, true, j->err);
}

static Status write_time(const LinkJob *j, Report *report, const LinkTime *t)
{
    const double predicted = link_fit_seconds(&j->fit[TRIALS], &t->point);
    const Value row[countof(columns)] = {value_text("time"),
                                         value_text(link_trial_names[t->kind]),
                                         [6] = value_int((int64_t)t->size),
                                         value_int((int64_t)t->samples),
                                         value_real(1e3 * t->point.seconds),
                                         value_real(1e3 * predicted),
                                         value_real(predicted / t->point.seconds),
                                         [13] = value_real(1e3 * t->seconds_se)};
    return report_row(report, row, false, j->err);
}

static Status write_rows(const LinkJob *j, Report *report)
{
    TRY(write_fit(j, report, TRIALS));
    for (int k = 0; k < TRIALS; k++)
        TRY(write_fit(j, report, k));
    for (const LinkTime *i = j->time; i < j->time + j->times; i++)
        TRY(write_time(j, report, i));
    return OK;
}

/* Notes that the times do not suit the model, and how to use the result. */
static void note_link(LinkJob *j)
{
    static const double poor = 0.3; /* from this deviation on, the note asks whether a machine is busy */
    const char *path = j->common.output;
    fflush(stdout);
    if (j->fit[TRIALS].deviation > poor)
        progress_note(
            &j->progress,
            "note: measured times deviate by %.0f %% from latency and bandwidth: is a machine busy with other work?",
            100 * j->fit[TRIALS].deviation);
    if (path && !j->common.quiet)
        progress_note(&j->progress, "note: use it by --link %s", path);
}

static Status write_result(LinkJob *j)
{
    const Fact facts[] = {{"ranks", value_int(j->net->ranks)},
                          {"ranks_on_first_machine", value_int(j->net->neighbours)}};
    const ReportSpec spec = {.schema = "atomo-link/1",
                             .meta = facts,
                             .facts = countof(facts),
                             .columns = columns,
                             .column_count = countof(columns)};
    Report *report;
    TRY(cli_report_open(&report, &j->common, &spec, j->a, j->err));
    TRY(report_finish(report, write_rows(j, report), j->err));
    note_link(j);
    return OK;
}

/* ---- the command, on each rank ---- */

static Status refuse_alone(const LinkJob *j)
{
    const bool with = strcmp(net_library(), "none") != 0;
    FAIL(j->err, ERR_USAGE,
         with ? "link: one process has no link: want two or more" : "link: built without MPI");
    return error_hint(
        j->err, with
                    ? "mpirun -n 2 atomo-bench link -o link.json; docs/cluster.md starts them on two machines"
                    : "`make deps-mpi`, then `make`, builds it with MPI");
}

static Status read_sizes(LinkJob *j)
{
    enum { SIZE_MOST = 1 << 30 };
    TRY(counts_read(&j->sizes, "--sizes", j->sizes_text, SIZE_MOST, j->err));
    return j->sizes.count > 1 ? OK
                              : FAIL(j->err, ERR_USAGE, "--sizes %s: want two or more sizes", j->sizes_text);
}

static Status run(LinkJob *j)
{
    TRY(net_agree(j->net, read_sizes(j), j->err));
    progress_open(&j->progress, "measuring", "exchanges", TRIALS * j->sizes.count,
                  j->common.quiet || j->net->rank);
    TRY(link_trial(j));
    return net_agree(j->net, j->net->rank ? OK : write_result(j), j->err);
}

static int run_ranks(LinkJob *j, const Command *command, int argc, char **argv)
{
    Error err = {0};
    TextList arguments;
    bool helped = false;
    j->a = arena_open(0);
    j->err = &err;
    Status status = ranks_join(&j->net, j->a, &err);
    if (status == OK)
        status = net_agree(j->net, cli_parse(command, argc, argv, &arguments, &helped, j->a, &err), &err);
    if (status == OK && !helped)
        status = j->net ? run(j) : refuse_alone(j);
    progress_close(&j->progress);
    const int code = ranks_leave(j->net, command->program, status, &err);
    arena_close(j->a);
    return code;
}

int bench_link(int argc, char **argv)
{
    LinkJob j = {.sizes_text = "64,256,...,4194304", .repeats = 20};
    const Option options[] = {
        OPTION(0, "sizes", "LIST", &j.sizes_text,
               "bytes that each process sends in an exchange; 64,256,...,4096 continues at the same ratio"),
        OPTION(0, "repeats", "N", &j.repeats,
               "measured times of each exchange and size; fewer, at least 3, if they take more than 2 s",
               .low = 3, .high = 1e6),
        {0},
    };
    const Command command = {
        .program = "atomo-bench",
        .command = "link",
        .usage = "[-o link.json]",
        .brief = "measure the latency and bandwidth of a network, under mpirun",
        .examples = "\n-o link.json\n",
        .details =
            "mpirun -n 2 atomo-bench link -o link.json measures the link between two processes, on one machine or on two: "
            "docs/cluster.md starts them. Three exchanges are timed with payloads of each size: a ping-pong (from the first "
            "rank to the last and back; half of the time), an all-gather, and an all-reduce on a ring, as atomo-train makes "
            "them. Least squares over all of them find the latency alpha and the bandwidth beta of docs/cost.md.\n"
            "--link link.json uses them in cost, advise and atomo-train. The table also has the fit of each exchange alone: "
            "where these differ, the model does not suit the network. JSON and CSV have each measured time.\n",
        .options = options,
        .common = &j.common,
        .fields =
            "exchange,alpha_ms,beta_gbps,deviation,worst_deviation,bytes,measured_ms,predicted_ms,predicted_ratio",
        .takes = TAKES_FORMAT | TAKES_OUTPUT,
    };
    return run_ranks(&j, &command, argc, argv);
}
