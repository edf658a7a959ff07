/* patches.c -- encode NEW --base OLD -o FILE.atomo: writes what changed in a file of weights; and decode FILE.atomo --base OLD
 * -o NEW2: writes OLD anew with the weights of NEW.
 *
 * The container (app/frame.h) has the spec "patch", and all tensors of OLD, in its order. A record has tensors of one type, as many
 * as make up PATCH_CHUNK words, end to end, coded by coder/patch.h. Its name is the type. */
#include "app/patches.h"

#include "app/cli.h"
#include "app/notes.h"
#include "base/file.h"
#include "base/outfile.h"
#include "base/rng.h"
#include "base/text.h"
#include "coder/patch.h"
#include "dump/extent.h"

#include <errno.h>
#include <string.h>
#include <sys/sendfile.h>

enum { PIECE = 2 * PATCH_CHUNK };

/* Opens a file of weights, in which all tensors are plain. */
static Status weights_open(Dump **d, const char *path, const PatchJob *job)
{
    if (file_same(path, job->output))
        return FAIL(job->err, ERR_USAGE, "-o %s: is what is read, want another file", job->output);
    TRY(dump_open(d, path, job->a, job->err));
    for (size_t i = 0; i < dump_count(*d); i++)
        if (dump_plain_at(*d, i) == NOWHERE && dump_tensor(*d, i)->shape.n) {
            FAIL(job->err, ERR_USAGE, "%s: %.200s is not plain in this file: packed, not little-endian, or with a checksum", path,
                 dump_tensor(*d, i)->path);
            return error_hint(job->err, "patches are of single files: safetensors, .npy, or HDF5 with contiguous datasets");
        }
    return OK;
}

static uint64_t bytes_of(const TensorInfo *t)
{
    return (uint64_t)t->shape.n * array_item_bytes[t->type];
}

/* A place in the bytes of tensors, end to end. */
typedef struct {
    const Dump *dump;
    const size_t *place; /* their indices; NULL: 0, 1, ... */
    size_t i;            /* the first that is not done */
    uint64_t at;         /* bytes of it that are done */
} Span;

/* Reads the next bytes of the span; or, if `to` is not NULL, writes them to their places in this file. */
static Status span_move(Span *s, OutFile *to, uint8_t *bytes, size_t size, Error *err)
{
    for (size_t some; size; bytes += some, size -= some, s->at += some) {
        const size_t index = s->place ? s->place[s->i] : s->i;
        const TensorInfo *t = dump_tensor(s->dump, index);
        const uint64_t left = bytes_of(t) - s->at, at = dump_plain_at(s->dump, index) + s->at;
        some = size < left ? size : (size_t)left;
        if (!left)
            *s = (Span){s->dump, s->place, s->i + 1, 0};
        else if (!to && file_take(dump_descriptor(s->dump), at, bytes, some, err) != OK)
            return error_at(err, "%s: %.200s", dump_file(s->dump), t->path);
        else if (to && fseeko(to->to, (off_t)at, SEEK_SET))
            return FAIL(err, ERR_IO, "%s: cannot write: %s", to->path, strerror(errno));
        else if (to)
            outfile_bytes(to, bytes, some);
    }
    return OK;
}

/* Words of the file's bytes: from `at` on, the next piece of `bytes`. A last odd byte is half a word. */
static PatchBase words_at(const uint8_t *old, uint64_t at, uint64_t bytes, ArrayType type, int threads)
{
    const uint64_t words = (bytes - at + 1) / 2;
    return (PatchBase){old, words < PATCH_CHUNK ? (size_t)words : PATCH_CHUNK, type == ARRAY_BF16 ? 7 : type == ARRAY_F16 ? 10 : 15, threads};
}

/* What both directions keep. */
typedef struct {
    const PatchJob *job;
    Dump *old, *new; /* decoding has no `new`, but `to`, which becomes it */
    OutFile to;
    size_t *place;    /* of encoding: for each tensor of OLD, its index in NEW */
    uint64_t words, changed;
    Arena *scratch;
} Patch;

