/* speed_networks.c -- measures how fast the gradient of a batch of images is computed.
 * `bench_networks NETWORK CHANNELS SIDE BATCH THREADS SECONDS` prints the images per second of the fastest
 * call. */
#include "bench/yardstick.h"

#include "nn/model.h"

#include <stdio.h>
#include <stdlib.h>

static double wall(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(int argc, char **argv)
{
    if (argc != 7)
        return 2;
    Error err;
    Model *m;
    const size_t channels = strtoul(argv[2], NULL, 10), side = strtoul(argv[3], NULL, 10),
                 images = strtoul(argv[4], NULL, 10), floats = images * channels * side * side;
    const int threads = atoi(argv[5]);
    const ModelSpec spec = {.network = argv[1],
                            .channels = channels,
                            .rows = side,
                            .columns = side,
                            .classes = 10,
                            .images = images};
    if (model_open(&m, &spec, &err) != OK) {
        fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    Arena *a = arena_open(0);
    const size_t n = model_parameters(m)->floats;
    float *w = NEW(a, float, n), *g = NEW(a, float, n), *x = NEW(a, float, floats),
          *running = NEW(a, float, model_running(m)->floats + 1);
    uint32_t *labels = NEW(a, uint32_t, images);
    if (!w || !g || !x || !running || !labels)
        return 1;
    model_init(m, 1, w, running);
    const Rng rng = rng_open(1, 0, 0, 0, 0);
    for (size_t i = 0; i < floats; i++)
        x[i] = (float)rng_normal(&rng, USE_DATA, i);
    for (size_t i = 0; i < images; i++)
        labels[i] = (uint32_t)(i % 10);
    const Batch batch = {x, labels, images};
    Score score; /* the first call is not timed, as it pays for page faults */
    if (model_gradient(m, &batch, w, running, &rng, threads, g, &score, &err) != OK)
        return 1;
    double best = INFINITY;
    for (const double end = wall() + strtod(argv[6], NULL); wall() < end || best == INFINITY;) {
        const double start = wall();
        if (model_gradient(m, &batch, w, running, &rng, threads, g, &score, &err) != OK)
            return 1;
        best = fmin(best, wall() - start);
    }
    printf("%.1f\n", (double)images / best);
    arena_close(a);
    model_close(m);
    return 0;
}
