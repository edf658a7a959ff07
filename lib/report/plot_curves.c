/* plot_curves.c -- splits the rows of a result into curves, and chooses which to draw and to name
 * (plot_curves.h). */
#include "report/plot_curves.h"

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

/* Returns the step and worker of a row. */
static const char *cell_of(const Csv *data, size_t row, Arena *a)
{
    const char *step = csv_cell(data, row, "step"), *worker = csv_cell(data, row, "worker");
    return text_format(a, "%s%s%s%s%s", *step ? "step " : "", step, *step && *worker ? " " : "", *worker ? "worker " : "", worker);
}

static Status split(Curves *out, const Csv *data, const CurveKind *kind, Arena *a, Error *err)
{
    *out = (Curves){.curve = NEW(a, Curve, data->rows)};
    TRY(arena_check(out->curve, a, err));
    TRY(read_columns(out, data, kind, a, err));
    Curve *last = NULL;
    for (size_t row = 0; row < data->rows; row++) {
        const char *tensor = csv_cell(data, row, "tensor");
        if (isnan(last_column(out)[row])) {
            last = NULL;
        } else if (last && !strcmp(last->tensor, tensor) && kind->follows(out, row)) {
            last->rows++;
        } else {
            last = &out->curve[out->count++];
            *last = (Curve){.tensor = tensor, .cell = cell_of(data, row, a), .row = row, .rows = 1};
            TRY(arena_check(last->cell, a, err));
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
        one->least = are_many(c) && i == least;
        one->most = are_many(c) && i == most && i != least;
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

/* ---- lines ---- */

bool curves_band(PlotLine *line, double x, double *v, size_t values, Arena *a)
{
    stats_sort(v, values);
    return line_add(line, (PlotPoint){.x = x, .y = stats_quantile(v, values, 0.5), .low = stats_quantile(v, values, 0.25),
                                      .high = stats_quantile(v, values, 0.75)}, a);
}

/* The blue of curve i of n of one tensor, from light to dark. */
static const char *ramp(size_t i, size_t n, Arena *a)
{
    const double s = n < 2 ? 1 : (double)i / (double)(n - 1);
    return text_format(a, "#%02x%02x%02x", (int)(0x40 + s * (0x08 - 0x40)), (int)(0x78 + s * (0x20 - 0x78)), (int)(0xb0 + s * (0x50 - 0xb0)));
}

/* Gives the line of curve i its name and look: of one tensor, the step; of few, the tensor at its last step; of many, the extremes. */
static Status name_curve(PlotLine *l, const CurveKind *kind, const Curves *all, size_t i, Arena *a, Error *err)
{
    const Curve *c = &all->curve[i];
    const bool alone = all->tensors == 1;
    bool last = true;
    for (size_t k = i + 1; k < all->count && last && !are_many(all); k++)
        last = strcmp(all->curve[k].tensor, c->tensor) != 0;
    if (alone) {
        l->look = (Look){ramp(i, all->count, a), 0, 0};
        l->label = all->count == 1 ? c->tensor : all->count <= 6 || i == 0 || last ? (*c->cell ? c->cell : text_format(a, "no. %zu", i + 1)) : NULL;
    } else if (c->least || c->most) {
        l->look = c->least ? (Look){HUE_LEVELS, 0, 1} : (Look){HUE_SPARSE, 0, 3};
        l->label = text_format(a, "%s: %s", c->least ? kind->least : kind->most, c->tensor);
    } else if (are_many(all) || !last) {
        l->style = LINE_FAINT;
        return OK;
    }
    l->name = plot_name(l->label ? l->label : c->tensor, a);
    if (l->look.colour && l->label)
        l->label = l->name;
    return arena_check(l->name, a, err);
}

Status curves_make(PlotFigure *f, const CurveKind *kind, const Csv *data, Arena *a, Error *err)
{
    Curves all;
    TRY(find_curves(&all, data, kind, a, err));
    double *room = NEW(a, double, all.count);
    TRY(arena_check(room, a, err));
    for (size_t i = 0; i < all.count; i++) {
        Curve *c = &all.curve[i];
        if (kind->prepare)
            kind->prepare(&all, c);
        if (!c->drawn)
            continue;
        PlotLine *l = figure_guide(f, LINE_PLAIN, a);
        TRY(arena_check(l, a, err));
        l->look = (Look){0};
        TRY(name_curve(l, kind, &all, i, a, err));
        for (size_t row = c->row; row < c->row + c->rows; row++)
            TRY(arena_check(line_add(l, kind->point(&all, c, row, all.tensors == 1), a), a, err));
    }
    if (!are_many(&all))
        return OK;
    PlotLine *l = figure_guide(f, LINE_PLAIN, a);
    TRY(arena_check(l, a, err));
    *l = (PlotLine){.name = "median", .label = "median", .style = LINE_PLAIN, .band = true, .look = {HUE_ATOMS, 0, 0}};
    text_addf(&f->caption, "; grey: each of %zu tensors, band: their middle half", all.tensors);
    return arena_check(kind->band(l, &all, room, a), a, err);
}
