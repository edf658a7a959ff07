/* plot_rig.h -- helpers of tests: draw a figure in a temporary folder, and return the rows of data that it
 * shows. */
#ifndef ATOMO_PLOT_RIG_H
#define ATOMO_PLOT_RIG_H

#include "rig/check.h"
#include "report/plot_figure.h"

#include <sys/stat.h>
#include <unistd.h>

static Error err;
static Arena *a;
static char folder[] = "/tmp/atomo-figure.XXXXXX";
static bool drawing; /* gnuplot is installed */

static int set_up(void **state)
{
    static bool asked;
    Drawing answer;
    a = arena_open(0);
    if (!asked)
        drawing = gnuplot_draw(&answer, "set print '-'\nprint 1\n", a, &err) == OK;
    asked = true;
    strcpy(folder + sizeof folder - 7, "XXXXXX");
    return mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}

static int tear_down(void **state)
{
    static const char *const left[] = {"data.csv", "more.csv", "f.svg",      "f.pdf",
                                       "f.png",    "f.tex",    "f.plot.csv", "gnuplot"};
    for (size_t i = 0; i < countof(left); i++)
        unlink(left[i]);
    arena_close(a);
    return chdir("/") || rmdir(folder) ? -1 : 0; /* rmdir fails when a test has left a file in the folder */
}
#define IN_FOLDER(test) TEST_BETWEEN(test, set_up, tear_down)

static inline bool no_gnuplot(void)
{
    if (!drawing)
        print_message("SKIP figures: there is no gnuplot here\n");
    return !drawing;
}

static inline void write_file(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    check(f && fputs(text, f) >= 0 && fclose(f) == 0);
}

/* Returns the contents of the file at `path`, or NULL when there is no such file. */
static inline char *contents(const char *path)
{
    struct stat now;
    if (stat(path, &now) != 0)
        return NULL;
    char *data = NEW_ZERO(a, char, (size_t)now.st_size + 1);
    FILE *f = fopen(path, "r");
    check(fread(data, 1, (size_t)now.st_size, f) == (size_t)now.st_size);
    fclose(f);
    return data;
}

static PlotSaid said;

static inline Status draw(const char *kind, const char *data, const char *figure)
{
    const PlotJob job = {.kind = kind, .data = {&data, 1}, .figure = figure};
    return plot_draw(&job, &said, a, &err);
}

/* Draws a figure from CSV data with these options, and returns the content of the figure's file as text. */
static inline const char *drawn_with(const char *kind, const char *text, const char *figure, PlotOptions look)
{
    static const char *const files[] = {"data.csv"};
    const PlotJob job = {.kind = kind, .data = {(const char **)files, 1}, .figure = figure, .look = look};
    write_file("data.csv", text);
    check_ok(plot_draw(&job, &said, a, &err), &err);
    return contents(figure);
}

static inline const char *drawn(const char *kind, const char *text, const char *figure)
{
    return drawn_with(kind, text, figure, (PlotOptions){0});
}

static inline void check_has(const char *figure, const char *want)
{
    if (!strstr(figure, want))
        print_error("not drawn: %s\n", want);
    check(strstr(figure, want));
}

static inline Csv table_of(const char *text)
{
    Csv csv;
    check_ok(csv_parse(&csv, "test", text, strlen(text), a, &err), &err);
    return csv;
}

static inline Status try_figure(const PlotKind *kind, const Csv *data, PlotOptions look, PlotFigure *f, char **script)
{
    look.x = look.x ? look.x : kind->against ? kind->against[0] : "";
    look.y = look.y ? look.y : kind->up ? kind->up[0] : "";
    PlotOptions *kept = NEW(a, PlotOptions, 1);
    *kept = look;
    return plot_script(kind, data, kept, ".svg", f, script, a, &err);
}

/* Returns the figure of CSV data, without drawing it. */
static inline PlotFigure figure_of(const PlotKind *kind, const char *text, PlotOptions look)
{
    const Csv csv = table_of(text);
    PlotFigure f;
    char *script;
    check_ok(try_figure(kind, &csv, look, &f, &script), &err);
    return f;
}

static inline const PlotLine *line_of(const PlotFigure *f, const char *name)
{
    for (size_t i = 0; i < f->count; i++)
        if (f->line[i].name && !f->line[i].same && !strcmp(f->line[i].name, name))
            return &f->line[i];
    print_error("no line %s\n", name);
    check(false);
    return NULL;
}

/* Returns a line's points as "x:y x:y". */
static inline const char *points_of(const PlotLine *l)
{
    TextBuf out = {.arena = a};
    for (size_t i = 0; i < l->count; i++)
        text_addf(&out, "%s%.4g:%.4g", i ? " " : "", l->point[i].x, l->point[i].y);
    return text_done(&out);
}

static inline void check_refused(const PlotKind *kind, const char *text, const char *why)
{
    const Csv csv = table_of(text);
    PlotFigure f;
    char *script;
    assert_int_equal(try_figure(kind, &csv, (PlotOptions){0}, &f, &script), ERR_CORRUPT);
    if (!strstr(err.text, why))
        print_error("%s\nwant %s\n", err.text, why);
    check(strstr(err.text, why));
}

#endif
