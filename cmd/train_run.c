/* train_run.c -- run: trains with each codec, once for each seed. All runs of one seed start from the same weights
 * and use the same batches. Each run has its folder, checkpoints, saved gradients and records. */
#include "train_commands.h"

#include "train_records.h"

#include "base/checksum.h"
#include "base/file.h"
#include "base/outfile.h"
#include "compress/spec.h"
#include "math/linalg.h"
#include "math/vec/kernels.h"
#include "report/report_stored.h"
#include "train/checkpoint.h"
#include "train/training_run.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

typedef struct {
    TrainJob job; /* must be first: hooks cast TrainJob to TrainRun */
    const Command *command;
    const char *dir, *dump, *targets, *tuned;
    double *rate; /* (codecs) learning rates from the file `tuned`; NULL: all codecs use --lr */
    int64_t every, dump_every;
    bool dump_workers;
    TrainRecords records;
    size_t run;    /* number of runs before the current one; each codec has a run for each seed */
    Error failure; /* failure of the first run that diverged; OK: no run diverged */
} TrainRun;

/* ---- --lr-from ---- */

static Status find(double *lr, const Csv *t, const char *path, const char *spec, Error *err)
{
    for (size_t row = 0; row < t->rows; row++) {
        if (strcmp(csv_cell(t, row, "chosen"), "true") || !spec_equal(csv_cell(t, row, "compressor"), spec))
            continue;
        *lr = csv_real(t, row, "lr");
        if (isfinite(*lr) && *lr >= 0)
            return OK;
    }
    FAIL(err, ERR_USAGE, "--lr-from %s: no step size was chosen for %s", path, spec);
    return error_hint(err,
                      "name the same -c SPEC to atomo-train tune; none is chosen where every run diverged");
}

/* Sets (*rate)[k] to the step size that `atomo-train tune` chose for codec[k], from its output in the file at `path`. Codecs are
 * found by their specs. */
static Status load_rates(double **rate, const char *path, const Codec *const *codec, size_t codecs, Arena *a, Error *err)
{
    Stored tuned;
    TRY(stored_load(&tuned, path, a, err));
    *rate = NEW(a, double, codecs);
    for (size_t k = 0; k < codecs; k++) {
        const char *name = codec_typed(codec[k], a);
        TRY(arena_check(*rate && name, a, err));
        TRY(find(*rate + k, &tuned.table, path, name, err));
    }
    return OK;
}

/* Reads the learning rates of all codecs before the first run, so that a missing rate stops the command
 * early. */
static Status take_rates(TrainRun *r)
{
    TrainJob *j = &r->job;
    if (!r->tuned)
        return OK;
    TRY(load_rates(&r->rate, r->tuned, j->codec, j->codecs, j->a, j->err));
    for (size_t k = 0; k < j->codecs; k++) {
        j->setup.optimizer.lr = r->rate[k];
        if (train_check(&j->setup, j->err) != OK)
            return error_at(j->err, "--lr-from %s: %s", r->tuned, j->codec[k]->typed);
    }
    j->setup.optimizer.lr = NAN;
    return OK;
}

/* ---- ranks are about to do the same work: each compares its settings with those of rank 0 ---- */

static const char own_program[] = "/proc/self/exe";

static Value sum_of(Bytes a, Bytes b, Arena *arena)
{
    return value_text(text_format(arena, "%016llx", (unsigned long long)checksum(b, checksum(a, 0))));
}

static Value sum_of_data(const Dataset *d, Arena *a)
{
    const size_t pixels =
        d->tokens ? d->tokens : d->count * d->info->channels * d->info->rows * d->info->columns;
    const Bytes images = d->values ? (Bytes){(const uint8_t *)d->values, pixels * sizeof *d->values}
                                   : (Bytes){d->pixels, pixels};
    return sum_of(images, (Bytes){(const uint8_t *)d->labels, d->labels ? d->count * sizeof *d->labels : 0}, a);
}

/* The kernels of the network and of BLAS round differently on different processors. */
static Value blas_name(Arena *a)
{
    Error err;
    BlasInfo blas = {0};
    const bool loaded = linalg_blas_info(&blas, &err) == OK;
    return value_text(text_format(a, "%s %s", loaded ? blas.core : "none", loaded ? blas.config : ""));
}

