/* plot_page.c -- writes a page as a gnuplot script (plot_layout.h), draws axes with their numbers, and keys. gnuplot sees one
 * plot without axes whose coordinates are inches, so every terminal draws the same page. */
#include "report/plot_layout.h"
#include "report/report_table.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* gnuplot's points for the marks 0 to 5. The last has no inside: a cross, and a plus as its open form. */
static const int filled_marks[] = {7, 5, 9, 13, 11, 2}, open_marks[] = {6, 4, 8, 12, 10, 1};
static const char *const dashes[PAGE_DASHES] = {"solid", "(6,2.5)", "(2,2)", "(7,2.5,2,2.5)", "(7,2.5,2,2.5,2,2.5)", "(1,2.5)"};
static const char *const dark_of[][2] = {{"#000000", "#e8e8e8"}, {"#0072b2", "#5ab4ec"}, {"#c14a00", "#ff8a45"},
                                         {"#962a74", "#e48bc8"}, {"#00704d", "#4fc79c"}, {"#7a4f00", "#d9a94e"},
                                         {"#5a3ec8", "#a592ff"}, {"#6e1440", "#e8719f"}};

/* ---- text ---- */

double text_inches(const char *text, double points)
{
    static const struct {
        const char *letters;
        double em;
    } widths[] = {{"'ijl", 0.28}, {" ,./:;|\\-f()[]!tIJr", 0.4}, {"sz?c\"_*`LF", 0.575}, {"mMW@%", 1.0},
                  {"#+<=>^~wABCDGHKNOQRTUVXYZ&", 0.8}};
    double em = 0;
    for (const char *s = text; *s; s++) {
        double letter = 0.64;
        for (size_t i = 0; i < countof(widths); i++)
            letter = strchr(widths[i].letters, *s) ? widths[i].em : letter;
        em += ((unsigned char)*s & 0xc0) == 0x80 ? 0 : letter; /* no more for the further bytes of a character */
    }
    return em * points / 72;
}

/* Returns `text` for LaTeX, in which parts between two $ are mathematics. NULL: out of memory. */
static char *text_tex(const char *text, Arena *a)
{
    TextBuf out = {.arena = a};
    for (const char *s = text, *end; *s; s = end) {
        const char *close = *s == '$' ? strchr(s + 1, '$') : NULL;
        end = close ? close + 1 : s + 1 + strcspn(s + 1, "$");
        const char *part = text_slice(a, s, (size_t)(end - s));
        close ? text_add(&out, part ? part : "") : report_put_tex(&out, part ? part : "");
    }
    return text_done(&out);
}

/* Adds a text in apostrophes, without control characters. An apostrophe within it stands between them as a code: gnuplot misreads doubled ones at the beginning. */
static void add_quoted(TextBuf *out, const char *text)
{
    const char *shown = text_printable(out->arena, text);
    text_add(out, "'");
    for (const char *s = shown ? shown : ""; *s; s++)
        if (*s == '\'')
            text_add(out, "'.\"\\047\".'");
        else
            text_add_bytes(out, s, 1);
    text_add(out, "'");
}

static const char *ink(const Page *p, const char *colour)
{
    for (size_t i = 0; p->dark && i < countof(dark_of); i++)
        if (!strcmp(colour, dark_of[i][0]))
            return dark_of[i][1];
    return colour;
}

void page_text(Page *p, double x, double y, const char *text, TextSide side, const char *colour, double size, int angle,
               bool markup)
{
    static const char *const sides[] = {"left", "center", "right"};
    const char *shown = text;
    if (p->tex) {
        const char *tex = markup ? text : text_tex(text, p->a);
        shown = text_format(p->a, "{\\fontsize{%g}{%g}%s\\selectfont %s}", size, size * 1.2, p->serif ? "" : "\\sffamily", tex ? tex : "");
    }
    text_add(&p->labels, "set label ");
    add_quoted(&p->labels, shown ? shown : "");
    text_addf(&p->labels, " at first %.4f,%.4f %s rotate by %d %s textcolor rgb '%s'", x, y, sides[side], angle,
              markup && !p->tex ? "enhanced" : "noenhanced", ink(p, colour));
    if (!p->tex)
        text_addf(&p->labels, " font ',%g'", !strcmp(p->ending, ".svg") ? size * 96 / 72 : size);
    text_add(&p->labels, "\n");
}

/* ---- strokes ---- */

/* LaTeX has no dashes: it puts a dot at each point of a dotted line. These are at even distances. */
enum { DOTS_AN_INCH = 28 };
static void add_dots(Page *p, const double *x, const double *y, size_t n)
{
    double left = 0;
    for (size_t i = 0; i + 1 < n; i++) {
        const double length = hypot(x[i + 1] - x[i], y[i + 1] - y[i]);
        double at = left;
        for (; at < length; at += 1.0 / DOTS_AN_INCH)
            text_addf(&p->blocks, "%.4f %.4f\n", x[i] + at / length * (x[i + 1] - x[i]), y[i] + at / length * (y[i + 1] - y[i]));
        left = at - length;
    }
}

