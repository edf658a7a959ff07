/* bench_job.h -- a comparison from a command line to written results: what the commands that compare codecs share.
 *
 *     job_main                       parses the options that all have, and calls the command's own function:
 *         job_open                   the file, its vectors, the journal
 *         job_codecs                 the codecs, and room for their results
 *         job_run                    the comparison
 *         job_finish                 whatever happened: writes what there is to write */
#ifndef ATOMO_BENCH_JOB_H
#define ATOMO_BENCH_JOB_H

#include "app/cli.h"
#include "app/progress.h"
#include "report/report_fields.h"

typedef struct Job Job;
struct Job {
    /* what the user asked for */
    const char *file;
    Common common;
    TextList specs;
    GroupSpec groups;
    int grouping;
    int64_t repeats, min_elements;
    Bytecount memory;
    View view;
    int argc;
    char **argv;
    Arena *a;
    Error *err;

    /* what the command adds to records: the fields, and where their values come from when all has run */
    Fields own;
    Status (*fill)(Job *j);                        /* NULL: there are none */
    void (*figures)(Job *j, const Record *record); /* as records come; NULL: nothing to add to them then */
    Status (*arrange)(Job *j); /* turns the list into what is compared; NULL: it is that */
    bool keeps_no_journal;
    bool sums_up; /* it reports sizes and times over everything selected, in records of its own: */
    Status (*write)(Job *j, ReportSpec spec); /* these; NULL: the comparison's */
    double target_bits; /* 0: none; figures depend on it through the rates it leads to */

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
};

/* A command's whole life. The command's rows of options stand in front of those of all; its details in front of
 * the list of metrics. Gives the exit code. */
int job_main(Job *j, const Command *command, int argc, char **argv, Status (*run)(Job *j));

Status job_open(Job *j);
void job_close(Job *j); /* after a job_open that failed, too */

/* The codecs, noting what their users should know, and room for `more` that job_set_codec adds later. */
Status job_codecs(Job *j, const Codec *const *codec, size_t count, size_t more);
Status job_set_codec(Job *j, size_t k, const Codec *codec);

/* Runs the codecs that are set and not done, after taking what a resumed journal has of them. */
Status job_run(Job *j);

/* What a comparison takes from the job, for commands that run several. */
Comparison job_comparison(Job *j);

/* Whatever job_run said: writes what there is to write, and turns `status` into the command's. */
Status job_finish(Job *j, Status status, const char *schema);

/* The same codecs at rates that bring them to target_bits per element, those that become equal once. */
Status job_solve(Job *j, const Codec **codec, size_t *count);

/* Reads a vector; `data` is the Job. */
Status job_load(void *data, const Vector *v, float *x, Error *err);

#endif
