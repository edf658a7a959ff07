/* train_run.c -- run: train, a run to each compressor, all from the same weights on the same batches. */
#include "train_commands.h"

#include "app/train_rates.h"
#include "app/train_codec.h"

#include "base/outfile.h"

#include <math.h>

/* All of them before the first run begins. */
static Status take_rates(TrainRun *r)
{
    TrainJob *j = &r->job;
    if (!r->tuned)
        return OK;
    j->lr = NAN; /* is no run's */
    return train_rates_load(&r->rate, r->tuned, j->codec, j->codecs, j->a, j->err);
}

/* Before the data are read. */
static Status check_resume(const TrainRun *r)
{
    return r->job.common.resume && !r->dir
               ? FAIL(r->job.err, ERR_USAGE,
                      "--resume: want --train-dir, whose checkpoints the run goes on from")
               : OK;
}

/* Before the data are read. */
static Status check_idle(const TrainRun *r)
{
    const char *idle = r->dump_every ? "--dump-freq" : r->dump_workers ? "--dump-workers" : NULL;
    if (r->tuned && r->job.lr != USUAL_LR)
        return FAIL(r->job.err, ERR_USAGE, "--lr and --lr-from: want one of them");
    return idle && !r->dump ? FAIL(r->job.err, ERR_USAGE, "%s: want --dump-gradients FILE.h5 as well", idle)
                            : OK;
}

static Status check_dump(const TrainRun *r)
{
    if (r->dump && r->job.codecs > 1)
        return FAIL(r->job.err, ERR_USAGE, "--dump-gradients: %zu compressors; want one", r->job.codecs);
    return OK;
}

/* Of two outputs in one place the later would be all that is left. */
static Status keep_apart(const TrainRun *r)
{
    const TrainJob *j = &r->job;
    const char *output = j->common.output;
    TRY(train_job_keep(r->dir, "-o", output, j->a, j->err));
    TRY(train_job_keep(r->dir, "--dump-gradients", r->dump, j->a, j->err));
    return output && r->dump && outfile_same(output, r->dump, j->a)
               ? FAIL(j->err, ERR_USAGE, "run: -o %s: is what --dump-gradients writes, want another file",
                      output)
               : OK;
}

static Status run_all(TrainRun *r)
{
    TRY(train_records_open(&r->records));
    for (size_t k = 0; k < r->job.codecs; k++)
        TRY(train_codec(r, k));
    return OK;
}

static Status run(TrainJob *j)
{
    TrainRun *r = (TrainRun *)j;
    r->records.job = j;
    r->records.journal.fd = -1;
    TRY(train_records_targets(&r->records, r->targets));
    TRY(check_resume(r));
    TRY(check_idle(r));
    TRY(keep_apart(r));
    r->dump_every = r->dump_every ? r->dump_every : 100;
    TRY(train_job_open(j));
    TRY(check_dump(r));
    TRY(take_rates(r));
    progress_open(&j->progress, "training", 1, j->common.quiet);
    TRY(train_records_close(&r->records, run_all(r)));
    if (r->failure.status != OK)
        *j->err = r->failure;
    return r->failure.status;
}

int train_command_run(int argc, char **argv)
{
    TrainRun r = {.every = 200};
    train_job_defaults(&r.job, argc, argv);
    const Option options[] = {
        OPTION(0, "train-dir", "DIR", &r.dir, "checkpoints; with several compressors, a folder each"),
        OPTION(0, "eval-freq", "N", &r.every, "steps between tests and checkpoints; 0: after the last alone",
               .low = 0, .high = 1e9),
        OPTION(0, "lr", "X", &r.job.lr, "step size", .low = 0, .high = 1e38),
        OPTION(0, "lr-from", "FILE", &r.tuned,
               "in place of --lr what tune chose for each compressor, from its result"),
        OPTION(0, "target-accuracy", "LIST", &r.targets, "as 0.9,0.98: steps, time and bytes to each"),
        OPTION(0, "dump-gradients", "FILE.h5", &r.dump, "save gradients, as they were before compression"),
        OPTION(0, "dump-freq", "N", &r.dump_every, "of each N steps the first; 100 without it", .low = 1,
               .high = 1e9),
        OPTION(0, "dump-workers", NULL, &r.dump_workers, "each worker's by itself, not their mean"),
        {0},
    };
    const Command command = {
        .program = "atomo-train",
        .command = "run",
        .usage = "[-c SPEC]...",
        .brief = "train, with P simulated workers and a compressor between them",
        .details = "Several compressors: one run each, from the same weights, on the same batches. One "
                   "record per step and one "
                   "summary per run; tables show the steps that were tested.\n"
                   "Fields:\n"
                   "  record               step or summary\n"
                   "  loss, train_accuracy over the step's batch, before its update\n"
                   "  test_accuracy        where the step was tested; with worker 0's running statistics\n"
                   "  bytes_up             a worker's payloads, on average; in a summary of the whole run\n"
                   "  bytes_down           what a worker hears: the parameters (ps) or others' payloads\n"
                   "  compute_ms encode_ms the slowest worker's\n"
                   "  comm_ms              of --link and --topology\n"
                   "  decode_ms            one receiver's\n"
                   "  sim_seconds          these four added up over the steps so far\n"
                   "  wall_seconds         what the run took here, tests included\n"
                   "A checkpoint holds all that a step leaves to the next. After a crash, kill or full disk "
                   "the same "
                   "command with --resume "
                   "goes on from the newest whole one, to the same weights. While it works, each step of "
                   "--dump-gradients is a dump of its own in FILE.h5.parts. A run that diverges costs itself "
                   "alone, and the "
                   "exit code is 1.\n",
        .options = options,
        .takes = TAKES_SEED | TAKES_THREADS | TAKES_FORMAT | TAKES_OUTPUT | TAKES_RESUME,
    };
    return train_job_main(&r.job, &command, run);
}