static Status patch_open(Patch *p, const PatchJob *job)
{
    *p = (Patch){.job = job, .scratch = arena_open(0)};
    TRY(weights_open(&p->old, job->base, job));
    p->place = NEW(job->a, size_t, dump_count(p->old));
    return arena_check(p->place, job->a, job->err);
}

/* Closes what patch_open has opened, and returns the status. */
static Status patch_close(Patch *p, Status status)
{
    outfile_abandon(&p->to);
    dump_close(p->new);
    dump_close(p->old);
    arena_close(p->scratch);
    return status;
}

/* ---- encoding ---- */

/* Finds the tensors of one file in the other; place: NULL, or where they are. */
static Status find_all(const Dump *these, const Dump *in, size_t *place, Error *err)
{
    for (size_t i = 0; i < dump_count(these); i++) {
        const TensorInfo *t = dump_tensor(these, i);
        const size_t at = dump_find(in, t->path, i);
        if (at == dump_count(in))
            return FAIL(err, ERR_USAGE, "%s has no tensor %.200s, which %s has", dump_file(in), t->path, dump_file(these));
        const TensorInfo *to = dump_tensor(in, at);
        if (!shape_same(&t->shape, &to->shape) || t->type != to->type)
            return FAIL(err, ERR_USAGE, "%.200s has another shape or type in %s than in %s", t->path, dump_file(in), dump_file(these));
        if (place)
            place[i] = at;
    }
    return OK;
}

/* Returns the end of the tensors, from `first` on, that are in one record, and sets *bytes to those of their elements. */
static size_t record_end(const Dump *d, size_t first, uint64_t *bytes)
{
    const ArrayType type = dump_tensor(d, first)->type;
    size_t end = first;
    *bytes = 0;
    do
        *bytes += bytes_of(dump_tensor(d, end++));
    while (*bytes < PIECE && end < dump_count(d) && dump_tensor(d, end)->type == type);
    return end;
}

/* Writes the payload of a record whose tensors begin with `first`. */
static Status put_payload(Patch *e, size_t first, uint64_t bytes, Buf *out)
{
    Error *err = e->job->err;
    uint8_t *old = NEW_ZERO(e->scratch, uint8_t, PIECE), *new = NEW_ZERO(e->scratch, uint8_t, PIECE);
    Span from = {e->old, NULL, first, 0}, to = {e->new, e->place, first, 0};
    TRY(arena_check(old && new, e->scratch, err));
    for (uint64_t at = 0; at < bytes; at += PIECE) {
        const PatchBase base = words_at(old, at, bytes, dump_tensor(e->old, first)->type, e->job->threads);
        const size_t some = bytes - at < PIECE ? (size_t)(bytes - at) : PIECE;
        old[2 * base.n - 1] = new[2 * base.n - 1] = 0;
        TRY(span_move(&from, NULL, old, some, err));
        TRY(span_move(&to, NULL, new, some, err));
        uint32_t changed = 0; /* of 32 bits, of which a vector holds more than of 64 */
        for (size_t i = 0; i < base.n; i++)
            changed += load_u16(old + 2 * i) != load_u16(new + 2 * i);
        e->changed += changed;
        e->words += base.n;
        TRY(patch_put(&base, new, out, e->scratch, err));
    }
    return OK;
}

