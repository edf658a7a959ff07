/* patches.c -- encode NEW --base OLD -o FILE.atomo: writes what changed in a file of weights; and decode FILE.atomo --base OLD
 * -o NEW2: writes OLD anew with the weights of NEW.
 *
 * The container (app/frame.h) has the spec "patch". A record has weights of 16 bits of one type, of as many tensors as make up
 * PATCH_CHUNK words, coded by coder/patch.h; or one tensor of another type that changed, as it is in NEW. Its name is the type. */
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

enum { COPIED = 1 << 20 };

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
        if (!to && file_take(s->weights->fd, place, bytes, some, err) != OK)
            return error_at(err, "%s: %.200s", s->weights->path, t->path);
        if (to && fseeko(to->to, (off_t)place, SEEK_SET))
            return FAIL(err, ERR_IO, "%s: cannot write: %s", to->path, strerror(errno));
        if (to)
            outfile_bytes(to, bytes, some);
        bytes += some;
        size -= some;
        s->at += some;
        if (s->at == bytes_of(t)) {
            s->tensor++;
            s->at = 0;
        }
    }
    return OK;
}

/* The bits of the fraction of floats of 16 bits; 0: another type. */
static int fraction_of(ArrayType type)
{
    return type == ARRAY_BF16 ? 7 : type == ARRAY_F16 ? 10 : 0;
}

/* ---- encoding ---- */

typedef struct {
    size_t first, count; /* tensors of OLD */
    uint64_t bytes;
    bool whole; /* one tensor of another type, which changed */
} Group;

typedef struct {
    const PatchJob *job;
    Weights old, new;
    size_t *self, *place; /* for each tensor of OLD: its index there, and in NEW */
    Group *group;
    size_t groups;
    uint64_t words, changed, wide; /* wide: gaps between changed words that need more than 16 bits */
    Arena *scratch;
} Patch;

static Status match(Patch *e)
{
    const size_t count = dump_count(e->old.dump);
    Error *err = e->job->err;
    e->self = NEW(e->job->a, size_t, count);
    e->place = NEW(e->job->a, size_t, count);
    e->group = NEW(e->job->a, Group, count);
    TRY(arena_check(e->self && e->place && e->group, e->job->a, err));
    for (size_t i = 0; i < count; i++) {
        const TensorInfo *t = dump_tensor(e->old.dump, i);
        e->self[i] = i;
        const size_t place = e->place[i] = dump_find(e->new.dump, t->path, i);
        if (count != dump_count(e->new.dump) || place == count)
            return FAIL(err, ERR_USAGE, "%s has %zu tensors and %s %zu; %.200s is not in both, or others are not", e->old.path, count,
                        e->new.path, dump_count(e->new.dump), t->path);
        const TensorInfo *to = dump_tensor(e->new.dump, place);
        if (!shape_same(&t->shape, &to->shape) || t->type != to->type)
            return FAIL(err, ERR_USAGE, "%.200s has another shape or type in %s than in %s", t->path, e->new.path, e->old.path);
    }
    return OK;
}

static Status differs(Patch *e, size_t i, bool *differ)
{
    const ArenaMark mark = arena_mark(e->scratch);
    const size_t bytes = bytes_of(dump_tensor(e->old.dump, i));
    uint8_t *old = NEW(e->scratch, uint8_t, bytes), *new = NEW(e->scratch, uint8_t, bytes);
    TRY(arena_check(old && new, e->scratch, e->job->err));
    TRY(span_move(&(Span){&e->old, &e->self[i], 0}, NULL, old, bytes, e->job->err));
    TRY(span_move(&(Span){&e->new, &e->place[i], 0}, NULL, new, bytes, e->job->err));
    *differ = memcmp(old, new, bytes) != 0;
    arena_rewind(e->scratch, mark);
    return OK;
}

