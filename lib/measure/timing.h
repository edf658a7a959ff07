/* timing.h -- measures the time of a call with the monotonic clock. */
#ifndef ATOMO_TIMING_H
#define ATOMO_TIMING_H

#include "base/host.h"

/* The shortest duration of a timing sample, in seconds: thousands of steps of the clock; of small vectors less (compare.h). */
#define SAMPLE_LEAST 1e-4

/* Takes one timing sample: calls fn(arg) at least once, until `least` seconds have passed, and sets
 * `*seconds` to the mean time of a call. The clock is read only after 1, 3, 7, 15, ... calls, so reading it
 * takes a negligible share. Stops at the first error. */
Status time_loop(Status (*fn)(void *arg), void *arg, double least, double *seconds);

#endif
