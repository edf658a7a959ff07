/* bench_decode.c -- decode FILE.atomo -o FILE.h5: decodes the payloads that encode wrote. */
#include "bench_commands.h"

#include "app/archive.h"
#include "app/progress.h"
#include "base/host.h"
#include "compress/spec.h"

#include <errno.h>
#include <string.h>

typedef struct {
    Common common;
    Bytecount output_max, memory;
    Arena *a;
    Error *err;
} Options;

/* Returns the limit on the decoded size of an .atomo file of `file_size` bytes, when --max-output sets no
 * other limit. */
static uint64_t usual_most(uint64_t file_size)
{
    enum { ALWAYS = 64 << 20, EACH = 1024 };
    return file_size > UINT64_MAX / (2 * EACH) ? UINT64_MAX : ALWAYS + EACH * file_size;
}

static Status write_dump(const Options *o, FrameReader *from, const Codec *codec)
{
    Progress progress;
    ArchiveSum sum;
    DumpWriter *to;
    TRY(dump_create(&to, o->common.output, o->err));
    dump_sign(to, "atomo-bench decode");
    progress_open(&progress, "decoding", "tensors", from->records, o->common.quiet);
    const ArchiveJob job = {.codec = codec,
                            .threads = (int)o->common.threads,
                            .memory = o->memory.bytes,
                            .output_max = o->output_max.bytes ? o->output_max.bytes : usual_most(from->size),
                            .tick = progress_tick,
                            .tick_data = &progress};
    Status status = archive_decode(from, &job, to, &sum, o->a, o->err);
    if (status == ERR_STOPPED)
        error_at(o->err, "decode");
    progress_close(&progress);
    if (status == ERR_MEMORY) {
        if (strncmp(o->err->text, from->name, strlen(from->name)) != 0)
            error_at(o->err, "%.200s", from->name);
        error_hint(o->err, "--memory BYTES allows more, if you trust the file");
    }
    status = dump_finish(to, status, o->err);
    TRY(status);
    printf("%s: %s, %zu tensor%s, %llu payload bytes -> %llu\n", o->common.output, from->spec,
           sum.tensors, text_s(sum.tensors), (unsigned long long)sum.payload_bytes,
           (unsigned long long)sum.raw_bytes);
    return OK;
}

/* Copies standard input to a temporary file: the reader of payloads seeks, and a pipe cannot seek. */
static Status open_stdin(FrameReader **from, Arena *a, Error *err)
{
    static const char name[] = "standard input";
    char piece[1 << 14];
    FILE *copy = tmpfile();
    if (!copy)
        return FAIL(err, ERR_IO, "%s: cannot make a temporary file: %s", name, strerror(errno));
    errno = 0;
    for (size_t got; (got = fread(piece, 1, sizeof piece, stdin)) > 0;)
        if (fwrite(piece, 1, got, copy) != got)
            break;
    if (!ferror(stdin) && !ferror(copy) && !fflush(copy) && !fseek(copy, 0, SEEK_SET))
        return frame_open_file(from, copy, name, a, err);
    FAIL(err, ERR_IO, "%s: cannot copy it to a temporary file: %s", name, strerror(errno));
    fclose(copy);
    return ERR_IO;
}

static Status run(void *options, const TextList *arguments)
{
    const Options *o = options;
    const char *path = arguments->item[0];
    const Codec *codec;
    FrameReader *from;
    if (!o->common.output)
        return FAIL(o->err, ERR_USAGE, "decode: no output file; want -o FILE.h5");
    TRY(strcmp(path, "-") ? frame_open(&from, path, o->a, o->err) : open_stdin(&from, o->a, o->err));
    Status status = codec_open(&codec, from->spec, o->a, o->err);
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
    Options o = {.a = arena_open(0), .err = &err, .memory = {host_memory() / 2}};
    const Option options[] = {
        OPTION(0, "max-output", "BYTES", &o.output_max,
               "most bytes of tensors; without it 64M and 1024 for each byte of the file"),
        OPTION(0, "memory", "BYTES", &o.memory, "most memory for decoding"),
        {0},
    };
    const Command command = {
        .program = "atomo-bench",
        .command = "decode",
        .usage = "FILE.atomo -o FILE.h5",
        .brief = "decode a file of payloads, written by encode, to a dump",
        .examples = "gradients.atomo -o decoded.h5\n",
        .details =
            "Paths, shapes and attributes are those of the encoded dump. FILE.atomo may be -, standard input. A file that decodes to more than "
            "--max-output, or takes more than --memory, is refused, and nothing is written.\n",
        .options = options,
        .common = &o.common,
        .takes = TAKES_THREADS | TAKES_OUTPUT | TAKES_KEEPS,
        .arguments_min = 1,
        .arguments_max = 1,
    };
    return cli_run(&command, argc, argv, run, &o, o.a, &err);
}
