/* plot_rows.c -- lays out figures whose names stand at the left, one a row: bars in parts, points, and tables of colours. */
#include "report/plot_layout.h"

#include "math/stats.h"

#include <math.h>
#include <string.h>

/* The names at the left: how wide they are, and how many lines each has. */
typedef struct {
    const char *text[LABEL_LINES];
    size_t lines;
} RowName;

static Status row_names(Layout *l, const char *const *name, size_t count, RowName **out, double *wide)
{
    const double most = 0.42 * l->page.wide;
    RowName *row = NEW(l->a, RowName, count + 1);
    TRY(arena_check(row, l->a, l->err));
    *wide = 0;
    for (size_t i = 0; i < count; i++) {
        row[i].lines = label_lines(name[i], most, l->page.points, row[i].text, l->a);
        TRY(arena_check(row[i].lines || !*name[i], l->a, l->err));
        for (size_t k = 0; k < row[i].lines; k++)
            *wide = fmax(*wide, text_inches(row[i].text[k], l->page.points));
    }
    *out = row;
    return OK;
}

static Status line_names(Layout *l, RowName **out, double *wide)
{
    const char **name = NEW(l->a, const char *, l->f->count + 1);
    TRY(arena_check(name, l->a, l->err));
    for (size_t k = 0; k < l->f->count; k++)
        name[k] = l->f->line[k].label;
    return row_names(l, name, l->f->count, out, wide);
}

static void draw_name(Layout *l, const RowName *name, double right, double y, const char *colour)
{
    for (size_t k = 0; k < name->lines; k++)
        page_text(&l->page, right, y + (0.5 * (double)(name->lines - 1) - (double)k) * 1.1 * l->em, name->text[k], TEXT_RIGHT, colour,
                  l->page.points, 0, false);
}

/* The height of the page: rows of `need` inches each with `others` around them, at least the usual height where it is not given. */
static void fit_height(Layout *l, double need, double others)
{
    if (!l->tall_given)
        l->page.tall = fmax(1.3, need + others);
}

static void page_box(Page *p, double left, double bottom, double right, double top, const char *colour)
{
    page_fill(p, (double[]){left, right, right, left}, (double[]){bottom, bottom, top, top}, 4, colour, false);
}

/* ---- bars ---- */

static const char *const part_colours[BAR_PARTS] = {"#c4c4c4", "#c14a00", "#0072b2", "#00704d"};

typedef struct {
    Panel p;
    RowName *names;   /* (lines) */
    double *middle;   /* (bars) from the top, then from the foot of the page */
    double high;      /* of the lowest bar */
    double wide, tag; /* of the widest name and the widest number of workers */
} Bars;

/* Writes the number of workers of a bar. */
static const char *bar_tag(const Layout *l, const PlotPoint *bar, char out[32])
{
    *out = 0;
    if (!l->f->payloads)
        snprintf(out, 32, "%.0f", bar->x);
    return out;
}

/* The axis is broken where computing takes over half of every bar: most of what all bars have in common is left out. */
static void fit_bars(PlotFigure *f)
{
    PlotAxis *x = &f->x;
    double least = INFINITY, most = 0;
    for (size_t k = 0; k < f->count; k++)
        for (const PlotPoint *q = f->line[k].point; q < f->line[k].point + f->line[k].count; q++) {
            least = fmin(least, q->part[0]);
            most = fmax(most, q->high > 0 ? q->high : q->y);
        }
    x->from_zero = true;
    x->cut = least > 0.6 * most && !f->o->xlim ? least - 0.25 * (most - least) : 0;
    x->cut_from = 0.12 * (most - x->cut);
    axis_fit(x, 0, most - x->cut);
}

static double bar_x(const Bars *b, double v)
{
    return axis_place(b->p.x, v, b->p.left, b->p.right);
}

