/* bytes.h -- reads and writes arrays of bytes, and little-endian numbers in them.
 *
 * Bytes points to memory that it does not own. Buf is a buffer of fixed capacity: the caller allocates
 * enough, and functions that write to it assert that the capacity is not exceeded. A Reader that has too few
 * bytes left sets `bad`. From then on every take_... returns 0 or NULL and `bad` stays set, so a decoder may
 * check it once at the end. */
#ifndef ATOMO_BYTES_H
#define ATOMO_BYTES_H

#include "base/base.h"

#include <assert.h>
#include <string.h>

typedef struct {
    const uint8_t *data;
    size_t size;
} Bytes;

typedef struct {
    uint8_t *data;
    size_t size, cap;
} Buf;

static inline Bytes buf_bytes(const Buf *b)
{
    return (Bytes){b->data, b->size};
}

/* ---- floats as integers with the same bits ---- */

/* float_bits returns the 32-bit integer with the bits of f. bits_float returns the float with the bits of
 * u. */
static inline uint32_t float_bits(float f)
{
    uint32_t u;
    memcpy(&u, &f, 4);
    return u;
}
static inline float bits_float(uint32_t u)
{
    float f;
    memcpy(&f, &u, 4);
    return f;
}

/* ---- writing and reading bytes ---- */

/* Appends `size` uninitialized bytes and returns their address; the caller fills them in. */
static inline uint8_t *buf_room(Buf *b, size_t size)
{
    assert(size <= b->cap - b->size);
    uint8_t *p = b->data + b->size;
    b->size += size;
    return p;
}

typedef struct {
    const uint8_t *at, *end;
    bool bad;
} Reader;

static inline Reader reader_open(Bytes b)
{
    return (Reader){b.data, b.data + b.size, false};
}
static inline size_t reader_left(const Reader *r)
{
    return (size_t)(r->end - r->at);
}
/* Returns the next `size` bytes. If fewer are left, returns NULL and sets `bad`. */
static inline const uint8_t *take_bytes(Reader *r, size_t size)
{
    if (r->bad || size > reader_left(r)) {
        r->bad = true;
        return NULL;
    }
    const uint8_t *p = r->at;
    r->at += size;
    return p;
}

/* Converts an object between the machine's byte order and the byte order of files, little-endian. */
static inline void file_order(void *object, size_t size)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    uint8_t *p = object, byte;
    for (size_t i = 0; i < size / 2; i++) {
        byte = p[i];
        p[i] = p[size - 1 - i];
        p[size - 1 - i] = byte;
    }
#else
    (void)object;
    (void)size;
#endif
}

/* ---- fields: u8 u16 u32 u64 f32 f64, little-endian ----
 *
 *     uint32_t load_u32(const uint8_t *p)        returns the field at an address
 *     void store_u32(uint8_t *p, uint32_t v)     stores a field at an address
 *     void buf_u32(Buf *b, uint32_t v)           appends a field
 *     uint32_t take_u32(Reader *r)               returns the next field; sets `bad` if bytes are missing */
#define FIELD(T, name)                                                                                       \
    static inline T load_##name(const uint8_t *p)                                                            \
    {                                                                                                        \
        T v;                                                                                                 \
        memcpy(&v, p, sizeof v);                                                                             \
        file_order(&v, sizeof v);                                                                            \
        return v;                                                                                            \
    }                                                                                                        \
    static inline void store_##name(uint8_t *p, T v)                                                         \
    {                                                                                                        \
        file_order(&v, sizeof v);                                                                            \
        memcpy(p, &v, sizeof v);                                                                             \
    }                                                                                                        \
    static inline void buf_##name(Buf *b, T v)                                                               \
    {                                                                                                        \
        store_##name(buf_room(b, sizeof v), v);                                                              \
    }                                                                                                        \
    static inline T take_##name(Reader *r)                                                                   \
    {                                                                                                        \
        const uint8_t *p = take_bytes(r, sizeof(T));                                                         \
        return p ? load_##name(p) : 0;                                                                       \
    }

FIELD(uint8_t, u8)
FIELD(uint16_t, u16)
FIELD(uint32_t, u32)
FIELD(uint64_t, u64)
FIELD(float, f32)
FIELD(double, f64)
#undef FIELD

/* file_order for n floats */
static inline void floats_order(float *x, size_t n)
{
    for (size_t i = 0; __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__ && i < n; i++)
        file_order(&x[i], sizeof *x);
}

/* Copies n floats to or from the bytes of a file or payload. */
static inline void floats_store(uint8_t *p, const float *x, size_t n)
{
    if (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ && n)
        memcpy(p, x, n * sizeof *x);
    for (size_t i = 0; __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__ && i < n; i++)
        store_f32(p + 4 * i, x[i]);
}
static inline void floats_load(float *x, const uint8_t *p, size_t n)
{
    if (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ && n)
        memcpy(x, p, n * sizeof *x);
    for (size_t i = 0; __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__ && i < n; i++)
        x[i] = load_f32(p + 4 * i);
}

/* ---- appending ---- */

static inline void buf_copy(Buf *b, const void *data, size_t size)
{
    uint8_t *p = buf_room(b, size);
    if (size)
        memcpy(p, data, size);
}

static inline void buf_floats(Buf *b, const float *x, size_t n)
{
    floats_store(buf_room(b, n * sizeof *x), x, n);
}

enum { VARINT_MAX = 10 };

/* Appends v as LEB128: seven bits in each byte, low bits first; a set high bit means that another byte
 * follows. */
static inline void buf_varint(Buf *b, uint64_t v)
{
    for (; v >= 0x80; v >>= 7)
        buf_u8(b, (uint8_t)(v | 0x80));
    buf_u8(b, (uint8_t)v);
}
static inline size_t varint_size(uint64_t v)
{
    size_t n = 1;
    while (v >>= 7)
        n++;
    return n;
}

/* ---- reading ---- */

/* Returns the next LEB128 number. Sets `bad` if the number has more bytes than necessary: each value has
 * only one valid encoding. */
static inline uint64_t take_varint(Reader *r)
{
    uint64_t v = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        uint8_t byte = take_u8(r);
        if (r->bad || (shift == 63 && byte > 1) || (shift && !byte))
            break;
        v |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            return v;
    }
    r->bad = true;
    return 0;
}
/* True when every requested field was present and no byte is left. */
static inline bool reader_done(const Reader *r)
{
    return !r->bad && r->at == r->end;
}

#endif
