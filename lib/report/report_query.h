/* report_query.h -- chooses rows and columns of a stored result. */
#ifndef ATOMO_REPORT_QUERY_H
#define ATOMO_REPORT_QUERY_H

#include "report/report_kinds.h"
#include "base/text.h"

typedef struct {
    /* Names with commas between them; NAME/OTHER takes the value of OTHER where NAME has none. NULL: the usual columns of the
     * result's kind. */
    const char *columns;
    TextList where;   /* FIELD=VALUE or FIELD!=VALUE: rows for which all hold; empty: the leading rows */
    const char *sort; /* FIELD or FIELD:desc; NULL: the stored order */
    bool all;         /* every row, not only the leading ones */
} Query;

/* `kind` NULL: all rows, and all columns with a value. ERR_USAGE names an unknown column, and the nearest known one. */
Status query_run(Csv *out, const Query *q, const Csv *t, const ResultKind *kind, Arena *a, Error *err);

#endif
