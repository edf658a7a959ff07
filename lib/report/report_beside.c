/* report_beside.c -- see report_beside.h. Rows that may agree are found by their fields as one text; patterns are tried. */
#include "report/report_beside.h"

#include "report/report_stored.h"
#include "base/text_map.h"

#include <string.h>

enum { ROWS_AT_MOST = 1000000, NONE = 0 };

typedef struct {
    const Csv *own, *other;
    const bool *leads;                 /* of other's rows, NULL: all alike */
    size_t *own_key, *other_key, keys; /* columns */
    TextMap map;                       /* of other's rows without a pattern */
    size_t *first, *next;              /* per text, per row: another row's number and 1, or NONE */
    size_t *pattern, patterns;         /* rows */
    Arena *a;
    Error *err;
} Join;

static const char *cell_at(const Csv *t, size_t row, size_t column)
{
    return t->cell[row * t->columns + column];
}

/* ---- fields ---- */

static Status find_key(const Join *j, const Csv *t, const char *whose, const char *name, size_t *column)
{
    *column = csv_find(t, name);
    return *column < t->columns ? OK
                                : FAIL(j->err, ERR_USAGE, "--on: the %s has no column \"%s\"", whose, name);
}

static Status find_keys(Join *j, const char *on)
{
    const size_t most = strlen(on) / 2 + 1;
    j->own_key = NEW(j->a, size_t, most);
    j->other_key = NEW(j->a, size_t, most);
    if (!j->own_key || !j->other_key)
        return arena_fail(j->a, j->err);
    for (const char *at = on, *next; at; at = next) {
        const size_t length = strcspn(at, ",");
        const char *name = text_slice(j->a, at, length);
        next = at[length] ? at + length + 1 : NULL;
        if (!name)
            return arena_fail(j->a, j->err);
        if (!length)
            return FAIL(j->err, ERR_USAGE, "--on: a column's name is empty; want those that both have");
        TRY(find_key(j, j->own, "result", name, &j->own_key[j->keys]));
        TRY(find_key(j, j->other, "one beside it", name, &j->other_key[j->keys]));
        j->keys++;
    }
    return OK;
}

/* ---- rows that agree ---- */

static bool is_pattern(const char *cell)
{
    return strchr(cell, '*') && strcmp(cell, "*") != 0;
}

static bool agree(const Join *j, size_t row, size_t other)
{
    for (size_t k = 0; k < j->keys; k++) {
        const char *mine = cell_at(j->own, row, j->own_key[k]),
                   *theirs = cell_at(j->other, other, j->other_key[k]);
        if (!stored_same(mine, theirs) && !(is_pattern(theirs) && text_glob(theirs, mine)))
            return false;
    }
    return true;
}

/* The fields of a row as one text, the same for numbers of one value. NULL: out of memory. */
static const char *key_of(const Join *j, const Csv *t, size_t row, const size_t *key)
{
    TextBuf out = {.arena = j->a};
    char number[32];
    double v;
    for (size_t k = 0; k < j->keys; k++) {
        const char *cell = cell_at(t, row, key[k]);
        text_add(&out, k ? "\n" : "");
        text_add(&out, text_to_real(cell, &v) ? text_double(number, v + 0.0) : cell); /* -0 is 0 */
    }
    return text_done(&out);
}

static bool has_pattern(const Join *j, size_t other)
{
    for (size_t k = 0; k < j->keys; k++)
        if (is_pattern(cell_at(j->other, other, j->other_key[k])))
            return true;
    return false;
}

/* Backwards, so that rows of one text follow each other as they stand. */
static Status index_other(Join *j)
{
    const size_t rows = j->other->rows;
    TRY(text_map_open(&j->map, rows, j->a, j->err));
    j->first = NEW_ZERO(j->a, size_t, rows);
    j->next = NEW_ZERO(j->a, size_t, rows);
    j->pattern = NEW(j->a, size_t, rows);
    if (!j->first || !j->next || !j->pattern)
        return arena_fail(j->a, j->err);
    for (size_t row = rows; row-- > 0;) {
        if (has_pattern(j, row))
            continue;
        const char *text = key_of(j, j->other, row, j->other_key);
        if (!text)
            return arena_fail(j->a, j->err);
        size_t *first = &j->first[text_map_number(&j->map, text)];
        j->next[row] = *first;
        *first = row + 1;
    }
    for (size_t row = 0; row < rows; row++)
        if (has_pattern(j, row))
            j->pattern[j->patterns++] = row;
    return OK;
}