static void draw_break(Layout *l, const Bars *b, double low, double high)
{
    const double x = bar_x(b, b->p.x->cut_from), slant = 0.018;
    const double px[] = {x - slant - 0.012, x + slant - 0.012, x + slant + 0.012, x - slant + 0.012}, py[] = {low, high, high, low};
    if (b->p.x->cut > 0)
        page_fill(&l->page, px, py, 4, l->page.dark ? "#14171a" : "#ffffff", false);
}

static void draw_bar(Layout *l, const Bars *b, const PlotPoint *bar, double y)
{
    double from = 0;
    for (size_t k = 0; k < BAR_PARTS; k++) {
        const double left = bar_x(b, from), right = bar_x(b, from + bar->part[k]);
        if (right - left > 0.002)
            page_box(&l->page, left, y - 0.5 * b->high, right, y + 0.5 * b->high, part_colours[k]);
        from += bar->part[k];
    }
    draw_break(l, b, y - 0.5 * b->high - 0.01, y + 0.5 * b->high + 0.01);
    const double ends[] = {fmax(b->p.left, bar_x(b, bar->low)), fmin(b->p.right, bar_x(b, bar->high))};
    if (ends[1] - ends[0] > 0.01)
        page_line(&l->page, ends, (double[]){y, y}, 2, (Stroke){INK, 0.6, 0});
}

static void draw_parts_key(Layout *l, double left, double right, double y)
{
    double wide = 0;
    for (size_t k = 0; k < BAR_PARTS; k++)
        wide += 0.23 + text_inches(bar_part_names[k], l->page.points);
    double x = fmax(0.06, fmin(left, right - wide));
    for (size_t k = 0; k < BAR_PARTS && l->f->o->key != KEY_NONE; k++) {
        page_box(&l->page, x, y - 0.4 * l->em, x + 0.09, y + 0.4 * l->em, part_colours[k]);
        page_text(&l->page, x + 0.13, y, bar_part_names[k], TEXT_LEFT, INK, l->page.points, 0, false);
        x += 0.23 + text_inches(bar_part_names[k], l->page.points);
    }
}

static void draw_payloads(Layout *l, const Panel *p, const Bars *b)
{
    const PlotFigure *f = l->f;
    double most = 0;
    const char *unit_name;
    char text[32];
    for (size_t k = 0; k < f->count; k++)
        for (size_t i = 0; i < f->line[k].count; i++)
            most = fmax(most, f->line[k].point[i].part[BAR_PARTS]);
    const double unit = byte_unit(most, &unit_name), wide = p->right - p->left - text_inches("44.7", l->page.points) - 0.05;
    const double *y = b->middle;
    for (size_t k = 0; k < f->count; k++)
        for (size_t i = 0; i < f->line[k].count; i++, y++) {
            const double payload = f->line[k].point[i].part[BAR_PARTS], x = p->left + wide * (most > 0 ? payload / most : 0);
            page_box(&l->page, p->left, *y - 0.5 * b->high, x, *y + 0.5 * b->high, "#962a74");
            snprintf(text, sizeof text, "%.3g", payload / unit);
            page_text(&l->page, x + 0.03, *y, text, TEXT_LEFT, INK, l->page.points, 0, false);
        }
    page_line(&l->page, (double[]){p->left, p->left}, (double[]){p->bottom, p->top}, 2, (Stroke){INK, 0.6, 0});
    const char *title = text_format(l->a, "payload, %s", unit_name);
    page_text(&l->page, 0.5 * (p->left + p->right), 0.8 * l->em, title ? title : "", TEXT_CENTER, INK, l->page.points, 0, false);
}

static Status open_bars(Layout *l, Bars *b)
{
    const PlotFigure *f = l->f;
    size_t bars = 0;
    char tag[32];
    *b = (Bars){.high = INFINITY};
    for (size_t k = 0; k < f->count; k++)
        for (size_t i = 0; i < f->line[k].count; i++, bars++)
            b->tag = fmax(b->tag, text_inches(bar_tag(l, &f->line[k].point[i], tag), l->page.points));
    b->middle = NEW(l->a, double, bars + 1);
    TRY(arena_check(b->middle, l->a, l->err));
    return line_names(l, &b->names, &b->wide);
}

