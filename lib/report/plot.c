/* plot.c -- the list of all kinds of figures, and drawing a figure from files of data: its page, by the options of `plot`, and
 * what stands beside the picture. */
#include "report/plot_layout.h"
#include "report/report_page.h"

#include "base/outfile.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const PlotKind *const plot_kinds[] = {
    &plot_pareto,      &plot_compared[0], &plot_curves[0], &plot_curves[1],   &plot_compared[1], &plot_training[0],
    &plot_costs[0],    &plot_costs[1],    &plot_costs[2],  &plot_compared[2], &plot_training[1], NULL};

const char *plot_kind_name(const void *data, size_t i)
{
    (void)data;
    return plot_kinds[i] ? plot_kinds[i]->name : NULL;
}

static Status find_kind(const PlotKind **out, const char *name, Error *err)
{
    for (const PlotKind *const *kind = plot_kinds; (*out = *kind); kind++)
        if (!strcmp((*kind)->name, name))
            return OK;
    text_unknown(err, name, plot_kind_name, NULL, "no figure is called \"%s\"", name);
    return error_hint(err, "atomo-bench plot --help lists the kinds");
}

static Status check_data(const PlotKind *kind, const Csv *data, Error *err)
{
    for (const char *const *c = kind->columns; *c; c++)
        if (data->columns && !csv_has(data, *c)) {
            FAIL(err, ERR_CORRUPT, "it has no column \"%s\"", *c);
            return error_hint(err, "%s draws what %s", kind->name, kind->source);
        }
    return data->rows ? OK : FAIL(err, ERR_CORRUPT, "the result has no rows");
}

/* Appends `one` and the number, or `several` and the range "least to most", of a column; nothing without numbers. */
static void put_range(TextBuf *out, const Csv *data, const char *column, const char *one, const char *several)
{
    double least = INFINITY, most = -INFINITY;
    for (size_t row = 0; row < data->rows; row++) {
        const double v = plot_real(data, row, column);
        least = v < least ? v : least;
        most = v > most ? v : most;
    }
    if (least > most)
        return;
    text_addf(out, "%s%s%.0f", out->size ? ", " : "", least == most ? one : several, least);
    if (least < most)
        text_addf(out, " to %.0f", most);
}

/* Returns a text such as "R = 10, seed 1" or "seeds 1 to 3"; "" without such columns; NULL: out of memory. */
static const char *draws_text(const Csv *data, Arena *a)
{
    TextBuf out = {.arena = a};
    put_range(&out, data, "repeats", "R = ", "R = ");
    if (csv_has(data, "record")) /* training */
        put_range(&out, data, "workers", "workers: ", "workers: ");
    put_range(&out, data, "seed", "seed ", "seeds ");
    if (csv_has(data, "unfinished"))
        text_addf(&out, "%sof a run that has not ended", out.size ? ", " : "");
    return text_done(&out);
}

/* A figure draws at most this many lines. */
enum { LINES_MOST = 400 };

static Status make(PlotFigure *f, const PlotKind *kind, const Csv *data, Arena *a, Error *err)
{
    TRY(check_data(kind, data, err));
    TRY(kind->make(f, data, a, err));
    if (f->count > LINES_MOST) {
        FAIL(err, ERR_CORRUPT, "it has over %d lines: a figure has at most that many", LINES_MOST);
        return error_hint(err, "atomo-bench report RESULT --where selects records");
    }
    const char *draws = draws_text(data, a);
    TRY(arena_check(draws, a, err));
    text_addf(&f->caption, "%s%s.", *draws ? "; " : "", draws);
    char *caption = text_done(&f->caption);
    TRY(arena_check(caption, a, err));
    text_make_printable(caption); /* it may have names from the data */
    return plot_dress(f, kind, a, err);
}

/* ---- the page ---- */

