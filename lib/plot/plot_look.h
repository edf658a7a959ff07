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

/* Returns "R = 10; seed 1" from the data's columns `repeats` and `seed`, "seeds 1 to 3" if they have several values. Data
 * of a FIGURE.plot.csv have this text in the column `draws`. Returns "" if the data have none of these columns. NULL:
 * out of memory. */
const char *plot_draws(const Csv *data, Arena *a);

/* Adds the columns colour, mark, dash, label and draws to the rows of a kind of figure; no column draws if `draws` is "".
 * `labels`: texts "SPEC=TEXT" of --label; NULL: none. */
Status plot_dress(const PlotKind *kind, const TextList *labels, const char *draws, Value **rows, size_t count,
                  Arena *a, Error *err);
enum { DRESS_COLUMNS = 5 };
extern const Column plot_dress_columns[DRESS_COLUMNS];
/* Returns the number of columns that plot_dress adds. */
static inline size_t dress_columns(const char *draws)
{
    return *draws ? DRESS_COLUMNS : DRESS_COLUMNS - 1;
}

/* Returns the look of a spec; with `further` > 0 the look that many places later in the same hue. A text that is
 * no spec also has a fixed look. */
Look plot_look(const char *spec, size_t further, Arena *a);

/* Returns a look for each spec. Different specs get different looks, as long as at most 30 have the same hue.
 * NULL: out of memory. */
Look *plot_looks(const char *const *spec, size_t count, Arena *a);

#endif
