/* train_records.h -- the records of atomo-train run: one for each step and a summary for each codec. While a codec trains
 * they go to a journal, from which --resume takes them. */
#ifndef ATOMO_TRAIN_RECORDS_H
#define ATOMO_TRAIN_RECORDS_H

#include "app/train_job.h"

#include "report/report_journal.h"

enum { TARGETS_MOST = 16, TARGET_COLUMNS = 3, STEP_COLUMNS = 16 };
enum { RECORD_COLUMNS_MOST = STEP_COLUMNS + TARGET_COLUMNS * TARGETS_MOST };

/* A test accuracy to reach, and when the run at work reached it. */
typedef struct {
    double accuracy;
    bool reached;
    size_t step;
    double seconds, bytes; /* simulated time, and bytes that a worker sent, up to that step; NaN: not known */
} TrainTarget;

typedef struct {
    TrainJob *job;
    Column column[RECORD_COLUMNS_MOST];
    size_t columns;
    TrainTarget target[TARGETS_MOST];
    size_t targets;
    Journal journal;
    Report *report;

    /* the run at work */
    const char *compressor;
    StepRecord last;
    double sim, wall, bytes; /* sums up to the last step */
    double clock;            /* when `wall` was last brought up to date */
    bool partial;            /* records of earlier steps are lost, so that sums are not known */
} TrainRecords;

/* Takes the accuracies of --target-accuracy, as "0.9,0.95"; NULL: none. */
Status train_records_targets(TrainRecords *r, const char *list);

/* Opens the journal and the report. */
Status train_records_open(TrainRecords *r);

/* The records that follow belong to the run of this codec. */
void train_records_begin(TrainRecords *r, const char *compressor);

/* Takes the run's records up to `step` from the resumed journal, as if they had just come. */
Status train_records_replay(TrainRecords *r, size_t step);
Status train_records_step(TrainRecords *r, const StepRecord *step, Error *err);
Status train_records_summary(TrainRecords *r, bool failed); /* failed: the run diverged */

/* Writes the report where `status` is OK, or after a signal where there is no journal; gives the command's status. */
Status train_records_close(TrainRecords *r, Status status);

#endif
