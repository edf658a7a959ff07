/* bench_decode.c -- decode FILE.atomo -o FILE.h5: decodes the payloads that encode wrote. */
#include "bench_commands.h"

#include "measure/archive.h"
#include "app/progress.h"
#include "compress/spec.h"

typedef struct {
    Common common;
    Arena *a;
    Error *err;
} Options;

static Status write_dump(const Options *o, FrameReader *from, const Codec *codec)
{
    Progress progress;
    ArchiveSum sum;
    DumpWriter *to;
    TRY(dump_create(&to, o->common.output, o->err));
    progress_open(&progress, "decoding", frame_records(from), o->common.quiet);
    const ArchiveJob job = {codec, 0, (int)o->common.threads, progress_tick, &progress};
    const Status status = archive_decode(from, &job, to, &sum, o->a, o->err);
    progress_close(&progress);
    TRY(dump_finish(to, status, o->err));
    printf("%s: %s, %zu tensors, %llu payload bytes -> %llu\n", o->common.output, frame_spec(from),
           sum.tensors, (unsigned long long)sum.payload_bytes, (unsigned long long)sum.raw_bytes);
    return OK;
}

static Status run(void *options, const TextList *arguments)
{
    const Options *o = options;
    const char *path = arguments->item[0];
    const Codec *codec;
    FrameReader *from;
    if (!o->common.output)
        return FAIL(o->err, ERR_USAGE, "decode: no output file; want -o FILE.h5");
    TRY(frame_open(&from, path, o->a, o->err));
    Status status = codec_open(&codec, frame_spec(from), o->a, o->err);
    if (status == ERR_USAGE) {
        status = o->err->status = ERR_CORRUPT; /* an invalid spec is the file's error, not the user's */
        o->err->hint[0] = '\0';
    }
    if (status != OK)
        error_at(o->err, "%.200s", path);
    else
        status = write_dump(o, from, codec);
    frame_close(from);
    return status;
}

int bench_decode(int argc, char **argv)
{
    Error err;
    Options o = {.a = arena_open(0), .err = &err};
    const Command command = {
        .program = "atomo-bench",
        .command = "decode",
        .usage = "FILE.atomo -o FILE.h5",
        .brief = "decode a file of payloads, written by encode, to a dump",
        .details = "Paths, shapes and attributes are those of the encoded dump.\n",
        .common = &o.common,
        .takes = TAKES_THREADS | TAKES_OUTPUT,
        .arguments_min = 1,
        .arguments_max = 1,
    };
    return cli_run(&command, argc, argv, run, &o, o.a, &err);
}
