/* frame.c -- writing the payload container, and what both sides know of it.
 *
 *     file    magic:8 version:u32 block...
 *     block   type:u8 size:u64 body:size check:u64      check: XXH64 of type, size and body, seeded with the offset
 *     'H'     records:u64 spec:text                     first
 *     'A'     group:text attrs                          any number
 *     'V'     seed repeat worker step tensor:u64 x 5 name:text flags:u8 members:u32
 *             { path:text dtype:u8 rank:u8 dim:u64 x rank attrs } x members
 *             rounds:u8 size:u64 x rounds payload...
 *     'Z'     records:u64                               last */
#include "measure/frame_layout.h"
#include "base/outfile.h"

struct FrameWriter {
    OutFile out;
    uint64_t at, records, promised;
    Arena *arena; /* scratch for one block */
};

const uint8_t frame_magic[FRAME_MAGIC] = {0x89, 'A', 'T', 'M', '\r', '\n', 0x1a, '\n'};

Shape frame_shape(const FrameRecord *r)
{
    size_t n = 0;
    if (!r->joined)
        return r->member[0].shape;
    for (size_t i = 0; i < r->members; i++)
        n += r->member[i].shape.n;
    return shape_vector(n);
}

/* A vector may be far larger than its payload (a handful of entries of millions), but not without bound. */
uint64_t frame_elements_limit(uint64_t payload)
{
    const uint64_t most = (uint64_t)1 << 40;
    return ((uint64_t)1 << 26) + ((payload < most ? payload : most) << 16);
}

/* ---- blocks ---- */

static Status cannot_write(const FrameWriter *w, Error *err)
{
    return FAIL(err, ERR_IO, "%s: cannot write: %s", w->out.path, strerror(errno));
}

/* Begins a block of `size` bytes of body in the scratch arena; block_end writes it. */
static Status block_begin(FrameWriter *w, Buf *b, char type, size_t size, Error *err)
{
    *b = (Buf){.cap = BLOCK_HEAD + size + BLOCK_TAIL};
    b->data = NEW(w->arena, uint8_t, b->cap);
    if (!b->data)
        return arena_fail(w->arena, err);
    buf_u8(b, (uint8_t)type);
    buf_u64(b, size);
    return OK;
}

static Status block_end(FrameWriter *w, Buf *b, Error *err)
{
    assert(b->size + BLOCK_TAIL == b->cap);
    buf_u64(b, checksum(buf_bytes(b), w->at));
    w->at += b->size;
    return fwrite(b->data, 1, b->size, w->out.to) == b->size ? OK : cannot_write(w, err);
}

/* ---- the kinds of block ---- */

static Status put_header(FrameWriter *w, const char *spec, Error *err)
{
    uint8_t head[FRAME_HEAD];
    Buf b = {head, 0, sizeof head};
    buf_copy(&b, frame_magic, FRAME_MAGIC);
    buf_u32(&b, FRAME_VERSION);
    if (fwrite(head, 1, sizeof head, w->out.to) != sizeof head)
        return cannot_write(w, err);
    w->at = sizeof head;
    TRY(block_begin(w, &b, 'H', 8 + text_bytes(spec), err));
    buf_u64(&b, w->promised);
    put_text(&b, spec);
    return block_end(w, &b, err);
}

Status frame_put_attrs(FrameWriter *w, const char *group, const AttrList *attrs, Error *err)
{
    const ArenaMark mark = arena_mark(w->arena);
    Buf b;
    TRY(block_begin(w, &b, 'A', text_bytes(group) + attrs_bytes(attrs), err));
    put_text(&b, group);
    put_attrs(&b, attrs);
    const Status status = block_end(w, &b, err);
    arena_rewind(w->arena, mark);
    return status;
}

static size_t record_bytes(const FrameRecord *r)
{
    size_t size = 5 * 8 + text_bytes(r->name) + 1 + 4 + 1;
    for (size_t i = 0; i < r->members; i++)
        size += text_bytes(r->member[i].path) + 2 + 8 * (size_t)r->member[i].shape.rank +
                attrs_bytes(&r->member[i].attrs);
    for (int i = 0; i < r->rounds; i++)
        size += 8 + r->round[i].size;
    return size;
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

static void put_record(Buf *b, const FrameRecord *r)
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
    for (int i = 0; i < r->rounds; i++)
        buf_copy(b, r->round[i].data, r->round[i].size);
}

Status frame_put(FrameWriter *w, const FrameRecord *r, Error *err)
{
    uint64_t payload = 0;
    assert(r->rounds <= FRAME_ROUNDS && r->members <= UINT32_MAX);
    for (int i = 0; i < r->rounds; i++)
        payload += r->round[i].size;
    const size_t n = frame_shape(r).n;
    if (n > frame_elements_limit(payload))
        return FAIL(err, ERR_USAGE,
                    "%s: %s: %zu elements in %zu bytes of payload, more than a container may claim",
                    w->out.path, r->name, n, (size_t)payload);
    const ArenaMark mark = arena_mark(w->arena);
    Buf b;
    TRY(block_begin(w, &b, 'V', record_bytes(r), err));
    put_record(&b, r);
    const Status status = block_end(w, &b, err);
    arena_rewind(w->arena, mark);
    w->records++;
    return status;
}

/* ---- opening and closing ---- */

Status frame_create(FrameWriter **out, const char *path, const char *spec, uint64_t records, Arena *a,
                    Error *err)
{
    FrameWriter *w = NEW_ZERO(a, FrameWriter, 1);
    if (!w)
        return arena_fail(a, err);
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

uint64_t frame_bytes(const FrameWriter *w)
{
    return w->at + BLOCK_HEAD + 8 + BLOCK_TAIL;
}

Status frame_commit(FrameWriter *w, Error *err)
{
    assert(w->records == w->promised);
    Buf b;
    Status status = block_begin(w, &b, 'Z', 8, err);
    if (status == OK) {
        buf_u64(&b, w->records);
        status = block_end(w, &b, err);
    }
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
