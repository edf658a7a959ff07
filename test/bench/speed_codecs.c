/* speed_codecs.c -- measures the speed of the codecs, divided by the speed of memcpy on the same vector in
 * the same run.
 *
 * speed_codecs [LOG2 [PART [COLUMNS]]]
 *
 * The vector has 2^LOG2 elements (24). PART selects the codecs whose spec contains it. With COLUMNS, all
 * codecs get the vector as a matrix with so many columns.
 *
 * The benchmark uses one thread and measures CPU time. The columns `x` say how much faster all threads are,
 * in elapsed time. The column `scratch` has the codec's scratch memory in bytes per element.
 *
 * The elements are normal numbers, where each group of 1024 elements has its own scale. memcpy runs twelve
 * times before it is timed, as its first calls pay for page faults. memcpy is timed again before each codec.
 * The best of BEST_OF times counts, with all threads the best of BEST_OF_ALL.
 *
 * A codec's floor is the least ratio that this project promises on a machine with AVX-512. Without AVX-512
 * the least ratio is 0.6 times the floor. */
#include "compress/spec.h"
#include "math/vec/kernels.h"
#include "bench/yardstick.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    WARM = 12,
    BEST_OF = 5,
    BEST_OF_ALL = 2,
    /* the longest time that `codec_train` may take, in units of a memcpy of the vector */
    LEARNING_MOST = 50,
    PATIENCE = 2
};

/* Times of a codec: CPU time and elapsed time, in seconds; and its most scratch memory in bytes. */
typedef struct {
    double encode, decode, encode_wall, decode_wall;
    size_t scratch;
} Times;

typedef struct {
    const char *spec;
    /* the least promised speed, divided by the speed of memcpy; 0: no promise */
    double encode_floor, decode_floor;
} Case;

static const Case cases[] = {
    {"none", 0, 0},
    {"fp16", 0.5, 0},
    {"fp16:rounding=stochastic", 0, 0},
    {"bf16", 0, 0},
    {"qsgd:bits=3,code=fixed", 0, 0},
    {"qsgd:bits=4,code=fixed", 0.35, 0.5},
    {"qsgd:bits=8,code=fixed", 0, 0},
    {"qsgd:bits=4", 0.15, 0},
    {"qsgd:bits=2", 0, 0},
    {"qsgd:levels=1", 0, 0},
    {"qsgd:bits=4,code=elias-dense", 0, 0},
    {"qsgd:bits=4,code=rans", 0.08, 0.08},
    {"qsgd:bits=8,code=rans", 0, 0},
    {"terngrad:code=rans", 0, 0},
    {"natural:code=rans", 0, 0},
    {"terngrad", 0.35, 0},
    {"terngrad:code=2bit", 0, 0},
    {"terngrad:clip=2.5", 0.35, 0},
    {"nuqsgd", 0.25, 0},
    {"natural", 0.35, 0},
    {"minmax", 0.35, 0},
    {"minmax:rounding=stochastic", 0.35, 0},
    {"minmax:bits=8", 0.35, 0},
    {"mxfp8", 0, 0},
    {"mxfp4", 0, 0},
    {"nvfp4", 0, 0},
    {"fp8", 0, 0},
    {"bf16:code=rans", 0, 0},
    {"zipml", 0.003, 0},
    {"intsgd:share=off", 0.25, 0},
    {"rotated", 0, 0},
    {"thc", 0, 0},
    {"drive", 0, 0},
    {"eden:rotations=1", 0.1, 0},
    {"eden", 0, 0},
    {"eden:bits=4", 0, 0},
    {"entry:ratio=0.01", 0.25, 0},
    {"entry:ratio=0.1", 0, 0},
    {"joint:bits=1+entry", 0, 0},
    {"lq:q=2", 0, 0},
    {"wavelet", 0.06, 0},
    {"wavelet:family=db2", 0.06, 0},
    {"wavelet:family=db4", 0.06, 0},
    {"hadamard", 0.08, 0},
    {"gspar", 0.2, 0},
    {"gspar:eps=50", 0.2, 0},
    {"gspar:eps=1", 0, 0},
    {"randk", 0.5, 0},
    {"randk:ratio=0.5", 0, 0},
    {"sign", 0.7, 0},
    {"scaledsign", 0.4, 0},
    {"scaledsign:scale=bucket", 0, 0},
    {"onebit", 0, 0},
    {"stc", 0.3, 0},
    {"adaq", 0.3, 0},
    {"topk", 0.5, 0.5},
    {"topk:ratio=0.1", 0, 0},
    {"threshold:rel=0.5", 0.5, 0},
    {"threshold", 0, 0},
    {"strom", 0, 0},
    {"gaussiank", 0, 0},
    {"sidco", 0, 0},
    {"dgc", 0, 0},
    {"countsketch", 0.03, 0},
    {"countsketch:topk=100000", 0.03, 0},
    {"countmin", 0, 0},
    {"sketchml", 0.02, 0},
    {"sketchml:keys=delta-adaptive", 0, 0},
    {"cas", 0.08, 0},
    {"cas:clusters=4", 0, 0},
    {"cas:bits=2", 0, 0},
    {"svd:rank=3", 0, 0},
    {"svd:rank=1,vectors=qsgd", 0, 0},
    {"svd:rank=16,method=randomized", 0, 0},
    {"fourier", 0.012, 0},
    {"dct", 0.01, 0},
    {"ef21+topk", 0, 0},
    {"diana+qsgd:bits=4,code=fixed", 0, 0},
    {"induced+topk", 0, 0},
    {"zstd+none", 0, 0},
    {"zstd+qsgd", 0, 0},
    {"blosc+none", 0, 0},
};

