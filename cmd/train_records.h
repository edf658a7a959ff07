/* train_records.h -- the records that `atomo-train run` writes: one for each step, and a summary for each run, which
 * is of one codec with one seed. With -o FILE, they also go to FILE.part, from which --resume reads them. Each step has one record,
 * so that the step of a checkpoint is the number of records that belong to it. */
#ifndef ATOMO_TRAIN_RECORDS_H
#define ATOMO_TRAIN_RECORDS_H

#include "train_job.h"

#include "report/report_part.h"

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

typedef struct {
    TrainJob *job;
    Column column[RECORD_COLUMNS_MOST];
    /* the first `step_columns` are about a step; then come those of the targets, on several ranks `workers`, then
     * `seed` and `spec` */
    size_t columns, step_columns;
    TrainTarget target[TARGETS_MOST];
    size_t targets;
    Part part;
    Report *report;

    /* about the current run */
    size_t from, to; /* its records of an earlier command: part.record[from] to part.record[to - 1] */
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

/* Opens FILE.part and the report. `own`: the command's settings on which its records depend. `lasting`: the run writes
 * checkpoints, so it can be continued. */
Status train_records_open(TrainRecords *r, const Fact *own, size_t count, bool lasting);

/* Begins the run of the codec that was typed as `compressor`, with the complete spec `spec`, and of this seed. All records
 * until the next call belong to this run. */
void train_records_begin(TrainRecords *r, const char *compressor, const char *spec, int64_t seed);

/* True if FILE.part has all records of a run of job->steps steps, or of one that diverged. train_records_replay then writes
 * them, and sets `*diverged` if the run did. */
bool train_records_ended(const TrainRecords *r);
Status train_records_replay(TrainRecords *r, bool *diverged);

/* For a resumed run: writes the records of steps 1 to `step` of FILE.part, as if these steps had just run, and drops the
 * others. */
Status train_records_resume(TrainRecords *r, size_t step);
Status train_records_step(TrainRecords *r, const StepRecord *step, Error *err);
Status train_records_summary(TrainRecords *r, bool failed); /* failed: the run diverged */

/* Writes the report if `status` is OK. After a signal, writes the report only if there is no FILE.part.
 * `lasting`: the run saves checkpoints. Returns the exit status of the command. */
Status train_records_close(TrainRecords *r, bool lasting, Status status);

#endif
