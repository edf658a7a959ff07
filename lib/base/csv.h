/* csv.h -- reads CSV (RFC 4180): a header row, then rows of text cells, which are looked up by column name. */
#ifndef ATOMO_CSV_H
#define ATOMO_CSV_H

#include "base/arena.h"

typedef struct {
    const char **name; /* (columns) */
    size_t columns, rows;
    const char **cell; /* (rows, columns); a missing cell is "" */
} Csv;

enum { COLUMNS_MOST = 256 }; /* far more than any result has */

/* Parses a CSV text. Rows may be shorter than the header, but not longer, and the last row must have a line end.
 * `name` is used in error messages. */
Status csv_parse(Csv *out, const char *name, const char *text, size_t length, Arena *a, Error *err);

/* Returns the cell's text; "" when there is no such column. */
const char *csv_cell(const Csv *csv, size_t row, const char *column);
size_t csv_find(const Csv *csv, const char *column); /* the column's index; csv->columns: not found */
bool csv_has(const Csv *csv, const char *column);
double csv_real(const Csv *csv, size_t row, const char *column); /* NaN: the cell is not a number */

#endif
