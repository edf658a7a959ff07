/* train_eval.c -- eval: tests the checkpoints of a run; --follow tests each checkpoint as soon as it is
 * written. */
#include "train_commands.h"

#include "train/checkpoint.h"
#include "app/progress.h"
#include "report/report.h"
#include "train_job.h"
#include "compress/spec.h"

#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

typedef struct {
    Common common;
    const char *dir, *data_dir;
    int64_t test_batch;
    bool follow;
    Arena *a;
    Error *err;

    TrainSetup setup;
    const char *dataset;
    Dataset train, test;
    Trainer *trainer; /* opened with the setup of the first undamaged checkpoint */
    Report *report;
    Progress progress;
    size_t last;   /* step of the last checkpoint that was tested; SIZE_MAX: none yet */
    Error failure; /* what is wrong with the first damaged checkpoint; status OK: none is damaged */
} Eval;

static const Column columns[] = {
    {"step", true},      {"epoch", true},         {"compressor", true},
    {"test_loss", true}, {"test_accuracy", true}, {"spec", false}};

static Status open_trainer(Eval *e, const char *path)
{
    size_t images;
    TrainSetup *s = &e->setup;
    TRY(checkpoint_setup(s, &e->dataset, &images, path, e->a, e->err));
    const TrainData from = {s->network, e->dataset, e->data_dir};
    TRY(train_job_load(&e->test, &from, SPLIT_TEST, NULL, e->a, e->err));
    e->train = e->test; /* testing needs no training images: the trainer reads only the data set's kind and
                         * number of images */
    e->train.split = SPLIT_TRAIN;
    e->train.count = images;
    s->train = &e->train;
    s->test = &e->test;
    s->test_batch = train_job_pass(e->test_batch, e->test.info);
    s->threads = (int)e->common.threads;
    s->stopped = cli_stopped;
    return trainer_open(&e->trainer, s, e->err);
}

static Status write_row(Eval *e, const MeanScore *tested)
{
    const size_t step = trainer_step_done(e->trainer);
    const Value row[] = {
        value_int((int64_t)step),
        value_int(step ? (int64_t)((step - 1) / trainer_epoch_steps(e->trainer)) + 1 : 0),
        value_text(codec_typed(e->setup.codec, e->a)),
        value_real(tested->loss),
        value_real(tested->accuracy),
        value_text(codec_complete(e->setup.codec, e->a)),
    };
    _Static_assert(countof(row) == countof(columns), "a value for each column");
    if (e->follow && !e->common.quiet)
        progress_note(&e->progress, "note: step %zu: test loss %.4g, accuracy %.4g", step, tested->loss,
                      tested->accuracy);
    return report_row(e->report, row, true, e->err);
}

/* A damaged checkpoint, or one that cannot be read, is reported and skipped. */
static Status test_one(Eval *e, size_t step)
{
    MeanScore tested;
    const char *path = step_file(e->dir, step, e->a);
    TRY(arena_check(path, e->a, e->err));
    e->last = step;
    Status status = e->trainer ? OK : open_trainer(e, path);
    if (status == OK)
        status = checkpoint_load(e->trainer, path, e->err);
    if (status == OK)
        status = trainer_test(e->trainer, &e->test, &tested, e->err);
    if (status == OK)
        return write_row(e, &tested);
    /* after a signal, the results of the checkpoints tested before are written as usual */
    if (status == ERR_STOPPED)
        return OK;
    if (status == ERR_MEMORY || status == ERR_USAGE)
        return status;
    progress_note(&e->progress, "note: %s", e->err->text);
    if (e->failure.status == OK)
        e->failure = *e->err;
    return OK;
}

/* Tests the checkpoints of steps after `e->last`, and sets `*found` to their number. */
static Status test_new(Eval *e, size_t *found)
{
    Arena *a = arena_open(0);
    size_t *step, count = 0;
    Status status = step_files(&step, &count, e->dir, a, e->err);
    *found = 0;
    e->progress.total = count;
    for (size_t i = 0; status == OK && i < count && e->last != SIZE_MAX; i++)
        e->progress.total -= step[i] <= e->last;
    for (size_t i = 0; status == OK && i < count && !cli_stopped(); i++)
        if (e->last == SIZE_MAX || step[i] > e->last) {
            progress_at(&e->progress, "step %zu", step[i]);
            status = test_one(e, step[i]);
            progress_step(&e->progress, ++*found);
        }
    arena_close(a);
    return status;
}

