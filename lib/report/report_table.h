/* report_table.h -- rows kept as cells, for the formats that need all rows at once: table, Markdown, LaTeX. */
#ifndef ATOMO_REPORT_TABLE_H
#define ATOMO_REPORT_TABLE_H

#include "report/report_writer.h"

struct TableRow {
    const char **cell; /* one for each column; NULL in columns that are not shown */
    ValueType *type;   /* of each cell */
    double *number;    /* its number; NaN for any other value */
    TableRow *next;
};

/* A value formatted for people; "-" where it does not exist. NULL: out of memory. */
const char *report_cell(const char *column, const Value *v, Arena *a);

/* The one decimal unit, an index of report_units, for a column of counts of bytes from `least` to `most`; and a count in it. */
size_t report_unit(double least, double most);
void report_put_bytes(TextBuf *out, double v, size_t unit, int digits);
extern const char *const report_units[]; /* "B", "kB" .. */

bool report_left(const Report *r, size_t column); /* aligned to the left, as it holds more than numbers */
void report_begin_nothing(const Report *r, TextBuf *out);

#endif
