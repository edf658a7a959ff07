/* certify_draw.c -- draws estimates of every codec that promises a mean or a variance, on several gradients.
 * It prints sums over the draws, which certify_report.c reads.
 *
 *     certify_draw ISA SHARE SHARES    of SHARES equal shares of all specs, draws share number SHARE (from 0)
 *
 * The program is linked once for each instruction set, whose number is ISA; it prints nothing if the CPU lacks it.
 * Every combination of gradient, number of threads and instruction set has its own seed. */
#include "dump/tensor.h"
#include "rig/draws.h"
#include "rig/every_codec.h"
#include "math/vec/kernels.h"

enum { N = 500, LAWS = 4, SHAPES = 3, DRAWS = 500 };

static const char *const laws[LAWS] = {"normal", "laplace", "low-rank", "lenet-conv1"};
static const struct {
    const char *name;
    int rank;
    size_t dim[4];
} shapes[SHAPES] = {{"500", 1, {N}}, {"25x20", 2, {25, 20}}, {"20x1x5x5", 4, {20, 1, 5, 5}}};
static const int thread_counts[] = {1, 3};
static const char *const isa_names[ISA_COUNT] = {"base", "avx2", "avx512"};

/* Reads the gradient of the 500 weights of LeNet's first convolution at step 1000. */
static void read_layer(float *x)
{
    const char *name = "conv1.weight";
    const Selection selection = {.tensors = {&name, 1}, .step = "*1000"};
    Arena *a = arena_open(0);
    Error err;
    Dump *dump;
    size_t *index, count;
    check_ok(dump_open(&dump, "datasets/lenet-mnist.h5", a, &err), &err);
    check_ok(dump_select(dump, &selection, a, &index, &count, &err), &err);
    check(count == 1);
    check_ok(dump_read(dump, index[0], x, &err), &err);
    dump_close(dump);
    arena_close(a);
}

static void fill(size_t law, const Shape *shape, float *x)
{
    const Rng rng = rng_open(1, 0, 0, 0, rng_hash(laws[law]));
    void (*const make[])(const Rng *, const Shape *, float *) = {fill_normal, fill_laplace, fill_low_rank};
    if (law < countof(make))
        make[law](&rng, shape, x);
    else
        read_layer(x);
}

/* Returns the closed form of the variance. For a codec with GIVEN_DRAWS, the closed form depends on random
 * numbers that workers share; then the result is the mean over the draws. */
static double expected_of(Rig *rig, const float *x)
{
    double sum = 0;
    const size_t repeats = codec_traits(rig->codec) & GIVEN_DRAWS ? DRAWS : 1;
    for (size_t r = 0; r < repeats; r++) {
        rig_address(rig, r, 0);
        sum += codec_variance(&rig->call, x);
    }
    return sum / (double)repeats;
}

static void draw(const char *spec, uint64_t seed, size_t law, size_t s, int threads, Isa isa, const float *x)
{
    Rig rig;
    Shape shape;
    check(shape_make(&shape, shapes[s].rank, shapes[s].dim));
    rig_open(&rig, spec, shape);
    const bool unbiased = codec_traits(rig.codec) & UNBIASED;
    rig.seed = seed;
    rig.call.threads = threads;
    draws_plan(&rig, x);
    const double expected = expected_of(&rig, x);
    if (unbiased || !isnan(expected)) {
        const Draws d = draws_take(&rig, x, codec_traits(rig.codec) & RANDOM ? DRAWS : 2);
        printf("%s\t%s %s\t%d\t%s\t%d %zu %.9g %.9g %.9g %.9g %.9g %.9g %.9g %.9g %.9g\n", spec, laws[law],
               shapes[s].name, threads, isa_names[isa], unbiased, d.repeats, d.gain - 1, d.gain_error, d.mse,
               d.mse_error, expected, d.variance, d.freedom, d.off, d.norm2);
    }
    rig_close(&rig);
}

static void draw_all(size_t share, size_t parts, Isa isa)
{
    float x[N];
    for (size_t law = 0; law < LAWS; law++)
        for (size_t s = 0; s < SHAPES; s++) {
            Shape shape;
            check(shape_make(&shape, shapes[s].rank, shapes[s].dim));
            fill(law, &shape, x);
            for (size_t t = 0; t < countof(thread_counts); t++)
                for (size_t k = share; k < spec_count; k += parts) {
                    const uint64_t seed = 1 + (((uint64_t)isa * 2 + t) * SHAPES + s) * LAWS + law;
                    draw(specs[k], seed, law, s, thread_counts[t], isa, x);
                }
        }
}

int main(int argc, char **argv)
{
    int64_t isa, share, parts;
    if (argc != 4 || !text_to_int(argv[1], &isa) || !text_to_int(argv[2], &share) ||
        !text_to_int(argv[3], &parts) || isa < 0 || isa >= ISA_COUNT || share < 0 || share >= parts) {
        fprintf(stderr, "usage: certify_draw ISA SHARE SHARES\n");
        return 2;
    }
    if (kernels() != kernels_of((Isa)isa))
        return 0;
    collect_specs(NULL);
    draw_all((size_t)share, (size_t)parts, (Isa)isa);
    drop_specs(NULL);
    return 0;
}
