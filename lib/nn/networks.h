/* networks.h -- the table of networks; each network builds its layers with the calls of build.h. */
#ifndef ATOMO_NETWORKS_H
#define ATOMO_NETWORKS_H

#include "nn/build.h"

typedef struct {
    const char *name, *brief;
    size_t channels, side; /* channels, and rows and columns, of the images that the network takes; 0: any */
    /* returns the activation with one output for each class */
    Activation *(*build)(Builder *b, Activation *image, const void *plan);
    const void *plan;
} Network;

extern const Network networks[]; /* ends in {0} */

/* Returns the name of network i; NULL after the last network. A callback for `text_names` and
 * `text_nearest`, which ignores `data`. */
const char *network_name(const void *data, size_t i);

#endif
