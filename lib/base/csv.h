/* csv.h -- RFC 4180 read back: a header row, then rows of text cells by column name. */
#ifndef ATOMO_CSV_H
#define ATOMO_CSV_H

#include "base/arena.h"

typedef struct {
    const char **name; /* columns of them */
    size_t columns, rows;
    const char **cell; /* rows x columns; what is missing is "" */
} Csv;

enum { COLUMNS_MOST = 256 }; /* far more than any result of ours has */

/* Rows may be shorter than the header, not longer, and the last one has a line end. `name` stands in messages. */
Status csv_parse(Csv *out, const char *name, const char *text, size_t length, Arena *a, Error *err);

/* The cell's text, "" when the column is not there. */
const char *csv_cell(const Csv *csv, size_t row, const char *column);
size_t csv_find(const Csv *csv, const char *column); /* its number; columns: it is not there */
bool csv_has(const Csv *csv, const char *column);
double csv_real(const Csv *csv, size_t row, const char *column); /* NaN: no number */

#endif
