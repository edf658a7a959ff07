/* train_tune.c -- tune: chooses a learning rate for each codec, as the ATOMO paper does. It tries a logarithmic
 * grid of rates and takes the rate with the smallest loss on held-out training images. */
#include "train_commands.h"

#include "train_job.h"
#include "compress/spec.h"

#include <math.h>

typedef struct {
    TrainJob job; /* must be first: hooks cast TrainJob to Tune */
    double low, high, share;
    int64_t points;
    Dataset held_out;
    Report *report;
    size_t done;     /* number of steps done, for the progress bar */
    size_t finished; /* number of codecs that are finished */
} Tune;

static const Column columns[] = {
    {"compressor", true},      {"lr", true},
    {"steps", true},           {"train_loss", true},
    {"validation_loss", true}, {"validation_accuracy", true},
    {"chosen", true},          {"spec", false},
};

/* The result of one learning rate. The losses and the accuracy are NaN if the run diverged. */
typedef struct {
    double lr, train_loss;
    size_t steps;
    MeanScore tested;
} Point;

/* ---- one run: one codec, one learning rate ---- */

static Status follow(Tune *t, Trainer *trainer, Point *p)
{
    TrainJob *j = &t->job;
    StepRecord r;
    while (trainer_step_done(trainer) < j->steps) {
        const Status status = cli_stopped() ? ERR_STOPPED : trainer_step(trainer, &r, j->err);
        if (status == ERR_STOPPED)
            return FAIL(j->err, ERR_STOPPED, "%s: stopped at lr %g, after %zu of %zu steps in all",
                        codec_typed(j->setup.codec, j->a), p->lr, t->done + trainer_step_done(trainer),
                        j->progress.total);
        TRY(status);
        p->steps = r.step;
        p->train_loss = r.train.loss;
        progress_step(&j->progress, t->done + r.step);
    }
    return trainer_test(trainer, &t->held_out, &p->tested, j->err);
}

static Status run_point(Tune *t, const Codec *codec, Point *p)
{
    TrainJob *j = &t->job;
    Trainer *trainer;
    j->setup.codec = codec;
    j->setup.optimizer.lr = p->lr;
    p->train_loss = NAN;
    TRY(trainer_open(&trainer, &j->setup, j->err));
    j->steps = train_job_steps(j, trainer);
    j->progress.total = j->steps * j->codecs * (size_t)t->points;
    progress_at(&j->progress, "%s, step size %.3g", codec_typed(codec, j->a), p->lr);
    const Status status = follow(t, trainer, p);
    trainer_close(trainer);
    t->done += j->steps;
    if (status != ERR_NUMERIC)
        return status;
    p->train_loss = p->tested.loss = p->tested.accuracy = NAN;
    return OK;
}

/* ---- one codec: all learning rates ---- */

static size_t best_of(const Point *p, size_t count)
{
    size_t best = count;
    for (size_t i = 0; i < count; i++)
        if (isfinite(p[i].tested.loss) && (best == count || p[i].tested.loss < p[best].tested.loss))
            best = i;
    return best;
}

/* Warns if the smallest loss is at an end of the grid: a better learning rate may lie beyond that end. */
static void note_end(Tune *t, const char *name, size_t best)
{
    const size_t last = (size_t)t->points - 1;
    if (last > 0 && best == 0)
        progress_note(&t->job.progress,
                      "note: %s: the grid's first step size has the least loss; try a lower --lr-low", name);
    else if (last > 0 && best == last)
        progress_note(&t->job.progress,
                      "note: %s: the grid's last step size has the least loss; try a higher --lr-high", name);
}

static Status run_codec(Tune *t, const Codec *codec)
{
    TrainJob *j = &t->job;
    const size_t count = (size_t)t->points;
    Point *point = NEW_ZERO(j->a, Point, count);
    const char *name = codec_typed(codec, j->a), *spec = codec_complete(codec, j->a);
    TRY(arena_check(point && name && spec, j->a, j->err));
    for (size_t i = 0; i < count; i++) {
        point[i].lr = count > 1 ? t->low * pow(t->high / t->low, (double)i / (double)(count - 1)) : t->low;
        TRY(run_point(t, codec, &point[i]));
    }
    const size_t best = best_of(point, count);
    note_end(t, name, best);
    for (size_t i = 0; i < count; i++) {
        const Value row[] = {
            value_text(name),
            value_real(point[i].lr),
            value_int((int64_t)point[i].steps),
            value_real(point[i].train_loss),
            value_real(point[i].tested.loss),
            value_real(point[i].tested.accuracy),
            value_bool(i == best),
            value_text(spec),
        };
        _Static_assert(countof(row) == countof(columns), "a value for each column");
        TRY(report_row(t->report, row, true, j->err));
    }
    return OK;
}

