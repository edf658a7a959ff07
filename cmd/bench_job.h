/* bench_job.h -- a comparison from a file to written results: what the commands that compare codecs share. */
#ifndef ATOMO_BENCH_JOB_H
#define ATOMO_BENCH_JOB_H

#include "../lib/progress.h"
#include "../lib/report_compare.h"

typedef struct {
    /* what the user asked for */
    const char *file;
    Common *common;
    GroupSpec groups;
    size_t repeats;
    uint64_t memory;
    View view;
    int argc;
    char **argv;
    Arena *a;
    Error *err;

    /* what there is */
    Fact *facts; /* of meta, as of the beginning: version and revision first */
    size_t fact_count;
    Dump *dump;
    VectorList list;
    const Codec **codec; /* NULL: not chosen yet */
    const char **name;
    bool *done;
    size_t codecs;
    Results results;
    Journal journal;
    Progress progress;
} Job;

/* Opens the file, makes its vectors, and room for so many codecs. */
Status job_open(Job *j, size_t codecs);
void job_close(Job *j); /* after a job_open that failed, too */

/* Sets codec k, and notes what its user should know. */
Status job_set_codec(Job *j, size_t k, const Codec *codec);

/* Once the first codecs are set: what meta says of the run, and the journal beside the results. */
Status job_begin(Job *j);

/* Runs the codecs that are set and not done, after taking what a resumed journal has of them. */
Status job_run(Job *j);

/* Whatever job_run said: writes what there is to write, and turns `status` into the command's. */
Status job_finish(Job *j, Status status, const char *schema);

#endif
