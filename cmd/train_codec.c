/* train_codec.c -- runs the training with one codec: its folder, checkpoints, saved gradients and records. */
#include "train_codec.h"

#include "base/outfile.h"
#include "train/checkpoint.h"
#include "train/training_run.h"
#include "compress/spec.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

static void note(void *data, const char *text)
{
    progress_note(&((TrainRun *)data)->job.progress, "note: %s", text);
}

static Status record(void *data, const StepRecord *s, Error *err)
{
    TrainRun *r = data;
    progress_step(&r->job.progress, r->run * r->job.steps + s->step);
    return train_records_step(&r->records, s, err);
}

/* Returns DIR, DIR/CODEC, DIR/seed-N or DIR/CODEC/seed-N: several codecs or seeds have a folder each. CODEC is the canonical
 * spec, so that --resume finds the folder however the codec is typed. */
static char *folder_of(const TrainRun *r, const Codec *of)
{
    const TrainJob *j = &r->job;
    const char *name = codec_text(of, j->a), *codec = j->codecs == 1 ? "" : text_format(j->a, "/%s", name ? name : "");
    const char *seed =
        j->seeds == 1 ? "" : text_format(j->a, "/seed-%llu", (unsigned long long)j->setup.seed);
    return codec && seed ? text_format(j->a, "%s%s%s", r->dir, codec, seed) : NULL;
}

/* Returns true on the rank that writes files and results, which is rank 0. */
static bool writes(const TrainRun *r)
{
    return net_rank(r->job.net) == 0;
}

static Status agree(const TrainRun *r, Status status)
{
    return net_agree(r->job.net, status, r->job.err);
}

/* ---- opening a run ---- */

typedef struct {
    const char *codec, *spec; /* as it was typed, and complete */
    const char *dir;          /* the folder of its checkpoints, or NULL */
    Trainer *trainer;
    int lock; /* of the folder; -1: none */
    bool ended; /* an earlier command has finished the run */
} OneRun;

/* Sets the setup to that of codec k and seed number i. */
static Status run_choose(OneRun *one, TrainRun *r, size_t k, size_t i)
{
    TrainJob *j = &r->job;
    j->setup.seed = (uint64_t)j->common.seed + i;
    j->setup.codec = j->codec[k];
    if (r->tuned)
        j->setup.optimizer.lr = r->rate[k];
    *one = (OneRun){.codec = codec_typed(j->codec[k], j->a), .spec = codec_complete(j->codec[k], j->a), .lock = -1};
    one->dir = r->dir ? folder_of(r, j->codec[k]) : NULL;
    return one->codec && one->spec && (one->dir || !r->dir) ? OK : arena_fail(j->a, j->err);
}

static void run_close(OneRun *one)
{
    step_folder_release(one->lock);
    trainer_close(one->trainer);
}

/* Removes the checkpoints of another run, for --force: the newest of them would be resumed. */
static Status remove_steps(const TrainRun *r, const char *dir)
{
    size_t *step, count;
    TRY(step_files(&step, &count, dir, r->job.a, r->job.err));
    for (size_t i = 0; i < count; i++) {
        const char *path = step_file(dir, step[i], r->job.a);
        TRY(arena_check(path, r->job.a, r->job.err));
        if (unlink(path))
            return FAIL(r->job.err, ERR_IO, "%s: cannot remove: %s", path, strerror(errno));
    }
    return OK;
}

/* Locks the folder. A folder that cannot be written would show only at the first checkpoint. */
static Status take_folder(OneRun *one, const TrainRun *r)
{
    const TrainJob *j = &r->job;
    TRY(step_folder_lock(&one->lock, one->dir, j->a, j->err));
    if (j->common.force && !j->common.resume)
        TRY(remove_steps(r, one->dir));
    const char *file = step_file(one->dir, j->steps, j->a);
    return file ? outfile_check(file, j->a, j->err) : arena_fail(j->a, j->err);
}

/* Opens the trainer, and takes the folder on the rank that writes; run_close is due after a failure, too. */
static Status run_open(OneRun *one, TrainRun *r)
{
    TrainJob *j = &r->job;
    TRY(trainer_open(&one->trainer, &j->setup, j->err));
    j->steps = train_job_steps(j, one->trainer);
    return one->dir && writes(r) ? take_folder(one, r) : OK;
}

/* A new run's checkpoints would mix with those that are there. */
static Status check_empty(TrainRun *r, const char *dir)
{
    const TrainJob *j = &r->job;
    size_t *step, count;
    TRY(step_files(&step, &count, dir, j->a, j->err));
    if (!count)
        return OK;
    const char *command = cli_again(&j->common, j->a);
    TRY(arena_check(command, j->a, j->err));
    FAIL(j->err, ERR_USAGE, "--train-dir %s: has checkpoints up to step %zu; to continue that run: %s --resume", dir,
         step[count - 1], command);
    return error_hint(j->err, "to begin afresh: %s --force", command);
}

Status train_check_folders(TrainRun *r)
{
    OneRun one;
    if (!r->dir || r->job.common.resume || r->job.common.force)
        return OK;
    for (size_t i = 0; i < (size_t)r->job.seeds; i++)
        for (size_t k = 0; k < r->job.codecs; k++) {
            TRY(run_choose(&one, r, k, i));
            TRY(check_empty(r, one.dir));
        }
    return OK;
}

