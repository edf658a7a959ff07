/* report_table.h -- kept rows, for the formats that need them all: table, Markdown, LaTeX. */
#ifndef ATOMO_REPORT_TABLE_H
#define ATOMO_REPORT_TABLE_H

#include "report/report_writer.h"

struct TableRow {
    const char **cell; /* one for each column; NULL in columns without a title */
    ValueType *type;   /* of each cell */
    double *number;    /* NaN where it is none */
    TableRow *next;
};

/* A value as people read it; "-" where it does not exist. NULL: out of memory. */
const char *report_cell(const Column *column, const Value *v, Arena *a);

/* Which decimal unit of bytes suits a whole column of counts from `least` to `most`, and a count in it. */
size_t report_unit(double least, double most);
void report_put_bytes(TextBuf *out, double v, size_t unit, int digits);
extern const char *const report_units[]; /* "B", "kB" .. */
bool report_counts_bytes(const Column *column);

bool report_left(const Report *r, size_t column); /* whether it is aligned to the left: not only numbers */
void report_begin_nothing(const Report *r, TextBuf *out);

#endif
