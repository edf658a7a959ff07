/* report_writer.h -- what report.c and the formats share. A writer only makes text; report.c puts it out. */
#ifndef ATOMO_REPORT_WRITER_H
#define ATOMO_REPORT_WRITER_H

#include "base/outfile.h"
#include "report/report.h"

typedef struct TableRow TableRow;

struct Report {
    ReportSpec spec;
    OutFile out; /* out.to is stdout where no path was given */
    Arena *a;
    size_t rows;            /* put out so far */
    TableRow *first, *last; /* of tables: nothing can be aligned before the last row is known */
};

typedef struct {
    void (*begin)(const Report *r, TextBuf *out);
    void (*row)(const Report *r, const Value *row, TextBuf *out); /* NULL: rows are kept for `end` */
    void (*end)(const Report *r, TextBuf *out);
} ReportWriter;

extern const ReportWriter report_table, report_csv, report_json, report_md, report_latex;

/* How a format for programs writes what the others write in their own way; numbers read back, and true is true. */
typedef struct {
    const char *none;
    void (*text)(TextBuf *out, const char *s);
    void (*shape)(TextBuf *out, const Shape *shape);
} ValueForm;

void report_put_value(TextBuf *out, const ValueForm *form, const Value *v);

/* Keeps a row's cells as people read them. False: out of memory. */
bool report_keep(Report *r, const Value *row);

#endif
