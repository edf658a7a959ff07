/* doctor.h -- checks this machine: CPU, memory, limits, disk, libraries, gnuplot. */
#ifndef ATOMO_DOCTOR_H
#define ATOMO_DOCTOR_H

#include "base/arena.h"

typedef struct {
    const char *what, *found;
    const char *advice; /* how to mend it; NULL: nothing is wrong */
} Finding;

enum { FINDINGS_MAX = 24 };

/* Fills in `findings` (FINDINGS_MAX); returns their number. Texts live in the arena. Once stopped() is true, slow checks
 * give up. */
size_t doctor_look(Finding *findings, bool (*stopped)(void), Arena *a);

#endif
