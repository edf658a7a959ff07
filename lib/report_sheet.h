/* report_sheet.h -- rows of a stored result as a report of its own: a table for people, or once more for programs. */
#ifndef ATOMO_REPORT_SHEET_H
#define ATOMO_REPORT_SHEET_H

#include "report_stored.h"

/* Writes `rows` as `spec` says, which comes without columns and meta: headings are report_terms.h's, meta is the
 * stored result's. */
Status sheet_write(const Csv *rows, const Stored *from, ReportSpec spec, Arena *a, Error *err);

#endif