static Status make_line(TrainRun *r, const char **line)
{
    TrainJob *j = &r->job;
    char *program;
    size_t size;
    if (file_load(&program, &size, own_program, SIZE_MAX / 2, j->a, j->err) != OK)
        return error_at(j->err, "%s", own_program);
    const Fact own[] = {{"the program", sum_of((Bytes){(const uint8_t *)program, size}, (Bytes){0}, j->a)},
                        {"the instruction set", value_text(kernels()->name)},
                        {"BLAS", blas_name(j->a)},
                        {"the training images", sum_of_data(&j->train, j->a)},
                        {"the test images", sum_of_data(&j->test, j->a)},
                        {"--max-steps", value_int(j->max_steps)},
                        {"--epochs", value_int(j->epochs)},
                        {"--eval-freq", value_int(r->every)},
                        {"--train-dir", value_bool(r->dir)},
                        {"--resume", value_bool(j->common.resume)},
                        {"--dump-gradients", value_bool(r->dump)},
                        {"--dump-freq", value_int(r->dump_every)}};
    Fact fact[countof(own) + TRAIN_FACTS_MOST];
    memcpy(fact, own, sizeof own);
    const size_t settings = train_job_settings(j, SETTING_SHOWN | SETTING_RUN, fact + countof(own));
    *line = settings ? part_head(fact, countof(own) + settings, j->a) : NULL;
    return arena_check(*line, j->a, j->err);
}

/* Programs that are not the same may have other settings, but the program itself differs, too. */
static Status compare(const TrainJob *j, const char *mine, const char *first)
{
    const Json *here, *there;
    TRY(json_read(&here, mine, strlen(mine), j->a, j->err));
    TRY(json_read(&there, first, strlen(first), j->a, j->err));
    const char *other = part_difference(there, here, j->a);
    TRY(arena_check(other, j->a, j->err));
    if (!*other)
        return OK;
    FAIL(j->err, ERR_USAGE, "rank %d differs from rank 0: %s", j->net->rank, other);
    return error_hint(j->err, "all ranks need the same program, options and data, on processors alike");
}

/* Called on all ranks. ERR_USAGE: a rank differs from rank 0; the error names the rank and the difference. */
static Status rank_check(TrainRun *r)
{
    TrainJob *j = &r->job;
    const char *mine = NULL;
    if (!j->net)
        return OK;
    TRY(net_agree(j->net, make_line(r, &mine), j->err));
    uint64_t size = strlen(mine) + 1;
    net_broadcast(j->net, 0, &size, sizeof size);
    char *first = NEW(j->a, char, size);
    TRY(net_agree(j->net, arena_check(first, j->a, j->err), j->err));
    if (j->net->rank == 0)
        memcpy(first, mine, size);
    net_broadcast(j->net, 0, first, size);
    return net_agree(j->net, strcmp(mine, first) ? compare(j, mine, first) : OK, j->err);
}

/* ---- what a run calls ---- */

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

/* Locks the folder, and with --force removes the checkpoints of another run: the newest of them would be resumed. A folder that
 * cannot be written would show only at the first checkpoint. */