/* Adds a block with the points, and begins the clause that draws them. */
static void add_block(Page *p, const double *x, const double *y, size_t n, bool dots)
{
    text_addf(&p->blocks, "$b%d << END\n", ++p->count);
    if (dots)
        add_dots(p, x, y, n);
    for (size_t i = 0; i < n && !dots; i++)
        text_addf(&p->blocks, "%.4f %.4f\n", x[i], y[i]);
    text_addf(&p->blocks, "END\n");
    text_addf(&p->plot, "%s$b%d using 1:2 ", p->count > 1 ? ", \\\n  " : "", p->count);
}

void page_line(Page *p, const double *x, const double *y, size_t n, Stroke s)
{
    const bool dots = p->tex && s.dash;
    if (n < 2)
        return;
    add_block(p, x, y, n, dots);
    /* LaTeX dots keep the colour of the first line with their size, so each line has its own */
    text_addf(&p->plot, "with lines lw %g dt %s lc rgb '%s'", s.width + (p->tex ? 0.002 * p->count : 0), dots ? "2" : dashes[s.dash % PAGE_DASHES],
              ink(p, s.colour));
}

void page_marks(Page *p, const double *x, const double *y, size_t n, int mark, bool open, double size, const char *colour)
{
    if (!n)
        return;
    add_block(p, x, y, n, false);
    text_addf(&p->plot, "with points pt %d ps %g lw 0.8 lc rgb '%s'", (open ? open_marks : filled_marks)[mark % 6], size, ink(p, colour));
}

void page_fill(Page *p, const double *x, const double *y, size_t n, const char *colour, bool transparent)
{
    unsigned rgb = 0;
    const char *shown = ink(p, colour);
    if (n < 3 || sscanf(shown, "#%6x", &rgb) != 1)
        return;
    add_block(p, x, y, n, false);
    if (transparent && p->tex) /* LaTeX has no transparency */
        for (unsigned k = 0; k < 24; k += 8)
            rgb += (unsigned)(0.8 * (255 - (rgb >> k & 255))) << k;
    text_addf(&p->plot, "with filledcurves closed fs solid 1 noborder fc rgb 0x%08x", (transparent && !p->tex ? 0xcc000000u : 0) + rgb);
}

/* ---- the script ---- */

static void add_terminal(const Page *p, TextBuf *out)
{
    const char *paper = p->dark ? "#14171a" : "#ffffff", *face = p->serif ? "Times New Roman,Nimbus Roman,Times,serif" : "Helvetica,Arial,sans-serif",
               *one = p->serif ? "Times" : "Helvetica";
    if (!strcmp(p->ending, ".pdf"))
        text_addf(out, "set terminal pdfcairo size %.4f,%.4f font '%s,%g' fontscale 0.75 linewidth 2%s", p->wide, p->tall, one, p->points,
                  p->dark ? " background rgb '#14171a'" : "");
    else if (!strcmp(p->ending, ".svg"))
        text_addf(out, "set terminal svg size %.0f,%.0f fixed font '%s,%g' linewidth 1.3 background rgb '%s'", p->wide * 96, p->tall * 96, face,
                  p->points * 96 / 72, paper);
    else if (!strcmp(p->ending, ".png"))
        text_addf(out, "set terminal pngcairo size %.0f,%.0f font '%s,%g' fontscale 3.125 linewidth 4.2 pointscale 3 dashlength 1 background rgb '%s'",
                  p->wide * 300, p->tall * 300, one, p->points, paper);
    else
        text_addf(out, "set terminal pict2e size %.4f,%.4f font 'cmss,%g' color tinypoints gparrows linewidth 2.2", p->wide, p->tall, p->points);
}

char *page_script(Page *p)
{
    static const char *const needs[][2] = {{".pdf", "pdfcairo"}, {".svg", "svg"}, {".png", "pngcairo"}, {".tex", "pict2e"}};
    TextBuf out = {.arena = p->a};
    for (size_t i = 0; i < countof(needs); i++)
        if (!strcmp(needs[i][0], p->ending))
            text_addf(&out, "if (!strstrt(' '.GPVAL_TERMINALS.' ', ' %s ')) {\n  print 'it has no terminal %s: the package gnuplot-nox has it; "
                            ".svg needs no more than gnuplot itself'\n  exit status 1\n}\n", needs[i][1], needs[i][1]);
    text_add(&out, "set encoding utf8\n");
    add_terminal(p, &out);
    text_addf(&out, "\nunset border; unset tics; unset key\nset lmargin at screen 0; set rmargin at screen 1\n"
                    "set bmargin at screen 0; set tmargin at screen 1\nset xrange [0:%.4f]; set yrange [0:%.4f]\n",
              p->wide, p->tall);
    const char *blocks = text_done(&p->blocks), *labels = text_done(&p->labels), *plot = text_done(&p->plot);
    if (!blocks || !labels || !plot)
        return NULL;
    text_addf(&out, "%s%splot %s\nset output\n", blocks, labels, *plot ? plot : "-1");
    return text_done(&out);
}

