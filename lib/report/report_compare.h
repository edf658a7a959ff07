/* report_compare.h -- a comparison's records as rows: which columns there are, which of them people see, in
 * what order.
 *
 * Rows stand by place, then by codec; places as compare.h has them. A row may also come out of a journal. */
#ifndef ATOMO_REPORT_COMPARE_H
#define ATOMO_REPORT_COMPARE_H

#include "measure/compare.h"
#include "report/report_journal.h"

typedef struct {
    const VectorList *vectors;
    const char *const *codec; /* canonical specs */
    size_t codecs, places;
    size_t repeats;
    const Column *columns; /* all fields: identity, metrics, error, then the command's own */
    size_t column_count, compressor, error, leading;
    Value *rows;          /* [places][codecs][column_count] */
    bool *have;           /* [places][codecs] */
    const Vector **first; /* per place: its vector, or the first of several */
    RecordLevel *level;         /* per place */
    Arena *a;
} Results;

/* Fields that a command adds to every record. They follow from codecs and figures, so that no journal needs
 * them: they are set when everything has run. */
typedef struct {
    const Column *column;
    size_t count;
    size_t leading; /* so many of the first are written beside the compressor: they say what a record is of */
    bool timed;     /* a clock must have run for some of them */
} Fields;

Status results_open(Results *r, const VectorList *vectors, const char *const *codec, size_t codecs,
                    size_t repeats, Fields own, Arena *a, Error *err);

bool results_have(const Results *r, size_t place, size_t codec);
double results_number(const Results *r, size_t place, size_t codec, const char *field); /* NaN: no number */
bool results_failed(const Results *r, size_t place, size_t codec); /* partly counts, too */
void results_set(Results *r, size_t place, size_t codec, size_t field,
                 Value v); /* one of the command's own */

Status results_put(Results *r, const Record *record, Error *err);

/* The record's line for the journal. */
char *results_line(const Results *r, const Record *record, Arena *a); /* NULL: out of memory */

/* Takes over every codec that is not done yet and whose records are all in the journal, and marks it done.
 * Codecs without a name yet are passed over. */
Status results_resume(Results *r, const Journal *j, bool *done, Error *err);

/* What failed, in words: the first codec, tensor and reason, and how many more there are; "" when nothing
 * did. NULL: out of memory. */
char *results_failures(const Results *r, Arena *a);

size_t results_finished(const Results *r); /* rows there are */

typedef struct {
    const char *metrics; /* names with commas between them; NULL: all, and the usual ones in tables */
    const char *sort;    /* a metric, or METRIC:desc; NULL: the codecs' own order */
    bool per_tensor;     /* tables show every tensor, too */
    const char *usual;   /* the metrics that tables show when nobody chooses; NULL: compare's */
} View;

/* What is wrong with the names, before any work is done. */
Status view_check(const View *v, Fields own, Error *err);

/* Whether anything that is written or sorted by needs a clock. */
bool view_times(const View *v, Fields own);

/* Writes the rows there are; `spec` comes without columns. */
Status results_write(const Results *r, const View *v, ReportSpec spec, Error *err);

#endif
