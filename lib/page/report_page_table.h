/* report_page_table.h -- a result's rows as tables of a page. */
#ifndef ATOMO_REPORT_PAGE_TABLE_H
#define ATOMO_REPORT_PAGE_TABLE_H

#include "report/report_kinds.h"
#include "report/report_terms.h"

enum { ROWS_MOST = 1000 }; /* of one table; there a browser is still at ease */

typedef struct {
    const char *id;   /* of the result on the page */
    const char *file; /* for where its other rows are */
    const Csv *rows;
    const RowRank *rank; /* (rows) */
    const char *usual;   /* columns shown at first; NULL: all */
    bool *used;          /* per term: whether a column needed it */
} PageTable;

/* The leading rows, and behind a fold the others, as many as are at ease. Counts what is left out. */
void page_table(TextBuf *out, const PageTable *t, Arena *a);

size_t page_count(const PageTable *t, RowRank rank);

#endif
