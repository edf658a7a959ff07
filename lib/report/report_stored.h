/* report_stored.h -- reads a result back from CSV or JSON. */
#ifndef ATOMO_REPORT_STORED_H
#define ATOMO_REPORT_STORED_H

#include "base/csv.h"
#include "base/json.h"
#include "report/report.h"

typedef struct {
    const char *schema; /* "atomo-compare/1"; NULL: CSV, which has no schema */
    const Json *meta;   /* an object; NULL: there is none */
    bool whole;         /* false: JSON without a list of "results", and so without records */
    Csv table;          /* records, as CSV writes them; what does not exist is "" */
} Stored;

Status stored_load(Stored *out, const char *path, Arena *a, Error *err);

/* The value of a cell: a number, true, false, or a text; `text`: a text in any case. */
Value stored_value(const char *cell, bool text);

/* Equal texts, or numbers of one value: 0.50 is 0.5. */
bool stored_same(const char *cell, const char *other);

#endif
