/* bench_encode.c -- encode FILE.h5 -c SPEC -o FILE.atomo: writes the payloads of a dump to a file. */
#include "bench_commands.h"

#include "app/archive.h"
#include "app/notes.h"
#include "compress/spec.h"

#include <string.h>
#include <unistd.h>

typedef struct {
    Common common;
    TextList specs;
    GroupSpec groups;
    DumpHints hints;
    int grouping;
    int64_t min_elements;
    Arena *a;
    Error *err;
} Options;

static Status write_container(const Options *o, Dump *d, const VectorList *list, const Codec *codec)
{
    Progress progress;
    ArchiveSum sum;
    FrameWriter *to;
    const char *spec = codec_text(codec, o->a);
    TRY(arena_check(spec, o->a, o->err));
    TRY(frame_create(&to, o->common.output, spec, list->count, o->a, o->err));
    progress_open(&progress, "encoding", "tensors", list->count, o->common.quiet);
    const ArchiveJob job = {.codec = codec,
                            .seed = (uint64_t)o->common.seed,
                            .threads = (int)o->common.threads,
                            .tick = progress_tick,
                            .tick_data = &progress};
    Status status = archive_encode(d, list, &job, to, &sum, o->a, o->err);
    if (status == ERR_STOPPED)
        error_at(o->err, "encode");
    progress_close(&progress);
    uint64_t size = 0;
    if (status == OK)
        status = frame_commit(to, &size, o->err);
    else
        frame_abandon(to);
    TRY(status);
    const bool piped = !strcmp(o->common.output, "-");
    fprintf(piped ? stderr : stdout,
            "%s: %s, %zu tensor%s, %llu -> %llu payload bytes, ratio %.4g; %llu bytes %s\n",
            piped ? "standard output" : o->common.output, codec->typed, sum.tensors, text_s(sum.tensors),
            (unsigned long long)sum.raw_bytes, (unsigned long long)sum.payload_bytes,
            (double)sum.raw_bytes / (double)(sum.payload_bytes ? sum.payload_bytes : 1),
            (unsigned long long)size, piped ? "in all" : "on disk");
    notes_vectors(d, list, &progress);
    return OK;
}

static Status run(void *options, const TextList *arguments)
{
    Options *o = options;
    const Codec *codec;
    VectorList list;
    Dump *d;
    if (o->specs.count != 1)
        return FAIL(o->err, ERR_USAGE, "encode: %s; want one -c SPEC",
                    o->specs.count ? "several codecs, and a file holds one's payloads" : "no codec");
    if (!o->common.output)
        return FAIL(o->err, ERR_USAGE, "encode: no output file; want -o FILE.atomo");
    if (!strcmp(o->common.output, "-") && isatty(STDOUT_FILENO))
        return FAIL(o->err, ERR_USAGE,
                    "encode: -o -: a terminal cannot show payloads; want a pipe or a file");
    TRY(codec_open(&codec, o->specs.item[0], o->a, o->err));
    notes_specs(&o->specs);
    TRY(dump_open_as(&d, arguments->item[0], &o->hints, o->a, o->err));
    o->groups.grouping = (Grouping)o->grouping;
    o->groups.min_elements = (size_t)o->min_elements;
    Status status = groups_make(&list, d, &o->groups, o->a, o->err);
    if (status == OK)
        status = memory_check_list(&list, sizeof(float), dump_file(d), o->err);
    if (status == OK)
        status = write_container(o, d, &list, codec);
    dump_close(d);
    return status;
}

int bench_encode(int argc, char **argv)
{
    Error err;
    Options o = {.a = arena_open(0), .err = &err};
    const Option options[] = {
        OPTION_CODEC(&o.specs, "the codec; atomo-bench list shows all"),
        OPTIONS_SELECTION(&o.groups.selection),
        OPTIONS_HINTS(&o.hints),
        OPTION(0, "group", "G", &o.grouping,
               "compress each tensor, each kind of tensors, or all as one vector", .choices = grouping_names),
        OPTION(0, "min-elements", "N", &o.min_elements, "send tensors of fewer elements as floats",
               .high = 1e15),
        OPTION(0, "skip-nonfinite", NULL, &o.groups.skip_nonfinite, "leave tensors with NaN or Inf out"),
        {0},
    };
    const Command command = {
        .program = "atomo-bench",
        .command = "encode",
        .usage = "FILE.h5 -c SPEC -o FILE.atomo",
        .brief = "write the payloads of a dump to a file; decode reads them back",
        .examples = "FILE.h5 -c qsgd:bits=4 -o gradients.atomo\n",
        .details =
            "-o - writes the payloads to standard output. They are those of compare's first repeat with the same --seed, each worker by itself. A codec with a "
            "state carries it from step to step, in the order of the file.\n",
        .options = options,
        .common = &o.common,
        .takes = TAKES_SEED | TAKES_THREADS | TAKES_OUTPUT | TAKES_KEEPS,
        .arguments_min = 1,
        .arguments_max = 1,
    };
    return cli_run(&command, argc, argv, run, &o, o.a, &err);
}
