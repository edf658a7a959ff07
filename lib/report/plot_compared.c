/* plot_compared.c -- the figures `errors` (errors of single elements against their size), `merge` (times for each compressor
 * and number of workers) and `heat` (tensors against compressors). */
#include "report/plot_figure.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- errors ---- */

static const char *const errors_columns[] = {"elem_error_deciles", "compressor", NULL};

/* More bands would hide each other. */
enum { BANDS_MOST = 4 };

/* Codecs without a scale, whose elements are not near those of the gradient, have a larger median error of large elements. */
enum { NO_SCALE = 10 };

/* Reads "LOW MEDIAN HIGH;LOW MEDIAN HIGH;..." as points; returns their number. */
static size_t read_deciles(const char *text, PlotPoint p[10])
{
    size_t count = 0;
    int length = 0;
    for (; count < 10 && sscanf(text, "%lf %lf %lf%n", &p[count].low, &p[count].y, &p[count].high, &length) == 3; count++) {
        p[count].x = (double)count + 1;
        text += length + (text[length] == ';');
    }
    return count;
}

static Status errors_make(PlotFigure *f, const Csv *data, Arena *a, Error *err)
{
    size_t *row, of;
    TRY(plot_selection(data, &row, &of, a, err));
    f->x = (PlotAxis){.title = "tenth of the elements, from small to large |g_{i}|", .tex = "tenth of the elements, from small to large $|g_i|$",
                      .at = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, .ats = 10};
    f->y = (PlotAxis){.title = "|ĝ_{i} − g_{i}| / |g_{i}|", .tex = "$|\\hat g_i - g_i| / |g_i|$", .log = true};
    text_add(&f->caption, "Median relative errors of elements against their size");
    for (size_t i = 0; i < of; i++) {
        PlotPoint p[10] = {{0}};
        const char *spec = csv_cell(data, row[i], "compressor");
        const size_t points = read_deciles(csv_cell(data, row[i], "elem_error_deciles"), p);
        if (!points)
            continue;
        if (p[points - 1].y > NO_SCALE || !(p[0].high > 0)) {
            text_addf(&f->caption, "; not shown: %s with %.2g", spec, p[points - 1].y);
            continue;
        }
        PlotLine *l = figure_line(f, spec, a);
        TRY(arena_check(l, a, err));
        for (size_t k = 0; k < points; k++)
            TRY(arena_check(line_add(l, p[k], a), a, err));
        l->band = true;
    }
    for (size_t k = 0; k < f->count && f->count > BANDS_MOST; k++)
        for (size_t i = 0; i < f->line[k].count; i++)
            f->line[k].point[i].low = f->line[k].point[i].high = NAN;
    f->apart = f->count <= BANDS_MOST;
    text_add(&f->caption, !f->apart ? "" : "; bands: from 10 % to 90 % of the elements");
    return f->count ? OK : FAIL(err, ERR_CORRUPT, "no row has an elem_error_deciles that can be drawn");
}

/* ---- merge ---- */

static const char *const merge_columns[] = {"workers", "compressor", NULL};
static const char *const merge_up[] = {"time", "error", "bytes", NULL};

/* What a row has on the y axis: as it is merged, and with every payload decoded. */
typedef struct {
    double merged, merged_se, each, each_se;
} MergeRow;

static MergeRow merge_row(const Csv *data, size_t row, const char *y)
{
    const double error = plot_real(data, row, "relative_error");
    if (!strcmp(y, "error")) /* of codecs without error, those of rounding */
        return (MergeRow){error > 1e-12 ? error : NAN, plot_real(data, row, "relative_error_se"), NAN, NAN};
    if (!strcmp(y, "bytes"))
        return (MergeRow){plot_real(data, row, "bytes_merged"), NAN, plot_real(data, row, "workers") * plot_real(data, row, "bytes_up"), NAN};
    return (MergeRow){plot_real(data, row, "merge_ms") + plot_real(data, row, "decode_ms"),
                      hypot(plot_real(data, row, "merge_ms_se"), plot_real(data, row, "decode_ms_se")),
                      plot_real(data, row, "decode_each_ms"), plot_real(data, row, "decode_each_ms_se")};
}