static Status read_inches(const char *option, const char *text, double least, double most, double *out, Error *err)
{
    char number[32];
    const size_t length = strlen(text), unit = length > 2 && !strcmp(text + length - 2, "in") ? 2 : 0;
    snprintf(number, sizeof number, "%.*s", (int)(length - unit), text);
    if (text_to_real(number, out) && *out >= least && *out <= most)
        return OK;
    FAIL(err, ERR_USAGE, "%s %s: want inches, from %gin to %gin", option, text, least, most);
    return error_hint(err, "a column of a paper is 3.25in wide, a page 6.75in");
}

/* Applies "A:B", each of which may be missing. */
static Status read_limits(const char *option, const char *text, PlotAxis *axis, Arena *a, Error *err)
{
    const char *colon = strchr(text, ':'), *low = colon ? text_slice(a, text, (size_t)(colon - text)) : NULL;
    if (!colon || !low || (*low && !text_to_real(low, &axis->least)) || (colon[1] && !text_to_real(colon + 1, &axis->most)) ||
        (axis->log && (axis->least <= 0 || axis->most <= 0)) || axis->least >= axis->most)
        return FAIL(err, ERR_USAGE, "%s %s: want A:B, numbers with A below B%s", option, text, axis->log ? ", both above 0" : "");
    return OK;
}

static Status read_axes(PlotFigure *f, Arena *a, Error *err)
{
    const PlotOptions *o = f->o;
    f->x.log = !o->linear && (f->x.log || o->logx);
    f->y.log = !o->linear && (f->y.log || o->logy);
    f->x.least = f->x.most = f->y.least = f->y.most = NAN;
    if (o->xlim)
        TRY(read_limits("--xlim", o->xlim, &f->x, a, err));
    return o->ylim ? read_limits("--ylim", o->ylim, &f->y, a, err) : OK;
}

static Status draw_shape(Layout *l)
{
    const char *line[LABEL_LINES];
    Page *p = &l->page;
    const size_t lines = l->f->o->title ? label_lines(l->f->o->title, p->wide - 0.1, p->points, line, l->a) : 0;
    const double high = lines ? 1.2 * (double)lines * l->em + 0.05 : 0;
    p->tall -= high; /* the title is above everything: the shape is laid out below it */
    TRY((l->f->shape == SHAPE_LINES ? layout_lines : layout_rows)(l));
    for (size_t i = 0; i < lines; i++)
        page_text(p, 0.5 * p->wide, p->tall + (1.2 * (double)(lines - i) - 0.6) * l->em, line[i], TEXT_CENTER, INK, p->points, 0, false);
    p->tall += high;
    return OK;
}

/* Lays the figure out and returns the gnuplot script that draws it. */
static Status lay_out(PlotFigure *f, const char *ending, char **script, Arena *a, Error *err)
{
    const PlotOptions *o = f->o;
    const TextBuf none = {.arena = a};
    Layout l = {.f = f, .a = a, .err = err, .tall_given = o->height};
    l.page = (Page){.wide = 3.25, .ending = ending, .tex = !strcmp(ending, ".tex"), .serif = o->font == FONT_SERIF,
                    .dark = o->theme == THEME_DARK, .blocks = none, .labels = none, .plot = none, .a = a};
    if (o->width)
        TRY(read_inches("--width", o->width, 2, 20, &l.page.wide, err));
    l.page.tall = fmin(l.page.wide, 5) / 1.5;
    if (o->height)
        TRY(read_inches("--height", o->height, 1, 30, &l.page.tall, err));
    l.page.points = l.page.wide > 4.5 ? 8 : 7;
    l.em = l.page.points / 72;
    TRY(read_axes(f, a, err));
    TRY(draw_shape(&l));
    *script = page_script(&l.page);
    return arena_check(*script, a, err);
}

Status plot_script(const PlotKind *kind, const Csv *data, const PlotOptions *look, const char *ending, PlotFigure *f,
                   char **script, Arena *a, Error *err)
{
    *f = (PlotFigure){.o = look, .caption = {.arena = a}};
    TRY(make(f, kind, data, a, err));
    TRY(lay_out(f, ending, script, a, err));
    return arena_check(text_done(&f->caption), a, err); /* the layout adds to it */
}

