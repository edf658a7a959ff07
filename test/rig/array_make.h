/* array_make.h -- makes safetensors, .npy and .npz files for tests, byte by byte. The files may be valid or
 * broken. */
#ifndef ATOMO_ARRAY_MAKE_H
#define ATOMO_ARRAY_MAKE_H

#include "base/bytes.h"
#include "rig/scratch_dir.h"

#include <zlib.h>

/* ---- a file in memory to which bytes are appended ---- */

enum { MADE_MOST = 1 << 20 };

typedef struct {
    uint8_t data[MADE_MOST];
    size_t size;
} Made;

static inline void add(Made *m, const void *data, size_t size)
{
    check(size <= sizeof m->data - m->size);
    memcpy(m->data + m->size, data, size);
    m->size += size;
}
static inline void add_text(Made *m, const char *text)
{
    add(m, text, strlen(text));
}
static inline void add_u16(Made *m, unsigned v)
{
    uint16_t bytes = (uint16_t)v;
    file_order(&bytes, sizeof bytes);
    add(m, &bytes, sizeof bytes);
}
static inline void add_u32(Made *m, uint64_t v)
{
    uint32_t bytes = (uint32_t)v;
    file_order(&bytes, sizeof bytes);
    add(m, &bytes, sizeof bytes);
}
static inline void add_u64(Made *m, uint64_t v)
{
    file_order(&v, sizeof v);
    add(m, &v, sizeof v);
}
static inline const char *save(const Made *m, const char *name)
{
    file_save(in_scratch(name), m->data, m->size);
    return in_scratch(name);
}

/* ---- safetensors ---- */

static inline void make_safetensors(Made *m, const char *header, const void *data, size_t size)
{
    m->size = 0;
    add_u64(m, strlen(header));
    add_text(m, header);
    add(m, data, size);
}

/* ---- .npy ---- */

/* Appends a .npy array of format version `version`; `dictionary` is the text of its header. */
static inline void add_npy(Made *m, int version, const char *dictionary, const void *data, size_t size)
{
    const size_t length = strlen(dictionary) + 1;
    add(m, "\x93NUMPY", 6);
    add(m, &(uint8_t){(uint8_t)version}, 1);
    add(m, "", 1);
    if (version == 1)
        add_u16(m, (unsigned)length);
    else
        add_u32(m, length);
    add_text(m, dictionary);
    add(m, "\n", 1);
    add(m, data, size);
}

/* ---- .npz ---- */

/* A member of a .npz archive: how it is written, and the values that its header and its entry in the
 * archive's directory claim. A claim of 0 stands for the true value. */
typedef struct {
    const char *name; /* the member's file name, with the ending .npy */
    Made *content;
    /* deflated: compressed; wide: sizes and offset are 64-bit numbers in the extra field of zip64 */
    bool deflated, wide;
    unsigned method; /* the compression method that the headers claim; the true one is 0 or 8 */
    unsigned flags;
    uint64_t claims; /* claimed sizes in bytes: `claims` unpacked, `claims_packed` as stored */
    uint64_t claims_packed;
    /* the offset of the member's header that the directory claims, plus 1; 0: the true offset */
    uint64_t claims_at;
    uint32_t sum_error;  /* a number that is added to the right checksum */
} MadeMember;

/* The end record of a .npz archive: its optional parts, and the errors in it. */
typedef struct {
    bool end64; /* a zip64 end record and its locator are written */
    unsigned count_error, directory_error;
    const char *comment;
} MadeEnd;

static inline size_t deflate_to(Made *m, const Made *content)
{
    z_stream z = {.next_in = (uint8_t *)(uintptr_t)content->data,
                  .avail_in = (unsigned)content->size,
                  .next_out = m->data + m->size,
                  .avail_out = (unsigned)(sizeof m->data - m->size)};
    check(deflateInit2(&z, 9, Z_DEFLATED, -15, 9, Z_DEFAULT_STRATEGY) == Z_OK &&
          deflate(&z, Z_FINISH) == Z_STREAM_END);
    m->size += z.total_out;
    deflateEnd(&z);
    return z.total_out;
}

