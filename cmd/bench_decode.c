/* bench_decode.c -- decode FILE.atomo -o FILE.h5: decodes the payloads that encode wrote. */
#include "bench_commands.h"

#include "app/archive.h"
#include "app/notes.h"
#include "base/host.h"
#include "compress/spec.h"

#include <errno.h>
#include <string.h>
#include <sys/statvfs.h>

typedef struct {
    Common common;
    Bytecount output_max, memory;
    Arena *a;
    Error *err;
} Options;

static const Bytecount not_given = {UINT64_MAX};

/* Returns the limit on the decoded size of an .atomo file of `file_size` bytes, when --max-output sets no
 * other limit. */
static uint64_t usual_most(uint64_t file_size)
{
    enum { ALWAYS = 64 << 20, EACH = 1024 };
    return file_size > UINT64_MAX / (2 * EACH) ? UINT64_MAX : ALWAYS + EACH * file_size;
}

static uint64_t free_space(const char *path, Arena *a)
{
    struct statvfs disk;
    const char *slash = strrchr(path, '/');
    const char *folder = slash ? text_slice(a, path, (size_t)(slash - path) + 1) : ".";
    if (!folder || statvfs(folder, &disk))
        return UINT64_MAX;
    return (uint64_t)disk.f_bavail * disk.f_frsize;
}

/* Says how much memory the largest vector will take; refuses one that does not fit. */
static Status check_memory(const Options *o, const char *path, const ArchiveSize *size)
{
    const uint64_t need = size->largest + size->payload;
    if (o->common.verbose)
        progress_note(
            &(Progress){0},
            "note: %s: memory for the largest tensor and its payload %.4g MB; the codec's scratch comes on top",
            size->name, 1e-6 * (double)need);
    return memory_check(need, path, size->name, (size_t)size->elements, o->err);
}

/* Names a --memory that suffices. Of all codecs, diana+fourier takes the most memory for decoding: six times the vector
 * that it decodes, and some KB for tables. The states of a codec that keeps them may be as large as all tensors. */
static Status hint_memory(const Options *o, const Codec *codec, const ArchiveSize *size)
{
    enum { TIMES = 16, TABLES = 1 << 20, MB = 1 << 20 };
    uint64_t need = size->largest < UINT64_MAX / (2 * TIMES) ? TIMES * size->largest + TABLES : UINT64_MAX;
    if (codec_keeps_state(codec) && need < size->bytes)
        need = size->bytes;
    if (o->memory.bytes >= need) /* a limit of the system was met */
        return o->err->status;
    return error_hint(o->err, "--memory %lluM suffices, if you trust the file",
                      (unsigned long long)(need / MB + (need % MB > 0)));
}

/* Fails if the decoded file would exceed the limit on its size, the limit on memory, or the free disk space.
 * Nothing is written before this check. */
static Status check_size(const Options *o, FrameReader *from, const Codec *codec, ArchiveSize *size)
{
    const char *path = from->name;
    const bool given = o->output_max.bytes != not_given.bytes;
    const uint64_t most = given ? o->output_max.bytes : usual_most(from->size);
    TRY(archive_survey(from, size, o->a, o->err));
    arena_trim(o->a); /* of the room for the largest payload, which decoding takes anew */
    if (size->bytes > most) {
        FAIL(o->err, ERR_CORRUPT, "%s: %llu bytes that decode to %llu, want at most %llu", path,
             (unsigned long long)from->size, (unsigned long long)size->bytes, (unsigned long long)most);
        return error_hint(o->err, "--max-output %llu decodes it, if you trust the file",
                          (unsigned long long)size->bytes);
    }
    if (size->largest > o->memory.bytes) {
        FAIL(o->err, ERR_MEMORY,
             "%s: its largest vector takes %llu bytes, more than the %llu that --memory allows", path,
             (unsigned long long)size->largest, (unsigned long long)o->memory.bytes);
        return hint_memory(o, codec, size);
    }
    TRY(check_memory(o, path, size));
    const uint64_t space = free_space(o->common.output, o->a);
    if (size->bytes > space)
        return FAIL(o->err, ERR_IO, "%s: decodes to %llu bytes, and %llu are free where %s will be", path,
                    (unsigned long long)size->bytes, (unsigned long long)space, o->common.output);
    return OK;
}

static Status write_dump(const Options *o, FrameReader *from, const Codec *codec)
{
    Progress progress;
    ArchiveSum sum;
    DumpWriter *to;
    ArchiveSize size;
    Status status = check_size(o, from, codec, &size);
    TRY(status);
    TRY(dump_create(&to, o->common.output, o->err));
    dump_sign(to, "atomo-bench decode");
    progress_open(&progress, "decoding", "tensors", from->records, o->common.quiet);
    const ArchiveJob job = {.codec = codec,
                            .threads = (int)o->common.threads,
                            .memory = o->memory.bytes,
                            .output_max = size.bytes + !size.bytes,
                            .tick = progress_tick,
                            .tick_data = &progress};
    status = archive_decode(from, &job, to, &sum, o->a, o->err);
    if (status == ERR_STOPPED)
        error_at(o->err, "decode");
    progress_close(&progress);
    if (status == ERR_MEMORY) {
        if (strncmp(o->err->text, from->name, strlen(from->name)) != 0)
            error_at(o->err, "%.200s", from->name);
        hint_memory(o, codec, &size);
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
    Options o = {.a = arena_open(0), .err = &err, .output_max = not_given, .memory = {host_memory() / 2}};
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
            "--max-output, than --memory can hold or than the disk has room for is refused before anything is "
            "written.\n",
        .options = options,
        .common = &o.common,
        .takes = TAKES_THREADS | TAKES_OUTPUT | TAKES_KEEPS,
        .arguments_min = 1,
        .arguments_max = 1,
    };
    return cli_run(&command, argc, argv, run, &o, o.a, &err);
}
