/* networks.h -- the table of networks: what each looks like, in the terms of build.h. */
#ifndef ATOMO_NETWORKS_H
#define ATOMO_NETWORKS_H

#include "nn/build.h"

typedef struct {
    const char *name, *brief;
    size_t channels, side;                                       /* of the images it takes; 0: any */
    Value *(*build)(Builder *b, Value *image, const void *plan); /* the outputs, one a class */
    const void *plan;
} Network;

extern const Network networks[]; /* ends in {0} */

#endif
