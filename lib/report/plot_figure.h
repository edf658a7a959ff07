/* plot_figure.h -- what a figure shows, before it is laid out: axes and lines, or rows of bars, or a table of colours. */
#ifndef ATOMO_PLOT_FIGURE_H
#define ATOMO_PLOT_FIGURE_H

#include "compress/compressor.h"
#include "report/plot.h"
#include "report/report_table.h"

/* ---- the looks of codecs: colour, mark and dashes ---- */

typedef CodecLook Look;

/* Returns `spec` without its rate, the name of a series of points: "ef:decay=0.9+qsgd" for
 * "ef:decay=0.9+qsgd:bits=2". Sets *rate to "bits=2"; NULL: the codec has no rate. A text that is not a spec is
 * returned unchanged. NULL: out of memory. */
char *plot_series(const char *spec, const char **rate, Arena *a);

/* Returns a look for each spec, whatever their order: different lines get different looks, as long as at most 30 have the same
 * hue. NULL: out of memory. */
Look *plot_looks(const char *const *spec, size_t count, Arena *a);

/* ---- lines, axes, bars ---- */

/* The parts of a bar of times, for a number of workers. */
enum { BAR_PARTS = 4 };
extern const char *const bar_part_names[BAR_PARTS]; /* "compute", ... */

typedef struct {
    double x, y;
    double low, high; /* the ends of its bar, or of the band there; NaN: none */
    const char *rate;   /* "k=3"; NULL: none */
    const double *part; /* of a bar: BAR_PARTS times, whose sum is y, then the payload; NULL: none */
} PlotPoint;

typedef enum {
    LINE_MARKED, /* a line with a mark at each point */
    LINE_PLAIN,  /* a line without marks */
    LINE_THIN,   /* thin, with marks */
    LINE_FAINT,  /* thin and grey, without a name */
    LINE_GUIDE,  /* thin, grey and dotted: a reference, such as 1/P */
} LineStyle;

typedef struct {
    const char *name;  /* "svd+qsgd", or a tensor */
    const char *spec;  /* the spec of all of its points; NULL: they differ */
    const char *label; /* what the figure calls it; NULL: nothing */
    Look look;
    LineStyle style;
    bool band; /* low and high are a band, not bars */
    bool same; /* another part of the line before it: the same look, no name */
    bool open; /* its marks are open */
    bool grey; /* drawn behind the others, in grey */
    bool thick;
    PlotPoint *point;
    size_t count, room;
} PlotLine;

typedef struct {
    const char *title, *tex; /* the title, and the title as LaTeX writes it; NULL: as `title` */
    bool log;
    bool from_zero;     /* a linear axis begins at 0 */
    double least, most; /* the range; NaN: by the data */
    double at[32];      /* the numbers on the axis; none: chosen by the range */
    size_t ats;
    double cut_from, cut; /* the axis is broken: it leaves out `cut` from here on; 0: it is not */
} PlotAxis;

typedef enum { SHAPE_LINES, SHAPE_BARS, SHAPE_ROWS, SHAPE_HEAT } PlotShape;

struct PlotFigure {
    const PlotOptions *o;
    PlotShape shape;
    PlotAxis x, y;
    PlotLine *line; /* of SHAPE_ROWS: a row for each line; of SHAPE_BARS: a bar for each point */
    size_t count, room;
    bool apart;    /* of SHAPE_LINES: each line has a small panel, as their bands would hide each other */
    bool payloads; /* of SHAPE_BARS: a second panel shows payloads, and bars have no number of workers */
    /* of SHAPE_HEAT: the names of its rows; line[k].point[i].x is the row */
    const char **tensor;
    size_t tensors;
    TextBuf caption;
};

/* Returns the line of this name, a new one at its first call; NULL: out of memory. */
PlotLine *figure_line(PlotFigure *f, const char *name, Arena *a);
/* Adds a line without a name. */
PlotLine *figure_guide(PlotFigure *f, LineStyle style, Arena *a);
/* Adds a point; false: out of memory. */
bool line_add(PlotLine *l, PlotPoint p, Arena *a);
static inline PlotPoint point_at(double x, double y)
{
    return (PlotPoint){.x = x, .y = y, .low = (double)NAN, .high = (double)NAN};
}
/* A point with the 95 % interval of a mean whose standard error is `se`; no bar where it is NaN or 0. */
static inline PlotPoint point_with(double x, double y, double se)
{
    PlotPoint p = point_at(x, y);
    if (se > 0) {
        p.low = y - 1.96 * se;
        p.high = y + 1.96 * se;
    }
    return p;
}
/* Sorts the points of each line by x; the sort is stable. */
void figure_sort(PlotFigure *f);
/* Puts the lines in the order of `place`, which is sorted, too; the sort is stable. */
void figure_order(PlotFigure *f, double *place);
/* Adds the front of the points as steps: those that no other one beats in x and in y (sign 1: a small y is good; -1: a large
 * one). It is solid or dotted. */
Status figure_front(PlotFigure *f, const PlotPoint *p, size_t count, double sign, bool solid, Arena *a, Error *err);
bool figure_bars(const PlotFigure *f); /* true: a point has a bar */

/* Gives lines their labels and looks, and applies --only, --order, --highlight, --label and --color. */
Status plot_dress(PlotFigure *f, const PlotKind *kind, Arena *a, Error *err);

/* Sets *row to the numbers of the selected rows: those with tensor "*" (all tensors together), if there are
 * any, else all. Of these, only those with step "*" are selected, if there are any. */
Status plot_selection(const Csv *data, size_t **row, size_t *count, Arena *a, Error *err);
/* Returns the number in a cell; NaN: it has none, or an infinite one. */
double plot_real(const Csv *data, size_t row, const char *column);

/* Puts numbers on the axis at the different values of a column. */
void axis_numbers_at(PlotAxis *axis, const Csv *data, const char *column);
/* Returns the unit of a time axis whose largest value is `ms`: 1, or 1000 for seconds, and sets the title. */
double time_unit(PlotAxis *axis, double ms, const char *what, Arena *a);

#endif
