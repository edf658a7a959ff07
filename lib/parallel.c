/* parallel.c -- OpenMP, and the affinity mask. */
#include "parallel.h"

#include <sched.h>

void parallel_for(int threads, size_t pieces, void (*body)(void *data, size_t piece), void *data)
{
    if (threads <= 1 || pieces <= 1) {
        for (size_t i = 0; i < pieces; i++)
            body(data, i);
        return;
    }
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1)
    for (size_t i = 0; i < pieces; i++)
        body(data, i);
}

int parallel_cores(void)
{
    cpu_set_t set;
    int n = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    return n > 0 ? n : 1;
}
