/* report_table.h -- rows kept as cells, for the formats that need all rows at once: table, Markdown, LaTeX. */
#ifndef ATOMO_REPORT_TABLE_H
#define ATOMO_REPORT_TABLE_H

#include "report/report_writer.h"

struct TableRow {
    const char **cell; /* (columns) text of each cell; NULL: the column is not shown */
    ValueType *type;   /* (columns) */
    double *number;    /* (columns) each value as a number; NaN: it is none */
    TableRow *next;
};

/* Returns a value formatted for people; "-" if it does not exist. NULL: out of memory. */
const char *report_cell(const char *column, const Value *v, Arena *a);

/* Returns the unit, an index into report_units, for a column of bytes from `least` to `most`. */
size_t report_unit(double least, double most);
/* Writes a number of bytes in a unit. */
void report_put_bytes(TextBuf *out, double v, size_t unit, int digits);
extern const char *const report_units[]; /* "B", "kB" .. */

/* True if the column is aligned to the left, because not all of its values are numbers. */
bool report_left(const Report *r, size_t column);
void report_begin_nothing(const Report *r, TextBuf *out);

#endif
