/* plot.h -- draws figures of results with gnuplot.
 *
 * Each kind of figure (pareto, spectrum, ...) has a gnuplot script in plots/ and a function that picks the
 * rows of the data to draw. The picked rows are also written to FIGURE.plot.csv, so that a user can draw the
 * figure again:
 *
 *     gnuplot -d -c plots/KIND.gp FIGURE.plot.csv FIGURE.pdf */
#ifndef ATOMO_PLOT_H
#define ATOMO_PLOT_H

#include "base/csv.h"
#include "report/report.h"

/* A column that a kind of figure reads from the data, or writes in its picked rows. */
typedef struct {
    const char *name;
    unsigned use; /* the bits below */
} PlotColumn;
enum {
    PLOT_NEEDED = 1, /* the data must have the column */
    PLOT_NUMBER = 2, /* in the data, its cells must be empty or numbers */
    PLOT_READ =
        4, /* read while rows are picked, but not copied to them; such columns are the last of a list */
};

typedef struct {
    const char *name;  /* also the name of its script */
    const char *brief; /* for --help */
    /* for messages, the command that writes the data: "atomo-bench merge writes with -o FILE.csv" */
    const char *source;
    /* the command of atomo-bench, with its options, that makes such data from a file of gradients: "inspect --spectrum";
     * NULL: none does */
    const char *of_gradients;

    /* The columns, in the order of the picked rows; the list ends in {0}. The last column of a row is a text:
     * gnuplot may miscount the columns after a text with quotes. */
    const PlotColumn *columns;
    /* the column of codec specs; each spec has its own colour, mark, dashes and label; NULL: no such column */
    const char *named;
    /* the choices of --x, the default first; NULL: this kind of figure has no option --x */
    const char *const *against;

    /* Called before rows are picked, to join records of several commands; NULL: nothing is joined. */
    Status (*join)(Csv *data, Arena *a, Error *err);
    /* Picks the rows to draw, as values of `columns`, from data that have all columns with PLOT_NEEDED. */
    Status (*pick)(const Csv *data, Value **rows, size_t *count, Arena *a, Error *err);
} PlotKind;

/* The kinds of figures. Each is defined in plot_KIND.c, except plot_errors and plot_merge (plot_compared.c),
 * and plot_iteration_time, plot_runtime and plot_break_even (plot_cost.c). The list plot_kinds is in the
 * order of --help and ends in NULL. */
extern const PlotKind plot_pareto, plot_errors, plot_spectrum, plot_histogram, plot_merge, plot_convergence;
extern const PlotKind plot_iteration_time, plot_runtime, plot_break_even;
extern const PlotKind *const plot_kinds[];

/* Picks the rows of `data` that a figure of this kind draws. Returns ERR_CORRUPT if a column is missing, with
 * a message that names the column. */
Status plot_rows(const PlotKind *kind, const Csv *data, Value **rows, size_t *count, Arena *a, Error *err);

/* Sets *text to the picked rows as the CSV that the gnuplot script reads. If kind->named is not NULL, the rows also
 * have the columns of `plot_dress`. `labels`: texts "SPEC=TEXT" of the option --label, or NULL. */
Status plot_text(const PlotKind *kind, const Csv *data, const TextList *labels, char **text, Arena *a,
                 Error *err);
size_t plot_columns(const PlotKind *kind); /* returns the number of columns of a picked row */

/* Called again and again while gnuplot runs; if it returns true, gnuplot is killed and the drawing fails with
 * ERR_STOPPED. NULL: drawing is never stopped. */
typedef bool (*PlotStopped)(void);

typedef struct {
    const char *kind;
    TextList data;      /* results, CSV or JSON, whose records are drawn together */
    const char *figure; /* the ending chooses the format: pdf, svg, png or tex; "-": SVG to stdout */
    const char *x;      /* column on the x axis, one of `PlotKind.against`; NULL: the first of them */
    const char *width;  /* "3.25in", "6.75in" or another width in inches; NULL: the default of the script */
    const char *note;   /* a line of text above the figure's heading; NULL: none */
    TextList labels;    /* texts "SPEC=TEXT" of --label: TEXT is the label of SPEC */
    PlotStopped stopped;
} PlotJob;

Status plot_draw(const PlotJob *job, Arena *a, Error *err);

/* Reads a result in CSV or JSON into a Csv. */
Status plot_load(Csv *out, const char *path, Arena *a, Error *err);

/* Appends the records of `more` to `all`. Where only one of the two tables has a column, the rows of the
 * other table get "". */
Status plot_append(Csv *all, const Csv *more, Arena *a, Error *err);

/* Sets *row to the numbers of the selected rows: those with tensor "*" (all tensors together), if there are
 * any, else all. Of these, only those with step "*" are selected, if there are any. */
Status plot_selection(const Csv *data, size_t **row, size_t *count, Arena *a, Error *err);

/* Picks those rows of `plot_selection` for which `keep` is true. For kinds of figures whose last column is a
 * name and whose other columns are numbers. */
Status plot_pick(const PlotKind *kind, const Csv *data, bool (*keep)(const Value *row), Value **rows,
                 size_t *count, Arena *a, Error *err);

/* Groups the rows by the text in column `by`, in order of first appearance. Within a group, sorts the rows by
 * the number in column `x`; the sort is stable. */
Status plot_sort(const PlotKind *kind, Value *rows, size_t count, size_t by, size_t x, Arena *a, Error *err);

/* Returns s as a text that gnuplot's CSV reader reads correctly. Comma, double quote and backslash become
 * %2C, %22 and %5C; other bytes than printable ASCII become '?'; a text of three blanks becomes "(3 blanks)".
 * NULL: out of memory. */
char *plot_name(const char *s, Arena *a);
char *plot_plain(const char *s, Arena *a); /* undoes %2C, %22 and %5C; NULL: out of memory */

/* The scripts of plots/, built into the program. */
typedef struct {
    const char *name, *text; /* "pareto.gp" */
} PlotScript;
extern const PlotScript plot_scripts[]; /* ends in {0} */

/* A figure's bytes, with a NUL after them. */
typedef struct {
    char *data;
    size_t size;
} Drawing;

/* The third to fifth argument of a gnuplot script: the column on the x axis, the width in inches, and a line of
 * text above the heading; "" is the default of each. */
typedef struct {
    const char *x, *width, *note;
} ScriptArguments;

/* Runs a gnuplot script in a private directory on `data` (the text of a CSV file), and checks that the
 * figure is complete. `ending`: ".pdf", ".svg", ".png" or ".tex". */
Status gnuplot_draw(Drawing *out, const char *kind, const char *data, const char *ending,
                    const ScriptArguments *more, PlotStopped stopped, Arena *a, Error *err);

/* Draws a figure of data in memory as SVG, without writing a file. */
Status plot_svg(Drawing *out, const char *kind, const Csv *data, PlotStopped stopped, Arena *a, Error *err);

/* Sets *version to gnuplot's version ("5.4 patchlevel 4"), and *terminals to the names of its terminals
 * (output formats), with spaces between them. Returns ERR_IO if there is no gnuplot. */
Status gnuplot_ask(char **version, char **terminals, PlotStopped stopped, Arena *a, Error *err);

#endif
