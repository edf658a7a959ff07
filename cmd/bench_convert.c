/* bench_convert.c -- convert IN OUT: writes a dump anew as HDF5, safetensors or .npz. */
#include "bench_commands.h"

#include "app/notes.h"
#include "base/file.h"
#include "base/outfile.h"
#include "dump/write.h"

typedef struct {
    Common common;
    DumpHints hints;
    const Command *command;
    Arena *a;
    Error *err;
} Options;

/* Refuses a dump whose largest tensor does not fit into memory. */
static Status check_memory(const Options *o, const Dump *d)
{
    const TensorInfo *largest = NULL;
    for (size_t i = 0; i < dump_count(d); i++)
        if (!largest || dump_tensor(d, i)->shape.n > largest->shape.n)
            largest = dump_tensor(d, i);
    return largest ? memory_check(sizeof(float) * (uint64_t)largest->shape.n, dump_file(d), largest->path, largest->shape.n, o->err)
                   : OK;
}

static Status convert(const Options *o, Dump *d, const char *path)
{
    Progress progress;
    ConvertSum sum;
    progress_open(&progress, "converting", "tensors", dump_count(d), o->common.quiet);
    const ConvertJob job = {progress_tick, &progress};
    const Status status = convert_dump(d, path, &job, &sum, o->a, o->err);
    progress_close(&progress);
    TRY(status);
    printf("%s: %zu tensor%s, %llu bytes of float32\n", path, sum.tensors, text_s(sum.tensors),
           (unsigned long long)sum.bytes);
    if (!o->common.quiet)
        notes_dump(d, NULL, &progress);
    if (sum.nonfinite && !o->common.quiet)
        fprintf(stderr, "note: %s: %zu tensor%s of float32 with NaN or Inf, the first is %.200s\n", path,
                sum.nonfinite, text_s(sum.nonfinite), sum.first);
    if (sum.left_out && !o->common.quiet)
        fprintf(stderr, "note: %s: %zu attribute%s, for which the format has no place, %s left out\n", path,
                sum.left_out, text_s(sum.left_out), text_are(sum.left_out));
    return OK;
}

static Status run(void *options, const TextList *arguments)
{
    const Options *o = options;
    const char *from = arguments->item[0], *to = arguments->item[1];
    Dump *d;
    TRY(convert_check(to, o->err));
    if (file_same(from, to))
        return FAIL(o->err, ERR_USAGE, "convert: %s is the input; want another file", to);
    TRY(cli_keep(o->command, "", to, o->err));
    TRY(outfile_check(to, o->a, o->err));
    TRY(dump_open_as(&d, from, &o->hints, o->a, o->err));
    Status status = check_memory(o, d);
    if (status == OK)
        status = convert(o, d, to);
    dump_close(d);
    return status;
}

static const char details[] =
    "The kind of IN follows from its content, the kind of OUT from its name. Every tensor is written as float32, which "
    "keeps float32, float16 and bfloat16 exactly and rounds float64. Integers are left out.\n"
    "Convolution kernels are written as [out, in, h, w], with the attribute layout = oihw if they were read as [h, w, in, out].\n"
    "A name with slashes, as step_000100/worker_0/conv1.weight, is a path of groups in HDF5. safetensors keep attributes "
    "in __metadata__; .npz has no place for them.\n"
    "A pickle of PyTorch (.pt, .pth) is refused, as opening one can run any program. These lines of Python save its "
    "tensors:\n"
    "  import torch, safetensors.torch\n"
    "  safetensors.torch.save_file(torch.load(\"g.pt\", weights_only=True), \"g.safetensors\")\n";

int bench_convert(int argc, char **argv)
{
    Error err;
    Options o = {.a = arena_open(0), .err = &err};
    const Option options[] = {OPTIONS_HINTS(&o.hints), {0}};
    const Command command = {
        .program = "atomo-bench",
        .command = "convert",
        .usage = "IN OUT.h5|OUT.safetensors|OUT.npz",
        .brief = "write a dump anew as HDF5, safetensors or .npz",
        .examples = "gradients.npz gradients.h5\n"
                    "gradients.h5 gradients.safetensors\n",
        .details = details,
        .options = options,
        .common = &o.common,
        .takes = TAKES_FORCE,
        .arguments_min = 2,
        .arguments_max = 2,
    };
    o.command = &command;
    return cli_run(&command, argc, argv, run, &o, o.a, &err);
}
