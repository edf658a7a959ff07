/* plot_lines.c -- lays out lines between axes: names at their ends, or a key where nothing is drawn, or small panels. */
#include "report/plot_layout.h"

#include <math.h>
#include <string.h>

static const double CELL = 0.02;

/* ---- what is drawn where ---- */

static void cover(Layout *l, double left, double bottom, double right, double top)
{
    for (int j = (int)fmax(0, floor(bottom / CELL)); j <= (int)(top / CELL) && j < l->cells_high; j++)
        for (int i = (int)fmax(0, floor(left / CELL)); i <= (int)(right / CELL) && i < l->cells_wide; i++)
            l->cell[j * l->cells_wide + i] = 1;
}

static bool is_free(const Layout *l, double left, double bottom, double right, double top)
{
    for (int j = (int)fmax(0, floor(bottom / CELL)); j <= (int)(top / CELL); j++)
        for (int i = (int)fmax(0, floor(left / CELL)); i <= (int)(right / CELL); i++)
            if (j >= l->cells_high || i >= l->cells_wide || l->cell[j * l->cells_wide + i])
                return false;
    return true;
}

/* ---- lines within a panel ---- */

static double px(const Panel *p, double v)
{
    return axis_place(p->x, v, p->left, p->right);
}

static double py(const Panel *p, double v)
{
    return axis_place(p->y, v, p->bottom, p->top);
}

static bool can_draw(const Panel *p, const PlotPoint *q)
{
    return isfinite(q->x) && isfinite(q->y) && (!p->x->log || q->x > 0) && (!p->y->log || q->y > 0);
}

static bool is_inside(const Panel *p, double x, double y)
{
    return x >= p->left - 1e-6 && x <= p->right + 1e-6 && y >= p->bottom - 1e-6 && y <= p->top + 1e-6;
}

/* Clips the segment to the panel (Liang and Barsky 1984); false: nothing is left. */
static bool clip(const Panel *p, double *x, double *y)
{
    const double dx = x[1] - x[0], dy = y[1] - y[0], step[] = {-dx, dx, -dy, dy};
    const double room[] = {x[0] - p->left, p->right - x[0], y[0] - p->bottom, p->top - y[0]};
    double from = 0, to = 1;
    for (size_t i = 0; i < 4; i++) {
        if (step[i] == 0 && room[i] < 0)
            return false;
        if (step[i] < 0)
            from = fmax(from, room[i] / step[i]);
        if (step[i] > 0)
            to = fmin(to, room[i] / step[i]);
    }
    if (from > to)
        return false;
    x[1] = x[0] + to * dx;
    y[1] = y[0] + to * dy;
    x[0] += from * dx;
    y[0] += from * dy;
    return true;
}

/* Sets the ends of the part of a line between points i - 1 and i within the panel; false: there is none. */
static bool segment(const Panel *p, const PlotLine *line, size_t i, double *x, double *y)
{
    const PlotPoint *u = &line->point[i - 1], *v = &line->point[i];
    if (!can_draw(p, u) || !can_draw(p, v))
        return false;
    x[0] = px(p, u->x), x[1] = px(p, v->x), y[0] = py(p, u->y), y[1] = py(p, v->y);
    return clip(p, x, y);
}

static Stroke stroke_of(const PlotLine *line)
{
    if (line->grey || line->style == LINE_FAINT)
        return (Stroke){PALE, 0.5, 0};
    if (line->style == LINE_GUIDE)
        return (Stroke){line->look.colour, 0.7, line->look.mark ? 0 : PAGE_DOTTED};
    return (Stroke){line->look.colour, line->thick ? 1.6 : line->style == LINE_THIN ? 0.5 : 0.95, line->look.dash};
}