/* ---- the search for all codecs ---- */

static Status hold_out(Tune *t)
{
    TrainJob *j = &t->job;
    const DatasetInfo *d = j->train.info;
    const size_t all = j->train.count, kept = all - (size_t)((double)all * t->share);
    if (kept == 0 || kept == all)
        return FAIL(j->err, ERR_USAGE, "--validation-share %g: leaves %zu of %zu images to train on",
                    t->share, kept, all);
    t->held_out = j->train;
    t->held_out.count = all - kept;
    const size_t first = kept * d->channels * d->rows * d->columns;
    if (t->held_out.values)
        t->held_out.values += first;
    else
        t->held_out.pixels += first;
    if (t->held_out.labels)
        t->held_out.labels += kept;
    /* the last training window of a text, shifted, would reach into the first window held out */
    j->train.count = kept - d->text;
    return OK;
}

static Status run_all(Tune *t)
{
    for (; t->finished < t->job.codecs; t->finished++)
        TRY(run_codec(t, t->job.codec[t->finished]));
    return OK;
}

/* After a signal, the results of the finished codecs are still written. If there are none, an older result stays. */
static Status run(TrainJob *j)
{
    Tune *t = (Tune *)j;
    Error why;
    if (t->low > t->high)
        return FAIL(j->err, ERR_USAGE, "--lr-low %g: above --lr-high %g", t->low, t->high);
    if (j->setup.optimizer.least > t->low)
        return FAIL(j->err, ERR_USAGE, "--lr-min %g: above --lr-low %g", j->setup.optimizer.least, t->low);
    j->setup.optimizer.lr = NAN; /* each run has its own learning rate */
    TRY(train_job_open(j));
    TRY(train_job_data(j));
    TRY(hold_out(t));
    Fact facts[TRAIN_FACTS_MOST];
    const ReportSpec spec = {.schema = "atomo-tune/1",
                             .meta = facts,
                             .facts = train_job_facts(j, facts),
                             .columns = columns,
                             .column_count = countof(columns)};
    TRY(cli_report_open(&t->report, &j->common, &spec, j->a, j->err));
    progress_open(&j->progress, "tuning", "steps", 1, j->common.quiet);
    const Status status = run_all(t);
    progress_close(&j->progress);
    if (status != OK && (status != ERR_STOPPED || !t->finished))
        return status;
    why = *j->err;
    TRY(report_close(t->report, j->err));
    *j->err = why;
    return status;
}

int train_command_tune(int argc, char **argv)
{
    Tune t = {.low = 0x1p-10, .high = 1, .share = 0.1, .points = 11, .job = {.max_steps = 200}};
    train_job_defaults(&t.job);
    const Option options[] = {
        OPTION(0, "lr-low", "X", &t.low, "the grid's first step size", .low = 1e-12, .high = 1e38),
        OPTION(0, "lr-high", "X", &t.high, "the grid's last step size", .low = 1e-12, .high = 1e38),
        OPTION(0, "points", "N", &t.points, "number of step sizes, at equal ratios", .low = 1, .high = 1000),
        OPTION(0, "validation-share", "P", &t.share, "share of the training images that is held out",
               .low = 0, .high = 1),
        {0},
    };
    const Command command = {
        .program = "atomo-train",
        .command = "tune",
        .usage = "[-c SPEC]...",
        .brief = "find the step size for each codec by validation loss",
        .examples = "-c none -c qsgd:bits=2 -o tuned.csv\n",
        .details =
            "Trains with each step size of a logarithmic grid, from the same weights on the same batches, "
            "and chooses the one with the least loss on held-out training images. "
            "Fields: compressor, lr, steps (fewer if the run diverged), train_loss of the last step, validation_loss, "
            "validation_accuracy, chosen. A run that diverged has no losses. A note says so when an end of the grid is "
            "chosen. run --lr-from FILE trains with the chosen step sizes.\n",
        .options = options,
        .takes = TAKES_SEED | TAKES_THREADS | TAKES_FORMAT | TAKES_OUTPUT,
    };
    return train_job_main(&t.job, &command, argc, argv, run);
}
