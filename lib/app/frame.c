/* frame.c -- writes and reads the payload container. The reader checks every length before use. Messages
 * about damaged data have the offset of the block.
 *
 *     file    magic:8 version:u32 block...
 *     block   type:u8 size:u64 body:size check:u64      check: XXH64 of type, size and body, seeded with
 *                                                       the block's offset
 *     'H'     records:u64 spec:text                     header, the first block
 *     'A'     group:text attrs                          attributes of a group; any number of blocks
 *     'V'     seed repeat worker step tensor:u64 x 5 name:text flags:u8 members:u32
 *             { path:text dtype:u8 rank:u8 dim:u64 x rank attrs } x members
 *             rounds:u8 size:u64 x rounds payload...    one vector
 *     'Z'     records:u64                               end, the last block */
#include "app/frame.h"

#include "base/checksum.h"
#include "base/outfile.h"
#include "dump/tensor_wire.h"

#include <errno.h>
#include <sys/stat.h>

enum {
    FRAME_MAGIC = 8,
    FRAME_HEAD = FRAME_MAGIC + 4, /* bytes of magic and version */
    BLOCK_HEAD = 1 + 8,           /* bytes of type and size */
    BLOCK_TAIL = 8,               /* bytes of the checksum */
    DTYPE_FLOAT32 = 0,            /* the only element type */
    FLAG_RAW = 1,
    FLAG_JOINED = 2,
};

/* The first bytes of a container. As in PNG files, transfers that convert line ends or clear bit 7 change
 * them, and no text file begins with them. */
static const uint8_t frame_magic[FRAME_MAGIC] = {0x89, 'A', 'T', 'M', '\r', '\n', 0x1a, '\n'};

/* ---- writing ---- */

struct FrameWriter {
    OutFile out;
    uint64_t at, records, promised;
    Arena *arena; /* memory for the block that is being written */
};

static Status cannot_write(const FrameWriter *w, Error *err)
{
    return FAIL(err, ERR_IO, "%s: cannot write: %s", w->out.path, strerror(errno));
}

/* Begins a block in the writer's arena, for the first `size` bytes of its body; `rest` bytes follow in other memory. */
static Status block_begin(FrameWriter *w, Buf *b, char type, size_t size, size_t rest, Error *err)
{
    *b = (Buf){.cap = BLOCK_HEAD + size};
    b->data = NEW(w->arena, uint8_t, b->cap);
    TRY(arena_check(b->data, w->arena, err));
    buf_u8(b, (uint8_t)type);
    buf_u64(b, size + rest);
    return OK;
}

/* Writes a block: the pieces, which begin with the block's type, then the checksum. */
static Status block_pieces(FrameWriter *w, const Bytes *piece, size_t count, Error *err)
{
    Checksum sum = checksum_begin(w->at);
    uint8_t tail[BLOCK_TAIL];
    for (size_t i = 0; i < count; i++) {
        checksum_add(&sum, piece[i]);
        if (piece[i].size && fwrite(piece[i].data, 1, piece[i].size, w->out.to) != piece[i].size)
            return cannot_write(w, err);
        w->at += piece[i].size;
    }
    store_u64(tail, checksum_end(&sum));
    w->at += BLOCK_TAIL;
    return fwrite(tail, 1, BLOCK_TAIL, w->out.to) == BLOCK_TAIL ? OK : cannot_write(w, err);
}

static Status block_end(FrameWriter *w, const Buf *b, Error *err)
{
    assert(b->size == b->cap);
    return block_pieces(w, &(Bytes){b->data, b->size}, 1, err);
}

static Status put_header(FrameWriter *w, const char *spec, Error *err)
{
    uint8_t head[FRAME_HEAD];
    Buf b = {head, 0, sizeof head};
    buf_copy(&b, frame_magic, FRAME_MAGIC);
    buf_u32(&b, FRAME_VERSION);
    if (fwrite(head, 1, sizeof head, w->out.to) != sizeof head)
        return cannot_write(w, err);
    w->at = sizeof head;
    TRY(block_begin(w, &b, 'H', 8 + text_bytes(spec), 0, err));
    buf_u64(&b, w->promised);
    put_text(&b, spec);
    return block_end(w, &b, err);
}

