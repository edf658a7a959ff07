/* report_compare.h -- writes a comparison's records as rows: their columns, the fields that commands add, and
 * which rows and columns a table shows.
 *
 * Rows are in order of the records' positions (`place`, compare.h), and then of the codecs. */
#ifndef ATOMO_REPORT_COMPARE_H
#define ATOMO_REPORT_COMPARE_H

#include "measure/compare.h"
#include "report/report_part.h"
#include "math/stats.h"

typedef struct {
    const VectorList *vectors;
    const char *const *codec; /* specs as they were typed */
    size_t codecs, places;
    size_t repeats;
    uint64_t seed;
    /* identity, metrics, fields over steps, fields about bias, error, the command's own fields, seed, spec */
    const Column *columns;
    /* indices of columns. `steps`: the first field over all steps; `verdict`: the first field about bias.
     * `leading`: see `OwnFields`. */
    size_t column_count, compressor, steps, verdict, error, leading;
    Value *rows;       /* [places][codecs][column_count] */
    bool *have;        /* [places][codecs] */
    const Json **known; /* [places][codecs]: the record of an interrupted run; NULL: there is none */
    const Vector **first; /* for each record: the first of its vectors */
    RecordLevel *level;   /* for each record: one vector, one step and worker, or all */
    /* [codecs]: the complete spec, which identifies a codec, or what stands in `codec` if that is no spec; NULL: the codec has
     * no name yet */
    const char **spec;
    const char **travels; /* [codecs]: the field `travels`; NULL if `spec` is, or if there is no such codec */
    Arena *a;
} Results;

/* Fields that a command adds to every record after all codecs have run. In FILE.part they have no value. */
typedef struct {
    const Column *column;
    size_t count;
    size_t leading; /* the first `leading` fields identify a record and are written next to the compressor */
    bool timed;     /* true: some of the fields are times */
} OwnFields;

Status results_open(Results *r, const VectorList *vectors, const char *const *codec, size_t codecs,
                    size_t repeats, uint64_t seed, OwnFields own, Arena *a, Error *err);

double results_number(const Results *r, size_t place, size_t codec, const char *field); /* NaN: no number */

Status results_put(Results *r, const Record *record, Error *err);

/* Sets the fields that depend on several records: NAME_steps (on all steps), and if `bias` those about bias (on all codecs on the
 * same vectors). Call it after the last record. */
Status results_judge(Results *r, bool bias, Error *err);

extern const Column results_verdicts[]; /* the fields set by results_judge, and the deciles of errors; ends in {0} */

/* Returns the line in FILE.part of a record that results_put has put. NULL: out of memory. */
char *results_line(const Results *r, const Record *record, Arena *a);

/* Takes up codecs that have names since `results_open`, and fills the rows whose records are in FILE.part. Sets done[codec]
 * if all records of the codec are there. Ignores codecs that are already done or have no name yet, and records of others. */
Status results_resume(Results *r, const Part *p, bool *done, Error *err);

/* Gets a record that `results_resume` has found: the callback `known` of a Comparison (measure/compare.h). */
bool results_known(const Results *r, size_t codec, size_t place, Tally *tally, bool *failed);

/* ERR_NUMERIC, with the first failure (codec, tensor, reason) and the number of further failures, if a codec failed on a tensor. */
Status results_check(const Results *r, const char *file, Error *err);

size_t results_finished(const Results *r); /* returns the number of rows that are filled */

typedef struct {
    /* names, separated by commas; NULL: all metrics in csv and json, the usual metrics in tables */
    const char *metrics;
    const char *sort;  /* METRIC or METRIC:desc; NULL: the order of the codecs */
    bool per_tensor;   /* tables also show each tensor */
    const char *usual; /* the usual metrics of this command's tables; NULL: those of compare */
} View;

/* Fails with ERR_USAGE for an unknown name; the error's hint has the most similar name that exists. */
Status view_check(const View *v, OwnFields own, Error *err);

/* True if encoding and decoding must be timed: without --metrics, for own fields that are times, and if a metric
 * (metrics.h) that the view lists or sorts by, or a mean over steps that it lists, is a time. */
bool view_times(const View *v, OwnFields own);

