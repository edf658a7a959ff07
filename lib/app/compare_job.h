/* compare_job.h -- a comparison from the command line to written results: what compare, sweep, merge and cost share.
 *
 *     compare_job_main                  parses the shared options and the command's own, then calls the command's run():
 *         compare_job_open              opens the dump and the journal, selects the vectors
 *         compare_job_codecs            takes the codecs, and makes room for their results
 *         compare_job_run               runs the comparison
 *         compare_job_finish            writes the results, also after a failure or a signal */
#ifndef ATOMO_COMPARE_JOB_H
#define ATOMO_COMPARE_JOB_H

#include "app/cli.h"
#include "app/progress.h"
#include "report/report_compare.h"

typedef struct CompareJob CompareJob;
struct CompareJob {
    /* from the command line */
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

    /* set by the command before compare_job_main */
    OwnFields own;                 /* fields that the command adds to records */
    Status (*fill)(CompareJob *j); /* sets them after all codecs have run; NULL: none */
    void (*figures)(CompareJob *j, const Record *record); /* called for each new record; NULL: not called */
    Status (*arrange)(CompareJob *j); /* replaces j->list by the vectors to compare; NULL: keeps the list */
    bool keeps_no_journal;
    bool
        sums_up; /* reports sums over the selection only, by its own `write`; takes no --metrics, --sort, --memory */
    Status (*write)(CompareJob *j, ReportSpec spec); /* writes the results; NULL: results_write */
    double target_bits; /* of --equal-bits; 0: none. In the journal, as the codecs' rates depend on it */

    /* made by compare_job_open and compare_job_codecs */
    Fact *facts; /* of the report's meta; version and revision come first */
    size_t fact_count;
    Dump *dump;
    VectorList list;
    const Codec **codec; /* (codecs) NULL: not chosen yet */
    const char **name;   /* (codecs) their specs */
    bool *done;          /* (codecs) */
    size_t codecs;
    Results results;
    Journal journal;
    Progress progress;
};

/* The whole command; gives the exit code. In help the command's own options come before the shared ones, its details
 * before the list of metrics. */
int compare_job_main(CompareJob *j, const Command *command, int argc, char **argv,
                     Status (*run)(CompareJob *j));

/* Opens the dump and the journal, and selects j->list. compare_job_main closes both, also after a failure. */
Status compare_job_open(CompareJob *j);

/* Takes `count` codecs, prints their cautions, and leaves room for `more` that compare_job_set_codec sets later. */
Status compare_job_codecs(CompareJob *j, const Codec *const *codec, size_t count, size_t more);
Status compare_job_set_codec(CompareJob *j, size_t k, const Codec *codec);

/* Runs the codecs that are set and not done. Records that a resumed journal holds are taken from there. */
Status compare_job_run(CompareJob *j);

/* The job's settings as a Comparison, for commands that run several comparisons. */
Comparison compare_job_comparison(CompareJob *j);

/* Writes the results if `status` allows: all of them after OK, the finished ones after a signal where there is no
 * journal to resume from. Gives the command's status: `status`, a failure to write, or ERR_NUMERIC where a codec failed
 * on a tensor. */
Status compare_job_finish(CompareJob *j, Status status, const char *schema);

/* --equal-bits: replaces each codec by the same codec at the rate that brings it to target_bits per element; codecs that
 * become equal are kept once. */
Status compare_job_equal_bits(CompareJob *j, const Codec **codec, size_t *count);

/* Reads the vector v into x (v->shape.n); `data` is the CompareJob. */
Status compare_job_load(void *data, const Vector *v, float *x, Error *err);

#endif