/* Sets the middles of the bars below the top; returns the height of all. */
static double place_bars(const Layout *l, Bars *b)
{
    const bool tags = b->tag > 0;
    double y = 0, *middle = b->middle;
    for (size_t k = 0; k < l->f->count; k++) {
        const double name = 1.15 * l->em * (double)b->names[k].lines, own = tags ? 0.9 * l->em : name + 0.04;
        const double bars = own * (double)l->f->line[k].count, room = fmax(bars, name) + (tags ? 0.5 * l->em : 0);
        for (size_t i = 0; i < l->f->line[k].count; i++)
            *middle++ = y + 0.5 * (room - bars) + own * ((double)i + 0.5);
        b->high = fmin(b->high, own);
        y += room;
    }
    return y;
}

static void draw_bars(Layout *l, Bars *b, double gap)
{
    double *middle = b->middle;
    char tag[32];
    b->high = fmin(0.14, 0.8 * b->high * gap);
    for (size_t k = 0; k < l->f->count; k++) {
        const PlotLine *line = &l->f->line[k];
        for (size_t i = 0; i < line->count; i++) {
            middle[i] = b->p.top - middle[i] * gap;
            draw_bar(l, b, &line->point[i], middle[i]);
            page_text(&l->page, b->p.left - 0.05, middle[i], bar_tag(l, &line->point[i], tag), TEXT_RIGHT, INK, l->page.points - 1, 0, false);
        }
        draw_name(l, &b->names[k], b->p.left - b->tag - (b->tag > 0 ? 0.11 : 0.06), 0.5 * (middle[0] + middle[line->count - 1]), INK);
        middle += line->count;
    }
}

static Status layout_bars(Layout *l)
{
    PlotFigure *f = l->f;
    Bars b;
    TRY(open_bars(l, &b));
    fit_bars(f);
    const double need = place_bars(l, &b), below = axis_room_below(l, &f->x) + 0.02, above = 1.6 * l->em + 0.03;
    fit_height(l, need, below + above);
    const double gap = (l->page.tall - below - above) / need, whole = l->page.wide - 0.06;
    if (gap < 0.5)
        return FAIL(l->err, ERR_USAGE, "--height: the bars of %zu lines do not fit", f->count);
    b.p = (Panel){.left = b.wide + b.tag + (b.tag > 0 ? 0.14 : 0.1), .right = whole, .bottom = below, .top = l->page.tall - above, .x = &f->x, .y = &f->y};
    if (f->payloads)
        b.p.right = b.p.left + 0.56 * (whole - b.p.left);
    draw_bars(l, &b, gap);
    panel_axes(l, &b.p, true, false);
    draw_break(l, &b, b.p.bottom - 0.03, b.p.bottom + 0.03);
    axis_title(l, &f->x, 0.5 * (b.p.left + b.p.right), 0.8 * l->em, 0);
    draw_parts_key(l, b.p.left, whole, l->page.tall - 0.9 * l->em);
    if (f->payloads)
        draw_payloads(l, &(Panel){.left = b.p.right + 0.2, .right = whole, .bottom = below, .top = b.p.top}, &b);
    return OK;
}

/* ---- rows of points ---- */

static void draw_row(Layout *l, const Panel *p, const PlotLine *line, double y)
{
    for (const PlotPoint *q = line->point; q < line->point + line->count; q++) {
        if (!(q->y > 0) && p->x->log)
            continue;
        const double x = fmin(p->right, fmax(p->left, axis_place(p->x, q->y, p->left, p->right)));
        const double ends[] = {fmax(p->left, axis_place(p->x, q->low, p->left, p->right)),
                               fmin(p->right, axis_place(p->x, q->high, p->left, p->right))};
        if (isfinite(q->low) && (q->low > 0 || !p->x->log) && ends[1] - ends[0] > 0.06)
            page_line(&l->page, ends, (double[]){y + 0.02, y + 0.02}, 2, (Stroke){line->look.colour, 0.6, 0});
        page_marks(&l->page, &x, &y, 1, 0, line->open, 0.5, line->look.colour);
    }
}

