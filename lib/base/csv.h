/* csv.h -- reads CSV (RFC 4180): a header row, then rows of text cells, which are looked up by column name. */
#ifndef ATOMO_CSV_H
#define ATOMO_CSV_H

#include "base/arena.h"

/* A spreadsheet may take a text for a formula if it begins with = + - @, a tab or a line end. Our
 * writer puts an apostrophe in front of such a text, and of a text that begins with an apostrophe itself.
 * csv_parse removes the added apostrophe. `first` is the first character of the text. */
#define CSV_GUARD "'"
static inline bool csv_guarded(char first)
{
    return first == '=' || first == '+' || first == '-' || first == '@' || first == '\t' || first == '\r' ||
           first == '\n' || first == '\'';
}

typedef struct {
    const char **name; /* (columns) */
    size_t columns, rows;
    const char **cell; /* (rows, columns) texts of the cells; a missing cell is "" */
} Csv;

enum { COLUMNS_MOST = 256 }; /* the most columns in a file: far more than any file of results has */

/* Parses a CSV text. Rows may be shorter than the header, but not longer, and the last row must have a line
 * end. `name` is used in error messages. */
Status csv_parse(Csv *out, const char *name, const char *text, size_t length, Arena *a, Error *err);

static inline const char *csv_at(const Csv *csv, size_t row, size_t column)
{
    return csv->cell[row * csv->columns + column];
}
/* Returns a cell's text; "" when there is no column of this name. */
const char *csv_cell(const Csv *csv, size_t row, const char *column);
/* returns the index of a column; csv->columns: no such column */
size_t csv_find(const Csv *csv, const char *column);
bool csv_has(const Csv *csv, const char *column);
/* returns a cell's number; NaN: the cell is not a number */
double csv_real(const Csv *csv, size_t row, const char *column);

/* Inserts a column before column `at`, with the text `cell` in every row. */
Status csv_insert(Csv *csv, size_t at, const char *name, const char *cell, Arena *a, Error *err);

#endif