/* Adds a point to the line of a codec: its merged payloads, or behind that line, every payload decoded. */
static Status merge_add(PlotFigure *f, const char *spec, PlotPoint p, bool each, Arena *a, Error *err)
{
    PlotLine *l = NULL;
    bool same = false;
    for (size_t i = 0; i < f->count && !l; i++) {
        const bool mine = !strcmp(f->line[i].spec, spec);
        same |= mine;
        l = mine && f->line[i].open == each ? &f->line[i] : NULL;
    }
    if (!l) {
        l = figure_guide(f, each ? LINE_THIN : LINE_MARKED, a);
        TRY(arena_check(l && (l->name = text_printable(a, spec)), a, err));
        l->look = (Look){0};
        l->spec = spec;
        l->open = each;
        l->same = same;
    }
    return arena_check(line_add(l, p, a), a, err);
}

/* 1/P and 1/P^2, through the largest error of the fewest workers. */
static Status merge_guides(PlotFigure *f, Arena *a, Error *err)
{
    double least = INFINITY, most = 0, error = 0;
    for (size_t k = 0; k < f->count; k++)
        for (size_t i = 0; i < f->line[k].count; i++) {
            const PlotPoint *p = &f->line[k].point[i];
            error = p->x < least ? p->y : p->x == least ? fmax(error, p->y) : error;
            least = fmin(least, p->x);
            most = fmax(most, p->x);
        }
    for (int power = 1; power <= 2 && least < most; power++) {
        PlotLine *l = figure_guide(f, LINE_GUIDE, a);
        TRY(arena_check(l && line_add(l, point_at(least, error), a) && line_add(l, point_at(most, error * pow(least / most, power)), a), a, err));
    }
    text_add(&f->caption, "; dotted: 1/P and 1/P^2");
    return OK;
}

static Status merge_make(PlotFigure *f, const Csv *data, Arena *a, Error *err)
{
    static const char *const said[] = {"Time to aggregate", "Error of the mean", "Bytes that a server receives and sends on"};
    const char *y = f->o->y;
    size_t *row, of;
    double most = 0, unit = 1;
    TRY(plot_selection(data, &row, &of, a, err));
    f->x = (PlotAxis){.title = "workers", .log = true};
    f->y = (PlotAxis){.title = "E|mean − ḡ|^2 / |ḡ|^2",
                      .tex = *y == 'e' ? "$\\mathrm{E}\\,|\\mathrm{mean} - \\bar g|^2 / |\\bar g|^2$" : NULL, .log = true};
    for (size_t i = 0; i < of; i++) {
        const MergeRow r = merge_row(data, row[i], y);
        most = fmax(most, fmax(r.merged, r.each));
    }
    if (!strcmp(y, "time"))
        unit = time_unit(&f->y, most, "time", a);
    if (!strcmp(y, "bytes"))
        unit = byte_unit(most, &f->y.title);
    bool both = false;
    for (size_t i = 0; i < of; i++) {
        const MergeRow r = merge_row(data, row[i], y);
        const double workers = plot_real(data, row[i], "workers");
        const char *spec = csv_cell(data, row[i], "compressor"), *topology = csv_cell(data, row[i], "topology");
        if (!strcmp(topology, "twoshot") || !strcmp(topology, "ring")) /* sums that are quantised again are a line of their own */
            TRY(arena_check((spec = text_format(a, "%s %s", spec, topology)), a, err));
        if (r.merged > 0 && workers > 0)
            TRY(merge_add(f, spec, point_with(workers, r.merged / unit, r.merged_se / unit), false, a, err));
        if (r.each > 0 && workers > 0)
            TRY(merge_add(f, spec, point_with(workers, r.each / unit, r.each_se / unit), true, a, err));
        both |= r.each > 0;
    }
    if (!f->count)
        return FAIL(err, ERR_CORRUPT, "no row has both workers and %s", !strcmp(y, "time") ? "decode_each_ms" : !strcmp(y, "error") ? "relative_error" : "bytes");
    axis_numbers_at(&f->x, data, "workers");
    figure_sort(f);
    text_addf(&f->caption, "%s against the number of workers%s%s", said[*y == 't' ? 0 : *y == 'e' ? 1 : 2],
              both ? "; filled: payloads are merged, then decoded once; open, thin: every payload decoded" : "",
              figure_bars(f) ? "; bars: 95 % intervals" : "");
    return f->o->front && *y == 'e' ? merge_guides(f, a, err) : OK;
}

