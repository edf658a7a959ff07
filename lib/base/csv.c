/* csv.c -- the CSV reader. */
#include "base/csv.h"
#include "base/text.h"

#include <math.h>
#include <string.h>

/* The state of the reader. Fields are copied without their quotes, each with a NUL at its end, one after
 * another into one buffer. The copies are at most one byte longer than the CSV text, because each NUL takes
 * the place of a separator, except perhaps the last. */
typedef struct {
    const char *at, *end;
    char *to;
    Arena *a;
    bool quote_open; /* the latest field has no closing quote */
    bool row_end;    /* the latest field is the last of its row */
} Scanner;

static const char *next_field(Scanner *s)
{
    const char *field = s->to;
    bool quoted = s->at < s->end && *s->at == '"';
    s->at += quoted;
    for (; s->at < s->end; s->at++) {
        if (quoted && *s->at == '"') {
            if (s->at + 1 < s->end && s->at[1] == '"')
                s->at++; /* a doubled quote means one quote character */
            else {
                quoted = false;
                continue;
            }
        } else if (!quoted && (*s->at == ',' || *s->at == '\n' || *s->at == '\r')) {
            break;
        }
        *s->to++ = *s->at;
    }
    *s->to++ = 0;
    if (*field == *CSV_GUARD && csv_guarded(field[1]))
        field++;
    s->quote_open = quoted;
    s->row_end = s->at == s->end || *s->at != ',';
    if (s->at < s->end && *s->at == '\r')
        s->at++;
    if (s->at < s->end && (*s->at == '\n' || *s->at == ','))
        s->at++;
    return field;
}

/* Skips the UTF-8 byte order mark that spreadsheets put before the first column's name. */
static void skip_mark(Scanner *s)
{
    static const char mark[] = "\xef\xbb\xbf";
    const size_t length = sizeof mark - 1;
    if ((size_t)(s->end - s->at) >= length && !memcmp(s->at, mark, length))
        s->at += length;
}

static Status read_header(Scanner *s, Csv *out, const char *name, Error *err)
{
    out->name = NEW(s->a, const char *, COLUMNS_MOST);
    TRY(arena_check(out->name, s->a, err));
    do {
        if (out->columns == COLUMNS_MOST)
            return FAIL(err, ERR_CORRUPT, "%s: more than %d columns", name, COLUMNS_MOST);
        out->name[out->columns++] = next_field(s);
    } while (!s->row_end);
    return OK;
}

static Status read_row(Scanner *s, const Csv *out, const char **cell, const char *name, Error *err)
{
    for (size_t i = 0; i < out->columns; i++)
        cell[i] = "";
    size_t i = 0;
    do {
        const char *field = next_field(s);
        if (i == out->columns)
            return FAIL(err, ERR_CORRUPT, "%s: row %zu has more than the header's %zu fields", name,
                        out->rows + 1, out->columns);
        cell[i++] = field;
    } while (!s->row_end);
    return OK;
}

/* Returns the number of lines, including the empty line behind a final newline. */
static size_t count_lines(const char *text, size_t length)
{
    size_t lines = 1;
    for (size_t i = 0; i < length; i++)
        lines += text[i] == '\n' || (text[i] == '\r' && (i + 1 == length || text[i + 1] != '\n'));
    return lines;
}

/* Fails when the last line has no line end. Without this check a file that was cut off inside its last
 * number would look complete. */
static Status check_end(const char *name, const char *text, size_t length, Error *err)
{
    if (!length || text[length - 1] == '\n' || text[length - 1] == '\r')
        return OK;
    FAIL(err, ERR_CORRUPT, "%s: line %zu, the last one, has no line end: the file may be cut off", name,
         count_lines(text, length));
    return error_hint(err, "make it again; if it is whole, end its last line");
}

Status csv_parse(Csv *out, const char *name, const char *text, size_t length, Arena *a, Error *err)
{
    *out = (Csv){0};
    if (!length)
        return FAIL(err, ERR_CORRUPT, "%s: is empty: want CSV text that begins with the names of columns",
                    name);
    if (memchr(text, 0, length))
        return FAIL(err, ERR_CORRUPT, "%s: holds a NUL byte: want CSV text", name);
    Scanner s = {.at = text, .end = text + length, .to = NEW(a, char, length + 2), .a = a};
    TRY(arena_check(s.to, a, err));
    skip_mark(&s);
    TRY(read_header(&s, out, name, err));
    const size_t most = count_lines(s.at, (size_t)(s.end - s.at));
    out->cell = arena_take(a, most, out->columns * sizeof *out->cell);
    TRY(arena_check(out->cell, a, err));
    while (s.at < s.end) {
        if (*s.at == '\n' || *s.at == '\r') { /* skips an empty line, which is not a row */
            s.at++;
            continue;
        }
        TRY(read_row(&s, out, out->cell + out->rows * out->columns, name, err));
        out->rows++;
    }
    if (s.quote_open)
        return FAIL(err, ERR_CORRUPT, "%s: ends inside a quoted field", name);
    return check_end(name, text, length, err);
}

size_t csv_find(const Csv *csv, const char *column)
{
    size_t i = 0;
    while (i < csv->columns && strcmp(csv->name[i], column) != 0)
        i++;
    return i;
}

bool csv_has(const Csv *csv, const char *column)
{
    return csv_find(csv, column) < csv->columns;
}

const char *csv_cell(const Csv *csv, size_t row, const char *column)
{
    const size_t i = csv_find(csv, column);
    return i < csv->columns ? csv->cell[row * csv->columns + i] : "";
}

double csv_real(const Csv *csv, size_t row, const char *column)
{
    double v;
    return text_to_real(csv_cell(csv, row, column), &v) ? v : NAN;
}

Status csv_insert(Csv *csv, size_t at, const char *name, const char *cell, Arena *a, Error *err)
{
    const size_t columns = csv->columns + 1;
    Csv wider = {.columns = columns, .rows = csv->rows};
    wider.name = NEW(a, const char *, columns);
    wider.cell = arena_take(a, csv->rows, columns * sizeof *wider.cell);
    TRY(arena_check(wider.name && wider.cell, a, err));
    for (size_t i = 0; i < columns; i++) {
        const size_t from = i - (i > at);
        wider.name[i] = i == at ? name : csv->name[from];
        for (size_t row = 0; row < csv->rows; row++)
            wider.cell[row * columns + i] = i == at ? cell : csv->cell[row * csv->columns + from];
    }
    *csv = wider;
    return OK;
}
