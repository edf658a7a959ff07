/* plot.h -- figures of results through gnuplot.
 *
 * A kind of figure is a script in plots/ and a function that picks the rows it draws. These go to a file beside the
 * figure, FIGURE's name with ".plot.csv" for its ending, so that it can be drawn again by hand:
 *
 *     gnuplot -d -c plots/KIND.gp FIGURE.plot.csv FIGURE.pdf
 */
#ifndef ATOMO_PLOT_H
#define ATOMO_PLOT_H

#include "base/csv.h"
#include "report/report.h"

typedef struct {
    const char *name;   /* of its script, too */
    const char *brief;  /* for --help: lines of up to 78 characters with newlines between them */
    const char *source; /* "atomo-bench merge writes with -o FILE.csv": that is what it draws */

    /* Columns without which there is nothing to draw, and those of the rows picked. Names come last: gnuplot loses
     * count of columns at a doubled quote. All end in NULL. */
    const char *const *needs;
    const Column *columns;
    const char *const *numbers; /* columns, where the data have them, that hold a number or nothing */
    const char *const *against; /* what --x chooses from, the first without it; NULL: there is no choice */

    /* The rows to draw, as values of `columns`; data that have all of `needs`. */
    Status (*pick)(const Csv *data, Value **rows, size_t *count, Arena *a, Error *err);
} PlotKind;

/* One to a file, plot_KIND.c; all in the order of --help, NULL-ended. */
extern const PlotKind plot_pareto, plot_errors, plot_spectrum, plot_histogram, plot_merge, plot_convergence;
extern const PlotKind plot_iteration_time, plot_runtime, plot_break_even; /* plot_cost.c */
extern const PlotKind *const plot_kinds[];

/* Picks a kind's rows; ERR_CORRUPT names the column that is missing, and the command that writes it. */
Status plot_rows(const PlotKind *kind, const Csv *data, Value **rows, size_t *count, Arena *a, Error *err);

/* The same as the CSV that the kind's script reads. */
Status plot_text(const PlotKind *kind, const Csv *data, char **text, Arena *a, Error *err);
size_t plot_columns(const PlotKind *kind);

/* Asked while gnuplot is at work: true ends it, and the call with ERR_STOPPED. NULL: nobody asks. */
typedef bool (*PlotStopped)(void);

typedef struct {
    const char *kind;
    TextList data;      /* files of ours, CSV or JSON: their records together */
    const char *figure; /* its ending says how it is drawn: pdf, svg, png or tex */
    const char *x;      /* of the kind's `against`; NULL: the first */
    PlotStopped stopped;
} PlotJob;

Status plot_draw(const PlotJob *job, Arena *a, Error *err);

/* Our CSV, or the records of our JSON as if they had been CSV. */
Status plot_load(Csv *out, const char *path, Arena *a, Error *err);

/* Puts the records of `more` behind those of `all`; what either has no column for is "". */
Status plot_append(Csv *all, const Csv *more, Arena *a, Error *err);

/* The rows over the whole selection, if the data have such, and over all steps likewise; else all. */
Status plot_selection(const Csv *data, size_t **row, size_t *count, Arena *a, Error *err);

/* Of these the rows that `keep` is true of, for a kind whose columns are numbers but the last, a name. */
Status plot_pick(const PlotKind *kind, const Csv *data, bool (*keep)(const Value *row), Value **rows,
                 size_t *count, Arena *a, Error *err);

/* Puts rows together by their text in column `by`, in order of its first appearance, and sorts those by their
 * number in column `x`; what is equal stays as it was. */
Status plot_sort(const PlotKind *kind, Value *rows, size_t count, size_t by, size_t x, Arena *a, Error *err);

/* One character as gnuplot's CSV reader takes it for what it is: it ends a text at a comma even inside
 * quotes, loses count of columns at a doubled quote, and undoes backslashes. What is no printable ASCII
 * becomes '?'. plot_name does so with a whole name; NULL when out of memory. */
void plot_put_plain(TextBuf *out, char c);
char *plot_name(const char *s, Arena *a);

/* The scripts, built in from plots/ so that the program works wherever it is. */
typedef struct {
    const char *name, *text; /* "pareto.gp" */
} PlotScript;
extern const PlotScript plot_scripts[]; /* ends in {0} */

/* A figure's bytes, and a NUL behind them. */
typedef struct {
    char *data;
    size_t size;
} Drawing;

/* Runs gnuplot on a kind's script and a data file's text in a private directory that holds all scripts, and checks
 * what it drew: `ending` is one of a figure's, with its dot; `x` is the script's third argument, where it has one. */
Status gnuplot_draw(Drawing *out, const char *kind, const char *data, const char *ending, const char *x,
                    PlotStopped stopped, Arena *a, Error *err);

/* The figure of data in memory as the text of an SVG; no file is written. */
Status plot_svg(Drawing *out, const char *kind, const Csv *data, PlotStopped stopped, Arena *a, Error *err);

/* gnuplot's version, "5.4 patchlevel 4", and its terminals, one to a line; ERR_IO when there is no gnuplot. */
Status gnuplot_ask(char **version, char **terminals, PlotStopped stopped, Arena *a, Error *err);

#endif