/* These codecs get the vector as a matrix with nearly equal sides. */
static const Case matrix_cases[] = {
    {"powersgd", 0.1, 0},
    {"powersgd:rank=4", 0, 0},
    {"lowrank", 0.1, 0},
};

/* Sets *t to the least times of `runs` runs. One more run, the first, is not counted. If runs take more than PATIENCE
 * seconds together, no further run begins, and the first one counts if it was the only one. */
static Status run_times(Call *call, int runs, const float *x, float *y, Buf *payload, Times *t)
{
    Message m;
    *t = (Times){INFINITY, INFINITY, INFINITY, INFINITY, 0};
    arena_reset_peak(call->scratch);
    const size_t before = arena_used(call->scratch);
    const double begin = wall_seconds();
    for (int i = 0; i < runs + 1 && wall_seconds() - begin < PATIENCE; i++) {
        payload->size = 0;
        const double cpu = cpu_seconds(), wall = wall_seconds();
        TRY(codec_send(call, x, payload, &m));
        const double sent_cpu = cpu_seconds(), sent_wall = wall_seconds();
        TRY(codec_receive(call, &m, y));
        if (i == 0 && wall_seconds() - begin < PATIENCE)
            continue;
        t->decode = fmin(t->decode, cpu_seconds() - sent_cpu);
        t->decode_wall = fmin(t->decode_wall, wall_seconds() - sent_wall);
        t->encode = fmin(t->encode, sent_cpu - cpu);
        t->encode_wall = fmin(t->encode_wall, sent_wall - wall);
    }
    t->scratch = arena_peak(call->scratch) - before;
    return OK;
}

/* Returns the seconds that `codec_train` takes; 0 if the codec does not train. Sets `call->state`. */
static double train_seconds(Call *call, const float *x, Arena *forever)
{
    if (!call->self->ops->train)
        return 0;
    void *state = NEW_ZERO(forever, uint8_t, codec_state_size(call));
    const double start = cpu_seconds();
    call->state = state;
    return codec_train(call, x, state) == OK ? cpu_seconds() - start : INFINITY;
}

