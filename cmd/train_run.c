/* train_run.c -- run: train, a run to each compressor, all from the same weights on the same batches. */
#include "train.h"

#include "train_rates.h"
#include "train_records.h"

#include "../lib/nn/checkpoint.h"
#include "../lib/nn/step_folder.h"
#include "../lib/nn/train_run.h"
#include "../lib/outfile.h"

#include <math.h>

typedef struct {
    TrainJob job; /* stays first */
    const char *dir, *dump, *targets, *tuned;
    double *rate; /* of each codec, from `tuned` */
    int64_t every, dump_every;
    bool dump_workers;
    Records records;
    size_t run;    /* at work, of job.codecs */
    Error failure; /* the first run's that diverged */
} Run;

static void note(void *data, const char *text)
{
    progress_note(&((Run *)data)->job.progress, "note: %s", text);
}

static Status record(void *data, const StepRecord *s, Error *err)
{
    Run *r = data;
    progress_step(&r->job.progress, r->run * r->job.steps + s->step);
    return records_step(&r->records, s, err);
}

/* ---- one compressor ---- */

/* With several compressors, one folder each. */
static char *folder_of(const Run *r, const char *compressor)
{
    char *dir =
        r->job.codecs == 1 ? text_copy(r->job.a, r->dir) : text_format(r->job.a, "%s/%s", r->dir, compressor);
    return dir;
}

static Status begin_or_resume(Run *r, Trainer *t, const char *dir)
{
    if (!dir)
        return OK;
    if (!r->job.common.resume)
        return checkpoint_none_of_others(t, dir, r->job.err);
    TRY(checkpoint_resume(t, dir, note, r, r->job.err));
    return trainer_step_done(t) ? records_replay(&r->records, trainer_step_done(t)) : OK;
}

/* A run that was complete, but whose records are gone, is tested once more. */
static Status test_again(Run *r, Trainer *t)
{
    StepRecord *last = &r->records.last;
    if (trainer_step_done(t) < r->job.steps || !isnan(last->test.accuracy))
        return OK;
    last->step = trainer_step_done(t);
    last->epoch = (last->step - 1) / trainer_epoch_steps(t) + 1;
    return trainer_test(t, r->job.setup.test, &last->test, r->job.err);
}

static Status follow_course(Run *r, Trainer *t, const char *dir)
{
    Course c = {.steps = r->job.steps,
                .every = (size_t)r->every,
                .dir = dir,
                .dump_every = (size_t)r->dump_every,
                .data = r,
                .record = record,
                .stopped = cli_stopped};
    if (r->dump)
        TRY(gradient_dump_open(&c.dump, r->dump, t, r->dump_workers, r->job.err));
    const Status status = train_run(t, &c, r->job.err);
    Error why = {0};
    if (!c.dump || gradient_dump_close(c.dump, &why) == OK || (status != OK && status != ERR_STOPPED))
        return status;
    *r->job.err = why;
    return why.status;
}

/* A run that diverges costs itself alone. */
static Status keep_failure(Run *r, const char *compressor)
{
    error_at(r->job.err, "%s", compressor);
    if (r->job.codecs > 1)
        progress_note(&r->job.progress, "note: %s", r->job.err->text);
    if (r->failure.status == OK)
        r->failure = *r->job.err;
    return records_summary(&r->records, true);
}

static Status train(Run *r, Trainer *t, const char *compressor, const char *dir)
{
    TRY(records_begin(&r->records, compressor));
    TRY(begin_or_resume(r, t, dir));
    TRY(follow_course(r, t, dir));
    return test_again(r, t);
}

