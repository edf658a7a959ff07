/* link_fit.c -- implements link_fit.h: weighted linear least squares with the unknowns a (latency) and g = 1/b
 * (seconds per byte). */
#include "measure/link_fit.h"

#include <math.h>

/* Sums over the points of products of x = messages / seconds and y = bytes / seconds. The fit minimises the sum of
 * (a x + g y - 1)^2. */
typedef struct {
    double xx, xy, yy, x, y;
} Sums;

static Sums add_up(const LinkPoint *point, size_t count)
{
    Sums s = {0};
    for (const LinkPoint *p = point; p < point + count; p++) {
        const double x = p->messages / p->seconds, y = p->bytes / p->seconds;
        s.xx += x * x;
        s.xy += x * y;
        s.yy += y * y;
        s.x += x;
        s.y += y;
    }
    return s;
}

double link_fit_seconds(const LinkFit *fit, const LinkPoint *p)
{
    return p->messages * fit->latency + p->bytes / fit->bandwidth;
}

/* Sets the deviations. Returns the sum of their squares. */
static double compare(LinkFit *fit, const LinkPoint *point, size_t count)
{
    double squares = 0;
    fit->worst = 0;
    for (const LinkPoint *p = point; p < point + count; p++) {
        const double off = link_fit_seconds(fit, p) / p->seconds - 1;
        squares += off * off;
        fit->worst = fmax(fit->worst, fabs(off));
    }
    fit->deviation = sqrt(squares / (double)count);
    return squares;
}

Status link_fit(LinkFit *out, const LinkPoint *point, size_t count, Error *err)
{
    const Sums s = add_up(point, count);
    const double det = s.xx * s.yy - s.xy * s.xy;
    double a = (s.yy * s.x - s.xy * s.y) / det, g = (s.xx * s.y - s.xy * s.x) / det;
    const bool at_limit = !(a >= 0);
    if (at_limit) {
        a = 0;
        g = s.y / s.yy;
    }
    if (!(g > 0 && isfinite(g)))
        return FAIL(err, ERR_NUMERIC, "the times do not grow with the number of bytes");
    *out = (LinkFit){.latency = a, .bandwidth = 1 / g, .points = count};
    const double squares = compare(out, point, count), freedom = (double)count - (at_limit ? 1 : 2);
    const double variance = freedom > 0 ? squares / freedom : NAN;
    out->latency_se = at_limit ? NAN : sqrt(variance * s.yy / det);
    /* the standard error of the bandwidth 1/g is the standard error of g, divided by g^2 */
    out->bandwidth_se = sqrt(at_limit ? variance / s.yy : variance * s.xx / det) / (g * g);
    return OK;
}