/* Appends the fields that are both in a member's header and in the member's entry of the directory. */
static inline void add_common(Made *m, const MadeMember *member, size_t packed, size_t extra)
{
    const uint64_t size = member->claims ? member->claims : member->content->size;
    const uint64_t stored = member->claims_packed ? member->claims_packed : packed;
    add_u16(m, 45);
    add_u16(m, member->flags);
    add_u16(m, member->method ? member->method : member->deflated ? 8 : 0);
    add_u32(m, 0);
    add_u32(m, crc32(0, member->content->data, (unsigned)member->content->size) + member->sum_error);
    add_u32(m, member->wide ? UINT32_MAX : stored);
    add_u32(m, member->wide ? UINT32_MAX : size);
    add_u16(m, (unsigned)strlen(member->name));
    add_u16(m, (unsigned)extra);
}

static inline void add_wide(Made *m, const MadeMember *member, size_t packed, const size_t *at)
{
    if (!member->wide)
        return;
    add_u16(m, 1);
    add_u16(m, at ? 24 : 16);
    add_u64(m, member->claims ? member->claims : member->content->size);
    add_u64(m, member->claims_packed ? member->claims_packed : packed);
    if (at)
        add_u64(m, *at);
}

/* Appends a member and its header to the archive. Returns the number of bytes of its content as stored. */
static inline size_t add_member(Made *m, const MadeMember *member)
{
    static Made packed;
    packed.size = 0;
    if (member->deflated)
        deflate_to(&packed, member->content);
    else
        add(&packed, member->content->data, member->content->size);
    add_u32(m, 0x04034b50);
    add_common(m, member, packed.size, member->wide ? 20 : 0);
    add_text(m, member->name);
    add_wide(m, member, packed.size, NULL);
    add(m, packed.data, packed.size);
    return packed.size;
}

static inline void add_entry(Made *m, const MadeMember *member, size_t packed, size_t at)
{
    const size_t place = member->claims_at ? (size_t)member->claims_at - 1 : at;
    add_u32(m, 0x02014b50);
    add_u16(m, 45);
    add_common(m, member, packed, member->wide ? 28 : 0);
    add_u16(m, 0);
    add_u16(m, 0);
    add_u16(m, 0);
    add_u32(m, 0);
    add_u32(m, member->wide ? UINT32_MAX : place);
    add_text(m, member->name);
    add_wide(m, member, packed, &place);
}

static inline void add_end(Made *m, size_t count, size_t from, const MadeEnd *end)
{
    const size_t size = m->size - from + end->directory_error, at = m->size;
    if (end->end64) {
        add_u32(m, 0x06064b50);
        add_u64(m, 44);
        add_u16(m, 45);
        add_u16(m, 45);
        add_u64(m, 0);
        add_u64(m, count);
        add_u64(m, count);
        add_u64(m, size);
        add_u64(m, from);
        add_u32(m, 0x07064b50);
        add_u32(m, 0);
        add_u64(m, at);
        add_u32(m, 1);
    }
    add_u32(m, 0x06054b50);
    add_u32(m, 0);
    add_u16(m, end->end64 ? 0xffff : (unsigned)count + end->count_error);
    add_u16(m, end->end64 ? 0xffff : (unsigned)count + end->count_error);
    add_u32(m, end->end64 ? UINT32_MAX : size);
    add_u32(m, end->end64 ? UINT32_MAX : from);
    add_u16(m, end->comment ? (unsigned)strlen(end->comment) : 0);
    add_text(m, end->comment ? end->comment : "");
}

static inline void make_zip(Made *m, const MadeMember *member, size_t count, const MadeEnd *end)
{
    enum { MEMBERS = 8 };
    size_t at[MEMBERS], packed[MEMBERS];
    check(count <= MEMBERS);
    m->size = 0;
    for (size_t i = 0; i < count; i++) {
        at[i] = m->size;
        packed[i] = add_member(m, &member[i]);
    }
    const size_t from = m->size;
    for (size_t i = 0; i < count; i++)
        add_entry(m, &member[i], packed[i], at[i]);
    add_end(m, count, from, end);
}

#endif
