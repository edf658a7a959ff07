/* plot_layout.h -- what the shapes of figures share: the page being laid out, panels with axes, the key. */
#ifndef ATOMO_PLOT_LAYOUT_H
#define ATOMO_PLOT_LAYOUT_H

#include "report/plot_figure.h"
#include "report/plot_page.h"

#define INK "#000000"
#define PALE "#b8b8b8"

typedef struct {
    Page page;
    PlotFigure *f;
    double em;           /* the size of letters in inches */
    bool tall_given;     /* --height: the page does not grow */
    unsigned char *cell; /* (high, wide) 1: something is drawn there; a cell is CELL inches wide */
    int cells_wide, cells_high;
    double foot; /* the height of the key below the axes */
    Arena *a;
    Error *err;
} Layout;

/* The axes: a rectangle in inches. */
typedef struct {
    double left, right, bottom, top;
    const PlotAxis *x, *y;
} Panel;

double axis_place(const PlotAxis *axis, double v, double from, double to); /* the place in inches of a value */
/* Draws the axes with their numbers, and their titles where `titles_x`, `titles_y`. */
void panel_axes(Layout *l, const Panel *p, bool x, bool y);
/* Returns the room that the axis needs beside the panel. */
double axis_room_left(Layout *l, const PlotAxis *axis, double inches);
double axis_room_below(const Layout *l, const PlotAxis *axis);
/* Sets the range of an axis whose values are from `least` to `most`, with a margin. */
void axis_fit(PlotAxis *axis, double least, double most);

/* Splits a text into lines of at most `inches`, which end after one of + : , or a blank; returns their number. */
enum { LABEL_LINES = 8 };
size_t label_lines(const char *text, double inches, double points, const char *out[LABEL_LINES], Arena *a);

/* Draws the key of `count` lines in columns between left and right, downwards from `top`; NULL page: returns the height only. */
double key_block(Layout *l, PlotLine *const *line, size_t count, double left, double right, double top, bool draw);

Status layout_lines(Layout *l);
Status layout_bars(Layout *l);
Status layout_rows(Layout *l);
Status layout_heat(Layout *l);

#endif
