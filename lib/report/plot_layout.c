/* plot_layout.c -- lays a figure out: the page, by the options of `plot`, and the shape on it; axes with their numbers, and keys. */
#include "report/plot_layout.h"

#include <math.h>
#include <string.h>

/* ---- axes ---- */

double axis_place(const PlotAxis *axis, double v, double from, double to)
{
    const double share = axis->log ? log(v / axis->least) / log(axis->most / axis->least) : (v - axis->least) / (axis->most - axis->least);
    return from + (to - from) * share;
}

void axis_fit(PlotAxis *axis, double least, double most)
{
    const bool low = isnan(axis->least), high = isnan(axis->most);
    if (!(least <= most)) {
        least = axis->log ? 1 : 0;
        most = 1;
    }
    if (axis->log && !(least > 0))
        least = most > 0 ? most * 1e-3 : 1e-3;
    if (axis->log) {
        const double margin = most > least ? 0.05 * log(most / least) : log(2);
        axis->least = low ? least * exp(-margin) : axis->least;
        axis->most = high ? most * exp(margin) : axis->most;
    } else {
        const double margin = most > least ? 0.04 * (most - least) : most != 0 ? 0.1 * fabs(most) : 1;
        const bool zero = axis->from_zero && least >= 0;
        axis->least = !low ? axis->least : zero ? 0 : least - margin;
        axis->most = high ? most + margin : axis->most;
    }
    if (!(axis->least < axis->most)) /* --xlim beyond the data */
        axis->most = axis->log ? axis->least * 10 : axis->least + 1;
}

/* The numbers on an axis, and the small ticks between them. */
typedef struct {
    double at[64], minor[128];
    bool power[64]; /* written as 10^k */
    size_t count, minors;
} Ticks;

static void add_tick(Ticks *t, const PlotAxis *axis, double v)
{
    const double slack = axis->log ? 0 : 1e-9 * (axis->most - axis->least);
    if (t->count < countof(t->at) && v >= axis->least * (axis->log ? 0.9999 : 1) - slack && v <= axis->most * (axis->log ? 1.0001 : 1) + slack)
        t->at[t->count++] = v;
}

static void log_ticks(Ticks *t, const PlotAxis *axis, int every)
{
    const double decades = log10(axis->most / axis->least);
    const int from = (int)floor(log10(axis->least)), to = (int)ceil(log10(axis->most));
    *t = (Ticks){0};
    for (int k = from; k <= to; k++) {
        if (((k % every) + every) % every == 0)
            add_tick(t, axis, pow(10, k));
        for (int m = 2; m < 10 && every == 1; m++) {
            const double v = m * pow(10, k);
            if ((decades < 1.3 || to - from < 3) && (m == 2 || m == 5))
                add_tick(t, axis, v);
            else if (t->minors < countof(t->minor) && v > axis->least && v < axis->most)
                t->minor[t->minors++] = v;
        }
    }
    bool plain = true;
    for (size_t i = 0; i < t->count; i++)
        plain &= t->at[i] > 0.00999 && t->at[i] < 1001;
    for (size_t i = 0; i < t->count; i++)
        t->power[i] = !plain;
}

static double round_step(double v)
{
    const double ten = pow(10, floor(log10(v)));
    return v <= ten * 1.0001 ? ten : v <= 2 * ten ? 2 * ten : v <= 5 * ten ? 5 * ten : 10 * ten;
}

static Ticks ticks_of(const PlotAxis *axis, double inches)
{
    Ticks t = {0};
    if (axis->ats) {
        for (size_t i = 0; i < axis->ats; i++)
            add_tick(&t, axis, axis->at[i]);
    } else if (axis->log && axis->most > 4 * axis->least) {
        int every = (int)fmax(1, ceil(log10(axis->most / axis->least) / fmax(2, inches / 0.35)));
        for (; every > 0 && t.count < 2; every--)
            log_ticks(&t, axis, every);
    } else {
        const double step = round_step((axis->most - axis->least) / fmax(2, fmin(6, inches / 0.45)));
        for (double k = ceil(axis->least / step - 1e-9); k * step <= axis->most + 1e-9 * step && t.count < 40; k++)
            add_tick(&t, axis, k * step);
    }
    return t;
}

static const char *tick_text(const Layout *l, const Ticks *t, size_t i, char out[64])
{
    if (t->power[i])
        snprintf(out, 64, l->page.tex ? "$10^{%.0f}$" : "10^{%.0f}", log10(t->at[i]));
    else
        snprintf(out, 64, "%.6g", fabs(t->at[i]) < 1e-12 ? 0 : t->at[i]);
    return out;
}

static double tick_wide(const Layout *l, const Ticks *t, size_t i)
{
    char text[64];
    return t->power[i] ? 2.6 * l->em : text_inches(tick_text(l, t, i, text), l->page.points);
}

double axis_room_left(Layout *l, const PlotAxis *axis, double inches)
{
    const Ticks t = ticks_of(axis, inches);
    double widest = 0;
    for (size_t i = 0; i < t.count; i++)
        widest = fmax(widest, tick_wide(l, &t, i));
    return widest + 0.09 + (*axis->title ? 1.5 * l->em : 0);
}