static Status put_record(Patch *e, size_t first, size_t end, uint64_t bytes, FrameWriter *to)
{
    Error *err = e->job->err;
    FrameRecord r = {.name = array_type_names[dump_tensor(e->old, first)->type], .joined = true, .rounds = 1};
    Buf out = {.cap = patch_most((bytes + 1) / 2)};
    out.data = NEW(e->scratch, uint8_t, out.cap);
    r.tensor = rng_hash(r.name);
    r.member = NEW_ZERO(e->scratch, FrameMember, end - first);
    TRY(arena_check(out.data && r.member, e->scratch, err));
    for (; r.members < end - first; r.members++) {
        const TensorInfo *t = dump_tensor(e->old, first + r.members);
        r.member[r.members] = (FrameMember){.path = t->path, .shape = t->shape};
    }
    TRY(put_payload(e, first, bytes, &out));
    r.round[0] = buf_bytes(&out);
    return frame_put(to, &r, err);
}

static Status put_records(Patch *e, FrameWriter *to)
{
    Status status = OK;
    for (size_t i = 0, end; status == OK && i < dump_count(e->old); i = end) {
        const ArenaMark mark = arena_mark(e->scratch);
        uint64_t bytes;
        end = record_end(e->old, i, &bytes);
        status = cli_stopped() ? FAIL(e->job->err, ERR_STOPPED, "encode: stopped") : put_record(e, i, end, bytes, to);
        arena_rewind(e->scratch, mark);
    }
    return status;
}

static void say_patch(const Patch *e, uint64_t size)
{
    const char *path = e->job->output;
    FILE *out = strcmp(path, "-") ? stdout : stderr;
    const size_t skipped = dump_skipped(e->old);
    fprintf(out, "%s: %llu of %llu words of 16 bits changed; %llu bytes", path, (unsigned long long)e->changed, (unsigned long long)e->words,
            (unsigned long long)size);
    if (e->changed)
        fprintf(out, ", %.3g a changed word; as index and value %llu, as gap of 16 bits and value %llu or more", (double)size / (double)e->changed,
                (unsigned long long)(6 * e->changed), (unsigned long long)(4 * e->changed));
    fprintf(out, "\n");
    if (skipped && !e->job->quiet)
        fprintf(stderr, "note: %s: %zu dataset%s without floats %s in no patch: decode writes what the OLD that it is given has there\n", dump_file(e->old),
                skipped, text_s(skipped), text_are(skipped));
}

static Status write_patch(Patch *e, const char *file)
{
    const PatchJob *job = e->job;
    FrameWriter *to;
    uint64_t size, records = 0, bytes;
    TRY(weights_open(&e->new, file, job));
    TRY(find_all(e->old, e->new, e->place, job->err));
    TRY(find_all(e->new, e->old, NULL, job->err));
    for (size_t i = 0; i < dump_count(e->old); records++)
        i = record_end(e->old, i, &bytes);
    TRY(frame_create(&to, job->output, PATCH_SPEC, records, job->a, job->err));
    const Status status = put_records(e, to);
    if (status != OK)
        frame_abandon(to);
    TRY(status);
    TRY(frame_commit(to, &size, job->err));
    say_patch(e, size);
    return OK;
}

Status patch_encode(const PatchJob *job, const char *file)
{
    Patch e;
    const Status opened = patch_open(&e, job);
    return patch_close(&e, opened == OK ? write_patch(&e, file) : opened);
}

/* ---- decoding ---- */

static Status copy_old(Patch *u)
{
    off_t at = 0;
    for (ssize_t some = 1; some;) {
        if (cli_stopped())
            return FAIL(u->job->err, ERR_STOPPED, "decode: stopped");
        some = sendfile(fileno(u->to.to), dump_descriptor(u->old), &at, PIECE);
        if (some < 0 && errno != EINTR)
            return FAIL(u->job->err, ERR_IO, "%s: cannot be copied to %s: %s", dump_file(u->old), u->to.path, strerror(errno));
    }
    return OK;
}