/* Returns the ending of the figure's name, with its dot; NULL: no figure can have this ending. */
static const char *ending_of(const char *figure)
{
    static const char *const endings[] = {".pdf", ".svg", ".png", ".tex"};
    const size_t length = strlen(figure);
    if (outfile_is_stdout(figure))
        return ".svg";
    for (size_t i = 0; i < countof(endings); i++)
        if (length > 4 && !strcmp(figure + length - 4, endings[i]))
            return endings[i];
    return NULL;
}

/* ---- reading results ---- */

/* Appends the records of `more` to `all`. */
static Status append(Csv *all, const Csv *more, Arena *a, Error *err)
{
    Csv out = {.rows = all->rows + more->rows, .columns = all->columns, .name = NEW(a, const char *, all->columns + more->columns + 1)};
    TRY(arena_check(out.name, a, err));
    for (size_t i = 0; i < all->columns; i++)
        out.name[i] = all->name[i];
    for (size_t i = 0; i < more->columns; i++)
        if (!csv_has(all, more->name[i]))
            out.name[out.columns++] = more->name[i];
    out.cell = arena_take(a, out.rows + 1, (out.columns + 1) * sizeof *out.cell);
    TRY(arena_check(out.cell, a, err));
    const char **cell = out.cell;
    for (size_t row = 0; row < out.rows; row++)
        for (size_t k = 0; k < out.columns; k++)
            *cell++ = row < all->rows ? csv_cell(all, row, out.name[k]) : csv_cell(more, row - all->rows, out.name[k]);
    *all = out;
    return OK;
}

Status plot_load(Csv *all, const char *path, Arena *a, Error *err)
{
    static const char *const facts[] = {"repeats", "workers", "seed"};
    Stored stored;
    TRY(stored_load(&stored, path, a, err));
    if (!stored.whole)
        return FAIL(err, ERR_CORRUPT, "%s: it has no list of \"results\"", path);
    if (stored.schema && !result_known(stored.schema))
        return FAIL(err, ERR_CORRUPT, "%s: its schema, %s, is none of those known here", path, stored.schema);
    for (size_t i = 0; i < countof(facts); i++) {
        const Json *fact = json_member(stored.meta, facts[i]);
        if (fact && fact->type == JSON_NUMBER && !csv_has(&stored.table, facts[i]))
            TRY(csv_insert(&stored.table, stored.table.columns, facts[i], fact->text, a, err));
    }
    if (stored.unfinished && stored.table.rows)
        TRY(csv_insert(&stored.table, stored.table.columns, "unfinished", "true", a, err));
    return append(all, &stored.table, a, err);
}

/* ---- what stands beside the picture ---- */

enum { POINT_CELLS = 6 };

static Value *put_point(Value *row, const PlotLine *l, PlotPoint p, const char *rate)
{
    const Value cells[POINT_CELLS] = {value_text(l->name), value_real(p.x), value_real(p.y), value_real(p.low), value_real(p.high), value_text(rate)};
    memcpy(row, cells, sizeof cells);
    return row + POINT_CELLS;
}

/* The points that are drawn, as CSV. */
static char *points_text(const PlotFigure *f, Arena *a)
{
    static const Column columns[POINT_CELLS] = {{"line", true}, {"x", true}, {"y", true}, {"low", true}, {"high", true}, {"rate", true}};
    const ReportSpec spec = {.columns = columns, .column_count = POINT_CELLS, .format = FORMAT_CSV};
    size_t points = 0;
    for (size_t k = 0; k < f->count; k++)
        points += (BAR_PARTS + 1) * f->line[k].count;
    Value *row = NEW(a, Value, (points + 1) * POINT_CELLS), *at = row;
    for (const PlotLine *l = f->line; row && l < f->line + f->count; l++)
        for (const PlotPoint *p = l->point; p < l->point + l->count; p++) {
            for (size_t i = 0; i < BAR_PARTS && p->part; i++)
                at = put_point(at, l, point_at(p->x, p->part[i]), bar_part_names[i]);
            at = put_point(at, l, *p, p->part ? "total" : p->rate);
        }
    return row ? report_text(&spec, row, (size_t)(at - row) / POINT_CELLS, a) : NULL;
}

