/* plot_look.h -- colours, marks and dashes of codecs, the same for a spec in every figure. */
#ifndef ATOMO_PLOT_LOOK_H
#define ATOMO_PLOT_LOOK_H

#include "base/csv.h"
#include "plot/plot.h"

typedef struct {
    char colour[8]; /* "#0072b2" */
    int mark, dash; /* 0 to 5, 0 to 4: look.gp has their shapes */
} Look;

/* Returns a spec without its rate, the name of a series of points: "ef:decay=0.9+qsgd:bits=2" is a point of the
 * series "ef:decay=0.9+qsgd". Sets *rate to the value of the rate, or "none" if the codec has no rate key. For a
 * text that is no spec, returns the text. NULL: out of memory. */
char *plot_series(const char *spec, const char **rate, Arena *a);

/* Adds the columns colour, mark, dash and label to the rows of a kind of figure. `labels`: texts "SPEC=TEXT" of
 * --label; NULL: none. */
Status plot_dress(const PlotKind *kind, const TextList *labels, Value **rows, size_t count, Arena *a,
                  Error *err);
enum { DRESS_COLUMNS = 4 };
extern const Column plot_dress_columns[DRESS_COLUMNS];

/* Returns the look of a spec; with `further` > 0 the look that many places later in the same hue. A text that is
 * no spec also has a fixed look. */
Look plot_look(const char *spec, size_t further, Arena *a);

/* Returns a look for each spec. Different specs get different looks, as long as at most 30 have the same hue.
 * NULL: out of memory. */
Look *plot_looks(const char *const *spec, size_t count, Arena *a);

#endif
