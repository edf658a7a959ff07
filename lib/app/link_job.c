/* link_job.c -- implements link_job.h. */
#include "app/link_job.h"

#include "app/ranks.h"
#include "num/stats.h"

#include <math.h>
#include <string.h>

/* ---- records: the fit of all exchanges, the fit of each kind, all measured times ---- */

enum {
    RECORD,
    EXCHANGE,
    ALPHA,
    BETA,
    DEVIATION,
    WORST,
    BYTES,
    REPEATS,
    MEASURED,
    PREDICTED,
    RATIO,
    ALPHA_SE,
    BETA_SE,
    MEASURED_SE,
    LINK_FIELDS
};

static const Column columns[LINK_FIELDS] = {
    [RECORD] = {"record", false},         [EXCHANGE] = {"exchange", true},
    [ALPHA] = {"alpha_ms", true},         [BETA] = {"beta_gbps", true},
    [DEVIATION] = {"deviation", true},    [WORST] = {"worst_deviation", true},
    [BYTES] = {"bytes", false},           [REPEATS] = {"repeats", false},
    [MEASURED] = {"measured_ms", false},  [PREDICTED] = {"predicted_ms", false},
    [RATIO] = {"predicted_ratio", false}, [ALPHA_SE] = {"alpha_ms_se", false},
    [BETA_SE] = {"beta_gbps_se", false},  [MEASURED_SE] = {"measured_ms_se", false}};

static void put_fit(Value *row, const char *exchange, const LinkFit *f)
{
    row[RECORD] = value_text("fit");
    row[EXCHANGE] = value_text(exchange);
    row[ALPHA] = value_real(1e3 * f->latency);
    row[BETA] = value_real(f->bandwidth / 1e9);
    row[DEVIATION] = value_real(f->deviation);
    row[WORST] = value_real(f->worst);
    row[ALPHA_SE] = value_real(1e3 * f->latency_se);
    row[BETA_SE] = value_real(f->bandwidth_se / 1e9);
}

static void put_time(Value *row, const LinkTime *t, const LinkFit *all)
{
    const double predicted = link_fit_seconds(all, &t->point);
    row[RECORD] = value_text("time");
    row[EXCHANGE] = value_text(link_trial_names[t->kind]);
    row[BYTES] = value_int((int64_t)t->size);
    row[REPEATS] = value_int((int64_t)t->samples);
    row[MEASURED] = value_real(1e3 * t->point.seconds);
    row[MEASURED_SE] = value_real(1e3 * t->seconds_se);
    row[PREDICTED] = value_real(1e3 * predicted);
    row[RATIO] = value_real(predicted / t->point.seconds);
}

static Status write_rows(const LinkJob *j, Report *report)
{
    const LinkTrial *t = &j->trial;
    for (int k = -1; k < TRIALS; k++) {
        Value row[LINK_FIELDS] = {{0}};
        put_fit(row, k < 0 ? "all" : link_trial_names[k], k < 0 ? &t->all : &t->fit[k]);
        TRY(report_row(report, row, true, j->err));
    }
    for (const LinkTime *i = t->time; i < t->time + t->times; i++) {
        Value row[LINK_FIELDS] = {{0}};
        put_time(row, i, &t->all);
        TRY(report_row(report, row, false, j->err));
    }
    return OK;
}

/* Notes the 95 % intervals of latency and bandwidth, and how to use the result. */
static void note_link(LinkJob *j)
{
    static const double poor = 0.3; /* from this deviation on, the note asks whether a machine is busy */
    const LinkFit *f = &j->trial.all;
    const bool least = isnan(f->latency_se); /* the latency is 0, its least value, and has no interval */
    const double t = t_quantile(0.05, (double)f->points - (least ? 1 : 2));
    const double alpha = t * f->latency_se, beta = t * f->bandwidth_se;
    char interval[64] = "";
    const char *path = j->common.output;
    fflush(stdout);
    if (f->deviation > poor)
        progress_note(
            &j->progress,
            "note: measured times deviate by %.0f %% from latency and bandwidth: is a machine busy with other work?",
            100 * f->deviation);
    if (!least)
        snprintf(interval, sizeof interval, " (95 %%: %.4g to %.4g)", 1e6 * fmax(f->latency - alpha, 0),
                 1e6 * (f->latency + alpha));
    if (!j->common.quiet)
        progress_note(&j->progress, "note: alpha %.4g us%s, beta %.4g Gbit/s (95 %%: %.4g to %.4g)%s%s",
                      1e6 * f->latency, interval, 8e-9 * f->bandwidth, 8e-9 * fmax(f->bandwidth - beta, 0),
                      8e-9 * (f->bandwidth + beta), path ? "; use it by --link " : "", path ? path : "");
}

static Status write_result(LinkJob *j)
{
    const Fact facts[] = {{"ranks", value_int(j->net->ranks)},
                          {"ranks_on_first_machine", value_int(j->net->neighbours)}};
    const ReportSpec spec = {.schema = "atomo-link/1",
                             .meta = facts,
                             .facts = countof(facts),
                             .columns = columns,
                             .column_count = LINK_FIELDS};
    Report *report;
    TRY(cli_report_open(&report, &j->common, &spec, j->a, j->err));
    TRY(report_finish(report, write_rows(j, report), j->err));
    note_link(j);
    return OK;
}

/* ---- the command ---- */

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

static Status read_options(LinkJob *j)
{
    enum { SIZE_MOST = 1 << 30 };
    TRY(counts_read(&j->sizes, "--sizes", j->sizes_text, SIZE_MOST, j->err));
    return j->sizes.count > 1 ? OK
                              : FAIL(j->err, ERR_USAGE, "--sizes %s: want two or more sizes", j->sizes_text);
}

static Status run(LinkJob *j)
{
    TRY(net_agree(j->net, read_options(j), j->err));
    j->trial = (LinkTrial){.net = j->net,
                           .sizes = &j->sizes,
                           .repeats = (size_t)j->repeats,
                           .progress = progress_tick,
                           .data = &j->progress};
    progress_open(&j->progress, "measuring", "exchanges", TRIALS * j->sizes.count,
                  j->common.quiet || j->net->rank);
    TRY(link_trial(&j->trial, j->a, j->err));
    return net_agree(j->net, j->net->rank ? OK : write_result(j), j->err);
}

int link_job_main(LinkJob *j, const Command *command, int argc, char **argv)
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