/* Draws a line, and notes where. */
static Status draw_path(Layout *l, const Panel *p, const PlotLine *line)
{
    const double half = line->style == LINE_GUIDE || line->grey ? 0 : 0.015;
    double *x = NEW(l->a, double, line->count + 2), *y = NEW(l->a, double, line->count + 2), sx[2], sy[2];
    size_t n = 0;
    TRY(arena_check(x && y, l->a, l->err));
    for (size_t i = 1; i < line->count; i++) {
        if (!segment(p, line, i, sx, sy))
            continue;
        if (n && hypot(sx[0] - x[n - 1], sy[0] - y[n - 1]) > 1e-6) { /* a gap */
            page_line(&l->page, x, y, n, stroke_of(line));
            n = 0;
        }
        const int steps = 1 + (int)(hypot(sx[1] - sx[0], sy[1] - sy[0]) / CELL);
        for (int k = 0; k <= steps; k++) {
            const double u = sx[0] + (sx[1] - sx[0]) * k / steps, v = sy[0] + (sy[1] - sy[0]) * k / steps;
            cover(l, u - half, v - half, u + half, v + half);
        }
        for (size_t k = n ? 1 : 0; k < 2; k++, n++) {
            x[n] = sx[k];
            y[n] = sy[k];
        }
    }
    page_line(&l->page, x, y, n, stroke_of(line));
    return OK;
}

/* Lines of many points have a mark at some of them. */
static bool is_marked(const PlotLine *line, size_t i)
{
    const size_t every = line->count > 24 ? line->count / 8 : 1;
    return !line->grey && (line->style == LINE_MARKED || line->style == LINE_THIN) &&
           (i % every == 0 || i + 1 == line->count);
}

static Status draw_band(Layout *l, const Panel *p, const PlotLine *line)
{
    double *x = NEW(l->a, double, 2 * line->count), *y = NEW(l->a, double, 2 * line->count);
    size_t n = 0;
    TRY(arena_check(x && y, l->a, l->err));
    for (size_t k = 0; k < 2 * line->count; k++) {
        const PlotPoint *q = &line->point[k < line->count ? k : 2 * line->count - 1 - k];
        const double v = k < line->count ? q->low : q->high;
        if (!can_draw(p, q) || !isfinite(v) || q->x < p->x->least || q->x > p->x->most)
            continue;
        x[n] = px(p, q->x);
        y[n++] = fmin(p->top, fmax(p->bottom, p->y->log && !(v > 0) ? p->bottom : py(p, v)));
    }
    page_fill(&l->page, x, y, n, line->look.colour, true);
    return OK;
}

/* Notes where the bars or the band of a line are, and draws bars. */
static void draw_bars(Layout *l, const Panel *p, const PlotLine *line)
{
    for (size_t i = 0; i < line->count && !line->grey; i++) {
        const PlotPoint *q = &line->point[i];
        if (isnan(q->low) || !can_draw(p, q))
            continue;
        double x[2] = {px(p, q->x), px(p, q->x)}, y[2] = {p->y->log && !(q->low > 0) ? p->bottom : py(p, q->low), py(p, q->high)};
        if (!clip(p, x, y))
            continue;
        if (!line->band || y[1] - y[0] > 0.06)
            cover(l, x[0] - 0.02, y[0], x[0] + 0.02, y[1]);
        if (!line->band && y[1] - y[0] > 0.05) /* shorter ones are within the mark */
            page_line(&l->page, x, y, 2, (Stroke){line->look.colour, 0.6, 0});
    }
}

static Status draw_marks(Layout *l, const Panel *p, const PlotLine *line)
{
    double *x = NEW(l->a, double, line->count + 1), *y = NEW(l->a, double, line->count + 1);
    size_t n = 0;
    TRY(arena_check(x && y, l->a, l->err));
    for (size_t i = 0; i < line->count; i++) {
        const PlotPoint *q = &line->point[i];
        if (!is_marked(line, i) || !can_draw(p, q) || !is_inside(p, px(p, q->x), py(p, q->y)))
            continue;
        x[n] = px(p, q->x);
        y[n] = py(p, q->y);
        cover(l, x[n] - 0.035, y[n] - 0.035, x[n] + 0.035, y[n] + 0.035);
        n++;
    }
    page_marks(&l->page, x, y, n, line->look.mark, line->open, line->thick ? 0.55 : 0.45, line->look.colour);
    return OK;
}

