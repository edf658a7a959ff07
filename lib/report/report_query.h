/* report_query.h -- chooses rows and columns of a stored result. */
#ifndef ATOMO_REPORT_QUERY_H
#define ATOMO_REPORT_QUERY_H

#include "report/report_kinds.h"
#include "base/text.h"

typedef struct {
    /* Names of columns, separated by commas. NAME/OTHER shows the value of OTHER in rows where NAME is empty.
     * NULL: the usual columns for this kind of result. */
    const char *columns;
    /* conditions FIELD=VALUE or FIELD!=VALUE; chooses the rows that meet all conditions; without
     * conditions, only the rows of rank ROW_LEAD */
    TextList where;
    const char *sort; /* FIELD or FIELD:desc; NULL: the stored order */
    bool all;         /* true: rows of every rank, not only of rank ROW_LEAD */
    /* true: the cell of a field also shows the field's standard error and exact value */
    bool people;
} Query;

/* Chooses rows and columns of t. If `kind` is NULL, takes all rows, and all columns with a value. Returns
 * ERR_USAGE if a column is unknown; the hint has the nearest known name. With q->people, *shown is the number
 * of columns to show; the columns of `out` after these hold standard errors and exact values of the shown
 * columns. */
Status query_run(Csv *out, size_t *shown, const Query *q, const Csv *t, const ResultKind *kind, Arena *a,
                 Error *err);

#endif
