/* report_sheet.h -- rows of a stored result as a report of its own: a table for people, or once more for programs. */
#ifndef ATOMO_REPORT_SHEET_H
#define ATOMO_REPORT_SHEET_H

#include "report/report_stored.h"

/* Writes `rows` as `spec` says, which comes without columns: headings are report_terms.h's. */
Status sheet_write(const Csv *rows, ReportSpec spec, Arena *a, Error *err);

/* A stored result's meta behind the spec's, each name behind `prefix`. */
Status sheet_facts(ReportSpec *spec, const char *prefix, const Json *meta, Arena *a, Error *err);

#endif
