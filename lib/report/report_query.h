/* report_query.h -- chooses rows and columns of a stored result. */
#ifndef ATOMO_REPORT_QUERY_H
#define ATOMO_REPORT_QUERY_H

#include "report/report_kinds.h"
#include "base/text.h"

typedef struct {
    /* Comma-separated names; NAME/OTHER: the value of OTHER where NAME has none. NULL: the usual columns of the
     * result's kind. */
    const char *columns;
    /* FIELD=VALUE or FIELD!=VALUE: only rows for which all are true; empty: the leading rows */
    TextList where;
    const char *sort; /* FIELD or FIELD:desc; NULL: the stored order */
    bool all;         /* true: every row, not only the leading rows */
} Query;

/* Sets `out` to the chosen rows and columns of t. `kind` NULL: all rows, and all columns with a value. ERR_USAGE
 * for an unknown column; the hint has the nearest known name. */
Status query_run(Csv *out, const Query *q, const Csv *t, const ResultKind *kind, Arena *a, Error *err);

#endif
