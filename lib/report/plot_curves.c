/* plot_curves.c -- splits the rows of a result into curves, and chooses which to draw and to name
 * (plot_curves.h). */
#include "report/plot_curves.h"

#include "report/plot.h"
#include "report/plot_names.h"
#include "math/stats.h"

#include <math.h>
#include <string.h>

static Status read_columns(Curves *out, const Csv *data, const CurveKind *kind, Arena *a, Error *err)
{
    for (size_t k = 0; k < CURVE_COLUMNS && kind->column[k]; k++) {
        out->column[k] = NEW(a, double, data->rows);
        TRY(arena_check(out->column[k], a, err));
        for (size_t row = 0; row < data->rows; row++)
            out->column[k][row] = csv_real(data, row, kind->column[k]);
    }
    return OK;
}

static const double *last_column(const Curves *c)
{
    size_t k = 0;
    while (k + 1 < CURVE_COLUMNS && c->column[k + 1])
        k++;
    return c->column[k];
}

/* Returns the step and worker of a row; a FIGURE.plot.csv has them in its column `cell`. */
static const char *cell_of(const Csv *data, size_t row, Arena *a)
{
    const char *step = csv_cell(data, row, "step"), *worker = csv_cell(data, row, "worker");
    return *csv_cell(data, row, "cell")
               ? csv_cell(data, row, "cell")
               : text_format(a, "%s%s%s%s%s", *step ? "step " : "", step, *step && *worker ? " " : "",
                             *worker ? "worker " : "", worker);
}

static Status split(Curves *out, const Csv *data, const CurveKind *kind, Arena *a, Error *err)
{
    *out = (Curves){.curve = NEW(a, Curve, data->rows)};
    TRY(arena_check(out->curve, a, err));
    TRY(read_columns(out, data, kind, a, err));
    Curve *last = NULL;
    for (size_t row = 0; row < data->rows; row++) {
        const char *tensor = csv_cell(data, row, "tensor");
        if (isnan(last_column(out)[row]) || !strcmp(csv_cell(data, row, "role"), "band")) {
            last = NULL;
        } else if (last && !strcmp(last->tensor, tensor) && kind->follows(out, row)) {
            last->rows++;
        } else {
            last = &out->curve[out->count++];
            *last = (Curve){.tensor = tensor, .name = plot_name(tensor, a), .row = row, .rows = 1};
            const char *cell = cell_of(data, row, a);
            last->cell = cell ? plot_name(cell, a) : NULL;
            TRY(arena_check(last->name && last->cell, a, err));
        }
    }
    return out->count ? OK : FAIL(err, ERR_CORRUPT, "it has nothing to draw");
}

/* Keeps only the curves for which `keep` is true; keeps all curves if `keep` is true for none. */
static void keep_if(Curves *c, bool (*keep)(const Curve *curve))
{
    size_t kept = 0;
    for (size_t i = 0; i < c->count; i++)
        kept += keep(&c->curve[i]);
    if (kept == 0)
        return;
    for (size_t i = 0, to = 0; i < c->count; i++)
        if (keep(&c->curve[i]))
            c->curve[to++] = c->curve[i];
    c->count = kept;
}

static bool are_many(const Curves *c)
{
    return c->tensors > NAMED_MAX;
}

static Status choose(Curves *c, Arena *a, Error *err)
{
    size_t least = 0, most = 0;
    Names tensors;
    TRY(names_open(&tensors, c->count, a, err));
    for (size_t i = 0; i < c->count; i++) {
        names_number(&tensors, c->curve[i].tensor);
        least = c->curve[i].trait < c->curve[least].trait ? i : least;
        most = c->curve[i].trait > c->curve[most].trait ? i : most;
    }
    c->tensors = tensors.count;
    for (size_t i = 0; i < c->count; i++) {
        Curve *one = &c->curve[i];
        const bool end = are_many(c) && (i == least || i == most);
        one->role = !are_many(c) ? "named" : i == least ? "least" : i == most ? "most" : "other";
        one->drawn =
            end || c->count <= DRAWN_MAX || i * DRAWN_MAX / c->count != (i + 1) * DRAWN_MAX / c->count;
    }
    return OK;
}

static bool has_trait(const Curve *c)
{
    return !isnan(c->trait);
}

static Status find_curves(Curves *out, const Csv *data, const CurveKind *kind, Arena *a, Error *err)
{
    TRY(split(out, data, kind, a, err));
    for (size_t i = 0; i < out->count; i++)
        TRY(kind->check(out, &out->curve[i], err));
    keep_if(out, has_trait);
    if (!has_trait(&out->curve[0]))
        return FAIL(err, ERR_CORRUPT, "%s", kind->none);
    keep_if(out, kind->typical);
    return choose(out, a, err);
}

/* ---- rows ---- */

static Value *put_curve(Value *row, const Curves *all, const Curve *c)
{
    for (size_t i = c->row; i < c->row + c->rows; i++) {
        *row++ = value_text(c->role);
        for (size_t k = 0; k < CURVE_COLUMNS && all->column[k]; k++)
            *row++ = value_real(all->column[k][i]);
        *row++ = value_none();
        *row++ = value_none();
        *row++ = *c->cell ? value_text(c->cell) : value_none();
        *row++ = value_text(c->name);
    }
    return row;
}

Value *curves_put_band(Value *row, const double *x, size_t count, double *v, size_t values)
{
    static const double quartile[] = {0.5, 0.25, 0.75};
    stats_sort(v, values);
    *row++ = value_text("band");
    for (size_t k = 0; k < count; k++)
        *row++ = value_real(x[k]);
    for (size_t k = 0; k < countof(quartile); k++)
        *row++ = value_real(stats_quantile(v, values, quartile[k]));
    *row++ = value_none();
    *row++ = value_none();
    return row;
}

Status curves_pick(const CurveKind *kind, const Csv *data, Value **rows, size_t *count, Arena *a, Error *err)
{
    Curves all;
    size_t columns = 5;
    TRY(find_curves(&all, data, kind, a, err));
    for (size_t k = 0; k < CURVE_COLUMNS && all.column[k]; k++)
        columns++;
    double *room = NEW(a, double, all.count);
    Value *row = *rows =
        NEW(a, Value, (data->rows + (kind->band_rows ? kind->band_rows : data->rows)) * columns);
    TRY(arena_check(room && row, a, err));
    for (size_t i = 0; i < all.count; i++) {
        if (kind->prepare)
            kind->prepare(&all, &all.curve[i]);
        if (all.curve[i].drawn)
            row = put_curve(row, &all, &all.curve[i]);
    }
    if (are_many(&all))
        row = kind->band(row, &all, room);
    *count = (size_t)(row - *rows) / columns;
    return OK;
}
