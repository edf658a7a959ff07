/* verify_job.h -- runs the command verify, from its parsed options to the written report. */
#ifndef ATOMO_VERIFY_JOB_H
#define ATOMO_VERIFY_JOB_H

#include "app/cli.h"
#include "measure/verify.h"

typedef struct {
    Common common;
    DumpHints hints;
    GroupSpec groups;
    int grouping;
    bool per_tensor;              /* true: a row for each statement and tensor */
    const VerifyMethods *methods; /* &verify_methods; unit tests use other methods */
    Arena *forever, *scratch; /* forever: until the report is written; scratch: while one vector is checked */
    Error *err;
} VerifyJob;

/* Checks every statement on every selected tensor of the dump at `path`, and writes the report. Returns
 * ERR_NUMERIC if a statement fails. Returns ERR_STOPPED after a signal: then no file is written, but a report
 * on stdout has the checks made so far. */
Status verify_job_run(VerifyJob *o, const char *path);

#endif