static bool is_behind(const PlotLine *line)
{
    return line->grey || line->style == LINE_FAINT || line->style == LINE_GUIDE;
}

static Status draw_lines(Layout *l, const Panel *p)
{
    const PlotFigure *f = l->f;
    memset(l->cell, 0, (size_t)l->cells_wide * (size_t)l->cells_high);
    for (size_t i = 0; i < f->count; i++)
        if (f->line[i].band && !f->line[i].grey)
            TRY(draw_band(l, p, &f->line[i]));
    for (int pass = 0; pass < 3; pass++) /* those behind, the others, the thick ones */
        for (size_t i = 0; i < f->count; i++) {
            const PlotLine *line = &f->line[i];
            if (pass != (is_behind(line) ? 0 : line->thick ? 2 : 1))
                continue;
            TRY(draw_path(l, p, line));
            draw_bars(l, p, line);
            TRY(draw_marks(l, p, line));
        }
    return OK;
}

/* ---- names ---- */

typedef struct {
    PlotLine **line;
    size_t count;
    double widest;
} Named;

/* False for a line that --xlim or --last leaves out. */
static bool is_seen(const PlotFigure *f, const PlotLine *line)
{
    for (size_t i = 0; i < line->count; i++)
        if (line->point[i].x >= f->x.least && line->point[i].x <= f->x.most)
            return true;
    return false;
}

static Status named_lines(Layout *l, Named *out)
{
    *out = (Named){.line = NEW(l->a, PlotLine *, l->f->count + 1)};
    TRY(arena_check(out->line, l->a, l->err));
    for (size_t i = 0; i < l->f->count; i++) {
        PlotLine *line = &l->f->line[i];
        if (!line->label || line->grey || !is_seen(l->f, line))
            continue;
        out->line[out->count++] = line;
        out->widest = fmax(out->widest, text_inches(line->label, l->page.points));
    }
    return OK;
}

static const PlotPoint *last_point(const Panel *p, const PlotLine *line)
{
    for (size_t i = line->count; i-- > 0;)
        if (can_draw(p, &line->point[i]) && is_inside(p, px(p, line->point[i].x), py(p, line->point[i].y)))
            return &line->point[i];
    return NULL;
}

/* Names right of the panel at the heights of the ends of their lines, moved apart; false: an end is elsewhere, or a name
 * would be far from its line. */
static bool place_column(const Layout *l, const Panel *p, const Named *names, double *y)
{
    const double apart = 1.1 * l->em;
    size_t *order = NEW(l->a, size_t, names->count);
    double *moved = NEW(l->a, double, names->count);
    if (!order || !moved || (double)names->count * apart > p->top - p->bottom + apart)
        return false;
    for (size_t i = 0; i < names->count; i++) {
        const PlotPoint *end = last_point(p, names->line[i]);
        if (!end || px(p, end->x) < p->right - 0.08 * (p->right - p->left))
            return false;
        y[i] = py(p, end->y);
        size_t to = i;
        for (; to > 0 && y[order[to - 1]] > y[i]; to--)
            order[to] = order[to - 1];
        order[to] = i;
    }
    for (size_t k = 0; k < names->count; k++)
        moved[k] = y[order[k]];
    for (int turn = 0; turn < 400; turn++)
        for (size_t k = 1; k < names->count; k++) {
            const double overlap = fmax(0, apart - (moved[k] - moved[k - 1]));
            moved[k - 1] = fmax(moved[k - 1] - 0.5 * overlap, p->bottom);
            moved[k] = fmin(moved[k] + 0.5 * overlap, p->top);
        }
    for (size_t k = 0; k < names->count; k++)
        if (fabs(moved[k] - y[order[k]]) > 2.2 * l->em)
            return false;
    for (size_t k = 0; k < names->count; k++)
        y[order[k]] = moved[k];
    return true;
}