/* ---- axes ---- */

static double unbroken(const PlotAxis *axis, double v)
{
    return axis->cut > 0 && v > axis->cut_from ? fmax(axis->cut_from, v - axis->cut) : v;
}

double axis_place(const PlotAxis *axis, double value, double from, double to)
{
    const double v = unbroken(axis, value);
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
    if (axis->log) {
        least = least > 0 ? least : most > 0 ? most * 1e-3 : 1e-3;
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
    bool power; /* written as 10^k */
    size_t count, minors;
} Ticks;

static void add_tick(Ticks *t, const PlotAxis *axis, double value)
{
    const double v = unbroken(axis, value);
    const double slack = axis->log ? 0 : 1e-9 * (axis->most - axis->least);
    if (t->count < countof(t->at) && v >= axis->least * (axis->log ? 0.9999 : 1) - slack && v <= axis->most * (axis->log ? 1.0001 : 1) + slack)
        t->at[t->count++] = value;
}

static void log_ticks(Ticks *t, const PlotAxis *axis, int every, double inches)
{
    const double decades = log10(axis->most / axis->least);
    const int from = (int)floor(log10(axis->least)), to = (int)ceil(log10(axis->most));
    const bool fine = every == 1 && (decades < 1.3 || to - from < 3), thirds = every == 1 && !fine && to - from < 4 && inches > 1.2;
    *t = (Ticks){0};
    for (int k = from; k <= to; k++) {
        if (((k % every) + every) % every == 0)
            add_tick(t, axis, pow(10, k));
        for (int m = 2; m < 10 && every == 1; m++) {
            const double v = m * pow(10, k);
            if (fine ? m == 2 || m == 5 : thirds && m == 3)
                add_tick(t, axis, v);
            else if (t->minors < countof(t->minor) && v > axis->least && v < axis->most)
                t->minor[t->minors++] = v;
        }
    }
    for (size_t i = 0; i < t->count; i++)
        t->power |= !fine && !thirds && !(t->at[i] > 0.00999 && t->at[i] < 1001);
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
    } else if (axis->cut > 0) { /* 0, and round numbers behind the break */
        const double step = round_step((axis->most - axis->cut_from) / 3), first = ceil((axis->cut_from * 1.4 + axis->cut) / step);
        add_tick(&t, axis, 0);
        for (double k = first; k * step - axis->cut < axis->most; k++)
            add_tick(&t, axis, k * step);
    } else if (axis->log && axis->most > 4 * axis->least) {
        int every = (int)fmax(1, ceil(log10(axis->most / axis->least) / fmax(2, inches / 0.35)));
        for (; every > 0 && t.count < 2; every--)
            log_ticks(&t, axis, every, inches);
    } else {
        for (double n = fmax(2, fmin(6, inches / 0.45)); t.count < 3 && n < 20; n++) { /* at least three numbers */
            const double step = round_step((axis->most - axis->least) / n);
            t.count = 0;
            for (double k = ceil(axis->least / step - 1e-9); k * step <= axis->most + 1e-9 * step && t.count < 40; k++)
                add_tick(&t, axis, k * step);
        }
    }
    return t;
}

static const char *tick_text(const Layout *l, const Ticks *t, size_t i, char out[64])
{
    if (t->power)
        snprintf(out, 64, l->page.tex ? "$10^{%.0f}$" : "10^{%.0f}", log10(t->at[i]));
    else
        snprintf(out, 64, "%.6g", fabs(t->at[i]) < 1e-12 ? 0 : t->at[i]);
    return out;
}

static double tick_wide(const Layout *l, const Ticks *t, size_t i)
{
    char text[64];
    return t->power ? 2.6 * l->em : text_inches(tick_text(l, t, i, text), l->page.points);
}

double axis_room_left(Layout *l, const PlotAxis *axis, double inches)
{
    const Ticks t = ticks_of(axis, inches);
    double widest = 0;
    for (size_t i = 0; i < t.count; i++)
        widest = fmax(widest, tick_wide(l, &t, i));
    return widest + 0.09 + (*axis->title ? 1.5 * l->em : 0);
}

void axis_title(Layout *l, const PlotAxis *axis, double x, double y, int angle)
{
    page_text(&l->page, x, y, l->page.tex && axis->tex ? axis->tex : axis->title, TEXT_CENTER, INK, l->page.points, angle, true);
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
        const bool meets = across && p->beside && at + half > p->right + 0.02;
        if (minor || !numbers || meets || at - half < last + 0.3 * l->em)
            continue;
        last = at + half;
        const double lift = across ? fmax(0, at + half + 0.02 - l->page.wide) : 0; /* the last number stays on the page */
        if (across)
            page_text(&l->page, at - lift, foot - 0.05 - 0.6 * l->em, tick_text(l, &t, i, text), TEXT_CENTER, INK, l->page.points, 0, t.power);
        else
            page_text(&l->page, foot - 0.06, at, tick_text(l, &t, i, text), TEXT_RIGHT, INK, l->page.points, 0, t.power);
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
