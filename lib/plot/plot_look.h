/* plot_look.h -- colours, marks and dashes of codecs, the same for a spec in every figure. */
#ifndef ATOMO_PLOT_LOOK_H
#define ATOMO_PLOT_LOOK_H

#include "base/csv.h"
#include "plot/plot.h"

typedef struct {
    char colour[8]; /* "#0072b2" */
    int mark, dash; /* 0 to 5, 0 to 4: look.gp has their shapes */
} Look;

/* Returns a spec without its rate: "ef:decay=0.9+qsgd:bits=2" is a point of the series "ef:decay=0.9+qsgd". Sets *rate to
 * the value of the rate, "none" without a rate key. A text that is no spec is its own series. NULL: out of memory. */
char *plot_series(const char *spec, const char **rate, Arena *a);

/* Adds the columns colour, mark, dash and label to rows of a kind. Labels: "SPEC=TEXT" of --label; NULL: none. */
Status plot_dress(const PlotKind *kind, const TextList *labels, Value **rows, size_t count, Arena *a,
                  Error *err);
enum { DRESS_COLUMNS = 4 };
extern const Column plot_dress_columns[DRESS_COLUMNS];

/* The look of a spec, or the `further`-th after it in the same hue. A text that is no spec has a look of its own, too. */
Look plot_look(const char *spec, size_t further, Arena *a);

/* A look for each of the different specs, all different for up to 30 of one hue. NULL: out of memory. */
Look *plot_looks(const char *const *spec, size_t count, Arena *a);

#endif
