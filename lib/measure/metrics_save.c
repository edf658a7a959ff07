/* metrics_save.c -- a Tally as an array of numbers, and back: its numbers, the sums of each decoded repeat, and its flags. */
#include "measure/metrics.h"

#include <stddef.h>
#include <string.h>

/* The members from `n` to `spread` are doubles without padding, but for the count of `distances`. */
enum {
    FIRST = offsetof(Tally, n),
    NUMBERS = (offsetof(Tally, unbiased) - FIRST) / sizeof(double),
    COUNT = (offsetof(Tally, distances.n) - FIRST) / sizeof(double),
    FLAGS = offsetof(Tally, percentile_known) - offsetof(Tally, unbiased) + 1
};
_Static_assert(sizeof(bool) == 1 && sizeof(double) == sizeof(size_t) && offsetof(Tally, unbiased) == FIRST + NUMBERS * sizeof(double),
               "numbers have no padding");

size_t tally_numbers(const Tally *t)
{
    return NUMBERS + t->decoded * (E_SUMS + 1) + FLAGS;
}

void tally_save(const Tally *t, double *to)
{
    memcpy(to, (const char *)t + FIRST, NUMBERS * sizeof *to);
    to[COUNT] = (double)t->distances.n;
    to += NUMBERS;
    memcpy(to, t->error, t->decoded * sizeof *t->error);
    to += t->decoded * E_SUMS;
    memcpy(to, t->grown, t->decoded * sizeof *t->grown);
    to += t->decoded;
    const bool *flag = (const bool *)((const char *)t + FIRST) + NUMBERS * sizeof *to;
    for (size_t i = 0; i < FLAGS; i++)
        to[i] = flag[i];
}

void tally_load(Tally *t, const double *from)
{
    memcpy((char *)t + FIRST, from, NUMBERS * sizeof *from);
    t->distances.n = (size_t)from[COUNT];
    from += NUMBERS;
    memcpy(t->error, from, t->decoded * sizeof *t->error);
    from += t->decoded * E_SUMS;
    memcpy(t->grown, from, t->decoded * sizeof *t->grown);
    from += t->decoded;
    bool *flag = (bool *)((char *)t + FIRST) + NUMBERS * sizeof *from;
    for (size_t i = 0; i < FLAGS; i++)
        flag[i] = from[i] != 0;
}
