/* train_records.h -- the records that `atomo-train run` writes: one for each step, and a summary for each run, which
 * is of one codec with one seed. With -o, the records of steps also go to a journal (a file), from which --resume
 * reads them. */
#ifndef ATOMO_TRAIN_RECORDS_H
#define ATOMO_TRAIN_RECORDS_H

#include "app/train_job.h"

#include "report/report_journal.h"

enum { TARGETS_MOST = 16, TARGET_COLUMNS = 3, STEP_COLUMNS = 17, RANK_COLUMNS = 16 };
enum { RECORD_COLUMNS_MOST = STEP_COLUMNS + RANK_COLUMNS + TARGET_COLUMNS * TARGETS_MOST + 3 };

/* A target test accuracy. `step`, `seconds` and `bytes` are valid if the current run has `reached` the
 * target. */
typedef struct {
    double accuracy;
    bool reached;
    size_t step;
    /* simulated time, and bytes that a worker sent, until the target was reached */
    double seconds, bytes;
} TrainTarget;

/* The times in ms of the latest steps of a run on several ranks, measured and predicted. */
enum { TIMES_KEPT = 1000 };
typedef struct {
    double measured[TIMES_KEPT], predicted[TIMES_KEPT];
    size_t count; /* number of pairs so far; pair i is at i % TIMES_KEPT */
} StepTimes;

/* A run of a command: the training with one codec and one seed. */
typedef struct {
    const char *compressor, *spec; /* as typed, and complete */
    int64_t seed;
    const char *dir; /* the folder of its checkpoints */
    size_t done;     /* step of the newest checkpoint; 0: none */
    size_t steps;
} PlannedRun;

typedef struct {
    TrainJob *job;
    Column column[RECORD_COLUMNS_MOST];
    /* the first `step_columns` are about a step; then come those of the targets, on several ranks `workers`, then
     * `seed` and `spec` */
    size_t columns, step_columns;
    TrainTarget target[TARGETS_MOST];
    size_t targets;
    Journal journal;
    Report *report;
    bool occupied; /* with --resume: a result is in the file of -o */
    bool kept;     /* it stays there, as nothing is left to train and the journal has no records */
    /* the journal's records by run: the first one of each run and the next one of the same run, as index + 1; 0: none */
    size_t *first, *next;

    /* about the current run */
    size_t run; /* its number */
    const char *compressor, *spec;
    int64_t seed;
    StepRecord last;
    double sim, wall,
        bytes;    /* simulated seconds, measured seconds and bytes up to the last step; NaN: unknown */
    double clock; /* time at which `wall` was last updated */
    StepTimes times;
    bool partial; /* true: records of earlier steps are lost, so that sums are unknown */
} TrainRecords;

/* Reads the accuracies of --target-accuracy, for example "0.9,0.95"; NULL: none. */
Status train_records_targets(TrainRecords *r, const char *list);

/* Opens the journal and the report. `rates`: the file of --lr-from, or NULL. `checkpoints`: the run writes them, so it can
 * be continued. */
Status train_records_open(TrainRecords *r, const char *rates, bool checkpoints);

/* Before the first run of a resumed command, which has these `count` runs: ERR_USAGE if the journal has records that none
 * of them would have, or if the result in the file of -o would be replaced by one without the records of earlier steps. */
Status train_records_plan(TrainRecords *r, const PlannedRun *run, size_t count);

/* Begins run number `run`, of the codec that was typed as `compressor`, with the complete spec `spec`, and of this seed. All
 * records until the next call belong to this run. */
void train_records_begin(TrainRecords *r, size_t run, const char *compressor, const char *spec, int64_t seed);

/* For a resumed run: writes the journal's records of steps 1 to `step`, as if these steps had just run. `tested`: a trainer
 * that has done these steps; if the record of step `step` has no test, the network is tested now. If `tested` is NULL,
 * nothing is tested. ERR_USAGE as for train_records_plan, if damaged checkpoints led back to an earlier step. */
Status train_records_replay(TrainRecords *r, size_t step, Trainer *tested);
Status train_records_step(TrainRecords *r, const StepRecord *step, Error *err);
Status train_records_summary(TrainRecords *r, bool failed); /* failed: the run diverged */

/* Writes the report if `status` is OK. After a signal, writes the report only if there is no journal.
 * `checkpoints`: the run saves checkpoints. Returns the exit status of the command. */
Status train_records_close(TrainRecords *r, bool checkpoints, Status status);

#endif
