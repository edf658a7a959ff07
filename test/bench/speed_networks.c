/* speed_networks.c -- measures how fast the gradient of a batch of images is computed.
 * `speed_networks NETWORK CHANNELS SIDE BATCH THREADS SECONDS` prints the images per second of the fastest
 * call: of processor time with one thread, which other programs disturb less, else of wall time. CHANNELS 0: an image
 * is a window of SIDE tokens of 65 letters. */
#include "bench/yardstick.h"

#include "train/model.h"

#include <stdio.h>
#include <stdlib.h>

static double now(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(int argc, char **argv)
{
    if (argc != 7)
        return 2;
    Error err;
    Model *m;
    const size_t channels = strtoul(argv[2], NULL, 10), side = strtoul(argv[3], NULL, 10),
                 images = strtoul(argv[4], NULL, 10);
    const bool text = channels == 0;
    const size_t floats = images * (text ? side : channels * side * side), answers = text ? floats : images;
    const int threads = atoi(argv[5]);
    const clockid_t clock = threads == 1 ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC;
    const ModelSpec spec = {.network = argv[1],
                            .channels = text ? 1 : channels,
                            .rows = text ? 1 : side,
                            .columns = side,
                            .classes = text ? 65 : 10,
                            .images = images,
                            .text = text};
    if (model_open(&m, &spec, &err) != OK) {
        fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    Arena *a = arena_open(0);
    const size_t n = model_parameters(m)->floats;
    float *w = NEW(a, float, n), *g = NEW(a, float, n), *x = NEW(a, float, floats),
          *running = NEW(a, float, model_running(m)->floats + 1);
    uint32_t *labels = NEW(a, uint32_t, answers);
    if (!w || !g || !x || !running || !labels)
        return 1;
    model_init(m, 1, w, running);
    const Rng rng = rng_open(1, 0, 0, 0, 0);
    for (size_t i = 0; i < floats; i++)
        x[i] = text ? (float)(i * i % 65) : (float)rng_normal(&rng, USE_DATA, i);
    for (size_t i = 0; i < answers; i++)
        labels[i] = (uint32_t)(i % 10);
    const Batch batch = {x, labels, images};
    Score score; /* the first call is not timed, as it pays for page faults */
    if (model_gradient(m, &batch, w, running, &rng, threads, g, &score, &err) != OK)
        return 1;
    double best = INFINITY;
    for (const double end = now(clock) + strtod(argv[6], NULL); now(clock) < end || best == INFINITY;) {
        const double start = now(clock);
        if (model_gradient(m, &batch, w, running, &rng, threads, g, &score, &err) != OK)
            return 1;
        best = fmin(best, now(clock) - start);
    }
    printf("%.3f\n", (double)images / best);
    arena_close(a);
    model_close(m);
    return 0;
}
