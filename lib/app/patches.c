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
#include "coder/patch.h"
#include "dump/extent.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { PIECE = 2 * PATCH_CHUNK };

/* A file of weights: the dump that lists it, and the file itself, of which the bytes of plain tensors are read. */
typedef struct {
    const char *path;
    Dump *dump;
    int fd;
} Weights;

static Status weights_open(Weights *w, const char *path, const PatchJob *job)
{
    if (file_same(path, job->output))
        return FAIL(job->err, ERR_USAGE, "-o %s: is what is read, want another file", job->output);
    *w = (Weights){.path = path, .fd = open(path, O_RDONLY | O_CLOEXEC)};
    if (w->fd < 0)
        return FAIL(job->err, ERR_IO, "%s: cannot be opened: %s", path, strerror(errno));
    TRY(dump_open(&w->dump, path, job->a, job->err));
    for (size_t i = 0; i < dump_count(w->dump); i++)
        if (dump_plain_at(w->dump, i) == NOWHERE && dump_tensor(w->dump, i)->shape.n) {
            FAIL(job->err, ERR_USAGE, "%s: %.200s is not plain in this file: packed, not little-endian, or with a checksum", path,
                 dump_tensor(w->dump, i)->path);
            return error_hint(job->err, "patches are of single files: safetensors, .npy, or HDF5 with contiguous datasets");
        }
    return OK;
}

static void weights_close(Weights *w)
{
    dump_close(w->dump);
    if (w->fd >= 0)
        close(w->fd);
}

static uint64_t bytes_of(const TensorInfo *t)
{
    return (uint64_t)t->shape.n * array_item_bytes[t->type];
}

/* A place in the bytes of tensors, end to end. */
typedef struct {
    const Weights *weights;
    const size_t *tensor; /* their indices, in this order */
    uint64_t at;          /* bytes of the first that are done */
} Span;

/* Reads the next bytes of the span; or, if `to` is not NULL, writes them to their places in this file. */
static Status span_move(Span *s, OutFile *to, uint8_t *bytes, size_t size, Error *err)
{
    while (size) {
        const TensorInfo *t = dump_tensor(s->weights->dump, *s->tensor);
        const uint64_t left = bytes_of(t) - s->at, place = dump_plain_at(s->weights->dump, *s->tensor) + s->at;
        const size_t some = size < left ? size : (size_t)left;
        if (!left) {
            s->tensor++;
            s->at = 0;
            continue;
        }
        if (!to && file_take(s->weights->fd, place, bytes, some, err) != OK)
            return error_at(err, "%s: %.200s", s->weights->path, t->path);
        if (to && fseeko(to->to, (off_t)place, SEEK_SET))
            return FAIL(err, ERR_IO, "%s: cannot write: %s", to->path, strerror(errno));
        if (to)
            outfile_bytes(to, bytes, some);
        bytes += some;
        size -= some;
        s->at += some;
    }
    return OK;
}

/* Words of the file's bytes: from `at` on, the next piece of `bytes`. A last odd byte is half a word. */
static PatchBase words_at(const uint8_t *old, uint64_t at, uint64_t bytes, ArrayType type, int threads)
{
    const uint64_t words = (bytes - at + 1) / 2;
    return (PatchBase){old, words < PATCH_CHUNK ? (size_t)words : PATCH_CHUNK, type == ARRAY_BF16 ? 7 : type == ARRAY_F16 ? 10 : 15, threads};
}

/* ---- encoding ---- */

typedef struct {
    const PatchJob *job;
    Weights old, new;
    size_t *self, *place; /* for each tensor of OLD: its index there, and in NEW */
    uint64_t words, changed, wide; /* wide: gaps between changed words that need more than 16 bits */
    Arena *scratch;
} Patch;

static Status lacks(const Weights *w, const Weights *other, size_t i, Error *err)
{
    return FAIL(err, ERR_USAGE, "%s has no tensor %.200s, which %s has", w->path, dump_tensor(other->dump, i)->path, other->path);
}