static void draw_column(Layout *l, const Panel *p, const Named *names, const double *y)
{
    for (size_t i = 0; i < names->count; i++) {
        const PlotLine *line = names->line[i];
        const PlotPoint *end = last_point(p, line);
        const double x = px(p, end->x), at = py(p, end->y);
        if (fabs(at - y[i]) > 0.5 * l->em)
            page_line(&l->page, (double[]){x + 0.03, p->right + 0.06}, (double[]){at, y[i]}, 2, (Stroke){line->look.colour, 0.4, 0});
        page_text(&l->page, p->right + 0.08, y[i], line->label, TEXT_LEFT, line->look.colour, l->page.points, 0, false);
    }
}

typedef struct {
    double x, y;
} Place;

/* Finds a free place in the panel for a text of w x h inches beside a point, and covers it. */
static bool find_side(Layout *l, const Panel *p, const PlotPoint *q, double w, double h, Place *out)
{
    static const double side[][2] = {{1, 0}, {0, 1}, {0, -1}, {1, 1}, {1, -1}, {-1, 0}, {-1, 1}, {-1, -1}};
    for (size_t s = 0; s < countof(side); s++) {
        const double x = px(p, q->x) + side[s][0] * (0.5 * w + 0.065), y = py(p, q->y) + side[s][1] * (0.5 * h + 0.05);
        const double left = x - 0.5 * w, right = x + 0.5 * w, low = y - 0.5 * h, high = y + 0.5 * h;
        if (left < p->left + 0.02 || right > p->right + 0.03 || low < p->bottom + 0.01 || high > p->top + 0.02 ||
            !is_free(l, left, low, right, high))
            continue;
        cover(l, left - 0.02, low, right + 0.02, high);
        *out = (Place){x, y};
        return true;
    }
    return false;
}

static bool place_names(Layout *l, const Panel *p, const Named *names, Place *place)
{
    for (size_t i = 0; i < names->count; i++) {
        const PlotPoint *end = last_point(p, names->line[i]);
        if (!end || !find_side(l, p, end, text_inches(names->line[i]->label, l->page.points), l->em, &place[i]))
            return false;
    }
    return true;
}

/* Finds the place in the panel for a key of w x h inches with the most room around it. */
static bool find_room(const Layout *l, const Panel *p, double w, double h, double *left, double *top)
{
    for (double pad = 0.16; pad >= 0.02; pad -= 0.02)
        for (double y = p->top - (pad < 0.06 ? pad : 0.05); y - h > p->bottom + 0.03; y -= CELL)
            for (double x = p->right - w - 0.02; x > p->left + 0.04; x -= CELL) {
                const double reach = fmin(l->page.wide - 0.001, x + w + pad), high = fmin(l->page.tall - 0.001, y + pad);
                if (!is_free(l, x - pad, y - h - pad, reach, high))
                    continue;
                *left = x;
                *top = y;
                return true;
            }
    return false;
}

/* ---- the figure ---- */

static void range_of(const Layout *l, bool across, double *least, double *most)
{
    const PlotAxis *axis = across ? &l->f->x : &l->f->y;
    *least = INFINITY;
    *most = -INFINITY;
    for (size_t k = 0; k < l->f->count; k++) {
        const PlotLine *line = &l->f->line[k];
        for (size_t i = 0; i < line->count && line->style != LINE_GUIDE; i++) {
            const PlotPoint *q = &line->point[i];
            const double v[] = {across ? q->x : q->y, across ? q->x : q->low, across ? q->x : q->high};
            const bool hidden = !across && (q->x < l->f->x.least || q->x > l->f->x.most);
            for (size_t j = 0; j < 3 && !hidden; j++) {
                const bool far = axis->log && j == 1 && v[1] < 0.1 * q->y; /* a bar that leaves a logarithmic axis */
                if (!isfinite(v[j]) || !isfinite(q->y) || (axis->log && !(v[j] > 0)) || far)
                    continue;
                *least = fmin(*least, v[j]);
                *most = fmax(*most, v[j]);
            }
        }
    }
}