/* Joins tensors of 16 bits and one type that follow each other; finds others that changed. */
static Status make_groups(Patch *e)
{
    for (size_t i = 0; i < dump_count(e->old.dump); i++) {
        const TensorInfo *t = dump_tensor(e->old.dump, i);
        Group *last = e->groups ? &e->group[e->groups - 1] : NULL;
        bool differ = fraction_of(t->type) != 0;
        if (!t->shape.n)
            continue;
        if (differ && last && !last->whole && last->first + last->count == i && last->bytes < 2 * PATCH_CHUNK &&
            dump_tensor(e->old.dump, last->first)->type == t->type) {
            last->count++;
            last->bytes += bytes_of(t);
            continue;
        }
        if (!differ)
            TRY(differs(e, i, &differ));
        if (differ)
            e->group[e->groups++] = (Group){i, 1, bytes_of(t), !fraction_of(t->type)};
    }
    return OK;
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

/* Codes the words of a group chunk by chunk. */
static Status put_words(Patch *e, const Group *g, Buf *out)
{
    Error *err = e->job->err;
    const size_t most = 2 * PATCH_CHUNK;
    uint8_t *old = NEW(e->scratch, uint8_t, most), *new = NEW(e->scratch, uint8_t, most);
    Span from = {&e->old, &e->self[g->first], 0}, to = {&e->new, &e->place[g->first], 0};
    TRY(arena_check(old && new, e->scratch, err));
    for (uint64_t at = 0; at < g->bytes; at += most) {
        const size_t some = g->bytes - at < most ? (size_t)(g->bytes - at) : most;
        const PatchBase base = {old, some / 2, fraction_of(dump_tensor(e->old.dump, g->first)->type), e->job->threads};
        TRY(span_move(&from, NULL, old, some, err));
        TRY(span_move(&to, NULL, new, some, err));
        count_changes(e, old, new, some / 2);
        TRY(patch_put(&base, new, out, e->scratch, err));
    }
    return OK;
}

static Status put_group(Patch *e, const Group *g, FrameWriter *to)
{
    Error *err = e->job->err;
    FrameRecord r = {.name = array_type_names[dump_tensor(e->old.dump, g->first)->type], .raw = g->whole, .joined = true, .rounds = 1};
    Buf out = {.cap = g->whole ? g->bytes : patch_most(g->bytes / 2)};
    out.data = NEW(e->scratch, uint8_t, out.cap);
    r.tensor = rng_hash(r.name);
    r.member = NEW_ZERO(e->scratch, FrameMember, g->count);
    TRY(arena_check(out.data && r.member, e->scratch, err));
    for (; r.members < g->count; r.members++) {
        const TensorInfo *t = dump_tensor(e->old.dump, g->first + r.members);
        r.member[r.members] = (FrameMember){.path = t->path, .shape = t->shape};
    }
    TRY(g->whole ? span_move(&(Span){&e->new, &e->place[g->first], 0}, NULL, buf_room(&out, g->bytes), g->bytes, err) : put_words(e, g, &out));
    r.round[0] = buf_bytes(&out);
    return frame_put(to, &r, err);
}

static Status put_all(Patch *e)
{
    const PatchJob *job = e->job;
    Progress progress;
    FrameWriter *to;
    uint64_t size;
    Status status = OK;
    TRY(match(e));
    TRY(make_groups(e));
    TRY(frame_create(&to, job->output, PATCH_SPEC, e->groups, job->a, job->err));
    progress_open(&progress, "encoding", "groups of tensors", e->groups, job->quiet);
    for (size_t i = 0; status == OK && i < e->groups; i++) {
        const ArenaMark mark = arena_mark(e->scratch);
        status = cli_stopped() ? FAIL(job->err, ERR_STOPPED, "encode: stopped") : put_group(e, &e->group[i], to);
        arena_rewind(e->scratch, mark);
        progress_step(&progress, i + 1);
    }
    progress_close(&progress);
    if (status != OK)
        frame_abandon(to);
    else
        status = frame_commit(to, &size, job->err);
    TRY(status);
    FILE *out = strcmp(job->output, "-") ? stdout : stderr;
    size_t whole = 0;
    for (size_t i = 0; i < e->groups; i++)
        whole += e->group[i].whole;
    fprintf(out, "%s: %llu of %llu weights of 16 bits changed", job->output, (unsigned long long)e->changed, (unsigned long long)e->words);
    if (whole)
        fprintf(out, ", and %zu tensor%s of other types", whole, text_s(whole));
    fprintf(out, "; %llu bytes", (unsigned long long)size);
    if (e->changed)
        fprintf(out, ", %.3g a changed weight; as index and value %llu, as gap and value %llu", (double)size / (double)e->changed,
                (unsigned long long)(6 * e->changed), (unsigned long long)(4 * (e->changed + e->wide)));
    fprintf(out, "\n");
    if (!job->quiet)
        notes_dump(e->new.dump, NULL, &(Progress){0});
    return OK;
}

Status patch_encode(const PatchJob *job, const char *file)
{
    Patch e = {.job = job, .old.fd = -1, .new.fd = -1, .scratch = arena_open(0)};
    Status status = weights_open(&e.old, job->base, job);
    if (status == OK)
        status = weights_open(&e.new, file, job);
    if (status == OK)
        status = put_all(&e);
    weights_close(&e.new);
    weights_close(&e.old);
    arena_close(e.scratch);
    return status;
}

/* ---- decoding ---- */

static Status copy_old(const Weights *old, OutFile *to, const PatchJob *job, Arena *scratch)
{
    const off_t size = lseek(old->fd, 0, SEEK_END);
    uint8_t *piece = NEW(scratch, uint8_t, COPIED);
    TRY(arena_check(piece, scratch, job->err));
    for (off_t at = 0; at < size; at += COPIED) {
        const size_t some = size - at < COPIED ? (size_t)(size - at) : COPIED;
        if (cli_stopped())
            return FAIL(job->err, ERR_STOPPED, "decode: stopped");
        if (file_take(old->fd, (uint64_t)at, piece, some, job->err) != OK)
            return error_at(job->err, "%s", old->path);
        outfile_bytes(to, piece, some);
    }
    return OK;
}

/* Finds a record's tensors in OLD, and sets *bytes to those of their elements. */
static Status find_members(const Weights *old, const FrameRecord *r, size_t *place, uint64_t *bytes, Error *err)
{
    *bytes = 0;
    for (size_t m = 0; m < r->members; m++) {
        place[m] = dump_find(old->dump, r->member[m].path, m ? place[m - 1] + 1 : 0);
        const TensorInfo *t = place[m] < dump_count(old->dump) ? dump_tensor(old->dump, place[m]) : NULL;
        if (!t || !shape_same(&t->shape, &r->member[m].shape) || strcmp(array_type_names[t->type], r->name) || !fraction_of(t->type) != r->raw)
            return FAIL(err, ERR_CORRUPT, "%.200s is not in %s, or has another shape or type: another base", r->member[m].path, old->path);
        *bytes += bytes_of(t);
    }
    return r->rounds == 1 ? OK : FAIL(err, ERR_CORRUPT, "a patch of %d rounds", r->rounds);
}

/* Decodes the words of a record's tensors chunk by chunk, and writes them to their places. */
static Status take_words(const Weights *old, const FrameRecord *r, const size_t *place, uint64_t bytes, OutFile *to, const PatchJob *job,
                         Arena *scratch)
{
    const size_t most = 2 * PATCH_CHUNK;
    uint8_t *words = NEW(scratch, uint8_t, most), *new = NEW(scratch, uint8_t, most);
    Span from = {old, place, 0}, into = from;
    Reader in = reader_open(r->round[0]);
    TRY(arena_check(words && new, scratch, job->err));
    for (uint64_t at = 0; at < bytes; at += most) {
        const size_t some = bytes - at < most ? (size_t)(bytes - at) : most;
        const PatchBase base = {words, some / 2, fraction_of(dump_tensor(old->dump, *place)->type), job->threads};
        TRY(span_move(&from, NULL, words, some, job->err));
        TRY(patch_get(&base, &in, new, scratch, job->err));
        TRY(span_move(&into, to, new, some, job->err));
    }
    return reader_done(&in) ? OK : FAIL(job->err, ERR_CORRUPT, "the patch has more bytes than its tensors need");
}

static Status take_record(const Weights *old, const FrameRecord *r, OutFile *to, const PatchJob *job, Arena *scratch)
{
    size_t *place = NEW(scratch, size_t, r->members);
    uint64_t bytes;
    TRY(arena_check(place, scratch, job->err));
    TRY(find_members(old, r, place, &bytes, job->err));
    if (!r->raw)
        return take_words(old, r, place, bytes, to, job, scratch);
    if (r->round[0].size != bytes)
        return FAIL(job->err, ERR_CORRUPT, "%zu bytes of elements, want %llu", r->round[0].size, (unsigned long long)bytes);
    return span_move(&(Span){old, place, 0}, to, (uint8_t *)(uintptr_t)r->round[0].data, bytes, job->err);
}

static Status take_records(const Weights *old, FrameReader *from, OutFile *to, const PatchJob *job, Arena *scratch)
{
    TRY(copy_old(old, to, job, scratch));
    for (FrameItem item = {.type = FRAME_RECORD}; item.type != FRAME_END;) {
        const ArenaMark mark = arena_mark(scratch);
        if (cli_stopped())
            return FAIL(job->err, ERR_STOPPED, "decode: stopped");
        TRY(frame_next(from, &item, scratch, job->err));
        if (item.type == FRAME_RECORD && take_record(old, &item.record, to, job, scratch) != OK)
            return error_at(job->err, "%.200s: at byte %llu", from->name, (unsigned long long)from->block);
        arena_rewind(scratch, mark);
    }
    return OK;
}

Status patch_decode(const PatchJob *job, FrameReader *from)
{
    Weights old = {.fd = -1};
    OutFile to = {0};
    Arena *scratch = arena_open(0);
    Status status = weights_open(&old, job->base, job);
    if (status == OK)
        status = outfile_open(&to, job->output, job->a, job->err);
    if (status == OK && !to.temporary)
        status = FAIL(job->err, ERR_USAGE, "%s: not a regular file, which a patch needs", job->output);
    if (status == OK)
        status = take_records(&old, from, &to, job, scratch);
    if (status == OK)
        status = outfile_commit(&to, job->err);
    outfile_abandon(&to);
    if (status == OK)
        printf("%s: %s with %llu group%s of tensors patched\n", job->output, job->base, (unsigned long long)from->records,
               text_s(from->records));
    weights_close(&old);
    arena_close(scratch);
    return status;
}