static Status layout_points(Layout *l)
{
    PlotFigure *f = l->f;
    double least = INFINITY, most = -INFINITY, wide, need = 0, *largest = NEW_ZERO(l->a, double, f->count);
    RowName *names;
    TRY(arena_check(largest, l->a, l->err));
    for (size_t k = 0; k < f->count; k++)
        for (size_t i = 0; i < f->line[k].count; i++) {
            const double v = f->line[k].point[i].y;
            least = v > 0 || !f->x.log ? fmin(least, v) : least;
            largest[k] = fmax(largest[k], v);
            most = fmax(most, v);
        }
    if (!f->o->order) /* the least at the top */
        figure_order(f, largest);
    if (f->x.log && most < 8 * least && !f->o->logx)
        f->x.log = false;
    f->x.from_zero = true;
    axis_fit(&f->x, least, most);
    TRY(line_names(l, &names, &wide));
    for (size_t k = 0; k < f->count; k++)
        need += 1.15 * l->em * (double)names[k].lines + 0.3 * l->em;
    const double below = axis_room_below(l, &f->x) + 0.02;
    fit_height(l, need, below + 0.08);
    const Panel p = {.left = wide + 0.1, .right = l->page.wide - 0.1, .bottom = below, .top = l->page.tall - 0.06, .x = &f->x, .y = &f->y};
    const double scale = (p.top - p.bottom) / need;
    if (scale < 0.6)
        return FAIL(l->err, ERR_USAGE, "--height: %zu rows do not fit", f->count);
    panel_axes(l, &p, true, false);
    double y = p.top;
    for (size_t k = 0; k < f->count; k++) {
        const double high = (1.15 * (double)names[k].lines + 0.3) * l->em * scale, middle = y - 0.5 * high;
        page_line(&l->page, (double[]){p.left, p.right}, (double[]){middle, middle}, 2, (Stroke){"#e4e4e4", 0.4, 0});
        draw_row(l, &p, &f->line[k], middle);
        draw_name(l, &names[k], p.left - 0.06, middle, f->line[k].grey ? "#707070" : INK);
        y -= high;
    }
    axis_title(l, &f->x, 0.5 * (p.left + p.right), 0.8 * l->em, 0);
    return OK;
}

/* ---- a table of colours ---- */

/* A colour between light and dark, of a scale whose lightness falls evenly. */
static const char *shade(double s, char out[8])
{
    static const int stops[][3] = {{0xf7, 0xfb, 0xff}, {0xc6, 0xdb, 0xef}, {0x6b, 0xae, 0xd6}, {0x21, 0x71, 0xb5}, {0x08, 0x30, 0x6b}};
    const double at = fmin(1, fmax(0, s)) * 3.999;
    const int k = (int)at;
    int rgb[3];
    for (int c = 0; c < 3; c++)
        rgb[c] = (int)(stops[k][c] + (at - k) * (stops[k + 1][c] - stops[k][c]));
    snprintf(out, 8, "#%02x%02x%02x", rgb[0] & 255, rgb[1] & 255, rgb[2] & 255);
    return out;
}

