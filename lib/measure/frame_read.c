/* frame_read.c -- reading the payload container with distrust (frame.c has the layout). Every refusal says where. */
#include "measure/frame_layout.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

struct FrameReader {
    FILE *from;
    const char *name, *spec;
    uint64_t size;    /* of the file */
    uint64_t at;      /* where the next block begins */
    uint64_t block;   /* where the last one began */
    uint64_t records; /* promised */
    uint64_t delivered;
    bool ended;
};

static Status bad(const FrameReader *r, Error *err, const char *what)
{
    return FAIL(err, ERR_CORRUPT, "%s: at byte %llu: %s", r->name, (unsigned long long)r->block, what);
}

static Status read_bytes(FrameReader *r, void *to, size_t size, Error *err)
{
    if (fread(to, 1, size, r->from) != size)
        return FAIL(err, ferror(r->from) ? ERR_IO : ERR_CORRUPT, "%s: at byte %llu: cannot be read: %s",
                    r->name, (unsigned long long)r->at, ferror(r->from) ? strerror(errno) : "the file ends");
    r->at += size;
    return OK;
}

/* ---- blocks ---- */

/* The next block's type and body, its checksum found right. */
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
    if (!block)
        return arena_fail(a, err);
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
    return type == 'H' && reader_done(&body) ? OK : bad(r, err, "the header is malformed");
}

/* ---- the kinds of block ---- */

static Status take_attrs_block(const FrameReader *r, Reader *body, FrameItem *item, Arena *a, Error *err)
{
    item->type = FRAME_ATTRS;
    item->group = take_text(body, PATH_LIMIT, a);
    take_attrs(body, &item->attrs, a);
    return reader_done(body) && (!*item->group || path_valid(item->group))
               ? OK
               : bad(r, err, "a group's attributes are malformed");
}

/* False when it is malformed. */
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
    enum { LEAST = 4 + 1 + 2 + 4 }; /* bytes of a member */
    const uint32_t count = take_u32(body);
    if (body->bad || count == 0 || count > reader_left(body) / LEAST || (!rec->joined && count != 1))
        return false;
    rec->member = NEW_ZERO(a, FrameMember, count);
    for (; rec->member && rec->members < count; rec->members++)
        if (!take_member(body, &rec->member[rec->members], a))
            return false;
    return rec->member != NULL;
}

/* The payloads, and whether the members' elements are within what they justify. */
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
        return bad(r, err, "a record's description is malformed");
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

/* ---- opening and closing ---- */

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
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a pipe without a writer would block */
    FILE *from = fd >= 0 && fstat(fd, &info) == 0 && S_ISREG(info.st_mode) ? fdopen(fd, "rb") : NULL;
    if (from)
        return frame_open_file(out, from, path, a, err);
    if (fd < 0)
        return FAIL(err, ERR_IO, "%s: cannot be opened: %s", path, strerror(errno));
    close(fd);
    return FAIL(err, ERR_IO, "%s: not a regular file, want a payload container", path);
}

void frame_close(FrameReader *r)
{
    if (r)
        fclose(r->from);
}

const char *frame_name(const FrameReader *r)
{
    return r->name;
}

const char *frame_spec(const FrameReader *r)
{
    return r->spec;
}

uint64_t frame_records(const FrameReader *r)
{
    return r->records;
}

uint64_t frame_size(const FrameReader *r)
{
    return r->size;
}

uint64_t frame_offset(const FrameReader *r)
{
    return r->block;
}
