/* compare_job.h -- the steps that the commands compare, sweep, merge and cost share, from the command line to
 * the written results.
 *
 *     compare_job_main          parses the shared options and the command's own, then calls run(), which calls:
 *         compare_job_open      opens the dump and FILE.part, selects the vectors
 *         compare_job_codecs    sets the codecs to compare, and allocates their results
 *         compare_job_run       runs the comparison
 *         compare_job_finish    writes the results */
#ifndef ATOMO_COMPARE_JOB_H
#define ATOMO_COMPARE_JOB_H

#include "app/cli.h"
#include "app/progress.h"
#include "dump/groups.h"
#include "report/report_compare.h"

/* A sample of a dump: with all rows of a draw, and with every second of them (sample_job.c). */
enum { SAMPLE_HALVES = 2 };
typedef struct {
    Dump *dump[SAMPLE_HALVES];
    VectorList list[SAMPLE_HALVES];
    size_t draw;  /* that is measured now */
    double share; /* of all elements, those of a draw */
} Sample;

typedef struct CompareJob CompareJob;
struct CompareJob {
    /* set from the command line, except a and err, which compare_job_main sets */
    const char *file;
    DumpHints hints;
    Common common;
    TextList specs;
    GroupSpec groups;
    int grouping;
    int64_t repeats, min_elements;
    Bytecount memory;
    View view;
    Arena *a;
    Error *err;

    /* what the command sets before compare_job_main */
    const char *schema; /* of the results, such as "atomo-compare/1" */
    OwnFields own;      /* fields that the command adds to each record */
    void (*figures)(CompareJob *j, const Record *record); /* called for each new record; NULL: not called */
    size_t workers;     /* of a merge: the largest number of workers; 0: no merge */
    Average average;    /* of a merge */
    Shots shots;        /* of a merge */
    double noise;       /* of a merge: that of gradients which are made */
    bool keeps_no_part; /* true: finished records are not kept, and there is no --resume */
    /* true: the results are only times, sizes and errors summed over the selected vectors (Comparison.costs_only), and
     * the command has no --metrics, --sort and --memory */
    bool sums_up;
    double target_bits; /* value of --equal-bits; 0: not given */
    void *data;         /* of the command's writer */

    /* set by compare_job_open and compare_job_codecs */
    Fact *facts; /* the report's metadata; version and revision come first */
    size_t fact_count;
    Dump *dump;
    VectorList list;
    Sample sample;       /* set by sample_open */
    Team team;           /* the gradients of each worker of a merge; set by compare_job_team */
    const Codec *const *codec; /* (codecs) */
    const char **name;         /* (codecs) the spec of each codec */
    size_t codecs;
    Results results;
    char hint[sizeof((Error *)NULL)->hint]; /* hint of the first record that has a hint */
    Part part;
    int64_t input_bytes; /* of all files of the dump; set by compare_job_open */
    Progress progress;
};

/* Runs the whole command and returns its exit code. The help text lists the command's own options before the
 * shared options, and the command's details before the list of metrics. */
int compare_job_main(CompareJob *j, const Command *command, int argc, char **argv,
                     Status (*run)(CompareJob *j));

/* Opens the dump and FILE.part, a run of these codecs, and selects the vectors (`j->list`), for a merge those of one worker.
 * compare_job_main closes both, also after a failure. */
Status compare_job_open(CompareJob *j, const Codec *const *codec, size_t codecs);

/* Sets the codecs, prints their warnings, and opens their results. */
Status compare_job_codecs(CompareJob *j, const Codec *const *codec, size_t count);

/* Runs the comparison. Skips measurements whose records FILE.part has. */
Status compare_job_run(CompareJob *j);

/* Assigns the gradients of j->list to workers, in j->team; missing ones are made with this noise. */
Status compare_job_team(CompareJob *j, double noise);

/* Compares all codecs but those to `skip` on a merge of this many workers of j->team. `record` gets the job as data; NULL: the
 * records are the job's results. */
Status compare_job_merge(CompareJob *j, size_t workers, const bool *skip,
                         Status (*record)(void *data, const Record *r, Error *err));

/* The option of commands that read a sample of the dump: so many random rows of each matrix. */
#define OPTION_SAMPLE(job, help) OPTION(0, "sample", "K", &(job)->hints.sample, help, .low = 2, .high = 1e9)
#define SAMPLE_HELP "estimate the results from K random rows of each matrix, drawn anew in each repeat"

/* Fails if the codec's result on a tensor does not follow from that on some of its rows, or on a model from single tensors. */
Status sample_check(const Codec *codec, Arena *a, Error *err);

/* What the draws of a sample tell of the whole model. */
typedef struct {
    double mean;
    double half; /* of the 95 % interval; NaN: unknown, as from one draw */
    double se;   /* the standard error that gives this interval by Student's t */
    bool told;   /* false: the value certainly changes with the number of elements, by too much to be told */
} SampleEstimate;

/* Opens the sample of j->hints.sample random rows of each matrix, after compare_job_open. Each of j->repeats repeats is a draw. */
Status sample_open(CompareJob *j);

/* Lets compare_job_run and compare_job_merge measure this half of this draw, once, after compare_job_codecs. */
void sample_draw(CompareJob *j, size_t draw, size_t half);

/* `value`: [j->repeats][SAMPLE_HALVES] of what was measured. `time`: it is one. */
SampleEstimate sample_estimate(const CompareJob *j, const double *value, bool time);

/* Runs compare and sweep with --sample. */
Status sample_run(CompareJob *j, const Codec *const *codec, size_t count);

/* Writes all results if `status` is OK, by `write`; NULL: results_write. After a signal, writes the finished results only
 * without -o, after compare_job_codecs, and if `sums_up` is false. Returns the command's status: `status`, a write error, or
 * ERR_NUMERIC if a codec failed on a tensor. */
Status compare_job_finish(CompareJob *j, Status status, Status (*write)(CompareJob *j, ReportSpec spec));

#endif
