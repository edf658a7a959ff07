/* report_page_table.h -- writes a result's rows as HTML tables. */
#ifndef ATOMO_REPORT_PAGE_TABLE_H
#define ATOMO_REPORT_PAGE_TABLE_H

#include "report/report_kinds.h"
#include "report/fields.h"

/* Most rows of one table, and most cells if it has over 100 rows: browsers become slow with more. */
enum { ROWS_MOST = 1000, CELLS_MOST = 30000 };

typedef struct {
    const char *id;   /* the result's id on the page */
    const char *file; /* name of the file with all rows, for the note on rows left out */
    const Csv *rows;
    const RowRank *rank; /* (rows) */
    const char *usual;   /* columns shown at first; NULL: all */
    bool *used;          /* for each field: true if a shown column has it; set by page_table */
} PageTable;

/* Writes a table of the rows shown at first (rank ROW_LEAD), and a folded table of the rows shown on request
 * (ROW_MORE). Each has at most ROWS_MOST rows, fewer in wide tables; a note says how many are left out. */
void page_table(TextBuf *out, const PageTable *t, Arena *a);

/* Returns the number of rows that have this rank. */
size_t page_count(const PageTable *t, RowRank rank);

#endif
