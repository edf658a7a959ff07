/* report_sort.h -- writes rows of cells as a report: chosen columns, in the order of --sort FIELD or FIELD:desc. */
#ifndef ATOMO_REPORT_SORT_H
#define ATOMO_REPORT_SORT_H

#include "report/report.h"

/* Fails with ERR_USAGE unless `sort` is FIELD or FIELD:desc. */
Status sort_check(const char *sort, Error *err);

/* true when `sort` is by this field; false if `sort` is NULL */
bool sort_is_by(const char *sort, const char *field);

/* A column that is written: the cell `at` of a row, or where that has no value the cell `instead`. */
typedef struct {
    Column column;
    size_t at, instead;
} Written;

typedef struct {
    const Column *columns; /* (stride) of the cells of a row */
    size_t stride;
    const Value *cell; /* (rows x stride) */
    size_t rows, group; /* each `group` consecutive rows are sorted among themselves */
    const bool *have, *shown; /* (rows) the rows to write, and those that tables show; NULL: all */
    const Written *written;
    size_t count; /* of written columns */
    const char *sort; /* by a field of `columns`; NULL: the order of the rows */
} RowSet;

/* Writes the rows, and sets the columns of `spec`. Numbers come first, then texts, then missing values, also with
 * :desc; rows of equal values keep their order. */
Status rows_write(const RowSet *s, ReportSpec spec, Arena *a, Error *err);

#endif
