/* report_writer.h -- the interface between report.c and the formats: a writer makes text, report.c writes it to the file. */
#ifndef ATOMO_REPORT_WRITER_H
#define ATOMO_REPORT_WRITER_H

#include "base/outfile.h"
#include "report/report.h"

typedef struct TableRow TableRow;

struct Report {
    ReportSpec spec;
    OutFile out; /* out.to is stdout where no path was given */
    Arena *a;
    size_t rows;            /* written so far */
    const char **title;     /* of tables: a heading for each column, NULL where it is not shown */
    TableRow *first, *last; /* of tables: the rows, kept until their columns' widths are known */
};

typedef struct {
    void (*begin)(const Report *r, TextBuf *out);
    void (*row)(const Report *r, const Value *row, TextBuf *out); /* NULL: rows are kept for `end` */
    void (*end)(const Report *r, TextBuf *out);
} ReportWriter;

extern const ReportWriter report_table, report_csv, report_json, report_md, report_latex;

/* Keeps a row's cells, formatted for people. False: out of memory. */
bool report_keep(Report *r, const Value *row);

#endif