static void wait_a_little(void)
{
    static const struct timespec tenth = {.tv_nsec = 100000000};
    for (int i = 0; i < 10 && !cli_stopped(); i++)
        nanosleep(&tenth, NULL);
}

static const char several[] = "a run of several codecs has a folder for each in its --train-dir";

static void note_waiting(Eval *e)
{
    if (!e->common.quiet && e->last == SIZE_MAX)
        progress_note(&e->progress, "note: %s: no checkpoint there yet; waiting for a run (%s)", e->dir, several);
}

/* Tests checkpoints until the run has ended. Waits if the run has not begun. */
static Status follow(Eval *e)
{
    bool said = false;
    for (size_t found; !cli_stopped(); wait_a_little()) {
        const bool at_work =
            /* The lock is read before the tests. A run that ends during the tests may have written one more
             * checkpoint, which the next turn of the loop tests. */
            step_folder_is_locked(e->dir);
        TRY(test_new(e, &found));
        if (!at_work && e->last != SIZE_MAX)
            break;
        if (!said)
            note_waiting(e);
        said = true;
    }
    return OK;
}

static Status test_all(Eval *e)
{
    size_t found;
    if (e->follow)
        return follow(e);
    TRY(test_new(e, &found));
    if (found)
        return OK;
    if (access(e->dir, F_OK))
        return FAIL(e->err, ERR_IO, "%s: %s", e->dir, strerror(errno));
    FAIL(e->err, ERR_IO, "%s: no checkpoint there", e->dir);
    return error_hint(e->err, "%s", several);
}

static Status run(void *options, const TextList *arguments)
{
    Eval *e = options;
    (void)arguments;
    TRY(train_job_alone("eval", e->err));
    if (!e->dir)
        return FAIL(e->err, ERR_USAGE, "eval: want --train-dir, where the checkpoints are");
    const Fact dir = {"train_dir", value_text(e->dir)};
    const ReportSpec spec = {.schema = "atomo-eval/1",
                             .meta = &dir,
                             .facts = 1,
                             .columns = columns,
                             .column_count = countof(columns)};
    TRY(cli_report_open(&e->report, &e->common, &spec, e->a, e->err));
    progress_open(&e->progress, "testing", "checkpoints", 0, e->common.quiet);
    const Status status = test_all(e);
    progress_close(&e->progress);
    trainer_close(e->trainer);
    TRY(report_finish(e->report, status, e->err));
    if (cli_stopped())
        return FAIL(e->err, ERR_STOPPED, "%s: stopped", e->dir);
    if (e->failure.status != OK)
        *e->err = e->failure;
    return e->failure.status;
}

int train_command_eval(int argc, char **argv)
{
    Error err = {0};
    Eval e = {.a = arena_open(0), .err = &err, .last = SIZE_MAX};
    const Option options[] = {
        OPTION(0, "train-dir", "DIR", &e.dir, "the folder of the checkpoints"),
        OPTION(0, "data-dir", "DIR", &e.data_dir,
               "the folder of the data set's files; without it datasets/NAME"),
        OPTION(0, "test-batch-size", "B", &e.test_batch,
               "images per pass; changes no result; 0: 250 images or 4,096 tokens", .low = 0, .high = 1e6),
        OPTION(0, "follow", NULL, &e.follow, "test new checkpoints until the run that writes them ends"),
        {0},
    };
    const Command command = {
        .program = "atomo-train",
        .command = "eval",
        .usage = "--train-dir DIR",
        .brief = "test the checkpoints of a run",
        .examples = "--train-dir runs/lenet\n"
                    "--train-dir runs/lenet --follow\n",
        .details =
            "One record for each checkpoint, in the order of steps: step, epoch, compressor, test_loss, "
            "test_accuracy. The checkpoint names its network and data set. A damaged checkpoint is noted and left out, "
            "and the exit code is 1. --follow looks once a second, prints each result on stderr, and ends with the run; "
            "if the run has not begun, it waits.\n",
        .options = options,
        .common = &e.common,
        .takes = TAKES_THREADS | TAKES_FORMAT | TAKES_OUTPUT,
    };
    return cli_run(&command, argc, argv, run, &e, e.a, &err);
}