/* ---- one run ---- */

static Status resume(TrainRun *r, Trainer *t, const char *dir)
{
    TRY(checkpoint_resume(t, dir, note, r, r->job.err));
    const size_t step = trainer_step_done(t);
    const bool tested = step == r->job.steps || (r->every && step % (size_t)r->every == 0);
    return train_records_resume(&r->records, step, tested ? t : NULL);
}

/* If the run is finished but its test results are lost, tests the trained network again. */
static Status test_again(TrainRun *r, Trainer *t)
{
    StepRecord *last = &r->records.last;
    if (r->records.complete || trainer_step_done(t) < r->job.steps || !isnan(last->test.accuracy))
        return OK;
    last->step = trainer_step_done(t);
    last->epoch = (last->step - 1) / trainer_epoch_steps(t) + 1;
    return trainer_test(t, r->job.setup.test, &last->test, r->job.err);
}

static Status follow_course(TrainRun *r, Trainer *t, const char *dir)
{
    Course c = {.steps = r->job.steps,
                .every = (size_t)r->every,
                .dir = dir,
                .dump_every = r->dump ? (size_t)r->dump_every : 0,
                .data = r,
                .record = record,
                .stopped = cli_stopped};
    Status status = OK;
    if (r->dump && writes(r))
        status = gradient_dump_open(&c.dump, r->dump, t, r->dump_workers, r->job.err);
    TRY(agree(r, status));
    status = train_run(t, &c, r->job.err);
    Error why = {0};
    if (c.dump)
        gradient_dump_close(c.dump, &why);
    if (!r->dump || (status != OK && status != ERR_STOPPED) || net_agree(r->job.net, why.status, &why) == OK)
        return status;
    *r->job.err = why;
    return why.status;
}

/* Records the error of a training run that diverged, so that the next codec is still trained. */
static Status keep_failure(TrainRun *r, const char *compressor)
{
    error_at(r->job.err, "%s", compressor);
    net_continue(r->job.net);
    if (r->job.codecs * (size_t)r->job.seeds > 1 && writes(r))
        progress_note(&r->job.progress, "note: %s", r->job.err->text);
    if (r->failure.status == OK)
        r->failure = *r->job.err;
    return agree(r, writes(r) ? train_records_summary(&r->records, true) : OK);
}

static Status train(TrainRun *r, const OneRun *one)
{
    Trainer *t = one->trainer;
    Status status = OK;
    if (r->job.common.resume && writes(r))
        status = resume(r, t, one->dir);
    TRY(agree(r, status));
    trainer_spread(t);
    TRY(follow_course(r, t, one->dir));
    return agree(r, writes(r) ? test_again(r, t) : OK);
}

/* Writes the records of a run that an earlier command has finished. */
static Status replay(TrainRun *r, const OneRun *one)
{
    bool diverged = false;
    TRY(agree(r, writes(r) ? train_records_replay(&r->records, &diverged) : OK));
    if (net_any(r->job.net, diverged) && r->failure.status == OK)
        FAIL(&r->failure, ERR_NUMERIC, "%s: its run diverged before", one->codec);
    return OK;
}

/* Trains with checkpoints in the folder one->dir, which is locked during the run. */
static Status train_in(TrainRun *r, OneRun *one)
{
    TrainJob *j = &r->job;
    TRY(agree(r, run_open(one, r)));
    one->ended = net_any(j->net, writes(r) && train_records_ended(&r->records));
    if (one->ended)
        return replay(r, one);
    if (j->common.verbose && writes(r))
        progress_note(&j->progress, "note: %s: %zu parameters, %.1f MB of memory without the codec's",
                      j->setup.network, trainer_parameters(one->trainer),
                      1e-6 * (double)trainer_bytes(one->trainer));
    j->progress.total = j->steps * j->codecs * (size_t)j->seeds;
    return train(r, one);
}

Status train_codec(TrainRun *r, size_t k, size_t i)
{
    TrainJob *j = &r->job;
    OneRun one;
    TRY(run_choose(&one, r, k, i));
    if (codec_caution(j->codec[k]) && writes(r) && i == 0)
        progress_note(&j->progress, "note: %s: %s", one.codec, codec_caution(j->codec[k]));
    r->run = i * j->codecs + k;
    if (j->seeds == 1)
        progress_at(&j->progress, "%s", one.codec);
    else
        progress_at(&j->progress, "%s, seed %llu", one.codec, (unsigned long long)j->setup.seed);
    train_records_begin(&r->records, one.codec, one.spec, (int64_t)j->setup.seed);
    const char *late = j->setup.overlap && i == 0 ? train_sends_late(&j->setup) : NULL;
    if (late && writes(r))
        progress_note(&j->progress, "note: %s: --overlap sends nothing before the backward pass ends: %s",
                      one.codec, late);
    const Status status = train_in(r, &one);
    run_close(&one);
    if (status == ERR_NUMERIC)
        return keep_failure(r, one.codec);
    if (status == ERR_STOPPED && j->codecs > 1)
        return error_at(j->err, "%s", one.codec);
    TRY(status);
    return agree(r, writes(r) && !one.ended ? train_records_summary(&r->records, false) : OK);
}