static void fit_axes(Layout *l)
{
    double least, most;
    range_of(l, true, &least, &most);
    if (l->f->o->last > 0 && isnan(l->f->x.least) && most > least) {
        least = most - l->f->o->last * (most - least);
        l->f->x.least = least;
    }
    axis_fit(&l->f->x, least, most);
    range_of(l, false, &least, &most);
    axis_fit(&l->f->y, least, most);
}

static Status open_cells(Layout *l)
{
    l->cells_wide = (int)(l->page.wide / CELL) + 1;
    l->cells_high = (int)(l->page.tall / CELL) + 1;
    l->cell = NEW_ZERO(l->a, unsigned char, (size_t)l->cells_wide *(size_t)l->cells_high);
    return arena_check(l->cell, l->a, l->err);
}

static Panel panel_of(Layout *l, double right, double foot)
{
    Panel p = {.x = &l->f->x, .y = &l->f->y, .right = l->page.wide - right, .top = l->page.tall - fmax(0.05, 0.6 * l->em)};
    p.bottom = foot + axis_room_below(l, p.x) + 0.02;
    p.left = axis_room_left(l, p.y, p.top - p.bottom) + 0.02;
    return p;
}

static void axis_titles(Layout *l, double left, double right, double bottom, double top, double foot)
{
    axis_title(l, &l->f->x, 0.5 * (left + right), foot + 0.8 * l->em, 0);
    axis_title(l, &l->f->y, 0.02 + 0.62 * l->em, 0.5 * (bottom + top), 90);
}

/* Writes the rates beside the points, and those for which there is no room into `unplaced`. */
static void draw_rates(Layout *l, const Panel *p)
{
    const double size = l->page.points - 1;
    Place at;
    for (size_t k = 0; k < l->f->count; k++)
        for (size_t i = 0; i < l->f->line[k].count && !is_behind(&l->f->line[k]); i++) {
            const PlotPoint *q = &l->f->line[k].point[i];
            if (!q->rate || !can_draw(p, q))
                continue;
            if (find_side(l, p, q, text_inches(q->rate, size), size / 72, &at))
                page_text(&l->page, at.x, at.y, q->rate, TEXT_CENTER, l->f->line[k].look.colour, size, 0, false);
            else
                text_addf(&l->unplaced, "%s%s %s", l->unplaced.size ? ", " : "", l->f->line[k].name, q->rate);
        }
}

/* Where the names stand: `place`, or a column at the heights `y` right of the panel, or a key. */
typedef struct {
    Page clean; /* without the panel */
    KeyPlace key;
    Panel panel;
    bool column;
    double *y;
    Place *place;
    double left, right, top; /* of the key */
} Choice;

/* Draws a panel with its lines in place of the one before. */
static Status draw_panel(Layout *l, Choice *c, Panel p)
{
    l->page = c->clean;
    c->panel = p;
    panel_axes(l, &p, true, true);
    return draw_lines(l, &p);
}

static const double SAMPLE_WIDE = 0.29;

static void choose_inside(Layout *l, const Named *names, Choice *c)
{
    const double one = SAMPLE_WIDE + names->widest + 0.9 * l->em;
    for (size_t columns = 1; columns <= 3 && c->key == KEY_AUTO; columns++) {
        const size_t rows = (names->count + columns - 1) / columns;
        const double wide = (double)columns * one - 0.85 * l->em;
        if (wide > 0.9 * (c->panel.right - c->panel.left) ||
            !find_room(l, &c->panel, wide, 1.25 * l->em * (double)rows, &c->left, &c->top))
            continue;
        c->right = c->left + wide;
        c->key = KEY_INSIDE;
    }
}

/* A key right of the panel, or below the title of its axis, for which the page grows if it may. */
static Status choose_outside(Layout *l, const Named *names, Choice *c, bool right)
{
    const double high = key_block(l, names->line, names->count, 0.06, l->page.wide - 0.04, 0, false) + 0.06;
    if (!right && !l->tall_given) {
        l->page.tall = c->clean.tall += high;
        TRY(open_cells(l));
    }
    const Panel p = right ? panel_of(l, SAMPLE_WIDE + names->widest + 0.14, 0) : panel_of(l, 0.06, high);
    c->key = right ? KEY_RIGHT : KEY_BELOW;
    c->left = right ? p.right + 0.08 : 0.06;
    c->right = right ? l->page.wide : l->page.wide - 0.04;
    c->top = right ? p.top + 0.1 * l->em : high - 0.02;
    return draw_panel(l, c, p);
}

