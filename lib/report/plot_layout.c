/* plot_layout.c -- lays a figure out: the page, by the options of `plot`, and the shape on it. */
#include "report/plot_layout.h"

#include <math.h>
#include <string.h>

/* ---- options ---- */

const char *const plot_keys[] = {"auto", "ends", "inside", "right", "below", "none", NULL};
const char *const plot_fonts[] = {"sans", "serif", NULL};
const char *const plot_facets[] = {"auto", "family", "none", NULL};
const char *const plot_themes[] = {"light", "dark", NULL};

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
    static Status (*const shapes[])(Layout *) = {layout_lines, layout_bars, layout_rows, layout_heat};
    const char *line[LABEL_LINES];
    Page *p = &l->page;
    const size_t lines = l->f->o->title ? label_lines(l->f->o->title, p->wide - 0.1, p->points, line, l->a) : 0;
    const double high = lines ? 1.2 * (double)lines * l->em + 0.05 : 0;
    p->tall -= high; /* the title is above everything: the shape is laid out below it */
    TRY(shapes[l->f->shape](l));
    for (size_t i = 0; i < lines; i++)
        page_text(p, 0.5 * p->wide, p->tall + (1.2 * (double)(lines - i) - 0.6) * l->em, line[i], TEXT_CENTER, INK, p->points, 0, false);
    p->tall += high;
    return OK;
}

Status plot_layout(PlotFigure *f, const char *ending, char **script, Arena *a, Error *err)
{
    Layout l = {.f = f, .a = a, .err = err, .tall_given = f->o->height};
    const PlotOptions *o = f->o;
    l.page.wide = 3.25;
    if (o->width)
        TRY(read_inches("--width", o->width, 2, 20, &l.page.wide, err));
    l.page.tall = fmin(l.page.wide, 5) / 1.5;
    if (o->height)
        TRY(read_inches("--height", o->height, 1, 30, &l.page.tall, err));
    l.page.points = l.page.wide > 4.5 ? 8 : 7;
    l.page.serif = o->font == 1;
    l.page.dark = o->theme == 1;
    l.em = l.page.points / 72;
    page_open(&l.page, ending, a);
    TRY(read_axes(f, a, err));
    TRY(draw_shape(&l));
    *script = page_script(&l.page);
    return arena_check(*script, a, err);
}