Status frame_put_attrs(FrameWriter *w, const char *group, const AttrList *attrs, Error *err)
{
    const ArenaMark mark = arena_mark(w->arena);
    Buf b;
    TRY(block_begin(w, &b, 'A', text_bytes(group) + attrs_bytes(attrs), 0, err));
    put_text(&b, group);
    put_attrs(&b, attrs);
    const Status status = block_end(w, &b, err);
    arena_rewind(w->arena, mark);
    return status;
}

/* Returns the bytes of a record before its payloads. */
static size_t record_head_bytes(const FrameRecord *r)
{
    size_t size = 5 * 8 + text_bytes(r->name) + 1 + 4 + 1;
    for (size_t i = 0; i < r->members; i++)
        size += text_bytes(r->member[i].path) + 2 + 8 * (size_t)r->member[i].shape.rank +
                attrs_bytes(&r->member[i].attrs);
    return size + 8 * (size_t)r->rounds;
}

static void put_member(Buf *b, const FrameMember *m)
{
    put_text(b, m->path);
    buf_u8(b, DTYPE_FLOAT32);
    buf_u8(b, (uint8_t)m->shape.rank);
    for (int i = 0; i < m->shape.rank; i++)
        buf_u64(b, m->shape.dim[i]);
    put_attrs(b, &m->attrs);
}

static void put_record_head(Buf *b, const FrameRecord *r)
{
    const uint64_t address[] = {r->seed, r->repeat, (uint64_t)r->worker, (uint64_t)r->step, r->tensor};
    for (size_t i = 0; i < countof(address); i++)
        buf_u64(b, address[i]);
    put_text(b, r->name);
    buf_u8(b, (uint8_t)((r->raw ? FLAG_RAW : 0) | (r->joined ? FLAG_JOINED : 0)));
    buf_u32(b, (uint32_t)r->members);
    for (size_t i = 0; i < r->members; i++)
        put_member(b, &r->member[i]);
    buf_u8(b, (uint8_t)r->rounds);
    for (int i = 0; i < r->rounds; i++)
        buf_u64(b, r->round[i].size);
}

Status frame_put(FrameWriter *w, const FrameRecord *r, Error *err)
{
    size_t payload = 0;
    assert(r->rounds <= FRAME_ROUNDS && r->members <= UINT32_MAX);
    for (int i = 0; i < r->rounds; i++)
        payload += r->round[i].size;
    const size_t n = frame_shape(r).n;
    if (n > frame_elements_limit(payload))
        return FAIL(err, ERR_USAGE,
                    "%s: %s: %zu elements in %zu bytes of payload, more than a container may claim",
                    w->out.path, r->name, n, payload);
    const ArenaMark mark = arena_mark(w->arena);
    Buf b;
    TRY(block_begin(w, &b, 'V', record_head_bytes(r), payload, err));
    put_record_head(&b, r);
    Bytes piece[1 + FRAME_ROUNDS] = {buf_bytes(&b)};
    memcpy(piece + 1, r->round, (size_t)r->rounds * sizeof *piece);
    const Status status = block_pieces(w, piece, 1 + (size_t)r->rounds, err);
    arena_rewind(w->arena, mark);
    w->records++;
    return status;
}

Status frame_create(FrameWriter **out, const char *path, const char *spec, uint64_t records, Arena *a,
                    Error *err)
{
    FrameWriter *w = NEW_ZERO(a, FrameWriter, 1);
    TRY(arena_check(w, a, err));
    w->promised = records;
    TRY(outfile_open(&w->out, path, a, err));
    w->arena = arena_open(0);
    const Status status = put_header(w, spec, err);
    if (status == OK)
        *out = w;
    else
        frame_abandon(w);
    return status;
}

Status frame_commit(FrameWriter *w, uint64_t *bytes, Error *err)
{
    assert(w->records == w->promised);
    Buf b;
    Status status = block_begin(w, &b, 'Z', 8, 0, err);
    if (status == OK) {
        buf_u64(&b, w->records);
        status = block_end(w, &b, err);
    }
    *bytes = w->at;
    if (status == OK)
        status = outfile_commit(&w->out, err);
    frame_abandon(w);
    return status;
}

void frame_abandon(FrameWriter *w)
{
    if (!w)
        return;
    outfile_abandon(&w->out);
    arena_close(w->arena);
    w->arena = NULL;
}

/* ---- reading ---- */

static Status bad(const FrameReader *r, Error *err, const char *what)
{
    return FAIL(err, ERR_CORRUPT, "%s: at byte %llu: %s", r->name, (unsigned long long)r->block, what);
}

