/* report_query.h -- of a stored result's rows and columns those that somebody asks for. */
#ifndef ATOMO_REPORT_QUERY_H
#define ATOMO_REPORT_QUERY_H

#include "report/report_kinds.h"
#include "base/text.h"

typedef struct {
    /* Names with commas between them, or NAME/INSTEAD: that one's value where the first has none. NULL: those that its
     * kind shows at first. */
    const char *columns;
    TextList where;   /* FIELD=VALUE or FIELD!=VALUE, all of which hold; with none, the leading rows */
    const char *sort; /* FIELD or FIELD:desc; what does not exist comes last; NULL: as they stand */
    /* FIELD: a row to each value of the first column, the others once for each of FIELD. */
    const char *across;
    bool all; /* every row, not only the leading ones */
} Query;

/* `kind` NULL: all rows lead, and all columns that hold something are shown. ERR_USAGE names the column that is not
 * there, and the nearest. */
Status query_run(Csv *out, const Query *q, const Csv *t, const ResultKind *kind, Arena *a, Error *err);

#endif
