/* bench_convert.c -- convert IN OUT: writes a dump anew as HDF5, safetensors or .npz. */
#include "bench_commands.h"

#include "app/cli_output.h"
#include "app/notes.h"
#include "base/outfile.h"
#include "dump/convert.h"

typedef struct {
    Common common;
    DumpHints hints;
    const Command *command;
    Arena *a;
    Error *err;
} Options;

static Status convert(const Options *o, Dump *d, const char *path)
{
    Progress progress;
    ConvertSum sum;
    progress_open(&progress, "converting", "tensors", dump_count(d), o->common.quiet);
    const ConvertJob job = {progress_tick, &progress};
    const Status status = convert_dump(d, path, &job, &sum, o->a, o->err);
    progress_close(&progress);
    TRY(status);
    printf("%s: %zu tensors, %llu bytes of float32\n", path, sum.tensors, (unsigned long long)sum.bytes);
    if (!o->common.quiet)
        notes_dump(d, &progress);
    if (sum.left_out && !o->common.quiet)
        fprintf(stderr, "note: %s: %zu attributes, for which the format has no place, are left out\n", path,
                sum.left_out);
    return OK;
}

static Status run(void *options, const TextList *arguments)
{
    const Options *o = options;
    const char *from = arguments->item[0], *to = arguments->item[1];
    Dump *d;
    TRY(convert_check(to, o->err));
    if (outfile_same(from, to, o->a))
        return FAIL(o->err, ERR_USAGE, "convert: %s is the input; want another file", to);
    TRY(cli_keep_dump(o->command, "", to, o->a, o->err));
    TRY(outfile_check(to, o->a, o->err));
    TRY(dump_open_as(&d, from, &o->hints, o->a, o->err));
    const Status status = convert(o, d, to);
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
