/* link_fit.h -- finds a link's latency and bandwidth from measured times of exchanges.
 *
 * An exchange of `messages` messages that follow one another, with `bytes` bytes through the busiest link, takes
 * messages a + bytes / b seconds on a link of latency a and bandwidth b (netcost.h). Least squares find a and 1/b.
 * Each deviation is relative to its measured time, since the times range over orders of magnitude. */
#ifndef ATOMO_LINK_FIT_H
#define ATOMO_LINK_FIT_H

#include "base/base.h"

typedef struct {
    double messages, bytes; /* of one exchange */
    double seconds;         /* measured; above 0 */
} LinkPoint;

typedef struct {
    double latency, bandwidth; /* seconds; bytes per second */
    /* Standard errors, from the deviations. NaN: unknown. Both are unknown for two points with a latency
     * above 0; latency_se is unknown if the latency is at its limit 0. */
    double latency_se, bandwidth_se;
    double deviation; /* root mean square of predicted / measured - 1 */
    double worst;     /* the largest |predicted / measured - 1| */
    size_t points;
} LinkFit;

/* Returns the time that the fit predicts for an exchange, in seconds. */
double link_fit_seconds(const LinkFit *fit, const LinkPoint *p);

/* Fits a link to at least two points. If the least squares have a negative latency, the latency is 0, and only the
 * bandwidth is fitted. ERR_NUMERIC: times that do not grow with the bytes, so there is no bandwidth. */
Status link_fit(LinkFit *out, const LinkPoint *point, size_t count, Error *err);

#endif
