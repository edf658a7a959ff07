/* bench_report.h -- report: what was asked for. */
#ifndef ATOMO_BENCH_REPORT_H
#define ATOMO_BENCH_REPORT_H

#include "app/cli.h"
#include "report/report_query.h"

typedef struct {
    Common common;
    Query query;
    const char *title, *baseline, *beside, *on;
    bool speedup;
    Arena *a;
    Error *err;
} ReportOptions;

Status report_table_write(ReportOptions *o, const char *path);

#endif