/* A record has the tensors of OLD that follow those of the record before it: sets *bytes to those of their elements. */
static Status check_members(Patch *u, const FrameRecord *r, size_t first, uint64_t *bytes)
{
    *bytes = 0;
    for (size_t m = 0; m < r->members; m++) {
        const TensorInfo *t = first + m < dump_count(u->old) ? dump_tensor(u->old, first + m) : NULL;
        if (!t || strcmp(t->path, r->member[m].path) || !shape_same(&t->shape, &r->member[m].shape) || strcmp(array_type_names[t->type], r->name))
            return FAIL(u->job->err, ERR_CORRUPT, "%.200s is not in %s, or not at this place, or has another shape or type: another base",
                        r->member[m].path, dump_file(u->old));
        *bytes += bytes_of(t);
    }
    return r->members && r->rounds == 1 ? OK : FAIL(u->job->err, ERR_CORRUPT, "a patch of %zu tensors and %d rounds", r->members, r->rounds);
}

/* Decodes a record's tensors piece by piece, and writes them to their places. */
static Status take_payload(Patch *u, const FrameRecord *r, size_t first, uint64_t bytes)
{
    Error *err = u->job->err;
    uint8_t *old = NEW(u->scratch, uint8_t, PIECE), *new = NEW(u->scratch, uint8_t, PIECE);
    Span from = {u->old, NULL, first, 0}, into = from;
    Reader in = reader_open(r->round[0]);
    TRY(arena_check(old && new, u->scratch, err));
    for (uint64_t at = 0; at < bytes; at += PIECE) {
        const PatchBase base = words_at(old, at, bytes, dump_tensor(u->old, first)->type, u->job->threads);
        const size_t some = bytes - at < PIECE ? (size_t)(bytes - at) : PIECE;
        old[2 * base.n - 1] = 0;
        TRY(span_move(&from, NULL, old, some, err));
        TRY(patch_get(&base, &in, new, u->scratch, err));
        TRY(span_move(&into, &u->to, new, some, err));
    }
    return reader_done(&in) ? OK : FAIL(err, ERR_CORRUPT, "the patch has more bytes than its tensors need");
}

static Status take_records(Patch *u, FrameReader *from)
{
    Error *err = u->job->err;
    size_t next = 0;
    TRY(copy_old(u));
    for (FrameItem item = {.type = FRAME_RECORD}; item.type != FRAME_END;) {
        const ArenaMark mark = arena_mark(u->scratch);
        uint64_t bytes;
        TRY(frame_next(from, &item, u->scratch, err));
        if (cli_stopped())
            return FAIL(err, ERR_STOPPED, "decode: stopped");
        if (item.type == FRAME_RECORD &&
            (check_members(u, &item.record, next, &bytes) != OK || take_payload(u, &item.record, next, bytes) != OK))
            return error_at(err, "%.200s", from->name);
        next += item.type == FRAME_RECORD ? item.record.members : 0;
        arena_rewind(u->scratch, mark);
    }
    return next == dump_count(u->old) ? OK
                                           : FAIL(err, ERR_CORRUPT, "%.200s: has no %.200s, which is in %s: another base", from->name,
                                                  dump_tensor(u->old, next)->path, dump_file(u->old));
}

static Status read_patch(Patch *u, FrameReader *from)
{
    const PatchJob *job = u->job;
    const char *ending = strrchr(job->base + path_directory(job->base), '.');
    if (ending && !text_ends(job->output, ending))
        return FAIL(job->err, ERR_USAGE, "-o %s: a patch gives a file of OLD's format; want a name that ends as %s does", job->output, job->base);
    TRY(outfile_open(&u->to, job->output, job->a, job->err));
    if (!u->to.temporary)
        return FAIL(job->err, ERR_USAGE, "%s: not a regular file, which a patch needs", job->output);
    TRY(take_records(u, from));
    TRY(outfile_commit(&u->to, job->err));
    printf("%s: %s, patched\n", job->output, job->base);
    return OK;
}

Status patch_decode(const PatchJob *job, FrameReader *from)
{
    Patch u;
    const Status opened = patch_open(&u, job);
    return patch_close(&u, opened == OK ? read_patch(&u, from) : opened);
}
