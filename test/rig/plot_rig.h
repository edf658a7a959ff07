/* plot_rig.h -- helpers of tests: draw a figure in a temporary folder, and return the rows of data that it
 * shows. */
#ifndef ATOMO_PLOT_RIG_H
#define ATOMO_PLOT_RIG_H

#include "rig/check.h"
#include "report/plot.h"

#include <sys/stat.h>
#include <unistd.h>

static Error err;
static Arena *a;
static char folder[] = "/tmp/atomo-figure.XXXXXX";
static bool drawing; /* gnuplot is installed */

static int set_up(void **state)
{
    static bool asked;
    char *version, *terminals;
    a = arena_open(0);
    if (!asked)
        drawing = gnuplot_ask(&version, &terminals, NULL, a, &err) == OK;
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
#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

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

static inline Status draw(const char *kind, const char *data, const char *figure)
{
    const PlotJob job = {.kind = kind, .data = {&data, 1}, .figure = figure};
    return plot_draw(&job, a, &err);
}

/* Draws a figure from CSV data, `width` wide (as --width takes it, or NULL), and returns the content of the figure's file
 * as text. */
static inline const char *drawn_wide(const char *kind, const char *text, const char *figure,
                                     const char *width)
{
    static const char *const files[] = {"data.csv"};
    const PlotJob job = {.kind = kind, .data = {(const char **)files, 1}, .figure = figure, .width = width};
    write_file("data.csv", text);
    check_ok(plot_draw(&job, a, &err), &err);
    return contents(figure);
}

static inline const char *drawn(const char *kind, const char *text, const char *figure)
{
    return drawn_wide(kind, text, figure, NULL);
}

static inline void check_has(const char *figure, const char *want)
{
    if (!strstr(figure, want))
        print_error("not drawn: %s\n", want);
    check(strstr(figure, want));
}

/* Returns the length of the longest error bar (a line with a stroke at either end) in an SVG figure. Returns 0
 * if there is none. */
static inline double longest_bar(const char *svg)
{
    double longest = 0;
    for (const char *path = svg; (path = strstr(path, " d='M")); path++) {
        double x[6], y[6];
        const int read = sscanf(path, " d='M%lf,%lf L%lf,%lf M%lf,%lf L%lf,%lf M%lf,%lf L%lf,%lf", x, y,
                                x + 1, y + 1, x + 2, y + 2, x + 3, y + 3, x + 4, y + 4, x + 5, y + 5);
        const bool strokes = read == 12 && hypot(x[2] + x[3] - 2 * x[0], y[2] + y[3] - 2 * y[0]) < 0.1 &&
                             hypot(x[4] + x[5] - 2 * x[1], y[4] + y[5] - 2 * y[1]) < 0.1;
        longest = strokes ? fmax(longest, hypot(x[1] - x[0], y[1] - y[0])) : longest;
    }
    return longest;
}

static inline Csv table_of(const char *text)
{
    Csv csv;
    check_ok(csv_parse(&csv, "test", text, strlen(text), a, &err), &err);
    return csv;
}

/* Returns picked rows as CSV text. */
static inline char *rows_text(const PlotKind *kind, const Value *rows, size_t count)
{
    Column columns[16] = {0};
    const size_t all = plot_columns(kind);
    for (size_t k = 0; k < all; k++)
        columns[k].name = kind->columns[k].name;
    const ReportSpec spec = {.columns = columns, .column_count = all, .format = FORMAT_CSV};
    return report_text(&spec, rows, count, a);
}

/* Returns, as text, the rows of CSV data that a figure of this kind shows. */
static inline char *picked(const PlotKind *kind, const char *text)
{
    const Csv csv = table_of(text);
    Value *rows;
    size_t count;
    check_ok(plot_rows(kind, &csv, &rows, &count, a, &err), &err);
    return rows_text(kind, rows, count);
}

static inline size_t rows_of(const PlotKind *kind, const char *text, Value **rows)
{
    const Csv csv = table_of(text);
    size_t count;
    check_ok(plot_rows(kind, &csv, rows, &count, a, &err), &err);
    return count;
}

static inline void check_refused(const PlotKind *kind, const char *text, const char *why)
{
    const Csv csv = table_of(text);
    Value *rows;
    size_t count;
    assert_int_equal(plot_rows(kind, &csv, &rows, &count, a, &err), ERR_CORRUPT);
    if (!strstr(err.text, why))
        print_error("%s\nwant %s\n", err.text, why);
    check(strstr(err.text, why));
}

#endif