/* Fails with the message `what` and the offset of the block; or with the arena's error, if texts or lists
 * are missing because memory ran out. */
static Status malformed(const FrameReader *r, const Arena *a, Error *err, const char *what)
{
    return arena_failed(a) ? arena_fail(a, err) : bad(r, err, what);
}

static Status read_bytes(FrameReader *r, void *to, size_t size, Error *err)
{
    if (fread(to, 1, size, r->from) != size)
        return FAIL(err, ferror(r->from) ? ERR_IO : ERR_CORRUPT, "%s: at byte %llu: cannot be read: %s",
                    r->name, (unsigned long long)r->at, ferror(r->from) ? strerror(errno) : "the file ends");
    r->at += size;
    return OK;
}

static Status read_block(FrameReader *r, char *type, Reader *body, Arena *a, Error *err)
{
    uint8_t head[BLOCK_HEAD];
    const uint64_t left = r->size - r->at;
    r->block = r->at;
    if (left < BLOCK_HEAD + BLOCK_TAIL)
        return bad(r, err, "the file is cut short: no end block");
    TRY(read_bytes(r, head, sizeof head, err));
    const uint64_t size = load_u64(head + 1);
    if (size > left - BLOCK_HEAD - BLOCK_TAIL)
        return bad(r, err, "the file is cut short, or a length is wrong");
    uint8_t *block = NEW(a, uint8_t, BLOCK_HEAD + size + BLOCK_TAIL);
    TRY(arena_check(block, a, err));
    memcpy(block, head, BLOCK_HEAD);
    TRY(read_bytes(r, block + BLOCK_HEAD, size + BLOCK_TAIL, err));
    if (load_u64(block + BLOCK_HEAD + size) != checksum((Bytes){block, BLOCK_HEAD + size}, r->block))
        return bad(r, err, "the checksum is wrong: the file was altered");
    *type = (char)head[0];
    *body = reader_open((Bytes){block + BLOCK_HEAD, size});
    return OK;
}

static Status read_header(FrameReader *r, Arena *a, Error *err)
{
    uint8_t head[FRAME_HEAD];
    char type = 0;
    Reader body;
    if (r->size < sizeof head)
        return bad(r, err, "not a payload container");
    TRY(read_bytes(r, head, sizeof head, err));
    if (memcmp(head, frame_magic, FRAME_MAGIC) != 0)
        return bad(r, err, "not a payload container");
    if (load_u32(head + FRAME_MAGIC) != FRAME_VERSION)
        return FAIL(err, ERR_CORRUPT, "%s: at byte %d: container version %u, this program reads %d", r->name,
                    FRAME_MAGIC, load_u32(head + FRAME_MAGIC), FRAME_VERSION);
    TRY(read_block(r, &type, &body, a, err));
    r->records = take_u64(&body);
    r->spec = take_text(&body, TEXT_LIMIT, a);
    return type == 'H' && reader_done(&body) ? OK : malformed(r, a, err, "the header is malformed");
}

static Status take_attrs_block(const FrameReader *r, Reader *body, FrameItem *item, Arena *a, Error *err)
{
    item->type = FRAME_ATTRS;
    item->group = take_text(body, PATH_LIMIT, a);
    take_attrs(body, &item->attrs, a);
    return reader_done(body) && (!*item->group || path_valid(item->group))
               ? OK
               : malformed(r, a, err, "a group's attributes are malformed");
}

static bool take_member(Reader *body, FrameMember *m, Arena *a)
{
    size_t dim[RANK_MAX] = {0};
    m->path = take_text(body, PATH_LIMIT, a);
    const int dtype = take_u8(body), rank = take_u8(body);
    for (int i = 0; i < rank && i < RANK_MAX; i++)
        dim[i] = take_u64(body);
    if (body->bad || !path_valid(m->path) || dtype != DTYPE_FLOAT32 || !shape_make(&m->shape, rank, dim))
        return false;
    take_attrs(body, &m->attrs, a);
    return !body->bad;
}

static bool take_members(Reader *body, FrameRecord *rec, Arena *a)
{
    enum { LEAST = 4 + 1 + 2 + 4 }; /* least bytes of a member */
    const uint32_t count = take_u32(body);
    if (body->bad || count == 0 || count > reader_left(body) / LEAST || (!rec->joined && count != 1))
        return false;
    rec->member = NEW_ZERO(a, FrameMember, count);
    for (; rec->member && rec->members < count; rec->members++)
        if (!take_member(body, &rec->member[rec->members], a))
            return false;
    return rec->member != NULL;
}

