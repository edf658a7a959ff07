/* report_number.c -- prints numbers for people: significant digits, bytes, means with standard errors
 * (report_number.h). */
#include "report/report_number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

void put_real(TextBuf *out, double v, int digits)
{
    char rounded[48];
    snprintf(rounded, sizeof rounded, "%.*e", digits - 1, v);
    const double size = fabs(strtod(rounded, NULL));
    if (v == 0) {
        text_add(out, "0");
    } else if (size < 1e-4 || size >= 1e7) {
        text_addf(out, "%.*e", digits - 1, v);
    } else {
        const int magnitude = (int)floor(log10(size));
        text_addf(out, "%.*f", magnitude < digits - 1 ? digits - 1 - magnitude : 0, v);
    }
}

/* ---- bytes ---- */

const char *const report_units[] = {"B", "kB", "MB", "GB", "TB", "PB"};

size_t report_unit_of(double v)
{
    size_t unit = 0;
    for (v = fabs(v); v >= 999.95 && unit + 1 < countof(report_units); v /= 1000)
        unit++;
    return unit;
}

size_t report_unit(double least, double most)
{
    return report_unit_of(sqrt(least) * sqrt(most));
}

double report_in_unit(double v, size_t unit)
{
    for (size_t i = 0; i < unit; i++)
        v /= 1000;
    return v;
}

void report_put_bytes(TextBuf *out, double v, size_t unit, int digits)
{
    if (unit == 0 && v == floor(v))
        text_addf(out, "%.0f", v);
    else
        put_real(out, report_in_unit(v, unit), digits);
}

/* ---- printing means with standard errors ---- */

/* A standard error below UNSEEN units of the last printed digit is not printed. A repetition with another
 * seed would change this digit with probability below 1/40. */
#define UNSEEN 0.02

static int magnitude_of(double v)
{
    return (int)floor(log10(fabs(v)));
}

/* Returns v in units of 10^exponent, rounded to a multiple of 10^last. */
static const char *rounded(double v, int exponent, int last, Arena *a)
{
    const double unit = pow(10, last);
    return text_format(a, "%.*f", last < exponent ? exponent - last : 0,
                       last > exponent ? round(v / unit) * unit / pow(10, exponent) : v / pow(10, exponent));
}

Uncertain report_uncertain(double v, double se, int digits, Arena *a)
{
    const int top = v == 0 ? magnitude_of(se) : magnitude_of(v), end = top - digits + 1;
    if (!(se >= UNSEEN * pow(10, end))) {
        TextBuf out = {.arena = a};
        put_real(&out, v, digits);
        return (Uncertain){text_done(&out), "", 0};
    }
    const int own = magnitude_of(se) - (se / pow(10, magnitude_of(se)) < 1.95), last = own > end ? own : end;
    const int largest = top > magnitude_of(se) ? top : magnitude_of(se);
    const int exponent = largest < -4 || largest >= 7 ? largest : 0;
    const Uncertain u = {rounded(v, exponent, last, a), rounded(se, exponent, own < last ? own : last, a),
                         exponent};
    return u.se ? u : (Uncertain){0};
}
