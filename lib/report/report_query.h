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
    bool people;      /* true: standard errors and exact values stand beside their fields' values */
} Query;

/* `kind` NULL: all rows, and all columns with a value. ERR_USAGE names an unknown column, and the hint the nearest known one. For people
 * the columns behind the first `*shown` are those whose values stand beside others. */
Status query_run(Csv *out, size_t *shown, const Query *q, const Csv *t, const ResultKind *kind, Arena *a,
                 Error *err);

#endif
