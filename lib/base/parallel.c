/* parallel.c -- OpenMP, and the affinity mask. */
#include "base/parallel.h"

#include <omp.h>
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

void parallel_for_slots(int threads, size_t pieces, void (*body)(void *data, size_t piece, size_t slot),
                        void *data)
{
    const int slots = (int)parallel_slots(threads, pieces);
    if (slots <= 1) {
        for (size_t i = 0; i < pieces; i++)
            body(data, i, 0);
        return;
    }
#pragma omp parallel for num_threads(slots) schedule(dynamic, 1)
    for (size_t i = 0; i < pieces; i++)
        body(data, i, (size_t)omp_get_thread_num());
}

int parallel_cores(void)
{
    cpu_set_t set;
    int n = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    return n > 0 ? n : 1;
}
