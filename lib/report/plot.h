/* plot.h -- draws figures of results with gnuplot.
 *
 * Each kind of figure (pareto, spectrum, ...) turns the rows of a result into a PlotFigure (plot_figure.h). The layout places
 * its axes, lines and names in inches on a page, and gnuplot draws the page. */
#ifndef ATOMO_PLOT_H
#define ATOMO_PLOT_H

#include "base/csv.h"
#include "report/report.h"

typedef struct PlotFigure PlotFigure;

typedef struct {
    const char *name;
    const char *brief; /* for --help */
    /* for messages, the command that writes the data: "atomo-bench merge writes with -o FILE.csv" */
    const char *source;
    const char *const *columns; /* those that the data must have; ends in NULL */
    bool of_tensors;            /* its lines are tensors, not codecs */
    /* the choices of --x and of --y, the default first; NULL: this kind has no such option */
    const char *const *against, *const *up;

    /* Fills the figure from data that have all columns. */
    Status (*make)(PlotFigure *f, const Csv *data, Arena *a, Error *err);
} PlotKind;

/* The kinds of figures, of the files plot_pareto.c, plot_compared.c (errors, merge, heat), plot_training.c (convergence, budget),
 * plot_cost.c (iteration-time, runtime, break-even) and plot_curves.c (spectrum, histogram). The list plot_kinds is in the order of
 * --help and ends in NULL. */
extern const PlotKind plot_pareto, plot_compared[3], plot_training[2], plot_costs[3], plot_curves[2];
extern const PlotKind *const plot_kinds[];
/* a callback for text_nearest and options that returns the name of kind i; ignores `data` */
const char *plot_kind_name(const void *data, size_t i);

typedef enum { KEY_AUTO, KEY_ENDS, KEY_INSIDE, KEY_RIGHT, KEY_BELOW, KEY_NONE } KeyPlace;
typedef enum { FONT_SANS, FONT_SERIF } PlotFont;
typedef enum { FACET_AUTO, FACET_FAMILY, FACET_NONE } PlotFacet;
typedef enum { THEME_LIGHT, THEME_DARK } PlotTheme;

/* How a figure looks. {0}: the defaults. */
typedef struct {
    const char *x, *y;           /* what is on the axes; NULL: the kind's default */
    const char *width, *height;  /* "3.25in"; NULL: a column of a paper, and the golden ratio */
    const char *xlim, *ylim;     /* "A:B", each may be missing; NULL: by the data */
    int font, key, facet, theme; /* PlotFont, KeyPlace, PlotFacet, PlotTheme */
    bool logx, logy, linear;
    bool rates, front, gaussian, grid, data;
    double last;                     /* the last share of the x axis that is shown; 0: all */
    TextList only;                   /* globs of names */
    const char *order;               /* names in the order of the key */
    const char *highlight, *title;   /* NULL: none */
    TextList labels, colours;        /* "SPEC=TEXT" of --label, "SPEC=#RRGGBB" of --color */
} PlotOptions;

/* Called when gnuplot has ended; if it returns true, the drawing fails with ERR_STOPPED. NULL: drawing is never stopped. */
typedef bool (*PlotStopped)(void);

typedef struct {
    const char *kind;
    TextList data;      /* results, CSV or JSON, whose records are drawn together */
    const char *figure; /* the ending chooses the format: pdf, svg, png or tex; "-": SVG to stdout */
    PlotOptions look;
    PlotStopped stopped;
} PlotJob;

/* What was drawn: the caption, one paragraph without line ends, and the number of records that were read. */
typedef struct {
    const char *caption;
    size_t records;
} PlotSaid;

Status plot_draw(const PlotJob *job, PlotSaid *said, Arena *a, Error *err);

/* Sets *script to the gnuplot script that draws the data as `ending` (".svg"), and *f to the figure. Returns ERR_CORRUPT if a
 * column is missing, with a message that names the column. */
Status plot_script(const PlotKind *kind, const Csv *data, const PlotOptions *look, const char *ending, PlotFigure *f,
                   char **script, Arena *a, Error *err);

/* Reads a result in CSV or JSON, and appends its records to `all`. Where only one of the two tables has a column, the rows of the
 * other table get "". */
Status plot_load(Csv *all, const char *path, Arena *a, Error *err);

/* A figure's bytes, with a NUL after them. */
typedef struct {
    char *data;
    size_t size;
} Drawing;

/* Runs a gnuplot script, and returns what it writes to its standard output. */
Status gnuplot_draw(Drawing *out, const char *script, PlotStopped stopped, Arena *a, Error *err);

/* Draws a figure of data in memory as SVG, without writing a file. More than `most` points are not drawn: *points is their
 * number, and out->data is NULL. */
Status plot_svg(Drawing *out, const PlotKind *kind, const Csv *data, size_t most, size_t *points, PlotStopped stopped, Arena *a,
                Error *err);

#endif
