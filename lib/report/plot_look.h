/* plot_look.h -- the looks of codecs in figures: colour, mark and dashes. A codec's spec has the same look in
 * every figure. */
#ifndef ATOMO_PLOT_LOOK_H
#define ATOMO_PLOT_LOOK_H

#include "base/csv.h"
#include "compress/compressor.h"
#include "report/plot.h"

typedef CodecLook Look;

/* Returns `spec` without its rate, the name of a series of points: "ef:decay=0.9+qsgd" for
 * "ef:decay=0.9+qsgd:bits=2". Sets *rate to the value of the rate, or to "none" if the codec has no rate. A
 * text that is not a spec is returned unchanged. NULL: out of memory. */
char *plot_series(const char *spec, const char **rate, Arena *a);

/* Returns the look of a spec's last codec. A text that is not a spec has a fixed look, too. */
Look plot_look(const char *spec, Arena *a);

/* The looks given so far, by canonical spec. Starts as {0}. */
typedef struct {
    char **spec;
    Look *look;
    size_t count, room;
} LookList;

/* Adds the codecs of these specs that the list lacks. The order within a call does not matter. Different
 * lines get different looks, as long as at most 30 have the same hue. Returns false if out of memory. */
bool plot_looks_add(LookList *list, const char *const *spec, size_t count, Arena *a);

/* Returns a spec's look; NULL: the list does not have the spec. The pointer is valid until the list grows. */
const Look *plot_look_in(const LookList *list, const char *spec);

/* Returns a look for each spec, as plot_looks_add gives them to an empty list. NULL: out of memory. */
Look *plot_looks(const char *const *spec, size_t count, Arena *a);

#endif
