/* patches.h -- patches of weights, which encode --base writes and decode --base applies (docs/FORMAT.md). */
#ifndef ATOMO_PATCHES_H
#define ATOMO_PATCHES_H

#include "app/frame.h"

#define PATCH_SPEC "patch" /* of containers that are patches */

typedef struct {
    const char *base, *output; /* OLD, and the file that is written */
    int threads;
    bool quiet;
    Arena *a;
    Error *err;
} PatchJob;

/* Writes what changed in the file since job->base. */
Status patch_encode(const PatchJob *job, const char *file);
/* Writes job->base anew with the weights of the new file. */
Status patch_decode(const PatchJob *job, FrameReader *from);

#endif
