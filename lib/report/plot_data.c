/* plot_data.c -- reads the rows of stored results for a figure, joins them and selects them. */
#include "report/plot_figure.h"
#include "report/report_stored.h"

#include <string.h>

char *plot_name(const char *s, Arena *a)
{
    char *out = text_copy(a, s);
    if (out)
        text_make_printable(out);
    return out;
}

Status plot_load(Csv *out, const char *path, Arena *a, Error *err)
{
    Stored stored;
    TRY(stored_load(&stored, path, a, err));
    if (!stored.whole)
        return FAIL(err, ERR_CORRUPT, "%s: it has no list of \"results\"", path);
    if (stored.schema && !result_known(stored.schema))
        return FAIL(err, ERR_CORRUPT, "%s: its schema, %s, is none of those known here", path, stored.schema);
    *out = stored.table;
    static const char *const facts[] = {"repeats", "workers", "seed"};
    for (size_t i = 0; i < countof(facts); i++) {
        const Json *fact = json_member(stored.meta, facts[i]);
        if (!fact || fact->type != JSON_NUMBER || csv_has(out, facts[i]))
            continue;
        const char *text = text_format(a, "%.17g", fact->number);
        TRY(arena_check(text, a, err));
        TRY(csv_insert(out, out->columns, facts[i], text, a, err));
    }
    return OK;
}

static size_t join_names(const char **name, const Csv *all, const Csv *more)
{
    size_t count = all->columns;
    for (size_t i = 0; i < all->columns; i++)
        name[i] = all->name[i];
    for (size_t i = 0; i < more->columns; i++)
        if (!csv_has(all, more->name[i]))
            name[count++] = more->name[i];
    return count;
}

Status plot_append(Csv *all, const Csv *more, Arena *a, Error *err)
{
    Csv out = {.rows = all->rows + more->rows, .name = NEW(a, const char *, all->columns + more->columns)};
    TRY(arena_check(out.name, a, err));
    out.columns = join_names(out.name, all, more);
    out.cell = arena_take(a, out.rows, out.columns * sizeof *out.cell);
    TRY(arena_check(out.cell, a, err));
    const char **cell = out.cell;
    for (size_t row = 0; row < out.rows; row++)
        for (size_t k = 0; k < out.columns; k++)
            *cell++ = row < all->rows ? csv_cell(all, row, out.name[k])
                                      : csv_cell(more, row - all->rows, out.name[k]);
    *all = out;
    return OK;
}

static bool any_is_whole(const Csv *data, const char *column)
{
    for (size_t i = 0; i < data->rows; i++)
        if (!strcmp(csv_cell(data, i, column), "*"))
            return true;
    return false;
}

Status plot_selection(const Csv *data, size_t **row, size_t *count, Arena *a, Error *err)
{
    const bool whole = any_is_whole(data, "tensor"), steps = any_is_whole(data, "step");
    *count = 0;
    *row = NEW(a, size_t, data->rows);
    TRY(arena_check(*row, a, err));
    for (size_t i = 0; i < data->rows; i++)
        if ((!whole || !strcmp(csv_cell(data, i, "tensor"), "*")) &&
            (!steps || !strcmp(csv_cell(data, i, "step"), "*")))
            (*row)[(*count)++] = i;
    return OK;
}