static Status match(Patch *e)
{
    Dump *const old = e->old.dump, *const new = e->new.dump;
    const size_t count = dump_count(old), others = dump_count(new);
    Error *err = e->job->err;
    e->self = NEW(e->job->a, size_t, count);
    e->place = NEW(e->job->a, size_t, count);
    TRY(arena_check(e->self && e->place, e->job->a, err));
    for (size_t i = 0; i < count; i++) {
        const TensorInfo *t = dump_tensor(old, i);
        e->self[i] = i;
        e->place[i] = dump_find(new, t->path, i);
        if (e->place[i] == others)
            return lacks(&e->new, &e->old, i, err);
        const TensorInfo *to = dump_tensor(new, e->place[i]);
        if (!shape_same(&t->shape, &to->shape) || t->type != to->type)
            return FAIL(err, ERR_USAGE, "%.200s has another shape or type in %s than in %s", t->path, e->new.path, e->old.path);
    }
    for (size_t i = 0; others > count && i < others; i++)
        if (dump_find(old, dump_tensor(new, i)->path, i) == count)
            return lacks(&e->old, &e->new, i, err);
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

static void count_changes(Patch *e, const uint8_t *old, const uint8_t *new, size_t n)
{
    for (size_t i = 0, last = 0; i < n; i++)
        if (load_u16(old + 2 * i) != load_u16(new + 2 * i)) {
            e->changed++;
            e->wide += i - last > UINT16_MAX;
            last = i;
        }
    e->words += n;
}

/* Writes the payload of a record whose tensors begin with `first`. */
static Status put_payload(Patch *e, size_t first, uint64_t bytes, Buf *out)
{
    Error *err = e->job->err;
    uint8_t *old = NEW_ZERO(e->scratch, uint8_t, PIECE), *new = NEW_ZERO(e->scratch, uint8_t, PIECE);
    Span from = {&e->old, &e->self[first], 0}, to = {&e->new, &e->place[first], 0};
    TRY(arena_check(old && new, e->scratch, err));
    for (uint64_t at = 0; at < bytes; at += PIECE) {
        const PatchBase base = words_at(old, at, bytes, dump_tensor(e->old.dump, first)->type, e->job->threads);
        const size_t some = bytes - at < PIECE ? (size_t)(bytes - at) : PIECE;
        old[2 * base.n - 1] = new[2 * base.n - 1] = 0;
        TRY(span_move(&from, NULL, old, some, err));
        TRY(span_move(&to, NULL, new, some, err));
        count_changes(e, old, new, base.n);
        TRY(patch_put(&base, new, out, e->scratch, err));
    }
    return OK;
}

static Status put_record(Patch *e, size_t first, size_t end, uint64_t bytes, FrameWriter *to)
{
    Error *err = e->job->err;
    FrameRecord r = {.name = array_type_names[dump_tensor(e->old.dump, first)->type], .joined = true, .rounds = 1};
    Buf out = {.cap = patch_most((bytes + 1) / 2)};
    out.data = NEW(e->scratch, uint8_t, out.cap);
    r.tensor = rng_hash(r.name);
    r.member = NEW_ZERO(e->scratch, FrameMember, end - first);
    TRY(arena_check(out.data && r.member, e->scratch, err));
    for (; r.members < end - first; r.members++) {
        const TensorInfo *t = dump_tensor(e->old.dump, first + r.members);
        r.member[r.members] = (FrameMember){.path = t->path, .shape = t->shape};
    }
    TRY(put_payload(e, first, bytes, &out));
    r.round[0] = buf_bytes(&out);
    return frame_put(to, &r, err);
}

static Status put_records(Patch *e, FrameWriter *to)
{
    const size_t count = dump_count(e->old.dump);
    Progress progress;
    Status status = OK;
    progress_open(&progress, "encoding", "tensors", count, e->job->quiet);
    for (size_t i = 0, end; status == OK && i < count; i = end) {
        const ArenaMark mark = arena_mark(e->scratch);
        uint64_t bytes;
        end = record_end(e->old.dump, i, &bytes);
        status = cli_stopped() ? FAIL(e->job->err, ERR_STOPPED, "encode: stopped") : put_record(e, i, end, bytes, to);
        arena_rewind(e->scratch, mark);
        progress_step(&progress, end);
    }
    progress_close(&progress);
    return status;
}

static void say_patch(const Patch *e, uint64_t size)
{
    const char *path = e->job->output;
    FILE *out = strcmp(path, "-") ? stdout : stderr;
    const size_t skipped = dump_skipped(e->old.dump);
    fprintf(out, "%s: %llu of %llu words of 16 bits changed; %llu bytes", path, (unsigned long long)e->changed, (unsigned long long)e->words,
            (unsigned long long)size);
    if (e->changed)
        fprintf(out, ", %.3g a changed word; as index and value %llu, as gap and value %llu", (double)size / (double)e->changed,
                (unsigned long long)(6 * e->changed), (unsigned long long)(4 * (e->changed + e->wide)));
    fprintf(out, "\n");
    if (skipped && !e->job->quiet)
        fprintf(stderr, "note: %s: %zu dataset%s without floats %s in no patch: decode writes what the OLD that it is given has there\n", e->old.path,
                skipped, text_s(skipped), text_are(skipped));
}

static Status write_patch(Patch *e)
{
    const PatchJob *job = e->job;
    FrameWriter *to;
    uint64_t size, records = 0, bytes;
    TRY(match(e));
    for (size_t i = 0; i < dump_count(e->old.dump); records++)
        i = record_end(e->old.dump, i, &bytes);
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
    Patch e = {.job = job, .old.fd = -1, .new.fd = -1, .scratch = arena_open(0)};
    Status status = weights_open(&e.old, job->base, job);
    if (status == OK)
        status = weights_open(&e.new, file, job);
    if (status == OK)
        status = write_patch(&e);
    weights_close(&e.new);
    weights_close(&e.old);
    arena_close(e.scratch);
    return status;
}

/* ---- decoding ---- */

typedef struct {
    const PatchJob *job;
    Weights old;
    OutFile to;
    bool *seen; /* for each tensor of OLD */
    Arena *scratch;
} Unpatch;

static Status copy_old(Unpatch *u)
{
    Error *err = u->job->err;
    const off_t size = lseek(u->old.fd, 0, SEEK_END);
    uint8_t *piece = NEW(u->scratch, uint8_t, PIECE);
    TRY(arena_check(piece, u->scratch, err));
    for (off_t at = 0; at < size; at += PIECE) {
        const size_t some = size - at < PIECE ? (size_t)(size - at) : PIECE;
        if (cli_stopped())
            return FAIL(err, ERR_STOPPED, "decode: stopped");
        if (file_take(u->old.fd, (uint64_t)at, piece, some, err) != OK)
            return error_at(err, "%s", u->old.path);
        outfile_bytes(&u->to, piece, some);
    }
    return OK;
}

/* Finds a record's tensors in OLD, and sets *bytes to those of their elements. */
static Status find_members(Unpatch *u, const FrameRecord *r, size_t *place, uint64_t *bytes)
{
    Error *err = u->job->err;
    const Dump *old = u->old.dump;
    *bytes = 0;
    for (size_t m = 0; m < r->members; m++) {
        place[m] = dump_find(old, r->member[m].path, m ? place[m - 1] + 1 : 0);
        const TensorInfo *t = place[m] < dump_count(old) ? dump_tensor(old, place[m]) : NULL;
        if (!t || !shape_same(&t->shape, &r->member[m].shape) || strcmp(array_type_names[t->type], r->name))
            return FAIL(err, ERR_CORRUPT, "%.200s is not in %s, or has another shape or type: another base", r->member[m].path, u->old.path);
        if (u->seen[place[m]])
            return FAIL(err, ERR_CORRUPT, "%.200s: twice in the patch", t->path);
        u->seen[place[m]] = true;
        *bytes += bytes_of(t);
    }
    return r->rounds == 1 ? OK : FAIL(err, ERR_CORRUPT, "a patch of %d rounds", r->rounds);
}

/* Decodes a record's tensors piece by piece, and writes them to their places. */
static Status take_payload(Unpatch *u, const FrameRecord *r, const size_t *place, uint64_t bytes)
{
    Error *err = u->job->err;
    uint8_t *old = NEW(u->scratch, uint8_t, PIECE), *new = NEW(u->scratch, uint8_t, PIECE);
    Span from = {&u->old, place, 0}, into = from;
    Reader in = reader_open(r->round[0]);
    TRY(arena_check(old && new, u->scratch, err));
    for (uint64_t at = 0; at < bytes; at += PIECE) {
        const PatchBase base = words_at(old, at, bytes, dump_tensor(u->old.dump, *place)->type, u->job->threads);
        const size_t some = bytes - at < PIECE ? (size_t)(bytes - at) : PIECE;
        old[2 * base.n - 1] = 0;
        TRY(span_move(&from, NULL, old, some, err));
        TRY(patch_get(&base, &in, new, u->scratch, err));
        TRY(span_move(&into, &u->to, new, some, err));
    }
    return reader_done(&in) ? OK : FAIL(err, ERR_CORRUPT, "the patch has more bytes than its tensors need");
}

static Status take_records(Unpatch *u, FrameReader *from)
{
    Error *err = u->job->err;
    u->seen = NEW_ZERO(u->job->a, bool, dump_count(u->old.dump));
    TRY(arena_check(u->seen, u->job->a, err));
    TRY(copy_old(u));
    for (FrameItem item = {.type = FRAME_RECORD}; item.type != FRAME_END;) {
        const ArenaMark mark = arena_mark(u->scratch);
        uint64_t bytes;
        TRY(frame_next(from, &item, u->scratch, err));
        const FrameRecord *r = &item.record;
        size_t *place = NEW(u->scratch, size_t, item.type == FRAME_RECORD ? r->members : 0);
        TRY(arena_check(place, u->scratch, err));
        if (item.type == FRAME_RECORD && (find_members(u, r, place, &bytes) != OK || take_payload(u, r, place, bytes) != OK))
            return error_at(err, "%.200s", from->name);
        if (cli_stopped())
            return FAIL(err, ERR_STOPPED, "decode: stopped");
        arena_rewind(u->scratch, mark);
    }
    for (size_t i = 0; i < dump_count(u->old.dump); i++)
        if (!u->seen[i])
            return FAIL(err, ERR_CORRUPT, "%.200s: has no %.200s, which is in %s: another base", from->name, dump_tensor(u->old.dump, i)->path, u->old.path);
    return OK;
}

/* The ending of a file's name. */
static const char *ending_of(const char *path)
{
    const char *name = path + path_directory(path), *dot = strrchr(name, '.');
    return dot ? dot : "";
}

Status patch_decode(const PatchJob *job, FrameReader *from)
{
    Unpatch u = {.job = job, .old.fd = -1, .scratch = arena_open(0)};
    Status status = strcmp(ending_of(job->output), ending_of(job->base))
                        ? FAIL(job->err, ERR_USAGE, "-o %s: a patch gives a file of OLD's format; want a name that ends as %s does", job->output, job->base)
                        : weights_open(&u.old, job->base, job);
    if (status == OK)
        status = outfile_open(&u.to, job->output, job->a, job->err);
    if (status == OK && !u.to.temporary)
        status = FAIL(job->err, ERR_USAGE, "%s: not a regular file, which a patch needs", job->output);
    if (status == OK)
        status = take_records(&u, from);
    if (status == OK)
        status = outfile_commit(&u.to, job->err);
    outfile_abandon(&u.to);
    if (status == OK)
        printf("%s: %s, patched\n", job->output, job->base);
    weights_close(&u.old);
    arena_close(u.scratch);
    return status;
}
