/* plot_page.h -- a page on which lines, marks and texts are placed in inches, from its lower left corner. It becomes a gnuplot
 * script. All names stand in apostrophes there, within which gnuplot runs no command. */
#ifndef ATOMO_PLOT_PAGE_H
#define ATOMO_PLOT_PAGE_H

#include "base/text.h"

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

void page_open(Page *p, const char *ending, Arena *a);
void page_line(Page *p, const double *x, const double *y, size_t n, Stroke s);
/* Draws a mark (0 to 5) of a codec at each point, filled or open. */
void page_marks(Page *p, const double *x, const double *y, size_t n, int mark, bool open, double size, const char *colour);
void page_fill(Page *p, const double *x, const double *y, size_t n, const char *colour, bool transparent);
void page_box(Page *p, double left, double bottom, double right, double top, const char *colour);
/* Writes a text whose middle is at the height y. `markup`: gnuplot's, and that of LaTeX in `.tex`; else the text as it is.
 * `size`: in points; `angle`: in degrees. */
void page_text(Page *p, double x, double y, const char *text, TextSide side, const char *colour, double size, int angle,
               bool markup);
char *page_script(Page *p); /* NULL: out of memory */

/* Returns the width of a text in inches: each letter as wide as in DejaVu Sans, which is wider than Helvetica. */
double text_inches(const char *text, double points);

#endif
