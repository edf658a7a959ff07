/* tensor_wire.c -- names and attributes as bytes (tensor_wire.h), the attribute of a name, and types of elements. */
#include "dump/tensor_wire.h"

const uint8_t array_item_bytes[] = {[ARRAY_F16] = 2, [ARRAY_BF16] = 2,    [ARRAY_F32] = 4,
                                    [ARRAY_F64] = 8, [ARRAY_F8_E4M3] = 1, [ARRAY_F8_E5M2] = 1, [ARRAY_OTHER] = 0};
const char *const array_type_names[] = {"F16", "BF16", "F32", "F64", "F8_E4M3", "F8_E5M2", ""};

const Attr *attr_find(const AttrList *list, const char *name)
{
    for (size_t i = 0; list && i < list->count; i++)
        if (!strcmp(list->item[i].name, name))
            return &list->item[i];
    return NULL;
}

/* ---- reading ---- */

const char *take_text(Reader *r, size_t limit, Arena *a)
{
    const uint32_t size = take_u32(r);
    const uint8_t *text = size <= limit ? take_bytes(r, size) : NULL;
    char *copy = text && !memchr(text, 0, size) ? text_slice(a, (const char *)text, size) : NULL;
    r->bad |= !copy;
    return copy;
}

static void take_attr(Reader *r, Attr *attr, Arena *a)
{
    attr->name = take_text(r, TEXT_LIMIT, a);
    const uint8_t type = take_u8(r);
    if (type == ATTR_INT)
        attr->whole = (int64_t)take_u64(r);
    else if (type == ATTR_REAL)
        attr->real = take_f64(r);
    else if (type == ATTR_TEXT)
        attr->text = take_text(r, TEXT_LIMIT, a);
    else
        r->bad = true;
    attr->type = type;
}

void take_attrs(Reader *r, AttrList *list, Arena *a)
{
    enum { LEAST = 4 + 1 + 4 }; /* the fewest bytes that an attribute takes */
    const uint32_t count = take_u32(r);
    *list = (AttrList){0};
    if (r->bad || count > reader_left(r) / LEAST || !(list->item = NEW_ZERO(a, Attr, count))) {
        r->bad = true;
        return;
    }
    for (; list->count < count && !r->bad; list->count++)
        take_attr(r, &list->item[list->count], a);
}

bool path_valid(const char *path)
{
    for (const char *c = path;; c++) {
        const size_t length = strcspn(c, "/");
        if (length == 0 || (length == 1 && *c == '.'))
            return false;
        c += length;
        if (!*c)
            return true;
    }
}

/* ---- writing ---- */

size_t text_bytes(const char *s)
{
    return 4 + strlen(s);
}

size_t attrs_bytes(const AttrList *list)
{
    size_t size = 4;
    for (size_t i = 0; i < list->count; i++) {
        const Attr *a = &list->item[i];
        size += text_bytes(a->name) + 1 + (a->type == ATTR_TEXT ? text_bytes(a->text) : 8);
    }
    return size;
}

void put_slice(Buf *b, const char *s, size_t size)
{
    buf_u32(b, (uint32_t)size);
    buf_copy(b, s, size);
}

void put_text(Buf *b, const char *s)
{
    put_slice(b, s, strlen(s));
}

void put_attrs(Buf *b, const AttrList *list)
{
    buf_u32(b, (uint32_t)list->count);
    for (size_t i = 0; i < list->count; i++) {
        const Attr *a = &list->item[i];
        put_text(b, a->name);
        buf_u8(b, (uint8_t)a->type);
        if (a->type == ATTR_INT)
            buf_u64(b, (uint64_t)a->whole);
        else if (a->type == ATTR_REAL)
            buf_f64(b, a->real);
        else
            put_text(b, a->text);
    }
}
