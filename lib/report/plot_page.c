/* plot_page.c -- writes a page as a gnuplot script (plot_layout.h). gnuplot sees one plot without axes whose coordinates are
 * inches, so every terminal draws the same page. */
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

void page_open(Page *p, const char *ending, Arena *a)
{
    p->ending = ending;
    p->tex = !strcmp(ending, ".tex");
    p->a = a;
    p->blocks = p->labels = p->plot = (TextBuf){.arena = a};
}

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
    char *shown = text_copy(out->arena, text);
    if (shown)
        text_make_printable(shown);
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
        shown = p->serif ? text_format(p->a, "{\\fontsize{%g}{%g}\\selectfont %s}", size, size * 1.2, tex ? tex : "")
                         : text_format(p->a, "{\\font\\gnuplot=cmss10 at %gpt \\gnuplot %s}", size, tex ? tex : "");
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

static int begin_block(Page *p)
{
    text_addf(&p->blocks, "$b%d << END\n", ++p->count);
    return p->count;
}

static void end_block(Page *p)
{
    text_addf(&p->blocks, "END\n");
    text_addf(&p->plot, "%s$b%d using 1:2 ", p->count > 1 ? ", \\\n  " : "", p->count);
}

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

void page_line(Page *p, const double *x, const double *y, size_t n, Stroke s)
{
    if (n < 2)
        return;
    begin_block(p);
    if (p->tex && s.dash)
        add_dots(p, x, y, n);
    else
        for (size_t i = 0; i < n; i++)
            text_addf(&p->blocks, "%.4f %.4f\n", x[i], y[i]);
    end_block(p);
    /* LaTeX dots keep the colour of the first line with their size, so each line has its own */
    text_addf(&p->plot, "with lines lw %g dt %s lc rgb '%s'", s.width + (p->tex ? 0.002 * p->count : 0),
              p->tex && s.dash ? "2" : dashes[s.dash % PAGE_DASHES], ink(p, s.colour));
}

void page_marks(Page *p, const double *x, const double *y, size_t n, int mark, bool open, double size, const char *colour)
{
    if (!n)
        return;
    begin_block(p);
    for (size_t i = 0; i < n; i++)
        text_addf(&p->blocks, "%.4f %.4f\n", x[i], y[i]);
    end_block(p);
    text_addf(&p->plot, "with points pt %d ps %g lw 0.8 lc rgb '%s'", (open ? open_marks : filled_marks)[mark % 6], size, ink(p, colour));
}

void page_fill(Page *p, const double *x, const double *y, size_t n, const char *colour, bool transparent)
{
    unsigned rgb = 0;
    const char *shown = ink(p, colour);
    if (n < 3 || sscanf(shown, "#%6x", &rgb) != 1)
        return;
    begin_block(p);
    for (size_t i = 0; i <= n; i++)
        text_addf(&p->blocks, "%.4f %.4f\n", x[i % n], y[i % n]);
    end_block(p);
    if (transparent && p->tex) /* LaTeX has no transparency */
        for (unsigned k = 0; k < 24; k += 8)
            rgb += (unsigned)(0.8 * (255 - (rgb >> k & 255))) << k;
    text_addf(&p->plot, "with filledcurves closed fs solid 1 noborder fc rgb 0x%08x", (transparent && !p->tex ? 0xcc000000u : 0) + rgb);
}

void page_box(Page *p, double left, double bottom, double right, double top, const char *colour)
{
    page_fill(p, (double[]){left, right, right, left}, (double[]){bottom, bottom, top, top}, 4, colour, false);
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