static Status save_data(const char *figure, const PlotFigure *f, Arena *a, Error *err)
{
    const char *path = text_format(a, "%.*s.plot.csv", (int)strlen(figure) - 4, figure), *text = points_text(f, a);
    TRY(arena_check(path && text, a, err));
    return outfile_save(path, text, strlen(text), a, err);
}

/* Appends the caption as the subject of a PDF, by an incremental update, whose table is in the form of the file's own. */
static Status pdf_describe(Drawing *d, const char *caption, Arena *a, Error *err)
{
    const char *start = memmem(d->data + (d->size < 64 ? 0 : d->size - 64), d->size < 64 ? d->size : 64, "startxref", 9);
    const unsigned long at = start ? strtoul(start + 9, NULL, 10) : d->size;
    const char *from = at < d->size ? d->data + at : NULL;
    const bool plain = from && !strncmp(from, "xref", 4);
    const size_t left = from ? d->size - at : 0;
    const char *size = from ? memmem(from, left, "/Size ", 6) : NULL, *root = from ? memmem(from, left, "/Root ", 6) : NULL;
    if (!size || !root)
        return OK;
    const unsigned long objects = strtoul(size + 6, NULL, 10), catalog = strtoul(root + 6, NULL, 10);
    TextBuf out = {.arena = a};
    text_add_bytes(&out, d->data, d->size);
    const size_t info = out.size;
    text_addf(&out, "%lu 0 obj\n<< /Creator (atomo-bench) /Subject <FEFF", objects);
    for (const char *s = caption; *s; s += text_utf8(s, 4))
        text_addf(&out, "%04X", (unsigned)text_code(s, text_utf8(s, 4)));
    text_add(&out, "> >>\nendobj\n");
    const size_t table = out.size;
    const char *trailer = text_format(a, "/Size %lu /Root %lu 0 R /Info %lu 0 R /Prev %lu", objects + 2, catalog, objects, at);
    TRY(arena_check(trailer, a, err));
    if (plain)
        text_addf(&out, "xref\n%lu 1\n%010zu 00000 n \ntrailer\n<< %s >>\n", objects, info, trailer);
    else
        text_addf(&out, "%lu 0 obj\n<< /Type /XRef /W [1 4 1] /Index [%lu 2] /Filter /ASCIIHexDecode /Length 25 %s >>\nstream\n"
                  "01%08zX0001%08zX00>\nendstream\nendobj\n", objects + 1, objects, trailer, info, table);
    text_addf(&out, "startxref\n%zu\n%%%%EOF\n", table);
    d->data = text_done(&out);
    d->size = out.size;
    return arena_check(d->data, a, err);
}

/* Copies an SVG with the caption as its description, in place of gnuplot's description and titles. */
static void svg_describe(TextBuf *out, const char *svg, const char *caption)
{
    const char *head = strstr(svg, "<svg"), *end = head ? strchr(head, '>') : NULL, *s = end ? end + 1 : svg;
    text_add_bytes(out, svg, (size_t)(s - svg));
    html_addf(out, "\n<desc>%s</desc>", caption);
    for (const char *next; *s; s = next) {
        const bool title = !strncmp(s, "<title>", 7), own = title || !strncmp(s, "<desc>", 6);
        next = own ? strstr(s, title ? "</title>" : "</desc>") : NULL;
        next = next ? strchr(next, '>') + 1 : s + 1 + strcspn(s + 1, "<");
        text_add_bytes(out, s, own ? 0 : (size_t)(next - s));
    }
}

/* Adds the caption to the figure: as SVG's description, a comment of LaTeX, the subject of a PDF. */
static Status describe(Drawing *d, const char *ending, const char *caption, Arena *a, Error *err)
{
    TextBuf out = {.arena = a};
    if (!strcmp(ending, ".pdf"))
        return pdf_describe(d, caption, a, err);
    if (!strcmp(ending, ".png"))
        return OK;
    if (!strcmp(ending, ".svg")) {
        svg_describe(&out, d->data, caption);
    } else {
        text_addf(&out, "%% %s\n", caption);
        text_add_bytes(&out, d->data, d->size);
    }
    d->data = text_done(&out);
    d->size = out.size;
    return arena_check(d->data, a, err);
}

