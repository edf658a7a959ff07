/* plot.h -- figures of results through gnuplot.
 *
 * A kind is a script in plots/ and a function that picks the data it draws. The data go to FIGURE's base name
 * +
 * ".plot.csv", so that a figure can be drawn again by hand: gnuplot -d -c plots/KIND.gp DATA.plot.csv FIGURE.
 */
#ifndef ATOMO_PLOT_H
#define ATOMO_PLOT_H

#include "csv.h"
#include "report.h"

extern const char *const plot_kinds[]; /* NULL-ended */

/* Asked while gnuplot is at work: true ends it, and the call with ERR_STOPPED. NULL: nobody asks. */
typedef bool (*PlotStopped)(void);

/* Draws `data` (our CSV or JSON) as `figure`, whose ending says how: pdf, svg, png or tex. */
Status plot_draw(const char *kind, const char *data, const char *figure, PlotStopped stopped, Arena *a,
                 Error *err);

/* The scripts, built in from plots/ so that the program works wherever it is. */
typedef struct {
    const char *name, *text;
} PlotScript;
extern const PlotScript plot_scripts[]; /* ends in {0} */

/* Our CSV, or the records of our JSON as if they had been CSV. */
Status plot_load(Csv *out, const char *path, Arena *a, Error *err);

/* One character as gnuplot's CSV reader takes it for what it is: it ends a text at a comma even inside
 * quotes, loses count of columns at a doubled quote, and undoes backslashes. What is no printable ASCII
 * becomes '?'. plot_name does so with a whole name; NULL when out of memory. */
void plot_put_plain(TextBuf *out, char c);
char *plot_name(const char *s, Arena *a);

/* What plot_pareto keeps of compare's rows, as values of its columns. */
enum { PARETO_COLUMNS = 6 };
extern const Column pareto_columns[PARETO_COLUMNS];
Status pareto_rows(const Csv *data, Value **rows, size_t *count, Arena *a, Error *err);

/* inspect's --spectrum and --histogram as curves and, where they are many, the band they lie in. */
enum { SPECTRUM_COLUMNS = 6, HISTOGRAM_COLUMNS = 7 };
extern const Column spectrum_columns[SPECTRUM_COLUMNS], histogram_columns[HISTOGRAM_COLUMNS];
Status spectrum_rows(const Csv *data, Value **rows, size_t *count, Arena *a, Error *err);
Status histogram_rows(const Csv *data, Value **rows, size_t *count, Arena *a, Error *err);

/* merge's rows of everything selected, by compressor and number of workers. */
enum { MERGE_PLOT_COLUMNS = 5 };
extern const Column merge_plot_columns[MERGE_PLOT_COLUMNS];
Status merge_plot_rows(const Csv *data, Value **rows, size_t *count, Arena *a, Error *err);

/* A figure's bytes, and a NUL behind them. */
typedef struct {
    char *data;
    size_t size;
} Drawing;

/* Runs gnuplot on a script and a data file's text in a private directory, and checks what it drew: `ending` is
 * one of plot_draw's, with its dot. */
Status gnuplot_draw(Drawing *out, const char *script, const char *data, const char *ending,
                    PlotStopped stopped, Arena *a, Error *err);

/* The figure of data in memory as the text of an SVG; no file is written. */
Status plot_svg(Drawing *out, const char *kind, const Csv *data, PlotStopped stopped, Arena *a, Error *err);

/* gnuplot's version, "5.4 patchlevel 4", and its terminals, one to a line; ERR_IO when there is no gnuplot.
 */
Status gnuplot_ask(char **version, char **terminals, PlotStopped stopped, Arena *a, Error *err);

#endif
