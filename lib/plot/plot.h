/* plot.h -- figures of results through gnuplot.
 *
 * A kind of figure is a script in plots/ and a function that picks the rows to draw. The rows are also written to
 * FIGURE.plot.csv, so that a user can draw the figure again:
 *
 *     gnuplot -d -c plots/KIND.gp FIGURE.plot.csv FIGURE.pdf
 */
#ifndef ATOMO_PLOT_H
#define ATOMO_PLOT_H

#include "base/csv.h"
#include "report/report.h"

typedef struct {
    const char *name;   /* also that of its script */
    const char *brief;  /* for --help: lines of up to 78 characters with newlines between them */
    const char *source; /* the command that writes its data: "atomo-bench merge writes with -o FILE.csv" */

    /* Columns that the data must have, and the columns of the picked rows; both end in NULL. Names are the last column, as
     * gnuplot miscounts columns behind a doubled quote. */
    const char *const *needs;
    const Column *columns;
    const char *const *numbers; /* optional columns whose cells must be numbers or empty */
    const char *const *against; /* the choices of --x, its default first; NULL: no --x */

    /* Picks the rows to draw, as values of `columns`, of data that have all of `needs`. */
    Status (*pick)(const Csv *data, Value **rows, size_t *count, Arena *a, Error *err);
} PlotKind;

/* In plot_KIND.c; plot_compared.c has errors and merge, plot_cost.c the last three. plot_kinds: all in the order of --help, NULL-ended. */
extern const PlotKind plot_pareto, plot_errors, plot_spectrum, plot_histogram, plot_merge, plot_convergence;
extern const PlotKind plot_iteration_time, plot_runtime, plot_break_even;
extern const PlotKind *const plot_kinds[];

/* Picks a kind's rows; ERR_CORRUPT names the column that is missing, and the command that writes it. */
Status plot_rows(const PlotKind *kind, const Csv *data, Value **rows, size_t *count, Arena *a, Error *err);

/* The picked rows as the CSV that the kind's script reads. */
Status plot_text(const PlotKind *kind, const Csv *data, char **text, Arena *a, Error *err);
size_t plot_columns(const PlotKind *kind);

/* Asked while gnuplot runs: true kills it, and the call fails with ERR_STOPPED. NULL: never. */
typedef bool (*PlotStopped)(void);

typedef struct {
    const char *kind;
    TextList data;      /* results, CSV or JSON, whose records are drawn together */
    const char *figure; /* its ending chooses the format: pdf, svg, png or tex */
    const char *x;      /* one of the kind's `against`; NULL: the first */
    PlotStopped stopped;
} PlotJob;

Status plot_draw(const PlotJob *job, Arena *a, Error *err);

/* Reads a result, CSV or JSON, as CSV. */
Status plot_load(Csv *out, const char *path, Arena *a, Error *err);

/* Appends the records of `more` to `all`; a cell is "" where its result lacks the column. */
Status plot_append(Csv *all, const Csv *more, Arena *a, Error *err);

/* The rows with tensor "*" if there are any, and of these the rows with step "*" if there are any; otherwise all rows. */
Status plot_selection(const Csv *data, size_t **row, size_t *count, Arena *a, Error *err);

/* The rows of plot_selection for which `keep` is true, for a kind whose columns are numbers and, last, a name. */
Status plot_pick(const PlotKind *kind, const Csv *data, bool (*keep)(const Value *row), Value **rows,
                 size_t *count, Arena *a, Error *err);

/* Groups rows by their text in column `by`, groups in the order of first appearance, and sorts each group by its number in
 * column `x`. Stable. */
Status plot_sort(const PlotKind *kind, Value *rows, size_t count, size_t by, size_t x, Arena *a, Error *err);

/* Replaces characters that gnuplot's CSV reader misreads: it ends a text at a comma even inside quotes, miscounts columns
 * behind a doubled quote, and undoes backslashes. Anything but printable ASCII becomes '?'. NULL: out of memory. */
char *plot_name(const char *s, Arena *a);

/* The scripts of plots/, built into the program. */
typedef struct {
    const char *name, *text; /* "pareto.gp" */
} PlotScript;
extern const PlotScript plot_scripts[]; /* ends in {0} */

/* A figure's bytes and a NUL. */
typedef struct {
    char *data;
    size_t size;
} Drawing;

/* Runs gnuplot on a kind's script and the text of a data file in a private directory, and checks that the figure is complete.
 * `ending`: ".pdf", ".svg", ".png" or ".tex"; `x`: the script's third argument, NULL where it has none. */
Status gnuplot_draw(Drawing *out, const char *kind, const char *data, const char *ending, const char *x,
                    PlotStopped stopped, Arena *a, Error *err);

/* The figure of data in memory as an SVG; writes no file. */
Status plot_svg(Drawing *out, const char *kind, const Csv *data, PlotStopped stopped, Arena *a, Error *err);

/* gnuplot's version, "5.4 patchlevel 4", and its terminals, one to a line; ERR_IO without gnuplot. */
Status gnuplot_ask(char **version, char **terminals, PlotStopped stopped, Arena *a, Error *err);

#endif