/* Returns true if the codec keeps its floors, multiplied by `scale`, and trains fast enough. */
static bool run_case(const Case *k, Shape shape, const float *x, float *y, double scale)
{
    Arena *forever = arena_open(0), *scratch = arena_open(0);
    const size_t n = shape.n;
    const Codec *codec;
    Error err;
    Times one, all = {0};
    if (codec_open(&codec, k->spec, forever, &err) != OK) {
        printf("%-30s %s\n", k->spec, err.text);
        return false;
    }
    Call call = {.self = codec,
                 .shape = &shape,
                 .rng = rng_open(1, 0, 0, 0, 1),
                 .workers = 1,
                 .threads = 1,
                 .scratch = scratch,
                 .err = &err};
    call.rng_shared = call.rng;
    Buf payload = {.cap = codec_message_bound(&call)};
    payload.data = NEW_ZERO(forever, uint8_t, payload.cap);
    const double copy = best_copy(y, x, n, BEST_OF), learning = train_seconds(&call, x, forever);
    Status status = run_times(&call, BEST_OF, x, y, &payload, &one);
    call.threads = parallel_cores();
    if (status == OK)
        status = run_times(&call, BEST_OF_ALL, x, y, &payload, &all);
    if (status != OK) {
        printf("%-30s %s\n", k->spec, err.text);
        return false;
    }
    const bool ok = copy / one.encode >= scale * k->encode_floor &&
                    copy / one.decode >= scale * k->decode_floor && learning <= LEARNING_MOST * copy;
    printf("%-30s %8.3f %8.2f %8.2f %8.2f %8.2f %6.2f %6.2f %8.2f %6.2f %6.2f  %s\n", k->spec,
           8 * (double)payload.size / (double)n, copy / one.encode, copy / one.decode,
           1e9 * one.encode / (double)n, 1e9 * one.decode / (double)n, one.encode_wall / all.encode_wall,
           one.decode_wall / all.decode_wall, (double)one.scratch / (double)n, scale * k->encode_floor,
           scale * k->decode_floor,
           ok ? k->encode_floor + k->decode_floor > 0 ? "ok" : "" : "BELOW ITS FLOOR");
    if (learning > copy / 100)
        printf("%-30s learning %.1f memcpys, at most %d\n", "", learning / copy, LEARNING_MOST);
    fflush(stdout);
    arena_close(forever);
    arena_close(scratch);
    return ok;
}

/* Returns the shape of n elements for a codec: a matrix with `columns` columns; with 0 columns a vector, or
 * nearly a square. */
static Shape shape_of(size_t n, size_t columns, bool square)
{
    Shape shape = shape_vector(n);
    if (!columns && !square)
        return shape;
    matrix_view(&shape, RESHAPE_SQUARE, &shape.dim[0], &shape.dim[1]);
    if (columns) {
        shape.dim[0] = n / columns;
        shape.dim[1] = columns;
    }
    shape.rank = 2;
    return shape;
}

int main(int argc, char **argv)
{
    const size_t n = (size_t)1 << (argc > 1 ? atoi(argv[1]) : 24);
    const char *part = argc > 2 ? argv[2] : "";
    const size_t columns = argc > 3 ? strtoul(argv[3], NULL, 10) : 0;
    const double scale = !strcmp(kernels()->name, "avx512") ? 1 : 0.6;
    Arena *a = arena_open(0);
    float *x = NEW(a, float, n), *y = NEW(a, float, n);
    bool ok = true;
    fill(x, n);
    best_copy(y, x, n, WARM);
    const double copy = best_copy(y, x, n, BEST_OF);
    printf("%zu floats, %s kernels, one thread; memcpy %.2f ms (%.1f GB/s)\n", n, kernels()->name, 1e3 * copy,
           4e-9 * (double)n / copy);
    printf("%-30s %8s %8s %8s %8s %8s %6s %6s %8s %6s %6s\n", "", "bits/el", "encode", "decode", "enc ns",
           "dec ns", "enc x", "dec x", "scratch", "floor", "floor");
    for (size_t i = 0; i < countof(cases); i++)
        if (strstr(cases[i].spec, part))
            ok &= run_case(&cases[i], shape_of(n, columns, false), x, y, scale);
    for (size_t i = 0; i < countof(matrix_cases); i++)
        if (strstr(matrix_cases[i].spec, part))
            ok &= run_case(&matrix_cases[i], shape_of(n, columns, true), x, y, scale);
    arena_close(a);
    return ok ? 0 : 1;
}
