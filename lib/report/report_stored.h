/* report_stored.h -- reads a stored result from CSV or JSON, or the records so far from FILE.part (report_part.h). */
#ifndef ATOMO_REPORT_STORED_H
#define ATOMO_REPORT_STORED_H

#include "base/csv.h"
#include "base/json.h"
#include "report/report.h"

typedef struct {
    const char *schema; /* such as "atomo-compare/1"; NULL: CSV, which has no schema */
    const Json *meta;   /* facts about the run, an object; NULL: there are none */
    bool whole;         /* true: the result has a list of records; false: JSON without "results" */
    Csv table;          /* one row per record, values as CSV fields; "" if a value does not exist */
} Stored;

/* Reads the file at `path`, or standard input if `path` is "-". */
Status stored_load(Stored *out, const char *path, Arena *a, Error *err);

/* Copies the values of the columns from a record to `row`, but for shapes; VALUE_NONE for columns that the record lacks. */
void stored_row(const Json *record, const Column *columns, size_t count, Value *row);

/* Converts a CSV field to a number, a boolean or a text; always to a text if `text` is true. */
Value stored_value(const char *cell, bool text);

/* True if the two fields are equal texts, or numbers of equal value such as 0.50 and 0.5. */
bool stored_same(const char *cell, const char *other);

/* Sets the facts of `spec` to a stored result's meta (NULL: none), with `own` (NULL: nothing) as "report" in place of an
 * earlier entry of this name. */
Status stored_facts(ReportSpec *spec, const Json *meta, const char *own, Arena *a, Error *err);

#endif
