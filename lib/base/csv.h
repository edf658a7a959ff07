/* csv.h -- reads CSV (RFC 4180): a header row, then rows of text cells, found by column name. */
#ifndef ATOMO_CSV_H
#define ATOMO_CSV_H

#include "base/arena.h"

typedef struct {
    const char **name; /* (columns) */
    size_t columns, rows;
    const char **cell; /* (rows, columns); a missing cell is "" */
} Csv;

enum { COLUMNS_MOST = 256 }; /* far more than any of our results has */

/* Rows may be shorter than the header, not longer, and the last row has a line end. `name` is used in messages. */
Status csv_parse(Csv *out, const char *name, const char *text, size_t length, Arena *a, Error *err);

/* The cell's text, "" when the column is not there. */
const char *csv_cell(const Csv *csv, size_t row, const char *column);
size_t csv_find(const Csv *csv, const char *column); /* the column's index; csv->columns: not found */
bool csv_has(const Csv *csv, const char *column);
double csv_real(const Csv *csv, size_t row, const char *column); /* NaN where the cell is no number */

#endif
