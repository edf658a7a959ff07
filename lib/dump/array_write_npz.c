/* array_write_npz.c -- writes .npz files: zip archives of .npy members, not compressed (layouts in
 * npy.c). Sizes and offsets stand in zip64 fields, whatever they are, as numpy.savez writes its members. All members are
 * dated 1 January 1980, so that equal dumps give equal bytes. */
#include "base/bytes.h"
#include "base/outfile.h"
#include "dump/array_write.h"
#include "dump/extent.h"

enum {
    NPY = 64, /* the length of a .npy header is a multiple of 64 bytes */
    RECORD_MOST = 128,
    VERSION = 45, /* of the zip format, with zip64 */
    UTF8_NAMES = 1 << 11,
    DATE = (0 << 9) | (1 << 5) | 1,
    ONES16 = 0xffff, /* the number stands in a zip64 field */
};

typedef struct {
    uint64_t header; /* file offset of the member's header */
    uint64_t size;
    uint32_t sum;
} Member;

typedef struct {
    const Dump *dump;
    OutFile out;
    uint64_t at; /* bytes written */
    Member *member;
    Arena *arena;
} NpzWriter;

static void put(NpzWriter *w, const void *data, size_t size)
{
    outfile_bytes(&w->out, data, size);
    w->at += size;
}

/* ---- members ---- */

/* Returns the header of a .npy array of float32, and its length in *size. */
static char *npy_text(const Shape *shape, size_t *size, Arena *a)
{
    TextBuf out = {.arena = a};
    text_add_bytes(&out, "\x93NUMPY\1\0\0\0", 10);
    text_add(&out, "{'descr': '<f4', 'fortran_order': False, 'shape': (");
    for (int i = 0; i < shape->rank; i++)
        text_addf(&out, "%s%zu%s", i ? " " : "", shape->dim[i],
                  i + 1 < shape->rank || shape->rank == 1 ? "," : "");
    text_add(&out, "), }");
    text_addf(&out, "%*s\n", (int)(NPY - 1 - out.size % NPY), "");
    *size = out.size;
    char *text = text_done(&out);
    if (text)
        store_u16((uint8_t *)text + 8, (uint16_t)(*size - 10));
    return text;
}

/* Appends the fields that a member's header and its entry in the zip directory share. `fields` is the number of 64-bit
 * numbers in the zip64 extra field. */
static void put_common(Buf *b, const Member *m, const char *name, unsigned fields)
{
    buf_u16(b, VERSION);
    buf_u16(b, UTF8_NAMES);
    buf_u16(b, 0); /* compression method: stored */
    buf_u16(b, 0);
    buf_u16(b, DATE);
    buf_u32(b, m->sum);
    buf_u32(b, UINT32_MAX);
    buf_u32(b, UINT32_MAX);
    buf_u16(b, (uint16_t)(strlen(name) + strlen(".npy")));
    buf_u16(b, (uint16_t)(4 + 8 * fields));
}

/* Writes a record, the member's name and the zip64 extra field. */
static void put_record(NpzWriter *w, const Buf *record, const Member *m, const char *name, unsigned fields)
{
    uint8_t room[RECORD_MOST];
    Buf wide = {room, 0, sizeof room};
    buf_u16(&wide, 1);
    buf_u16(&wide, (uint16_t)(8 * fields));
    buf_u64(&wide, m->size);
    buf_u64(&wide, m->size);
    if (fields > 2)
        buf_u64(&wide, m->header);
    put(w, record->data, record->size);
    put(w, name, strlen(name));
    put(w, ".npy", 4);
    put(w, wide.data, wide.size);
}

static Status npz_write(void *to, size_t i, const float *x, Error *err)
{
    NpzWriter *w = to;
    const TensorInfo *t = dump_tensor(w->dump, i);
    const ArenaMark mark = arena_mark(w->arena);
    const size_t bytes = t->shape.n * sizeof *x;
    uint8_t room[RECORD_MOST];
    Buf b = {room, 0, sizeof room};
    size_t head = 0;
    const char *header = npy_text(&t->shape, &head, w->arena);
    TRY(arena_check(header, w->arena, err));
    Member *m = &w->member[i];
    *m = (Member){
        .header = w->at, .size = head + bytes, .sum = crc32_add(crc32_add(0, header, head), x, bytes)};
    buf_u32(&b, 0x04034b50);
    put_common(&b, m, t->path, 2);
    put_record(w, &b, m, t->path, 2);
    put(w, header, head);
    put(w, x, bytes);
    arena_rewind(w->arena, mark);
    return OK;
}

/* ---- the directory of the archive ---- */

static void put_entry(NpzWriter *w, const Member *m, const char *name)
{
    uint8_t room[RECORD_MOST];
    Buf b = {room, 0, sizeof room};
    buf_u32(&b, 0x02014b50);
    buf_u16(&b, VERSION);
    put_common(&b, m, name, 3);
    buf_u16(&b, 0); /* length of the comment */
    buf_u16(&b, 0); /* number of the disk that has the member */
    buf_u16(&b, 0);
    buf_u32(&b, 0);
    buf_u32(&b, UINT32_MAX);
    put_record(w, &b, m, name, 3);
}

/* Writes the directory, the zip64 end with its locator, and the end. */
static void put_directory(NpzWriter *w)
{
    uint8_t room[2 * RECORD_MOST];
    Buf b = {room, 0, sizeof room};
    const uint64_t from = w->at, count = dump_count(w->dump);
    for (size_t i = 0; i < count; i++)
        put_entry(w, &w->member[i], dump_tensor(w->dump, i)->path);
    const uint64_t end = w->at;
    buf_u32(&b, 0x06064b50);
    buf_u64(&b, 44);
    buf_u16(&b, VERSION);
    buf_u16(&b, VERSION);
    buf_u64(&b, 0); /* numbers of this disk and of the disk that has the directory */
    buf_u64(&b, count);
    buf_u64(&b, count);
    buf_u64(&b, end - from);
    buf_u64(&b, from);
    buf_u32(&b, 0x07064b50);
    buf_u32(&b, 0);
    buf_u64(&b, end);
    buf_u32(&b, 1);
    buf_u32(&b, 0x06054b50);
    buf_u32(&b, 0);
    buf_u16(&b, ONES16);
    buf_u16(&b, ONES16);
    buf_u32(&b, UINT32_MAX);
    buf_u32(&b, UINT32_MAX);
    buf_u16(&b, sizeof CONVERT_SIGN - 1); /* length of the comment */
    put(w, b.data, b.size);
    put(w, CONVERT_SIGN, sizeof CONVERT_SIGN - 1);
}

/* ---- writing the archive ---- */

static Status npz_open(void **out, const Dump *d, const char *path, Arena *a, Error *err)
{
    NpzWriter *w = NEW_ZERO(a, NpzWriter, 1);
    if (!w || !(w->member = NEW(a, Member, dump_count(d))))
        return arena_fail(a, err);
    w->dump = d;
    w->arena = a;
    *out = w;
    return outfile_open(&w->out, path, a, err);
}

static Status npz_finish(void *to, Status written, Error *err)
{
    NpzWriter *w = to;
    if (written == OK) {
        put_directory(w);
        written = outfile_commit(&w->out, err);
    }
    outfile_abandon(&w->out);
    return written;
}

const ArrayWriter npz_array_writer = {".npz", true, npz_open, npz_write, npz_finish, NULL};
