/* train_records.h -- the records of a run: steps and a summary to each compressor, kept in the journal while it works. */
#ifndef ATOMO_TRAIN_RECORDS_H
#define ATOMO_TRAIN_RECORDS_H

#include "train_job.h"

#include "report/report_journal.h"

enum { TARGETS_MOST = 16, TARGET_COLUMNS = 3, STEP_COLUMNS = 16 };
enum { RECORD_COLUMNS_MOST = STEP_COLUMNS + TARGET_COLUMNS * TARGETS_MOST };

typedef struct {
    double accuracy;
    bool reached;
    size_t step;
    double seconds, bytes; /* simulated; sent by a worker until then */
} Target;

typedef struct {
    TrainJob *job;
    Column column[RECORD_COLUMNS_MOST];
    size_t columns;
    Target target[TARGETS_MOST];
    size_t targets;
    Journal journal;
    Report *report;

    /* the run at work */
    const char *compressor;
    StepRecord last;
    double sim, wall, bytes; /* so far */
    double clock;            /* when `wall` was taken last */
    bool partial;            /* records of steps before are lost: no totals */
} Records;

/* ---- accuracies to reach (train_targets.c) ---- */

/* "0.9,0.95" */
Status records_targets(Records *r, const char *list);

Status targets_columns(Records *r); /* behind those that there are */
void targets_begin(Records *r);
void targets_note(Records *r, const StepRecord *step); /* which ones the step reaches */
void targets_put(const Records *r, Value *row);

/* ---- records ---- */

Status records_open(Records *r);
Status records_begin(Records *r, const char *compressor);

/* The journal's records of this run up to a step, as if they had just come. */
Status records_replay(Records *r, size_t step);
Status records_step(Records *r, const StepRecord *step, Error *err);
Status records_summary(Records *r, bool failed);

/* Whatever happened: writes what there is to write. */
Status records_close(Records *r, Status status);

#endif