/* ---- heat ---- */

static const char *const heat_columns[] = {"tensor", "relative_error", "bits_per_element", "compressor", NULL};
static const char *const heat_up[] = {"error", "bits", NULL};

/* Returns the number of the tensor, a new one at its first call. */
static size_t heat_tensor(PlotFigure *f, const char *tensor, Arena *a)
{
    size_t k = 0;
    while (k < f->tensors && strcmp(f->tensor[k], tensor) != 0)
        k++;
    if (k == f->tensors)
        f->tensor[f->tensors++] = text_printable(a, tensor);
    return k;
}

static Status heat_make(PlotFigure *f, const Csv *data, Arena *a, Error *err)
{
    const bool bits = !strcmp(f->o->y, "bits");
    if (csv_has(data, "synthetic"))
        return FAIL(err, ERR_CORRUPT, "heat draws what atomo-bench compare writes, and this is a result of merge");
    f->shape = SHAPE_HEAT;
    f->x = (PlotAxis){.title = ""};
    f->y = (PlotAxis){.title = bits ? "bits per element" : "E|ĝ − g|^2 / |g|^2", .tex = bits ? NULL : "$\\mathrm{E}\\,|\\hat g - g|^2 / |g|^2$",
                      .log = true};
    f->tensor = NEW(a, const char *, data->rows + 1);
    TRY(arena_check(f->tensor, a, err));
    for (size_t i = 0; i < data->rows; i++) {
        const char *tensor = csv_cell(data, i, "tensor");
        const double v = plot_real(data, i, bits ? "bits_per_element" : "relative_error");
        if (!strcmp(tensor, "*") || !(v >= 0))
            continue;
        PlotLine *l = figure_line(f, csv_cell(data, i, "compressor"), a);
        const double k = (double)heat_tensor(f, tensor, a);
        TRY(arena_check(l && (size_t)k < f->tensors && f->tensor[(size_t)k], a, err));
        size_t at = 0; /* several steps of a tensor: their mean */
        while (at < l->count && l->point[at].x != k)
            at++;
        if (at == l->count)
            TRY(arena_check(line_add(l, (PlotPoint){.x = k, .low = 0}, a), a, err));
        l->point[at].low += 1;
        l->point[at].y += (v - l->point[at].y) / l->point[at].low;
    }
    text_addf(&f->caption, "%s of each tensor; the scale ends at the 5th and the 95th percentile",
              bits ? "Bits per element" : "Relative error");
    return f->count ? OK : FAIL(err, ERR_CORRUPT, "no row is of one tensor");
}

const PlotKind plot_compared[] = {
    {
        .name = "errors",
        .brief = "errors of elements against their size, from compare's CSV or JSON: the median of each tenth, "
                 "and of up to four codecs a band",
        .source = "atomo-bench compare writes with -o FILE.csv",
        .columns = errors_columns,
        .make = errors_make,
    },
    {
        .name = "merge",
        .brief = "how long aggregating takes, from merge's CSV or JSON: payloads merged and "
                 "decoded once, and every one decoded, against the number of workers; with --y error the error "
                 "of the mean (--front adds 1/P and 1/P^2), with --y bytes the size",
        .source = "atomo-bench merge writes with -o FILE.csv",
        .columns = merge_columns,
        .up = merge_up,
        .make = merge_make,
    },
    {
        .name = "heat",
        .brief = "tensors against codecs, from compare's CSV or JSON: the relative error as a colour, or with --y bits the size",
        .source = "atomo-bench compare writes with -o FILE.csv",
        .columns = heat_columns,
        .up = heat_up,
        .make = heat_make,
    },
};
