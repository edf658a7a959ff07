/* doctor.h -- what this machine gives, and what to do where something is not right. */
#ifndef ATOMO_DOCTOR_H
#define ATOMO_DOCTOR_H

#include "base/arena.h"

typedef struct {
    const char *what, *found;
    const char *advice; /* what mends it; NULL: nothing is wrong */
} Finding;

enum { FINDINGS_MAX = 24 };

/* Fills in `findings`; the count. Texts live in the arena. Once `stopped` says so, what takes long is given up. */
size_t doctor_look(Finding *findings, bool (*stopped)(void), Arena *a);

#endif
