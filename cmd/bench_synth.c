/* bench_synth.c -- synth -o FILE.h5: writes a synthetic gradient dump. */
#include "bench_commands.h"

#include "dump/write.h"

typedef struct {
    Common common;
    TextList shapes;
    int law;
    double scale, alpha, noise, density;
    int64_t rank, steps, workers;
    Arena *a;
    Error *err;
} Options;

static Status parse_shapes(const Options *o, SynthLayout *layout)
{
    Shape *shape = NEW(o->a, Shape, o->shapes.count);
    TRY(arena_check(shape, o->a, o->err));
    for (size_t i = 0; i < o->shapes.count; i++)
        if (!synth_shape(o->shapes.item[i], &shape[i]))
            return FAIL(o->err, ERR_USAGE,
                        "synth: --shape %s: want 1 to %d axes and at most 2^60 elements, as in 64x3x3x3",
                        o->shapes.item[i], RANK_MAX);
    layout->shape = shape;
    layout->shapes = o->shapes.count;
    return OK;
}

static Status run(void *options, const TextList *arguments)
{
    const Options *o = options;
    SynthLayout layout = {.steps = o->steps, .workers = o->workers};
    const Synth synth = {.law = (Law)o->law,
                         .scale = o->scale,
                         .alpha = o->alpha,
                         .rank = o->rank,
                         .noise = o->noise,
                         .density = o->density,
                         .seed = (uint64_t)o->common.seed,
                         .threads = (int)o->common.threads,
                         .stopped = cli_stopped};
    DumpWriter *to;
    (void)arguments;
    TRY(parse_shapes(o, &layout));
    if (!o->common.output)
        return FAIL(o->err, ERR_USAGE, "synth: no output file; want -o FILE.h5");
    TRY(dump_create(&to, o->common.output, o->err));
    dump_sign(to, "atomo-bench synth");
    const Status status = dump_finish(to, synth_dump(&synth, &layout, to, o->a, o->err), o->err);
    TRY(status);
    const size_t made = layout.shapes * (size_t)(layout.steps * layout.workers);
    printf("%s: %zu %s tensor%s\n", o->common.output, made, law_names[o->law], text_s(made));
    return OK;
}

static const char details[] =
    "normal: scale z, with z ~ N(0, 1). laplace: mean magnitude scale. power: |x| exceeds t with "
    "probability (scale/t)^alpha. lowrank: scale (U V'/sqrt(rank) + noise Z), seen as the paper's "
    "matrix. sparse: scale z with probability density, else 0.\n"
    "The file's attributes hold the law and its parameters. The same seed gives the same elements.\n";

int bench_synth(int argc, char **argv)
{
    static const char *shapes[] = {"64x3x3x3", "128x64x3x3", "512x512", "512"};
    Error err;
    Options o = {.shapes = {shapes, countof(shapes)},
                 .scale = 0.01,
                 .alpha = 3,
                 .density = 0.01,
                 .rank = 3,
                 .steps = 1,
                 .workers = 1,
                 .a = arena_open(0),
                 .err = &err};
    const Option options[] = {
        OPTION(0, "law", "LAW", &o.law, "distribution of the elements", .choices = law_names),
        OPTION(0, "shape", "AxBx..", &o.shapes, "shape of a tensor; repeatable"),
        OPTION(0, "steps", "N", &o.steps, "number of steps", .low = 1, .high = 1e6),
        OPTION(0, "workers", "N", &o.workers, "number of workers, each with its own gradients", .low = 1,
               .high = 1e5),
        OPTION(0, "scale", "X", &o.scale, "typical size of an element", .low = 1e-30, .high = 1e20),
        OPTION(0, "alpha", "X", &o.alpha, "power: exponent of the tail", .low = 0.5, .high = 100),
        OPTION(0, "rank", "N", &o.rank, "lowrank: rank of the signal", .low = 1, .high = 4096),
        OPTION(0, "noise", "X", &o.noise, "lowrank: size of the noise", .low = 0, .high = 1e6),
        OPTION(0, "density", "P", &o.density, "sparse: share of non-zero elements", .low = 0, .high = 1),
        {0},
    };
    const Command command = {
        .program = "atomo-bench",
        .command = "synth",
        .usage = "-o FILE.h5 [--law LAW] [--shape AxBx..]...",
        .brief = "write a synthetic gradient dump with a known distribution",
        .examples = "-o FILE.h5\n"
                    "-o FILE.h5 --law laplace --shape 512x256 --shape 512\n",
        .details = details,
        .options = options,
        .common = &o.common,
        .takes = TAKES_SEED | TAKES_THREADS | TAKES_OUTPUT | TAKES_KEEPS,
    };
    return cli_run(&command, argc, argv, run, &o, o.a, &err);
}
