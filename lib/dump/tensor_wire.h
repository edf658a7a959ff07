/* tensor_wire.h -- writes and reads names and attributes as bytes, for the reader process's messages and the
 * payload container.
 *
 *     text = size:u32 bytes                   without a zero byte
 *     attrs = count:u32 { name:text type:u8 (0 whole:u64 | 1 real:f64 | 2 text:text) } x count
 *
 * Fields that are missing or invalid set `Reader.bad`. */
#ifndef ATOMO_TENSOR_WIRE_H
#define ATOMO_TENSOR_WIRE_H

#include "base/bytes.h"
#include "dump/tensor.h"

enum {
    PATH_LIMIT = 4000,    /* the most bytes in a path */
    TEXT_LIMIT = 1 << 20, /* the most bytes in any other text */
};

/* `take_text` reads a text of at most `limit` bytes from `r`, and `take_attrs` reads attributes. Names and
 * texts are copied to the arena. */
const char *take_text(Reader *r, size_t limit, Arena *a);
void take_attrs(Reader *r, AttrList *list, Arena *a);

size_t text_bytes(const char *s);
size_t attrs_bytes(const AttrList *list);
void put_text(Buf *b, const char *s);
void put_slice(Buf *b, const char *s, size_t size);
void put_attrs(Buf *b, const AttrList *list);

/* Returns true for a path such as "a/b.c/d" in which no component is empty or ".". */
bool path_valid(const char *path);

#endif
