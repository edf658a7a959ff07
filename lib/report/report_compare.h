/* report_compare.h -- a comparison's records as rows: their columns, the fields that commands add, the choice of rows and
 * columns that tables show.
 *
 * Rows are ordered by place (compare.h), then by codec. A row is filled from a Record, or from a line of a journal. */
#ifndef ATOMO_REPORT_COMPARE_H
#define ATOMO_REPORT_COMPARE_H

#include "measure/compare.h"
#include "report/report_journal.h"

typedef struct {
    const VectorList *vectors;
    const char *const *codec; /* canonical specs */
    size_t codecs, places;
    size_t repeats;
    const Column *columns; /* identity, metrics, error, then the command's own fields */
    size_t column_count, compressor, verdict, error, leading; /* verdict: the first of the fields on bias */
    Value *rows;                                              /* [places][codecs][column_count] */
    bool *have;                                               /* [places][codecs] */
    const Vector **first;                                     /* per place: its first vector */
    RecordLevel *level;                                       /* per place */
    Arena *a;
} Results;

/* Fields that a command adds to every record. They are set when all codecs have run, and the journal does not hold them. */
typedef struct {
    const Column *column;
    size_t count;
    size_t
        leading; /* the number of fields, from the first, that are written beside the compressor: they identify a record */
    bool timed; /* some of them are times */
} OwnFields;

Status results_open(Results *r, const VectorList *vectors, const char *const *codec, size_t codecs,
                    size_t repeats, OwnFields own, Arena *a, Error *err);

double results_number(const Results *r, size_t place, size_t codec, const char *field); /* NaN: no number */

Status results_put(Results *r, const Record *record, Error *err);

/* Fills in bias_p_holm, bias_detectable and bias, which depend on all codecs of a place; after the last record. */
Status results_judge(Results *r, Error *err);

extern const Column results_verdicts[]; /* these three; ends in {0} */

/* The record's line for the journal. */
char *results_line(const Results *r, const Record *record, Arena *a); /* NULL: out of memory */

/* Takes the rows of each codec whose records are all in the journal, and marks it done. Ignores codecs that are done already or
 * have no name yet. */
Status results_resume(Results *r, const Journal *j, bool *done, Error *err);

/* The first failure as a sentence (codec, tensor, reason) and the number of further ones; "" without a failure. NULL: out of
 * memory. */
char *results_failures(const Results *r, Arena *a);

size_t results_finished(const Results *r); /* the number of rows that are filled */

typedef struct {
    const char
        *metrics; /* names with commas between them; NULL: all in csv and json, the usual ones in tables */
    const char *sort;  /* METRIC or METRIC:desc; NULL: the order of the codecs */
    bool per_tensor;   /* tables also show each tensor */
    const char *usual; /* the metrics in tables without `metrics`; NULL: those of compare */
} View;

/* ERR_USAGE for an unknown name, with the nearest known one. */
Status view_check(const View *v, OwnFields own, Error *err);

/* Whether a field that is written or sorted by is a time. */
bool view_times(const View *v, OwnFields own);

/* Judges bias and writes the rows that are filled; sets the columns of `spec`. */
Status results_write(Results *r, const View *v, ReportSpec spec, Error *err);

/* ---- the fields that commands add ---- */

/* sweep. rate: the value of the codec's rate parameter, null without one. pareto: on the front of relative_error against
 * bits_per_element, among the unbiased or among the biased codecs, of the same step, worker and tensor; false for a record that
 * failed. unbiased: the codec's promise. */
extern const OwnFields sweep_fields;
Status sweep_fill(Results *r, const Codec *const *codec, Error *err);

/* compare --equal-bits. target_bits; reached: bits per element over the whole selection are within SIZE_TOLERANCE of it. */
extern const OwnFields target_fields;
void target_fill(Results *r, double bits);

/* merge. workers; synthetic: how many of their gradients are made up; merge_ms, decode_each_ms, bytes_up, bytes_merged; the
 * fields of the merged payload are null for a codec that does not merge. */
extern const OwnFields merge_fields;
void merge_fill(Results *r, const Record *record, size_t workers, size_t synthetic);

#endif