double axis_room_below(const Layout *l, const PlotAxis *axis)
{
    return 1.55 * l->em + 0.05 + (*axis->title ? 1.45 * l->em : 0);
}

static void stroke(Layout *l, double x0, double y0, double x1, double y1, const char *colour, double width)
{
    page_line(&l->page, (double[]){x0, x1}, (double[]){y0, y1}, 2, (Stroke){colour, width, 0});
}

static void axis_numbers(Layout *l, const Panel *p, bool across, bool numbers)
{
    const PlotAxis *axis = across ? p->x : p->y;
    const double from = across ? p->left : p->bottom, to = across ? p->right : p->top, foot = across ? p->bottom : p->left;
    const Ticks t = ticks_of(axis, to - from);
    char text[64];
    double last = -1e9;
    for (size_t i = 0; i < t.count + t.minors; i++) {
        const bool minor = i >= t.count;
        const double at = axis_place(axis, minor ? t.minor[i - t.count] : t.at[i], from, to), reach = foot - (minor ? 0.02 : 0.035);
        if (l->f->o->grid && !minor)
            across ? stroke(l, at, p->bottom, at, p->top, "#dddddd", 0.4) : stroke(l, p->left, at, p->right, at, "#dddddd", 0.4);
        across ? stroke(l, at, foot, at, reach, INK, 0.5) : stroke(l, foot, at, reach, at, INK, 0.5);
        const double half = 0.5 * (minor ? 0 : across ? tick_wide(l, &t, i) : l->em);
        const bool beside = across && at + half > p->right + 0.02 && p->right + 0.3 < l->page.wide; /* another panel's numbers */
        if (minor || !numbers || beside || at - half < last + 0.3 * l->em)
            continue;
        last = at + half;
        const double lift = across ? fmax(0, at + half + 0.02 - l->page.wide) : 0; /* the last number stays on the page */
        if (across)
            page_text(&l->page, at - lift, foot - 0.05 - 0.6 * l->em, tick_text(l, &t, i, text), TEXT_CENTER, INK, l->page.points, 0, t.power[i]);
        else
            page_text(&l->page, foot - 0.06, at, tick_text(l, &t, i, text), TEXT_RIGHT, INK, l->page.points, 0, t.power[i]);
    }
}

void panel_axes(Layout *l, const Panel *p, bool x, bool y)
{
    axis_numbers(l, p, true, x);
    axis_numbers(l, p, false, y);
    page_line(&l->page, (double[]){p->left, p->left, p->right}, (double[]){p->top, p->bottom, p->bottom}, 3, (Stroke){INK, 0.6, 0});
}

/* ---- the key ---- */

size_t label_lines(const char *text, double inches, double points, const char *out[LABEL_LINES], Arena *a)
{
    size_t count = 0;
    while (*text && count < LABEL_LINES) {
        size_t fits = 0, whole = strlen(text);
        for (size_t n = 1; n <= whole; n++) {
            const char *part = text_slice(a, text, n);
            if (!part)
                return count;
            if (n > 1 && fits && text_inches(part, points) > inches)
                break;
            if (n == whole || strchr("+:, ", text[n - 1]) || text[n] == ' ')
                fits = n;
        }
        out[count] = text_slice(a, text, fits);
        if (!out[count++])
            return count - 1;
        text += fits + strspn(text + fits, " ");
    }
    return count;
}

enum { SAMPLE = 24 }; /* hundredths of an inch */

static void key_sample(Layout *l, const PlotLine *line, double left, double y, double wide)
{
    page_line(&l->page, (double[]){left, left + wide}, (double[]){y, y}, 2, (Stroke){line->look.colour, 1, line->look.dash});
    if (line->style == LINE_MARKED || line->style == LINE_THIN)
        page_marks(&l->page, &(double){left + 0.5 * wide}, &y, 1, line->look.mark, line->open, 0.42, line->look.colour);
}

double key_block(Layout *l, PlotLine *const *line, size_t count, double left, double right, double top, bool draw)
{
    const double sample = SAMPLE / 100.0, gap = 0.05, between = 0.9 * l->em;
    double widest = 0, points = l->page.points;
    for (size_t i = 0; i < count; i++)
        widest = fmax(widest, text_inches(line[i]->label, points));
    widest = fmin(widest, right - left - sample - gap);
    const size_t columns = (size_t)fmax(1, fmin((double)count, floor((right - left + between) / (sample + gap + widest + between))));
    double y = top;
    for (size_t i = 0; i < count; i += columns) {
        size_t rows = 1;
        for (size_t c = 0; c < columns && i + c < count; c++) {
            const char *text[LABEL_LINES];
            const size_t n = label_lines(line[i + c]->label, widest + 0.01, points, text, l->a);
            const double x = left + (double)c * (sample + gap + widest + between);
            rows = n > rows ? n : rows;
            if (!draw)
                continue;
            key_sample(l, line[i + c], x, y - 0.6 * l->em, sample);
            for (size_t k = 0; k < n; k++)
                page_text(&l->page, x + sample + gap, y - (0.6 + 1.15 * (double)k) * l->em, text[k], TEXT_LEFT, INK, points, 0, false);
        }
        y -= 1.25 * l->em + 1.15 * l->em * (double)(rows - 1);
    }
    return top - y;
}

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
