/* report_number.h -- numbers for people: so many significant digits, bytes in decimal units, means with their standard
 * errors. */
#ifndef ATOMO_REPORT_NUMBER_H
#define ATOMO_REPORT_NUMBER_H

#include "base/text.h"

/* `digits` significant digits, without an exponent from 1e-4 to 1e7: 0.01234, 1.500, 123456, 1.2e-07. The magnitude is that
 * of the rounded number: 9.99996 is 10.00. */
void put_real(TextBuf *out, double v, int digits);

/* Decimal units: an index of report_units, "B", "kB" .. */
size_t report_unit_of(double bytes);
size_t report_unit(double least, double most); /* the one unit for a column of counts of bytes */
double report_in_unit(double bytes, size_t unit);
extern const char *const report_units[];

/* A count of bytes in a unit, without the unit's name. */
void report_put_bytes(TextBuf *out, double v, size_t unit, int digits);

/* A mean and its standard error, both to the last digit that the error supports: one digit of the error, two where the first is
 * 1, and at most `digits` digits of the mean. An exponent stands for both: (1.27 +- 0.03)e-07. */
typedef struct {
    const char *value, *se; /* se "": no other seed would change a digit of the value */
    int exponent;           /* 0: none */
} Uncertain;
Uncertain report_uncertain(double v, double se, int digits, Arena *a); /* value NULL: out of memory */

#endif