/* Finds a place for the names, and draws the panel. */
static Status choose(Layout *l, const Named *names, Choice *c)
{
    const KeyPlace asked = names->count ? (KeyPlace)l->f->o->key : KEY_NONE;
    const bool ends = asked == KEY_AUTO || asked == KEY_ENDS;
    const Panel narrow = panel_of(l, names->widest + 0.12, 0), wide = panel_of(l, 0.06, 0);
    *c = (Choice){.y = NEW(l->a, double, names->count + 1), .place = NEW(l->a, Place, names->count + 1), .clean = l->page};
    TRY(arena_check(c->y && c->place, l->a, l->err));
    c->key = asked == KEY_NONE ? KEY_NONE : KEY_AUTO;
    c->column = ends && (names->count > 1 || asked == KEY_ENDS) && names->widest < 0.38 * l->page.wide && place_column(l, &narrow, names, c->y);
    if (asked != KEY_RIGHT && asked != KEY_BELOW)
        TRY(draw_panel(l, c, c->column ? narrow : wide));
    if (ends && (c->column || place_names(l, &wide, names, c->place)))
        c->key = KEY_ENDS;
    if (c->key == KEY_AUTO && (ends || asked == KEY_INSIDE)) {
        TRY(draw_panel(l, c, wide));
        choose_inside(l, names, c);
    }
    if (c->key != KEY_AUTO)
        return OK;
    const bool fits = SAMPLE_WIDE + names->widest < 0.36 * l->page.wide && 1.25 * l->em * (double)names->count < l->page.tall - 0.3;
    return choose_outside(l, names, c, asked == KEY_RIGHT || (asked != KEY_BELOW && fits));
}

static void draw_names(Layout *l, const Named *names, const Choice *c)
{
    if (c->key == KEY_ENDS && c->column)
        draw_column(l, &c->panel, names, c->y);
    else if (c->key == KEY_ENDS)
        for (size_t i = 0; i < names->count; i++)
            page_text(&l->page, c->place[i].x, c->place[i].y, names->line[i]->label, TEXT_CENTER, names->line[i]->look.colour,
                      l->page.points, 0, false);
    else if (c->key != KEY_NONE) {
        (void)key_block(l, names->line, names->count, c->left, c->right, c->top, true);
        if (c->key == KEY_INSIDE)
            cover(l, c->left, c->top - key_block(l, names->line, names->count, c->left, c->right, c->top, false), c->right, c->top);
    }
}

static Status draw_one(Layout *l, const Named *names)
{
    Choice c;
    TRY(choose(l, names, &c));
    const Panel *p = &c.panel;
    axis_titles(l, p->left, p->right, p->bottom, p->top, c.key == KEY_BELOW ? p->bottom - axis_room_below(l, p->x) : 0);
    draw_names(l, names, &c);
    if (l->f->o->rates)
        draw_rates(l, p);
    return OK;
}

/* ---- small panels, one for each colour, or for each line ---- */

enum { FAMILIES = 16 };
typedef struct {
    PlotLine *first[FAMILIES]; /* of each family */
    PlotLine **line;           /* of the family at hand */
    size_t count, lines;
} Families;

static bool are_family(const Layout *l, const PlotLine *one, const PlotLine *other)
{
    return one == other || (!l->f->apart && !strcmp(one->look.colour, other->look.colour));
}

static void find_families(const Layout *l, const Named *names, Families *out)
{
    for (size_t i = 0; i < names->count; i++) {
        size_t k = 0;
        while (k < out->count && !are_family(l, out->first[k], names->line[i]))
            k++;
        if (k == out->count && k < FAMILIES)
            out->first[out->count++] = names->line[i];
    }
}

