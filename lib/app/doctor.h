/* doctor.h -- checks this machine: CPU, memory, limits, disk, libraries, gnuplot. */
#ifndef ATOMO_DOCTOR_H
#define ATOMO_DOCTOR_H

#include "base/arena.h"

typedef struct {
    const char *what, *found;
    const char *advice; /* how to fix the problem; NULL: nothing is wrong */
} Finding;

enum { FINDINGS_MAX = 24 };

/* Writes the findings to `findings`, which has room for FINDINGS_MAX, and returns their number. Their texts are
 * in the arena. Slow checks end early when stopped() returns true. */
size_t doctor_look(Finding *findings, bool (*stopped)(void), Arena *a);

#endif