/* ---- options ---- */

static Status choose_one(const PlotKind *kind, const char *option, const char *const *known, const char **chosen, Error *err)
{
    const char *asked = *chosen;
    *chosen = known ? known[0] : "";
    if (!asked)
        return OK;
    if (!known)
        return FAIL(err, ERR_USAGE, "%s %s: %s has one such axis only", option, asked, kind->name);
    for (; *known; known++)
        if (!strcmp(*known, asked)) {
            *chosen = *known;
            return OK;
        }
    text_unknown(err, asked, text_list_name, option[2] == 'x' ? kind->against : kind->up, "%s %s: %s has no such axis", option, asked,
                 kind->name);
    return error_hint(err, "atomo-bench plot --help lists what is drawn");
}

static Status check_options(const PlotKind *kind, PlotOptions *o, Error *err)
{
    TRY(choose_one(kind, "--x", kind->against, &o->x, err));
    TRY(choose_one(kind, "--y", kind->up, &o->y, err));
    if (kind->of_tensors && o->labels.count)
        return FAIL(err, ERR_USAGE, "--label %s: the lines of %s are tensors, which keep their names", o->labels.item[0], kind->name);
    if (o->linear && (o->logx || o->logy))
        return FAIL(err, ERR_USAGE, "--linear and --log%c: want one of them", o->logx ? 'x' : 'y');
    return o->last >= 0 && o->last <= 1 ? OK : FAIL(err, ERR_USAGE, "--last %g: want a share from 0 to 1", o->last);
}

static Status load_all(Csv *all, const PlotKind *kind, const TextList *paths, Arena *a, Error *err)
{
    *all = (Csv){0};
    for (size_t i = 0; i < paths->count; i++) {
        Csv one = {0};
        TRY(plot_load(&one, paths->item[i], a, err));
        if (check_data(kind, &one, err) != OK)
            return error_at(err, "%s", paths->item[i]);
        TRY(append(all, &one, a, err));
    }
    return OK;
}

Status plot_draw(const PlotJob *job, PlotSaid *said, Arena *a, Error *err)
{
    const PlotKind *kind;
    const char *ending = ending_of(job->figure);
    PlotOptions look = job->look;
    PlotFigure f;
    Csv csv;
    char *script;
    Drawing drawn;
    TRY(find_kind(&kind, job->kind, err));
    TRY(check_options(kind, &look, err));
    if (look.title)
        look.title = text_printable(a, look.title);
    TRY(arena_check(!job->look.title || look.title, a, err));
    if (!ending)
        return FAIL(err, ERR_USAGE, "%s: want a figure whose name ends in .pdf, .svg, .png or .tex", job->figure);
    TRY(load_all(&csv, kind, &job->data, a, err));
    if (plot_script(kind, &csv, &look, ending, &f, &script, a, err) != OK)
        return error_at(err, "%s", job->data.item[0]);
    *said = (PlotSaid){text_done(&f.caption), csv.rows};
    TRY(gnuplot_draw(&drawn, script, job->stopped, a, err));
    TRY(describe(&drawn, ending, said->caption, a, err));
    if (look.data && !outfile_is_stdout(job->figure))
        TRY(save_data(job->figure, &f, a, err));
    return outfile_save(job->figure, drawn.data, drawn.size, a, err);
}

Status plot_svg(Drawing *out, const PlotKind *kind, const Csv *data, size_t most, size_t *points, PlotStopped stopped, Arena *a,
                Error *err)
{
    PlotOptions look = {0};
    PlotFigure f;
    char *script;
    *out = (Drawing){0};
    *points = 0;
    TRY(check_options(kind, &look, err));
    TRY(plot_script(kind, data, &look, ".svg", &f, &script, a, err));
    for (size_t k = 0; k < f.count; k++)
        *points += f.line[k].count;
    if (*points > most)
        return OK;
    TRY(gnuplot_draw(out, script, stopped, a, err));
    return describe(out, ".svg", text_done(&f.caption), a, err);
}
