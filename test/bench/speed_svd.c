/* speed_svd.c -- checks that spectral ATOMO (spec svd:rank=3) is at least 10 times faster with the SVD from the
 * Gram matrix than with the SVD by LAPACK's gesdd. Gradients are read from the dump on the command line.
 * Without one they are random normal numbers in the shapes of ResNet-18. */
#include "compress/spec.h"
#include "dump/tensor.h"

#include <math.h>
#include <stdio.h>
#include <time.h>

enum { TENSORS_MAX = 4096, REPEATS = 5 /* runs with different random numbers */ };

typedef struct {
    Shape shape[TENSORS_MAX];
    float *x[TENSORS_MAX];
    size_t count, floats;
} Model;

static double cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void add(Model *m, int rank, const size_t *dim, Arena *a)
{
    Shape *shape = &m->shape[m->count];
    if (!shape_make(shape, rank, dim))
        return;
    m->x[m->count] = NEW(a, float, shape->n);
    const Rng rng = rng_open(1, 0, 0, 0, m->count);
    rng_normals(&rng, USE_DATA, 0, shape->n, 1, m->x[m->count]);
    m->floats += shape->n;
    m->count++;
}

static void add_conv(Model *m, size_t out, size_t in, size_t kernel, Arena *a)
{
    add(m, 4, (size_t[]){out, in, kernel, kernel}, a);
    for (int k = 0; k < 2; k++) /* weight and bias of the batch norm that follows the convolution */
        add(m, 1, &out, a);
}

static void make_resnet18(Model *m, Arena *a)
{
    add_conv(m, 64, 3, 3, a);
    for (size_t stage = 0, in = 64; stage < 4; stage++) {
        const size_t out = (size_t)64 << stage;
        for (int block = 0; block < 2; block++, in = out) {
            add_conv(m, out, in, 3, a);
            add_conv(m, out, out, 3, a);
            if (in != out)
                add_conv(m, out, in, 1, a);
        }
    }
    add(m, 2, (size_t[]){10, 512}, a);
    add(m, 1, (size_t[]){10}, a);
}

static Status load(Model *m, const char *path, Arena *a, Error *err)
{
    Dump *dump;
    TRY(dump_open(&dump, path, a, err));
    for (size_t i = 0; i < dump_count(dump) && i < TENSORS_MAX; i++) {
        m->shape[i] = dump_tensor(dump, i)->shape;
        m->x[i] = NEW(a, float, m->shape[i].n);
        TRY(dump_read(dump, i, m->x[i], err));
        m->floats += m->shape[i].n;
        m->count++;
    }
    dump_close(dump);
    return OK;
}

/* Returns the least time in seconds to encode every tensor once. The runs take at least a second together, so
 * that a short interruption of the machine does not change the result. */
static double time_spec(const Model *m, const char *spec, size_t *bytes, Error *err)
{
    double best = INFINITY, spent = 0;
    Arena *forever = arena_open(0), *scratch = arena_open(0);
    const Codec *codec;
    if (codec_open(&codec, spec, forever, err) != OK)
        return NAN;
    Buf out = {.cap = 0};
    for (size_t i = 0; i < m->count; i++) {
        const Call c = {.self = codec, .shape = &m->shape[i], .workers = 1, .threads = 1};
        out.cap = codec_bound(&c) > out.cap ? codec_bound(&c) : out.cap;
    }
    out.data = NEW_ZERO(forever, uint8_t, out.cap);
    for (int r = 0; r <= REPEATS || spent < 1; r++) {
        const double start = cpu_seconds();
        *bytes = 0;
        for (size_t i = 0; i < m->count; i++) {
            const Rng rng = rng_open(1, (uint64_t)(r % REPEATS), 0, 0, i);
            const Call c = {.self = codec,
                            .shape = &m->shape[i],
                            .rng = rng,
                            .rng_shared = rng,
                            .workers = 1,
                            .threads = 1,
                            .scratch = scratch,
                            .err = err};
            out.size = 0;
            if (codec_encode(&c, m->x[i], &out) != OK)
                return NAN;
            *bytes += out.size;
        }
        const double took = cpu_seconds() - start;
        spent += took;
        /* the first run (r == 0) is not counted, as it pays for page faults */
        best = r ? fmin(best, took) : best;
    }
    arena_close(forever);
    arena_close(scratch);
    return best;
}

int main(int argc, char **argv)
{
    static Model model;
    Arena *a = arena_open(0);
    Error err = {0};
    if (argc > 1 && load(&model, argv[1], a, &err) != OK) {
        fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    if (argc <= 1)
        make_resnet18(&model, a);
    size_t bytes, bytes_lapack;
    const double gram = time_spec(&model, "svd:rank=3", &bytes, &err);
    const double gesdd = time_spec(&model, "svd:rank=3,method=gesdd", &bytes_lapack, &err);
    printf("%zu tensors, %zu floats: svd:rank=3 %.1f ms (%.2f MB), by gesdd %.1f ms (%.2f MB): %.1f times "
           "faster, "
           "want 10\n",
           model.count, model.floats, 1e3 * gram, 1e-6 * (double)bytes, 1e3 * gesdd,
           1e-6 * (double)bytes_lapack, gesdd / gram);
    arena_close(a);
    return gesdd / gram >= 10 ? 0 : 1;
}
