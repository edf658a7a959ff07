/* speed_peers.c -- times one task, for peers.py, which compares this project with other libraries. Prints the
 * seconds of the best of three runs.
 *
 *     bench_peers read DUMP.h5         opens the file and reads every tensor
 *     bench_peers wasserstein PAIR     computes W1 between the two halves of a file of float32 numbers */
#include "math/radix.h"
#include "dump/tensor.h"
#include "measure/timing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static Status read_all(const char *path, Arena *a, Error *err)
{
    Dump *d;
    size_t largest = 0;
    TRY(dump_open(&d, path, a, err));
    for (size_t i = 0; i < dump_count(d); i++)
        largest = dump_tensor(d, i)->shape.n > largest ? dump_tensor(d, i)->shape.n : largest;
    float *x = NEW(a, float, largest);
    Status status = x ? OK : arena_fail(a, err);
    for (size_t i = 0; status == OK && i < dump_count(d); i++)
        status = dump_read(d, i, x, err);
    dump_close(d);
    return status;
}

/* The memory is taken after the dump is opened, as in the commands: the reader process, a fork, would share it, so that each page
 * were copied when it is written. */
static Status time_read(const char *path, double *seconds, Arena *forever, Error *err)
{
    (void)forever;
    const double start = clock_now();
    Arena *a = arena_open(0);
    const Status status = read_all(path, a, err);
    *seconds = clock_now() - start;
    arena_close(a);
    return status;
}

/* On one thread, as peers.py times the other library. */
static Status time_wasserstein(const char *path, double *seconds, Arena *a, Error *err)
{
    const ArenaMark mark = arena_mark(a);
    FILE *f = fopen(path, "rb");
    if (!f || fseek(f, 0, SEEK_END))
        return FAIL(err, ERR_IO, "%s: cannot be read", path);
    const size_t n = (size_t)ftell(f) / (2 * sizeof(float));
    float *x = NEW(a, float, 2 * n), *work = NEW(a, float, 2 * n);
    rewind(f);
    if (!x || !work || n == 0 || fread(x, sizeof *x, 2 * n, f) != 2 * n)
        return FAIL(err, ERR_IO, "%s: cannot be read", path);
    fclose(f);
    double w1;
    const double start = clock_now();
    TRY(radix_wasserstein(x, x + n, n, work, 1, &w1, a, err));
    *seconds = clock_now() - start;
    arena_rewind(a, mark);
    return OK;
}

int main(int argc, char **argv)
{
    enum { TIMES = 3 };
    static const struct {
        const char *name;
        Status (*run)(const char *path, double *seconds, Arena *a, Error *err);
    } modes[] = {{"read", time_read}, {"wasserstein", time_wasserstein}};
    Error err;
    Arena *a = arena_open(0);
    for (size_t m = 0; argc == 3 && m < countof(modes); m++) {
        double best = 1e9, seconds = 0;
        if (strcmp(argv[1], modes[m].name))
            continue;
        for (int i = 0; i < TIMES; i++) {
            if (modes[m].run(argv[2], &seconds, a, &err) != OK) {
                fprintf(stderr, "bench_peers: %s\n", err.text);
                return 1;
            }
            best = seconds < best ? seconds : best;
        }
        printf("%.9f\n", best);
        return 0;
    }
    fprintf(stderr, "usage: bench_peers read DUMP.h5 | wasserstein PAIR\n");
    return 2;
}
