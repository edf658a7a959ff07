/* report_writer.h -- the interface between report.c and the formats: a format turns rows into text; report.c
 * writes the text. */
#ifndef ATOMO_REPORT_WRITER_H
#define ATOMO_REPORT_WRITER_H

#include "base/outfile.h"
#include "report/report.h"

typedef struct TableRow TableRow;

struct Report {
    ReportSpec spec;
    OutFile out;   /* if spec.path is NULL, out.to is spec.to, or stdout */
    bool terminal; /* the output is a terminal */
    Arena *a;
    size_t rows;            /* number of rows written so far */
    const char **title;     /* for tables: heading of each column; NULL: not shown */
    TableRow *first, *last; /* for tables: the rows, kept for `ReportWriter.end` */
};

typedef struct {
    void (*begin)(const Report *r, TextBuf *out); /* may be NULL */
    /* writes a row; NULL: rows are kept for `end` */
    void (*row)(const Report *r, const Value *row, TextBuf *out);
    void (*end)(const Report *r, TextBuf *out); /* may be NULL */
} ReportWriter;

extern const ReportWriter report_table, report_csv, report_json, report_md, report_latex;

/* Appends a row's cells, formatted for people, to the list r->first .. r->last. False: out of memory. */
bool report_keep(Report *r, const Value *row);

#endif
