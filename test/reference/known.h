/* known.h -- the numbers in reference/metrics.txt, which reference/metrics.py wrote. */
#ifndef ATOMO_REFERENCE_KNOWN_H
#define ATOMO_REFERENCE_KNOWN_H

#include "rig/check.h"

/* NaN where the file has no such line: the value does not exist. */
static inline double known(const char *group, const char *name)
{
    FILE *f = fopen("test/reference/metrics.txt", "r");
    check(f != NULL);
    char a[64], b[64];
    double value = NAN, v;
    while (fscanf(f, "%63s %63s %lf", a, b, &v) == 3)
        if (!strcmp(a, group) && !strcmp(b, name))
            value = v;
    fclose(f);
    return value;
}

#endif
