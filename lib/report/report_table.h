/* report_table.h -- collects all rows of a report, for formats that need them at once: table, Markdown,
 * LaTeX. */
#ifndef ATOMO_REPORT_TABLE_H
#define ATOMO_REPORT_TABLE_H

#include "report/report_writer.h"

struct TableRow {
    const char **cell; /* (columns) text of each cell; NULL: the column is not shown */
    ValueType *type;   /* (columns) */
    /* one entry per column: the number in the cell (the exact value if known, else the mean); NaN: not a
     * number */
    double *number;
    double *se; /* (columns) standard error of `number`; NaN: none is shown */
    TableRow *next;
};

/* Returns a value as text for people, "-" if it does not exist. NULL: out of memory. */
const char *report_cell(const char *column, const Value *v, Arena *a);

/* True if the column is left-aligned: some of its values are not numbers. */
bool report_left(const Report *r, size_t column);
void report_begin_nothing(const Report *r, TextBuf *out);

#endif
