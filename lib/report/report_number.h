/* report_number.h -- prints numbers for people: with a given number of significant digits, bytes in decimal
 * units, and means with their standard errors. */
#ifndef ATOMO_REPORT_NUMBER_H
#define ATOMO_REPORT_NUMBER_H

#include "base/text.h"

/* Writes v with `digits` significant digits: 0.01234, 1.500, 123456, 1.2e-07. Magnitudes from 1e-4 to 1e7
 * (after rounding) are written without an exponent. */
void put_real(TextBuf *out, double v, int digits);

/* Returns the decimal unit that suits a number of bytes, as an index of `report_units` ("B", "kB" ...). */
size_t report_unit_of(double bytes);
size_t report_unit(double least, double most); /* one unit for a column of numbers of bytes */
double report_in_unit(double bytes, size_t unit);
extern const char *const report_units[];

/* Writes a number of bytes in a unit, without the unit's name. */
void report_put_bytes(TextBuf *out, double v, size_t unit, int digits);

/* A mean and its standard error as texts: (1.27 +- 0.03)e-07. The standard error has one significant digit, or two
 * if the first is 1. The mean is rounded to the same decimal place, but has at most `digits` significant digits. */
typedef struct {
    /* `se` is "" if the error is so small that other seeds would not change a digit of `value` */
    const char *value, *se;
    int exponent; /* 0: none */
} Uncertain;
Uncertain report_uncertain(double v, double se, int digits, Arena *a); /* value NULL: out of memory */

#endif