/* The folder is this run's for as long as it lasts. */
static Status train_in(Run *r, const char *compressor, const char *dir)
{
    TrainJob *j = &r->job;
    int hold = -1;
    Trainer *t;
    TRY(trainer_open(&t, &j->setup, j->err));
    j->steps = j->max_steps ? (size_t)j->max_steps : (size_t)j->epochs * trainer_epoch_steps(t);
    j->progress.total = j->steps * j->codecs;
    Status status = dir ? step_folder_hold(&hold, dir, j->a, j->err) : OK;
    if (status == OK)
        status = train(r, t, compressor, dir);
    step_folder_release(hold);
    trainer_close(t);
    return status;
}

static Status run_codec(Run *r, size_t k)
{
    TrainJob *j = &r->job;
    const char *name = codec_text(j->codec[k], j->a), *dir = r->dir ? folder_of(r, name) : NULL;
    if (!name || (r->dir && !dir))
        return arena_fail(j->a, j->err);
    if (codec_caution(j->codec[k]))
        progress_note(&j->progress, "note: %s: %s", name, codec_caution(j->codec[k]));
    r->run = k;
    j->setup.codec = j->codec[k];
    if (r->tuned)
        j->setup.sgd.lr = r->rate[k];
    const Status status = train_in(r, name, dir);
    if (status == ERR_NUMERIC)
        return keep_failure(r, name);
    TRY(status);
    return records_summary(&r->records, false);
}

/* ---- all of them ---- */

/* All of them before the first run begins. */
static Status take_rates(Run *r)
{
    TrainJob *j = &r->job;
    if (!r->tuned)
        return OK;
    j->lr = NAN; /* is no run's */
    return rates_load(&r->rate, r->tuned, j->codec, j->codecs, j->a, j->err);
}

/* Before the data are read. */
static Status check_resume(const Run *r)
{
    return r->job.common.resume && !r->dir
               ? FAIL(r->job.err, ERR_USAGE,
                      "--resume: want --train-dir, whose checkpoints the run goes on from")
               : OK;
}

/* Before the data are read. */
static Status check_idle(const Run *r)
{
    const char *idle = r->dump_every ? "--dump-freq" : r->dump_workers ? "--dump-workers" : NULL;
    if (r->tuned && r->job.lr != USUAL_LR)
        return FAIL(r->job.err, ERR_USAGE, "--lr and --lr-from: want one of them");
    return idle && !r->dump ? FAIL(r->job.err, ERR_USAGE, "%s: want --dump-gradients FILE.h5 as well", idle)
                            : OK;
}

static Status check_dump(const Run *r)
{
    if (r->dump && r->job.codecs > 1)
        return FAIL(r->job.err, ERR_USAGE, "--dump-gradients: %zu compressors; want one", r->job.codecs);
    return OK;
}

/* Of two outputs in one place the later would be all that is left. */
static Status keep_apart(const Run *r)
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

static Status run_all(Run *r)
{
    TRY(records_open(&r->records));
    for (size_t k = 0; k < r->job.codecs; k++)
        TRY(run_codec(r, k));
    return OK;
}

static Status run(TrainJob *j)
{
    Run *r = (Run *)j;
    r->records.job = j;
    r->records.journal.fd = -1;
    TRY(records_targets(&r->records, r->targets));
    TRY(check_resume(r));
    TRY(check_idle(r));
    TRY(keep_apart(r));
    r->dump_every = r->dump_every ? r->dump_every : 100;
    TRY(train_job_open(j));
    TRY(check_dump(r));
    TRY(take_rates(r));
    progress_open(&j->progress, "training", 1, j->common.quiet);
    TRY(records_close(&r->records, run_all(r)));
    if (r->failure.status != OK)
        *j->err = r->failure;
    return r->failure.status;
}

int train_command_run(int argc, char **argv)
{
    Run r = {.every = 200};
    train_job_defaults(&r.job, argc, argv);
    const Option options[] = {
        OPTION(0, "train-dir", "DIR", &r.dir, "checkpoints; with several compressors, a folder each"),
        OPTION(0, "eval-freq", "N", &r.every, "steps between tests and checkpoints; 0: after the last alone",
               .low = 0, .high = 1e9),
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
