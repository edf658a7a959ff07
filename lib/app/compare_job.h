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

    /* hooks that the command sets before compare_job_main */
    OwnFields own;                 /* fields that the command adds to each record */
    Status (*fill)(CompareJob *j); /* sets the fields of `own` after all codecs have run; NULL: none */
    void (*figures)(CompareJob *j, const Record *record); /* called for each new record; NULL: not called */
    Status (*arrange)(CompareJob *j); /* replaces j->list by the vectors to compare; NULL: keep the list */
    const char *schema;               /* of the results, such as "atomo-compare/1" */
    size_t workers;                   /* the largest number of workers of a merge; 0: no merge */
    Average average;                  /* of a merge */
    bool keeps_no_part; /* true: finished records are not kept, and there is no --resume */
    /* true: `write` reports only times, sizes and errors summed over the selected vectors (Comparison.costs_only), and
     * the command has no --metrics, --sort and --memory */
    bool sums_up;
    Status (*write)(CompareJob *j, ReportSpec spec); /* writes the results; NULL: results_write */
    double target_bits; /* value of --equal-bits; 0: not given */

    /* set by compare_job_open and compare_job_codecs */
    Fact *facts; /* the report's metadata; version and revision come first */
    size_t fact_count;
    Dump *dump;
    VectorList list;
    Team team;           /* the gradients of each worker of a merge; set by compare_job_team */
    const Codec **codec; /* (codecs) the codecs; an entry is NULL until its codec is chosen */
    const char **name;   /* (codecs) the spec of each codec */
    bool *done;          /* (codecs) true: all records of this codec are written */
    size_t codecs;
    /* true: the note of `notes_cold` has been printed */
    bool noted_cold;
    Results results;
    char hint[sizeof((Error *)NULL)->hint]; /* hint of the first record that has a hint */
    Part part;
    Progress progress;
    /* records of the current comparison that are measured by this run, and that FILE.part had; only counted where
     * `counts_known` */
    size_t measured, resumed;
    bool counts_known;
};

/* Runs the whole command and returns its exit code. The help text lists the command's own options before the
 * shared options, and the command's details before the list of metrics. */
int compare_job_main(CompareJob *j, const Command *command, int argc, char **argv,
                     Status (*run)(CompareJob *j));

/* Opens the dump and FILE.part, a run of these codecs, and selects the vectors (`j->list`). compare_job_main closes both, also
 * after a failure. */
Status compare_job_open(CompareJob *j, const Codec *const *codec, size_t codecs);

/* Sets the job's first `count` codecs, prints their warnings, and reserves space for `more` further codecs,
 * which compare_job_set_codec sets. */
Status compare_job_codecs(CompareJob *j, const Codec *const *codec, size_t count, size_t more);
/* Sets codec k, one of the codecs for which compare_job_codecs has reserved space. */
Status compare_job_set_codec(CompareJob *j, size_t k, const Codec *codec);

/* Runs every codec that is set and not done. Skips measurements whose records FILE.part has. */
Status compare_job_run(CompareJob *j);

/* Assigns the gradients of j->list to workers, in j->team; missing ones are made with this noise. */
Status compare_job_team(CompareJob *j, double noise);

/* Returns compare_job_comparison for a merge of this many workers of j->team. */
Comparison compare_job_merge(CompareJob *j, size_t workers);

/* Puts the dump's name in front of an error of lacking memory, unless the dump's reader has done so. */
void compare_job_name(const CompareJob *j, Status status);

/* Returns the job's settings as a Comparison, for commands that run several comparisons with
 * `compare_job_compare`. */
Comparison compare_job_comparison(CompareJob *j);
Status compare_job_compare(CompareJob *j, const Comparison *c);

/* Writes all results if `status` is OK. After a signal, writes the finished results only without -o, after
 * compare_job_codecs, and if `sums_up` is false. Returns the command's status: `status`, a write error, or
 * ERR_NUMERIC if a codec failed on a tensor. */
Status compare_job_finish(CompareJob *j, Status status);

/* Implements --equal-bits: sets the rate of each codec so that it sends `target_bits` bits per element. Of
 * codecs that become equal, only one is kept. */
Status compare_job_equal_bits(CompareJob *j, const Codec **codec, size_t *count);
/* Prints a note, unless -q is given, on each codec that has not reached `target_bits`: its size, and why. */
void compare_job_note_unreached(CompareJob *j);

/* Reads vector v into x (v->shape.n); `data` is the CompareJob. */
Status compare_job_load(void *data, const Vector *v, float *x, Error *err);

#endif
