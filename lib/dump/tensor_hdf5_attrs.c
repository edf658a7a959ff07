/* tensor_hdf5_attrs.c -- code of the reader process (tensor.h). It writes the attributes of an HDF5 object
 * to a message, and finds out why a call of HDF5 failed. Only attributes that are one number, or one text of
 * up to 64 KB, are written. */
#include "dump/tensor_hdf5.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- why HDF5 failed ---- */

static herr_t innermost(unsigned n, const H5E_error2_t *error, void *data)
{
    if (n == 0 && error->desc)
        snprintf(data, HDF5_REASON, "%.*s", HDF5_REASON - 1, error->desc);
    return 0;
}

const char *hdf5_reason(char out[HDF5_REASON])
{
    snprintf(out, HDF5_REASON, "the HDF5 library gives no reason");
    h5.Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, innermost, out);
    const char *number = strstr(out, "errno = ");
    const int cause = number ? atoi(number + strlen("errno = ")) : 0;
    /* Keeps only the system's error: the other words of HDF5's message are times and memory addresses. */
    if (cause)
        snprintf(out, HDF5_REASON, "%s%s", strstr(out, "lock file") ? "unable to lock file: " : "",
                 strerror(cause));
    out[strcspn(out, "\n")] = 0;
    return out;
}

enum { STRING_LIMIT = 1 << 16, CONVERT_ROOM = 64 };

static bool has_room(const Buf *b, size_t size)
{
    return size <= b->cap - b->size;
}

typedef struct {
    Buf *out;
    uint32_t count;
    bool full;
} AttrSink;

/* Writes an attribute's name and type to the message, before its value of `value` bytes. If the message has
 * no room for name, type and value, sets `full` and returns false. */
static bool begin(AttrSink *sink, const char *name, uint8_t type, size_t value)
{
    const size_t length = strlen(name);
    if (length > STRING_LIMIT || !has_room(sink->out, 4 + length + 1 + value)) {
        sink->full = true;
        return false;
    }
    put_slice(sink->out, name, length);
    buf_u8(sink->out, type);
    sink->count++;
    return true;
}

/* Reads the attribute's only element, converted to the type `wanted`. Returns false if the HDF5 library
 * cannot convert it. */
static bool read_number(hid_t attr, hid_t type, hid_t wanted, void *value)
{
    union {
        char bytes[CONVERT_ROOM];
        int64_t align;
    } room = {{0}};
    const hid_t base = h5.Tget_class(type) == H5T_ENUM ? h5.Tget_super(type) : h5.Tcopy(type);
    const bool done = h5.Tget_size(type) <= CONVERT_ROOM / 2 && h5.Tget_size(base) == h5.Tget_size(type) &&
                      h5.Aread(attr, type, &room) >= 0 &&
                      h5.Tconvert(base, wanted, 1, &room, NULL, H5P_DEFAULT) >= 0;
    h5.Tclose(base);
    memcpy(value, &room, 8);
    return done;
}

static void put_string(AttrSink *sink, const char *name, const char *text, size_t length)
{
    if (length <= STRING_LIMIT && begin(sink, name, ATTR_TEXT, 4 + length))
        put_slice(sink->out, text, length);
}

static void put_string_attr(AttrSink *sink, const char *name, hid_t attr, hid_t type)
{
    if (h5.Tis_variable_str(type) > 0) {
        char *text = NULL;
        const hid_t memory = h5.Tget_native_type(type, H5T_DIR_ASCEND);
        if (h5.Aread(attr, memory, &text) >= 0)
            put_string(sink, name, text ? text : "", text ? strnlen(text, STRING_LIMIT + 1) : 0);
        h5.free_memory(text);
        h5.Tclose(memory);
        return;
    }
    char text[STRING_LIMIT];
    const size_t size = h5.Tget_size(type);
    if (size > sizeof text || h5.Aread(attr, type, text) < 0)
        return;
    size_t length = strnlen(text, size);
    while (h5.Tget_strpad(type) == H5T_STR_SPACEPAD && length && text[length - 1] == ' ')
        length--;
    put_string(sink, name, text, length);
}

static void put_attr(AttrSink *sink, const char *name, hid_t attr, hid_t type)
{
    const H5T_class_t class = h5.Tget_class(type);
    int64_t whole;
    double real;
    if (class == H5T_INTEGER || class == H5T_ENUM) {
        if (read_number(attr, type, *h5.T_NATIVE_INT64, &whole) && begin(sink, name, ATTR_INT, 8))
            buf_u64(sink->out, (uint64_t)whole);
    } else if (class == H5T_FLOAT) {
        if (read_number(attr, type, *h5.T_NATIVE_DOUBLE, &real) && begin(sink, name, ATTR_REAL, 8))
            buf_f64(sink->out, real);
    } else if (class == H5T_STRING) {
        put_string_attr(sink, name, attr, type);
    }
}

static herr_t visit(hid_t object, const char *name, const H5A_info_t *info, void *data)
{
    (void)info;
    const hid_t attr = h5.Aopen(object, name, H5P_DEFAULT);
    const hid_t type = h5.Aget_type(attr), space = h5.Aget_space(attr);
    if (type >= 0 && space >= 0 && h5.Sget_simple_extent_npoints(space) == 1)
        put_attr(data, name, attr, type);
    h5.Sclose(space);
    h5.Tclose(type);
    h5.Aclose(attr);
    return 0; /* an attribute that cannot be read is left out */
}

Status attrs_put(hid_t object, hid_t creation, Buf *out, Error *err)
{
    unsigned flags = 0;
    h5.Pget_attr_creation_order(creation, &flags);
    const H5_index_t order = flags & H5P_CRT_ORDER_TRACKED ? H5_INDEX_CRT_ORDER : H5_INDEX_NAME;
    AttrSink sink = {.out = out};
    const size_t start = out->size;
    if (!has_room(out, 4))
        return FAIL(err, ERR_USAGE, "its attributes are beyond %d bytes", MESSAGE_MAX);
    buf_u32(out, 0);
    char reason[HDF5_REASON];
    if (h5.Aiterate2(object, order, H5_ITER_INC, NULL, visit, &sink) < 0)
        return FAIL(err, ERR_CORRUPT, "its attributes cannot be read (%s)", hdf5_reason(reason));
    if (sink.full)
        return FAIL(err, ERR_USAGE, "its attributes are beyond %d bytes", MESSAGE_MAX);
    store_u32(out->data + start, sink.count);
    return OK;
}

bool attr_says(hid_t object, const char *name, const char *text)
{
    uint8_t found_room[256], want_room[256];
    Buf found = {found_room, 0, sizeof found_room}, want = {want_room, 0, sizeof want_room};
    AttrSink sink = {.out = &found};
    if (h5.Aexists(object, name) <= 0)
        return false;
    visit(object, name, NULL, &sink);
    put_text(&want, name);
    buf_u8(&want, ATTR_TEXT);
    put_text(&want, text);
    return found.size == want.size && !memcmp(found.data, want.data, want.size);
}