/* Where some of the rows found lead, those alone. */
static size_t leading(const Join *j, size_t *found, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; j->leads && i < count; i++)
        if (j->leads[found[i]])
            found[kept++] = found[i];
    return kept ? kept : count;
}

/* The rows that agree, in `found` (other->rows). */
static Status find_rows(const Join *j, size_t row, size_t *found, size_t *count)
{
    const ArenaMark mark = arena_mark(j->a);
    const char *text = key_of(j, j->own, row, j->own_key);
    if (!text)
        return arena_fail(j->a, j->err);
    const size_t number = text_map_find(&j->map, text);
    arena_rewind(j->a, mark);
    *count = 0;
    if (number < j->map.count)
        for (size_t at = j->first[number]; at != NONE; at = j->next[at - 1])
            if (agree(j, row, at - 1))
                found[(*count)++] = at - 1;
    for (size_t i = 0; i < j->patterns; i++)
        if (agree(j, row, j->pattern[i]))
            found[(*count)++] = j->pattern[i];
    *count = leading(j, found, *count);
    return OK;
}

/* ---- the table ---- */

static bool is_key(const Join *j, size_t column)
{
    for (size_t k = 0; k < j->keys; k++)
        if (j->other_key[k] == column)
            return true;
    return false;
}

/* Own's, then other's that are no keys. */
static Status name_columns(Csv *out, const Join *j)
{
    out->name = NEW(j->a, const char *, j->own->columns + j->other->columns);
    if (!out->name)
        return arena_fail(j->a, j->err);
    memcpy(out->name, j->own->name, j->own->columns * sizeof *out->name);
    out->columns = j->own->columns;
    for (size_t i = 0; i < j->other->columns; i++) {
        const char *name = j->other->name[i];
        if (is_key(j, i))
            continue;
        while (name && csv_has(out, name))
            name = text_format(j->a, "other %s", name);
        if (!name)
            return arena_fail(j->a, j->err);
        out->name[out->columns++] = name;
    }
    return OK;
}

/* `other` NULL: none agrees. */
static void put_row(Csv *out, const Join *j, size_t row, const size_t *other)
{
    const char **cell = out->cell + out->rows++ * out->columns;
    memcpy(cell, j->own->cell + row * j->own->columns, j->own->columns * sizeof *cell);
    cell += j->own->columns;
    for (size_t i = 0; i < j->other->columns; i++)
        if (!is_key(j, i))
            *cell++ = other ? cell_at(j->other, *other, i) : "";
}

/* How many rows there will be; none agrees: ERR_USAGE. */
static Status count_rows(const Join *j, size_t *found, size_t *rows)
{
    size_t count, agreed = 0;
    *rows = 0;
    for (size_t row = 0; row < j->own->rows; row++) {
        TRY(find_rows(j, row, found, &count));
        agreed += count;
        *rows += count ? count : 1;
        if (*rows > ROWS_AT_MOST) {
            FAIL(j->err, ERR_USAGE, "--on: more than %d rows agree", ROWS_AT_MOST);
            return error_hint(j->err, "name more fields that tell rows apart, as in --on tensor,compressor");
        }
    }
    return agreed ? OK : FAIL(j->err, ERR_USAGE, "--on: no row of the one beside it agrees with any");
}

Status beside_rows(Csv *out, const Csv *own, const Csv *other, const bool *leads, const char *on, Arena *a,
                   Error *err)
{
    Join j = {.own = own, .other = other, .leads = leads, .a = a, .err = err};
    size_t rows, count, *found = NEW(a, size_t, other->rows);
    *out = (Csv){0};
    if (!found)
        return arena_fail(a, err);
    TRY(find_keys(&j, on));
    TRY(index_other(&j));
    TRY(count_rows(&j, found, &rows));
    TRY(name_columns(out, &j));
    out->cell = arena_take(a, rows, out->columns * sizeof *out->cell);
    if (!out->cell)
        return arena_fail(a, err);
    for (size_t row = 0; row < own->rows; row++) {
        TRY(find_rows(&j, row, found, &count));
        if (!count)
            put_row(out, &j, row, NULL);
        for (size_t i = 0; i < count; i++)
            put_row(out, &j, row, &found[i]);
    }
    return OK;
}