/* The scale: from the 5th to the 95th percentile of the values above 0. */
static Status heat_scale(Layout *l, PlotAxis *scale)
{
    size_t n = 0, all = 0;
    for (size_t k = 0; k < l->f->count; k++)
        all += l->f->line[k].count;
    double *v = NEW(l->a, double, all + 1);
    TRY(arena_check(v, l->a, l->err));
    for (size_t k = 0; k < l->f->count; k++)
        for (size_t i = 0; i < l->f->line[k].count; i++)
            if (l->f->line[k].point[i].y > 0)
                v[n++] = l->f->line[k].point[i].y;
    stats_sort(v, n);
    scale->log = n && !l->f->o->linear && stats_quantile(v, n, 0.95) > 8 * stats_quantile(v, n, 0.05);
    axis_fit(scale, n ? stats_quantile(v, n, 0.05) : 0, n ? stats_quantile(v, n, 0.95) : 1);
    return OK;
}

static void draw_scale(Layout *l, const PlotAxis *scale, double left, double bottom, double top)
{
    enum { STEPS = 32 };
    char colour[8];
    const double high = (top - bottom) / STEPS;
    for (int i = 0; i < STEPS; i++)
        page_box(&l->page, left, bottom + i * high, left + 0.08, bottom + (i + 1) * high + 0.004, shade((i + 0.5) / STEPS, colour));
    PlotAxis none = {.title = "", .least = 0, .most = 1, .ats = 1, .at = {-1}};
    panel_axes(l, &(Panel){left, left + 0.08, bottom, top, &none, scale, false}, false, true);
}

static Status layout_heat(Layout *l)
{
    PlotFigure *f = l->f;
    double wide, tallest = 0;
    RowName *names;
    TRY(row_names(l, f->tensor, f->tensors, &names, &wide));
    for (size_t k = 0; k < f->count; k++)
        tallest = fmax(tallest, text_inches(f->line[k].label, l->page.points));
    TRY(heat_scale(l, &f->y));
    const double scale_wide = 0.24 + axis_room_left(l, &f->y, 1), left = wide + 0.08, right = l->page.wide - scale_wide;
    const bool turned = tallest > (right - left) / (double)f->count - 0.04;
    const double letters = fmax(5, fmin(l->page.points, 72 * (right - left) / (double)f->count / 1.15));
    const double above = turned ? fmin(tallest, 1.6) + 0.1 : 1.5 * l->em;
    fit_height(l, fmax(1.25 * l->em * (double)f->tensors, text_inches(f->y.title, l->page.points)), above + 0.06);
    const double high = (l->page.tall - above - 0.06) / (double)f->tensors, across = (right - left) / (double)f->count, top = l->page.tall - above;
    if (high < 0.6 * l->em)
        return FAIL(l->err, ERR_USAGE, "--height: %zu tensors do not fit", f->tensors);
    for (size_t k = 0; k < f->count; k++) {
        const double x = left + ((double)k + 0.5) * across;
        const PlotLine *line = &f->line[k];
        char colour[8];
        page_text(&l->page, x, top + (turned ? 0.05 : 0.75 * l->em), line->label, turned ? TEXT_LEFT : TEXT_CENTER, INK,
                  letters, turned ? 90 : 0, false);
        for (size_t i = 0; i < line->count; i++) {
            const double y = top - (line->point[i].x + 0.5) * high, v = line->point[i].y;
            const double s = v > 0 || !f->y.log ? axis_place(&f->y, v, 0, 1) : 0;
            page_box(&l->page, x - 0.5 * across + 0.004, y - 0.5 * high + 0.004, x + 0.5 * across - 0.004, y + 0.5 * high - 0.004, shade(s, colour));
        }
    }
    for (size_t i = 0; i < f->tensors; i++)
        draw_name(l, &names[i], left - 0.05, top - ((double)i + 0.5) * high, INK);
    draw_scale(l, &f->y, l->page.wide - 0.12, 0.06, top);
    axis_title(l, &f->y, right + 0.1 + 0.7 * l->em, 0.5 * (top + 0.06), 90);
    return OK;
}

Status layout_rows(Layout *l)
{
    if (l->f->shape == SHAPE_HEAT)
        return layout_heat(l);
    return l->f->shape == SHAPE_BARS ? layout_bars(l) : layout_points(l);
}