static Status take_folder(OneRun *one, const TrainRun *r)
{
    const TrainJob *j = &r->job;
    TRY(step_folder_lock(&one->lock, one->dir, j->a, j->err));
    if (j->common.force && !j->common.resume)
        TRY(step_files_remove(one->dir, 0, j->a, j->err));
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

/* Before the first run trains, on rank 0: ERR_USAGE if a folder of a run has checkpoints, unless --resume or --force is given. */
static Status check_folders(TrainRun *r)
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

/* ---- the course of a run ---- */

static Status resume(TrainRun *r, Trainer *t, const char *dir)
{
    TRY(checkpoint_resume(t, dir, note, r, r->job.err));
    return train_records_resume(&r->records, trainer_step_done(t));
}

/* If the run is finished but its test results are lost, tests the trained network again. */
static Status test_again(TrainRun *r, Trainer *t)
{
    StepRecord *last = &r->records.last;
    if (trainer_step_done(t) < r->job.steps || !isnan(last->test.accuracy))
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
    TRY(trainer_spread(t, r->job.err));
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
        progress_note(&j->progress, "note: %s: %zu parameters", j->setup.network, trainer_parameters(one->trainer));
    j->progress.total = j->steps * j->codecs * (size_t)j->seeds;
    return train(r, one);
}

/* Trains with codec k and seed number `i` (0: --seed), from the start or from a checkpoint. If the run diverges and
 * none before did, sets r->failure. Returns OK for a run that diverged, so that the other codecs still train. */
static Status train_codec(TrainRun *r, size_t k, size_t i)
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

/* ---- checks before the first run ---- */

static Status check_resume(const TrainRun *r)
{
    return r->job.common.resume && !r->dir
               ? FAIL(r->job.err, ERR_USAGE,
                      "--resume: want --train-dir, from whose checkpoints the run continues")
               : OK;
}

static Status check_idle(const TrainRun *r)
{
    const char *idle = r->dump_every ? "--dump-freq" : r->dump_workers ? "--dump-workers" : NULL;
    if (r->tuned && cli_given(&r->job.common, "lr"))
        return FAIL(r->job.err, ERR_USAGE, "--lr and --lr-from: want one of them");
    return idle && !r->dump ? FAIL(r->job.err, ERR_USAGE, "%s: want --dump-gradients FILE.h5 as well", idle)
                            : OK;
}

static Status check_dump(const TrainRun *r)
{
    if (r->dump && !*r->dump)
        return FAIL(r->job.err, ERR_USAGE, "--dump-gradients \"\": want the name of a file");
    if (r->dir && !*r->dir)
        return FAIL(r->job.err, ERR_USAGE, "--train-dir \"\": want the name of a folder");
    if (r->dump && r->job.codecs > 1)
        return FAIL(r->job.err, ERR_USAGE, "--dump-gradients: %zu codecs; want one", r->job.codecs);
    return r->dump && r->job.seeds > 1 ? FAIL(r->job.err, ERR_USAGE, "--dump-gradients: %lld seeds; want one",
                                              (long long)r->job.seeds)
                                       : OK;
}

/* Returns true if the paths name one file, which need not exist yet. */
static bool same_output(const char *path, const char *other, Arena *a)
{
    const size_t up = path_directory(path), over = path_directory(other);
    const char *folder = text_format(a, "%.*s.", (int)up, path), *beside = text_format(a, "%.*s.", (int)over, other);
    return file_same(path, other) || (folder && beside && !strcmp(path + up, other + over) && file_same(folder, beside));
}

/* Two outputs with the same path are refused, since the second would overwrite the first. */
static Status keep_apart(const TrainRun *r)
{
    const TrainJob *j = &r->job;
    const char *output = j->common.output;
    if (r->dump && net_rank(j->net) == 0) {
        TRY(cli_keep(r->command, "--dump-gradients", r->dump, j->err));
        TRY(outfile_check(r->dump, j->a, j->err));
    }
    return output && r->dump && same_output(output, r->dump, j->a)
               ? FAIL(j->err, ERR_USAGE, "run: -o %s: is what --dump-gradients writes, want another file",
                      output)
               : OK;
}

/* Without the HDF5 library, the first checkpoint or dump would fail, and the steps before it would be lost. */
static Status check_library(const TrainRun *r)
{
    const TrainJob *j = &r->job;
    const char *version;
    if ((!r->dir && !r->dump) || net_rank(j->net) != 0 || hdf5_library(&version, j->err) == OK)
        return OK;
    return error_at(j->err, "%s %s", r->dir ? "--train-dir" : "--dump-gradients", r->dir ? r->dir : r->dump);
}

static Status run_all(TrainRun *r)
{
    TrainJob *j = &r->job;
    Status status = OK;
    const Fact own[] = {{"--lr-from", value_text(r->tuned)},
                        {"--train-dir", value_text(r->dir)},
                        {"--eval-freq", value_int(r->every)},
                        {"--target-accuracy", value_text(r->targets)}};
    if (net_rank(j->net) == 0)
        status = train_records_open(&r->records, own, countof(own), r->dir != NULL);
    TRY(net_agree(j->net, status, j->err));
    TRY(net_agree(j->net, net_rank(j->net) ? OK : check_folders(r), j->err));
    for (size_t i = 0; i < (size_t)j->seeds; i++)
        for (size_t k = 0; k < j->codecs; k++)
            TRY(train_codec(r, k, i));
    return OK;
}

static Status prepare(TrainRun *r)
{
    TrainJob *j = &r->job;
    r->records.job = j;
    r->records.part.fd = -1;
    TRY(train_records_targets(&r->records, r->targets));
    TRY(check_resume(r));
    TRY(check_idle(r));
    TRY(keep_apart(r));
    TRY(check_library(r));
    r->dump_every = r->dump_every ? r->dump_every : 100;
    if (r->tuned) /* each run has its own learning rate */
        j->setup.optimizer.lr = NAN;
    TRY(train_job_open(j));
    TRY(check_dump(r));
    return take_rates(r);
}

/* With --resume: true, and a note, if a run has written FILE to its end, so that nothing is left to do. */
static bool ended(const TrainJob *j)
{
    const Common *o = &j->common;
    if (!o->resume || o->force || !part_ended(o->output, NULL))
        return false;
    fprintf(stderr, "note: %s: is complete, so nothing is done; another -o FILE takes further steps, --force makes it anew\n",
            o->output);
    return true;
}

static Status run(TrainJob *j)
{
    TrainRun *r = (TrainRun *)j;
    TRY(net_agree(j->net, prepare(r), j->err));
    if (net_any(j->net, net_rank(j->net) == 0 && ended(j)))
        return OK;
    TRY(train_job_data(j));
    TRY(rank_check(r));
    progress_open(&j->progress, "training", "steps", 1, j->common.quiet || net_rank(j->net));
    Status status = run_all(r);
    if (net_rank(j->net) == 0)
        status = train_records_close(&r->records, r->dir != NULL, status);
    TRY(net_agree(j->net, status, j->err));
    if (r->failure.status != OK)
        *j->err = r->failure;
    return net_agree(j->net, r->failure.status, j->err);
}

static const char details[] =
    "With several codecs: one run each, from the same weights on the same batches. The results hold one record "
    "per step and one summary per run; tables show the steps that were tested.\n"
    "Times are those of the slowest worker, decode_ms of one receiver. Tests use worker 0's running statistics.\n"
    "A checkpoint holds the whole state of training. After a crash, a kill or a full disk the same command with "
    "--resume continues from the newest complete checkpoint and gives the same weights. While the run is going, "
    "each step of --dump-gradients is a dump of its own in FILE.h5.parts. A run that diverges does not stop the "
    "other codecs; the exit code is 1 then.\n"
    "With --local-steps H workers exchange once in H steps (DiLoCo): docs/training.md describes it. Records of the "
    "other steps have 0 bytes, and tests use the common weights. --fragments exchanges the layers in turn.\n"
    "mpirun -n P atomo-train run trains on P processes (ranks), a worker on each, with the same results as --workers "
    "P; with --topology ps, rank 0 is the server and has no worker. comm_ms is then measured. docs/cluster.md "
    "describes it, and --overlap and --bucket-bytes.\n";

static const char step_fields[] =
    "record,loss,train_accuracy,test_loss,test_accuracy,bytes_up,bytes_down,compute_ms,encode_ms,comm_ms,decode_ms,"
    "sim_seconds,wall_seconds,link_ms,rank_compute_ms,rank_encode_ms,rank_wait_ms,rank_decode_ms,rank_sent,rank_received,measured_ms,predicted_ms,predicted_ratio";

int train_command_run(int argc, char **argv)
{
    TrainRun r = {.every = 200, .job = {.takes_ranks = true}};
    train_job_defaults(&r.job);
    const Option options[] = {
        OPTION(0, "train-dir", "DIR", &r.dir,
               "write checkpoints to DIR; with several codecs, to a folder each in DIR"),
        OPTION(0, "eval-freq", "N", &r.every,
               "steps between two tests, each with a checkpoint; 0: only after the last step", .low = 0,
               .high = 1e9),
        OPTION(0, "lr-from", "FILE", &r.tuned,
               "instead of --lr: the step sizes that tune wrote to FILE, one for each codec"),
        OPTION(
            0, "seeds", "N", &r.job.seeds,
            "train N times with each codec, with the seeds --seed, --seed + 1, ...; with --train-dir, in a folder "
            "each",
            .low = 1, .high = 1000),
        OPTION(0, "target-accuracy", "LIST", &r.targets,
               "test accuracies, as 0.9,0.98: report steps, time and bytes until each is reached"),
        OPTION(0, "dump-gradients", "FILE.h5", &r.dump,
               "save gradients before compression; with one codec and one seed"),
        OPTION(0, "dump-freq", "N", &r.dump_every, "save one step of every N (default 100)", .low = 1,
               .high = 1e9),
        OPTION(0, "dump-workers", NULL, &r.dump_workers, "save each worker's gradient instead of their mean"),
        {0},
    };
    const Command command = {
        .program = "atomo-train",
        .command = "run",
        .usage = "[-c SPEC]...",
        .brief = "train with P simulated workers that exchange compressed gradients",
        .examples = "--workers 4 -c none -c ef+topk:ratio=0.01 -o run.csv\n"
                    "--network lenet --dataset mnist --epochs 3 --train-dir runs/lenet --eval-freq 100\n",
        .details = details,
        .options = options,
        .common = &r.job.common,
        .fields = step_fields,
        .takes = TAKES_SEED | TAKES_THREADS | TAKES_FORMAT | TAKES_OUTPUT | TAKES_RESUME,
    };
    r.command = &command;
    return train_job_main(&r.job, &command, argc, argv, run);
}
