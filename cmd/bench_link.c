/* bench_link.c -- link: measures the latency and bandwidth between the processes that mpirun has started
 * (measure/link_trial.h), and writes the fit of all exchanges, the fit of each kind, and all measured times. */
#include "bench_commands.h"

#include "app/progress.h"
#include "measure/link_trial.h"
#include "report/report.h"

#include <string.h>

typedef struct {
    Common common;
    const char *sizes_text;
    int64_t repeats;

    Net *net; /* NULL: one process */
    Counts sizes;
    LinkTrial trial;
    Progress progress;
    Arena *a;
    Error *err;
} Job;

/* ---- records; members of a row that a record does not have are empty ---- */

static const Column columns[] = {{"record", false},         {"exchange", true},
                                 {"alpha_ms", true},        {"beta_gbps", true},
                                 {"deviation", true},       {"worst_deviation", true},
                                 {"bytes", false},          {"repeats", false},
                                 {"measured_ms", false},    {"predicted_ms", false},
                                 {"predicted_ratio", false}, {"alpha_ms_se", false},
                                 {"beta_gbps_se", false},   {"measured_ms_se", false}};

static Status write_fit(const Job *j, Report *report, const char *exchange, const LinkFit *f)
{
    const Value row[countof(columns)] = {value_text("fit"),
                                         value_text(exchange),
                                         value_real(1e3 * f->latency),
                                         value_real(f->bandwidth / 1e9),
                                         value_real(f->deviation),
                                         value_real(f->worst),
                                         [11] = value_real(1e3 * f->latency_se),
                                         value_real(f->bandwidth_se / 1e9)};
    return report_row(report, row, true, j->err);
}

static Status write_time(const Job *j, Report *report, const LinkTime *t)
{
    const double predicted = link_fit_seconds(&j->trial.all, &t->point);
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

static Status write_rows(const Job *j, Report *report)
{
    const LinkTrial *t = &j->trial;
    TRY(write_fit(j, report, "all", &t->all));
    for (int k = 0; k < TRIALS; k++)
        TRY(write_fit(j, report, link_trial_names[k], &t->fit[k]));
    for (const LinkTime *i = t->time; i < t->time + t->times; i++)
        TRY(write_time(j, report, i));
    return OK;
}

/* Notes that the times do not suit the model, and how to use the result. */
static void note_link(Job *j)
{
    static const double poor = 0.3; /* from this deviation on, the note asks whether a machine is busy */
    const char *path = j->common.output;
    fflush(stdout);
    if (j->trial.all.deviation > poor)
        progress_note(
            &j->progress,
            "note: measured times deviate by %.0f %% from latency and bandwidth: is a machine busy with other work?",
            100 * j->trial.all.deviation);
    if (path && !j->common.quiet)
        progress_note(&j->progress, "note: use it by --link %s", path);
}

static Status write_result(Job *j)
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

static Status refuse_alone(const Job *j)
{
    const bool with = strcmp(net_library(), "none") != 0;
    FAIL(j->err, ERR_USAGE,
         with ? "link: one process has no link: want two or more" : "link: built without MPI");
    return error_hint(
        j->err, with
                    ? "mpirun -n 2 atomo-bench link -o link.json; docs/cluster.md starts them on two machines"
                    : "`make deps-mpi`, then `make`, builds it with MPI");
}

static Status read_sizes(Job *j)
{
    enum { SIZE_MOST = 1 << 30 };
    TRY(counts_read(&j->sizes, "--sizes", j->sizes_text, SIZE_MOST, j->err));
    return j->sizes.count > 1 ? OK
                              : FAIL(j->err, ERR_USAGE, "--sizes %s: want two or more sizes", j->sizes_text);
}

static Status run(Job *j)
{
    TRY(net_agree(j->net, read_sizes(j), j->err));
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

static int run_ranks(Job *j, const Command *command, int argc, char **argv)
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
    Job j = {.sizes_text = "64,256,...,4194304", .repeats = 20};
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
