/* report_query.h -- chooses rows and columns of a stored result. */
#ifndef ATOMO_REPORT_QUERY_H
#define ATOMO_REPORT_QUERY_H

#include "report/report_kinds.h"
#include "base/text.h"

typedef struct {
    /* names of columns, separated by commas; NAME/OTHER shows the value of OTHER where NAME is empty; NULL:
     * the usual columns for this kind of result */
    const char *columns;
    /* conditions FIELD=VALUE or FIELD!=VALUE that rows must meet; without conditions only rows of rank
     * ROW_LEAD are chosen, or all rows if none has this rank */
    TextList where;
    const char *sort; /* FIELD or FIELD:desc; NULL: the stored order */
    bool all;         /* true: rows of every rank */
    /* true: cells also show the field's standard error and exact value */
    bool people;
    bool remark; /* true: the last column of the result is shown behind the others */
} Query;

/* Writes the chosen rows and columns of t, and sets the columns of `spec`. If `kind` is NULL, takes all rows, and all
 * columns with a value. An unknown column is ERR_USAGE. */
Status query_write(const Query *q, const Csv *t, const ResultKind *kind, ReportSpec spec, Arena *a, Error *err);

#endif