/* Returns the height of the family's key in a panel of this width. */
static double take_family(Layout *l, const Named *names, Families *f, size_t k, double wide)
{
    f->lines = 0;
    for (size_t i = 0; i < names->count; i++)
        if (are_family(l, f->first[k], names->line[i]))
            f->line[f->lines++] = names->line[i];
    return key_block(l, f->line, f->lines, 0, wide, 0, false) + 0.05;
}

/* Draws the lines of one family as they are and the others in grey. */
static Status draw_family(Layout *l, const Panel *p, const PlotLine *first)
{
    for (size_t i = 0; i < l->f->count; i++)
        if (!is_behind(&l->f->line[i]))
            l->f->line[i].grey = !are_family(l, first, &l->f->line[i]);
    TRY(draw_lines(l, p));
    if (l->f->o->rates)
        draw_rates(l, p);
    for (size_t i = 0; i < l->f->count; i++)
        l->f->line[i].grey = false;
    return OK;
}

static Status draw_facets(Layout *l, const Named *names, Families *fam)
{
    const size_t columns = l->page.wide < 4.5 ? 2 : l->page.wide < 6 ? 3 : 4, rows = (fam->count + columns - 1) / columns;
    const double gap = 0.14, left = axis_room_left(l, &l->f->y, 0.8) + 0.02, right = l->page.wide - 0.08;
    const double wide = (right - left - gap * (double)(columns - 1)) / (double)columns, below = axis_room_below(l, &l->f->x) + 0.02;
    double strip[FAMILIES] = {0}, strips = -0.1;
    for (size_t k = 0; k < fam->count; k++)
        strip[k / columns] = fmax(strip[k / columns], take_family(l, names, fam, k, wide));
    for (size_t r = 0; r < rows; r++)
        strips += strip[r] + 0.1;
    if (!l->tall_given)
        l->page.tall = 0.6 * wide * (double)rows + strips + below;
    const double high = (l->page.tall - strips - below) / (double)rows;
    if (high < 0.3)
        return FAIL(l->err, ERR_USAGE, "--height: %zu rows of panels with their names do not fit", rows);
    double top = l->page.tall - 0.02;
    for (size_t r = 0; r < rows; r++) {
        for (size_t c = 0; c < columns && r * columns + c < fam->count; c++) {
            const size_t k = r * columns + c;
            const double x = left + (double)c * (wide + gap);
            const Panel p = {x, x + wide, top - strip[r] - high, top - strip[r], &l->f->x, &l->f->y, c + 1 < columns && k + 1 < fam->count};
            const double key = take_family(l, names, fam, k, wide);
            panel_axes(l, &p, k + columns >= fam->count, c == 0);
            TRY(draw_family(l, &p, fam->first[k]));
            (void)key_block(l, fam->line, fam->lines, x, x + wide, p.top + key, true);
        }
        top -= strip[r] + high + 0.1;
    }
    axis_titles(l, left, right, below, l->page.tall, 0);
    return OK;
}

enum { COLOURS_MOST = 10 }; /* the most lines that one panel shows with colours */

Status layout_lines(Layout *l)
{
    Named names;
    Families families = {0};
    const int facet = l->f->o->facet;
    l->unplaced.arena = l->a;
    fit_axes(l);
    TRY(open_cells(l));
    TRY(named_lines(l, &names));
    find_families(l, &names, &families);
    families.line = names.count ? NEW(l->a, PlotLine *, names.count) : NULL;
    if (families.count > 1 && (facet == FACET_FAMILY || (facet == FACET_AUTO && (l->f->apart || names.count > COLOURS_MOST))) && families.line)
        TRY(draw_facets(l, &names, &families));
    else
        TRY(draw_one(l, &names));
    const char *unplaced = text_done(&l->unplaced);
    TRY(arena_check(unplaced, l->a, l->err));
    if (*unplaced)
        text_addf(&l->f->caption, " No room for the rates of %s.", unplaced);
    return OK;
}
