/* known.h -- reads the values in reference/metrics.txt, which reference/metrics.py wrote. */
#ifndef ATOMO_REFERENCE_KNOWN_H
#define ATOMO_REFERENCE_KNOWN_H

#include "rig/check.h"

/* Returns the value with this group and name from the file of reference values. NaN: the file has no such line,
 * so the metric is undefined. */
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
