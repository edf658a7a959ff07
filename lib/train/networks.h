/* networks.h -- the table of networks; each network builds its layers with the calls of build.h. */
#ifndef ATOMO_NETWORKS_H
#define ATOMO_NETWORKS_H

#include "train/build.h"

typedef struct {
    const char *name, *brief;
    size_t channels, side; /* channels, and rows and columns, of the images that the network takes; 0: any */
    /* returns the activation with one output for each class */
    Activation *(*build)(Builder *b, Activation *image, const void *plan);
    const void *plan;
    /* the number of tokens that a network of texts reads at once; NULL: the network takes images */
    Status (*context)(size_t *out, const char *options, const void *plan, Error *err);
    bool resizes; /* takes square images of other channels and sides too */
} Network;

/* Finds the network of a text "NAME" or "NAME:options" and sets `*options` to the options; "": none.
 * ERR_USAGE: there is no such network (the hint is the most similar name), or the text has options and the
 * network takes none. */
Status network_find(const Network **out, const char **options, const char *text, Error *err);

/* Sets `*context` to the number of tokens that the network reads at once; 0: it takes images. */
Status network_context(size_t *context, const char *text, Error *err);

/* Returns the name of network i; NULL after the last network. A callback for `text_names` and
 * `text_nearest`, which ignores `data`. */
const char *network_name(const void *data, size_t i);

#endif
