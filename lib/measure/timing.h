/* timing.h -- the time of one call, by the monotonic clock. */
#ifndef ATOMO_TIMING_H
#define ATOMO_TIMING_H

#include "base/base.h"

double clock_now(void); /* seconds since some fixed moment */

/* The clock's smallest observed step, in seconds. Takes about 0.1 ms. */
double clock_resolution(void);

/* The least duration of a sample in seconds: 1 ms, or 100 times the clock's resolution if that is longer. */
double sample_least(void);

/* One sample: calls fn(arg) until `least` seconds have passed, at least once; `*seconds` is the time per call. Reads the
 * clock after 1, 3, 7, 15 .. calls only, so that reading it does not count. Stops at the first error. */
Status time_loop(Status (*fn)(void *arg), void *arg, double least, double *seconds);

#endif
