/* plot_layout.h -- a page, and what the shapes of figures share on it: panels with axes, the key. */
#ifndef ATOMO_PLOT_LAYOUT_H
#define ATOMO_PLOT_LAYOUT_H

#include "report/plot_figure.h"

/* ---- the page ----
 *
 * Lines, marks and texts are placed in inches from its lower left corner. It becomes a gnuplot script. All names stand in
 * apostrophes there, within which gnuplot runs no command. */

typedef struct {
    double wide, tall;
    double points;      /* the size of letters */
    const char *ending; /* ".svg" */
    bool tex, dark, serif;
    TextBuf blocks, labels, plot; /* data blocks, texts, and the clauses of `plot` */
    int count;                    /* of data blocks */
    Arena *a;
} Page;

typedef struct {
    const char *colour; /* "#rrggbb" */
    double width;       /* in points */
    int dash;           /* 0 to 4: a codec's dashes; PAGE_DOTTED */
} Stroke;
enum { PAGE_DOTTED = 5, PAGE_DASHES = 6 };

typedef enum { TEXT_LEFT, TEXT_CENTER, TEXT_RIGHT } TextSide;

char *page_script(Page *p); /* NULL: out of memory */
void page_line(Page *p, const double *x, const double *y, size_t n, Stroke s);
/* Draws a mark (0 to 5) of a codec at each point, filled or open. */
void page_marks(Page *p, const double *x, const double *y, size_t n, int mark, bool open, double size, const char *colour);
void page_fill(Page *p, const double *x, const double *y, size_t n, const char *colour, bool transparent);
/* Writes a text whose middle is at the height y. `markup`: gnuplot's, and that of LaTeX in `.tex`; else the text as it is.
 * `size`: in points; `angle`: in degrees. */
void page_text(Page *p, double x, double y, const char *text, TextSide side, const char *colour, double size, int angle,
               bool markup);

/* Returns the width of a text in inches: each letter as wide as in DejaVu Sans, which is wider than Helvetica. */
double text_inches(const char *text, double points);

/* ---- shapes on the page ---- */

#define INK "#000000"
#define PALE "#b8b8b8"

typedef struct {
    Page page;
    PlotFigure *f;
    double em;           /* the size of letters in inches */
    bool tall_given;     /* --height: the page does not grow */
    unsigned char *cell; /* (high, wide) 1: something is drawn there; a cell is CELL inches wide */
    int cells_wide, cells_high;
    TextBuf unplaced; /* rates that have no room */
    Arena *a;
    Error *err;
} Layout;

/* The axes: a rectangle in inches. */
typedef struct {
    double left, right, bottom, top;
    const PlotAxis *x, *y;
    bool beside; /* another panel's numbers stand right of it */
} Panel;

double axis_place(const PlotAxis *axis, double v, double from, double to); /* the place in inches of a value */
/* Draws the axes with their numbers, and their titles where `titles_x`, `titles_y`. */
void panel_axes(Layout *l, const Panel *p, bool x, bool y);
/* Returns the room that the axis needs beside the panel. */
double axis_room_left(Layout *l, const PlotAxis *axis, double inches);
static inline double axis_room_below(const Layout *l, const PlotAxis *axis)
{
    return 1.55 * l->em + 0.05 + (*axis->title ? 1.45 * l->em : 0);
}
void axis_title(Layout *l, const PlotAxis *axis, double x, double y, int angle); /* its middle is at x, y */
/* Sets the range of an axis whose values are from `least` to `most`, with a margin. */
void axis_fit(PlotAxis *axis, double least, double most);

/* Splits a text into lines of at most `inches`, which end after one of + : , or a blank; returns their number. */
enum { LABEL_LINES = 8 };
size_t label_lines(const char *text, double inches, double points, const char *out[LABEL_LINES], Arena *a);

/* Draws the key of `count` lines in columns between left and right, downwards from `top`; NULL page: returns the height only. */
double key_block(Layout *l, PlotLine *const *line, size_t count, double left, double right, double top, bool draw);

Status layout_lines(Layout *l);
Status layout_rows(Layout *l); /* bars, rows of points, tables of colours */

#endif
