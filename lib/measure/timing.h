/* timing.h -- how long one call takes, on the monotonic clock. */
#ifndef ATOMO_TIMING_H
#define ATOMO_TIMING_H

#include "base/base.h"

double clock_now(void); /* seconds since some fixed moment */

/* The smallest step this clock was seen to make, in seconds. Costs about a tenth of a millisecond. */
double clock_resolution(void);

/* How long a sample must last at least: 1 ms and 100 times the clock's resolution. */
double sample_least(void);

/* One sample: calls fn(arg) again and again until `least` seconds have passed; `*seconds` is the time per
 * call. The clock is read after 1, 3, 7, 15 .. calls, so that reading it costs nothing that shows. */
Status time_loop(Status (*fn)(void *arg), void *arg, double least, double *seconds);

#endif
