/* report_page_table.h -- a result's rows as tables of a page. */
#ifndef ATOMO_REPORT_PAGE_TABLE_H
#define ATOMO_REPORT_PAGE_TABLE_H

#include "report/report_kinds.h"
#include "report/fields.h"

enum { ROWS_MOST = 1000 }; /* of one table: browsers handle so many well */

typedef struct {
    const char *id;   /* of the result on the page */
    const char *file; /* named as the place of rows that are left out */
    const Csv *rows;
    const RowRank *rank; /* (rows) */
    const char *usual;   /* columns shown at first; NULL: all */
    bool *used;          /* per field: a shown column has it; set by page_table */
} PageTable;

/* A table of the leading rows, and behind a fold one of the ROW_MORE rows, each up to ROWS_MOST; says how many are left out. */
void page_table(TextBuf *out, const PageTable *t, Arena *a);

/* The number of rows of that rank. */
size_t page_count(const PageTable *t, RowRank rank);

#endif
