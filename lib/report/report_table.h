/* report_table.h -- collects all rows of a report for the formats that need them at once: table, Markdown,
 * LaTeX. */
#ifndef ATOMO_REPORT_TABLE_H
#define ATOMO_REPORT_TABLE_H

#include "report/report_writer.h"

/* For one column, the indices of the columns with its standard errors, its exact values, and the standard
 * errors of the exact values. An index is the number of columns if there is no such column. */
typedef struct {
    size_t se, exact, exact_se;
} Beside;
Beside report_beside(const Column *columns, size_t count, size_t column);

/* A number as tables show it: "2.825 exact", "0.60 +- 0.03", or "~0.6" for a single draw, whose standard
 * error is unknown. */
typedef struct {
    const char *cell; /* NULL: out of memory */
    double
        number; /* the closed-form value if there is one, else the measured value; NaN: the cell is no number */
    double se;      /* NaN: none is shown */
    bool rough;     /* true: from a single draw, so its standard error is unknown */
    ValueType type; /* the type of the measured value */
} Shown;
Shown report_shown(const Column *columns, size_t count, const Value *row, size_t column, const Beside *beside,
                   Arena *a);

/* Appends a text with LaTeX's special characters escaped. */
void report_put_tex(TextBuf *out, const char *s);

struct TableRow {
    TableRow *next;
    Shown cell[]; /* (columns) all zeros: the column is not shown */
};

/* True if the column is left-aligned: it has a text or a boolean, or no value at all, or is the step or worker of
 * tensors. */
bool report_left(const Report *r, size_t column);

#endif
