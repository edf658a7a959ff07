/* report_sheet.h -- writes rows of a stored result as a report. */
#ifndef ATOMO_REPORT_SHEET_H
#define ATOMO_REPORT_SHEET_H

#include "report/report_stored.h"

/* Writes `rows`, and sets the columns of `spec`. Tables show the first `shown` columns. Further columns are
 * standard errors and exact values, which tables print in the cells of their fields. */
Status sheet_write(const Csv *rows, size_t shown, ReportSpec spec, Arena *a, Error *err);

/* Sets the facts of `spec` to a stored result's meta (NULL: none). */
Status sheet_facts(ReportSpec *spec, const Json *meta, Arena *a, Error *err);

#endif