/* Reads the payloads. Returns false if they are malformed, or if the members have more elements than
 * `frame_elements_limit` allows. */
static bool take_rounds(Reader *body, FrameRecord *rec)
{
    rec->rounds = take_u8(body);
    if (rec->rounds < 1 || rec->rounds > FRAME_ROUNDS)
        return false;
    for (int i = 0; i < rec->rounds; i++)
        rec->round[i].size = take_u64(body);
    const uint64_t limit = frame_elements_limit(reader_left(body));
    for (int i = 0; i < rec->rounds; i++)
        rec->round[i].data = take_bytes(body, rec->round[i].size);
    uint64_t n = 0;
    for (size_t i = 0; i < rec->members && n <= limit; i++)
        n = rec->member[i].shape.n <= limit ? n + rec->member[i].shape.n : UINT64_MAX;
    return reader_done(body) && n <= limit;
}

static Status take_record(FrameReader *r, Reader *body, FrameItem *item, Arena *a, Error *err)
{
    FrameRecord *rec = &item->record;
    item->type = FRAME_RECORD;
    rec->seed = take_u64(body);
    rec->repeat = take_u64(body);
    rec->worker = (int64_t)take_u64(body);
    rec->step = (int64_t)take_u64(body);
    rec->tensor = take_u64(body);
    rec->name = take_text(body, PATH_LIMIT, a);
    const uint8_t flags = take_u8(body);
    rec->raw = flags & FLAG_RAW;
    rec->joined = flags & FLAG_JOINED;
    if (body->bad || flags & ~(FLAG_RAW | FLAG_JOINED) || !take_members(body, rec, a))
        return malformed(r, a, err, "a record's description is malformed");
    if (!take_rounds(body, rec))
        return bad(r, err, "a record's payload does not fit its description");
    return r->delivered++ < r->records ? OK : bad(r, err, "more records than the header says");
}

static Status take_end(FrameReader *r, Reader *body, FrameItem *item, Error *err)
{
    item->type = FRAME_END;
    if (take_u64(body) != r->delivered || !reader_done(body) || r->delivered != r->records)
        return bad(r, err, "fewer records than the header says");
    if (r->at != r->size)
        return bad(r, err, "bytes stand behind the end block");
    r->ended = true;
    return OK;
}

Status frame_next(FrameReader *r, FrameItem *item, Arena *a, Error *err)
{
    char type = 0;
    Reader body;
    assert(!r->ended);
    *item = (FrameItem){0};
    TRY(read_block(r, &type, &body, a, err));
    if (type == 'A')
        return take_attrs_block(r, &body, item, a, err);
    if (type == 'V')
        return take_record(r, &body, item, a, err);
    if (type == 'Z')
        return take_end(r, &body, item, err);
    return bad(r, err, "a block of unknown type");
}

Status frame_open_file(FrameReader **out, FILE *from, const char *name, Arena *a, Error *err)
{
    FrameReader *r = NEW_ZERO(a, FrameReader, 1);
    if (!r || !(r->name = text_copy(a, name))) {
        fclose(from);
        return arena_fail(a, err);
    }
    r->from = from;
    Status status;
    if (fseeko(from, 0, SEEK_END) || ftello(from) < 0)
        status = FAIL(err, ERR_IO, "%s: cannot seek in it, want a regular file", name);
    else {
        r->size = (uint64_t)ftello(from);
        rewind(from);
        status = read_header(r, a, err);
    }
    if (status == OK)
        *out = r;
    else
        fclose(from);
    return status;
}

Status frame_open(FrameReader **out, const char *path, Arena *a, Error *err)
{
    struct stat info;
    if (stat(path, &info) == 0 && !S_ISREG(info.st_mode)) /* opening a pipe may block */
        return FAIL(err, ERR_IO, "%s: not a regular file, want a payload container", path);
    FILE *from = fopen(path, "rbe");
    return from ? frame_open_file(out, from, path, a, err)
                : FAIL(err, ERR_IO, "%s: cannot be opened: %s", path, strerror(errno));
}

void frame_close(FrameReader *r)
{
    if (r)
        fclose(r->from);
}