/* True if Wasserstein distances and deciles of errors must be measured: without --metrics, and if the view lists or sorts by one. */
bool view_distances(const View *v);
bool view_deciles(const View *v); /* the same of deciles alone */

/* Calls `results_judge`, sets the columns of `spec`, and writes the rows that are filled. */
Status results_write(Results *r, const View *v, ReportSpec spec, Error *err);

/* ---- fields that commands add ---- */

/* The fields that the command `sweep` adds. `rate`: the codec's rate parameter; null if it has none.
 * `pareto`: whether the codec is on the Pareto front of relative_error against bits_per_element. For each
 * step, worker and tensor, biased and unbiased codecs have separate fronts. `pareto_certain`: false if
 * `pareto` depends on uncertain values; null for a single repeat. `unbiased`: whether the codec promises to
 * be unbiased. */
extern const OwnFields sweep_fields;
Status sweep_fill(Results *r, const Codec *const *codec, Error *err);

/* The fields that `compare --equal-bits` adds: target_bits, and `reached`, whether the expected bits per element
 * over all selected tensors are within SIZE_TOLERANCE of target_bits. */
extern const OwnFields target_fields;
void target_fill(Results *r, double bits);

/* The fields that the command `merge` adds. `synthetic` is the number of workers whose gradients are made up;
 * `senders` is as in exchange/exchange.h.
 * Fields about the merged payload are null if the codec's payloads do not merge. */
extern const OwnFields merge_fields;
void merge_fill(Results *r, const Record *record, size_t workers, const char *topology, size_t synthetic,
                bool senders);

/* ---- means over steps ---- */

/* How much results differ between training steps. NAME_steps is the mean of metric NAME over
 * all steps and workers, NAME_steps_se its standard error, which counts steps as independent draws. They are in the record of
 * the whole run, and stay empty if there is only one step, or if the codec failed in a step. */

extern const Column steps_columns[]; /* ends in {0} */
enum { STEPS_FIELDS = 12 };

/* ---- bias ----
 *
 * Decides for each codec of a comparison whether it is biased, with the p-values of all codecs adjusted together. */

/* Family-wise error rate: the probability that some codec of a table is called biased if all are unbiased. */
#define BIAS_LEVEL 0.01

/* If the least detectable bias is this share of the gradient or more, the verdict is that a bias cannot be seen with
 * so few repeats. */
#define BIAS_UNSEEN 0.5

/* In fewer repeats there is no verdict: the standard error of two values is below a tenth of the true one in 8 cases of
 * 100, of three below a third in 11 of 100, and the bias that is said to show is as far off. */
enum { BIAS_REPEATS = 5 };

enum { BIAS_TESTS = 3 }; /* the p-values bias_p, gain_p, gain_l1_p (fields.c) */

/* The test results of a codec for one vector, or for several vectors measured as one. NaN: no result. */
typedef struct {
    double p[BIAS_TESTS];
    double se[2], freedom[2]; /* gain_se and gain_l1_se, gain_freedom and gain_l1_freedom (fields.c) */
    double mse, variance;
    double expected; /* the codec's closed-form variance; NaN: unknown */
    /* set by bias_judge: the smallest p-value of this row, adjusted by Holm's method; NaN: nothing was
     * tested, or in too few repeats */
    double holm;
    /* set by bias_judge: least detectable bias (metrics.h); NaN: as `holm` */
    double detectable;
} BiasRow;

/* Sets each row's `holm` and `detectable`, with the p-values of all rows adjusted together. The rows are
 * codecs on the same vectors, each measured in `repeats` repeats. Both are NaN in fewer than BIAS_REPEATS. */
Status bias_judge(BiasRow *row, size_t rows, size_t repeats, Arena *a, Error *err);

/* Returns "p = 3e-05", or "p < 1e-300" where p is 0 only because a double holds no smaller one. NULL: out of memory. */
const char *p_words(double p, Arena *a);

/* Returns the verdict in words, such as "none seen (about 10 % would show)" or "needs 5 repeats"; VALUE_NONE if nothing was
 * tested and the variance is not 0. */
Value bias_words(const BiasRow *row, size_t repeats, Arena *a);

#endif
