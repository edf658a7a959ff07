/* tensor_hdf5_read.c -- the reader process. Only in this process does the HDF5 library open existing files.
 * It also parses files in other formats (array_file.h).
 *
 * The process cannot open other files, and its memory and processor time are limited. So a damaged or
 * hostile file can harm only this process.
 *
 * It lists a file's groups and tensors. Only hard links are followed; a cycle of them is groups too deep. Soft links are skipped, since their target is listed under the name of its hard link. Links to other
 * files are refused.
 *
 * Three checks protect the user: datasets stored outside the file are refused, because external storage and
 * virtual datasets can present any of the user's files as a tensor; so are datasets that need a plug-in, and
 * datasets that claim more elements than the file can hold. */
#include "base/confine.h"
#include "dump/tensor_hdf5.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

enum { SOCKET_FD = CONFINE_FD, MEMORY_FD };

static const uint64_t MIB = 1 << 20;

typedef struct {
    const char *path;
    uint64_t n;
    bool half; /* true: elements of two bytes that are no floats for HDF5, but `type` here */
    ArrayType type;
    bool big_endian;
} Found;

typedef struct {
    int socket;
    const char *file; /* its path */
    uint64_t file_size;
    bool integers; /* DumpHints.integers */
    int voids;     /* DumpHints.voids */
    FileKind kind;
    ArrayFile arrays; /* not for HDF5 */
    hid_t id;
    Arena *arena;
    Found *found;
    size_t count, room;
} Source;

/* ---- attributes ---- */

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
static bool begin_attr(AttrSink *sink, const char *name, uint8_t type, size_t value)
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
    if (length <= STRING_LIMIT && begin_attr(sink, name, ATTR_TEXT, 4 + length))
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
        if (read_number(attr, type, *h5.T_NATIVE_INT64, &whole) && begin_attr(sink, name, ATTR_INT, 8))
            buf_u64(sink->out, (uint64_t)whole);
    } else if (class == H5T_FLOAT) {
        if (read_number(attr, type, *h5.T_NATIVE_DOUBLE, &real) && begin_attr(sink, name, ATTR_REAL, 8))
            buf_f64(sink->out, real);
    } else if (class == H5T_STRING) {
        put_string_attr(sink, name, attr, type);
    }
}

static herr_t visit_attr(hid_t object, const char *name, const H5A_info_t *info, void *data)
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

/* Appends to `out` the attributes of an object that hold one number or one text of up to 64 KB; leaves out all other
 * attributes. */
static Status attrs_put(hid_t object, hid_t creation, Buf *out, Error *err)
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
    if (h5.Aiterate2(object, order, H5_ITER_INC, NULL, visit_attr, &sink) < 0)
        return FAIL(err, ERR_CORRUPT, "its attributes cannot be read (%s)", hdf5_reason(reason));
    if (sink.full)
        return FAIL(err, ERR_USAGE, "its attributes are beyond %d bytes", MESSAGE_MAX);
    store_u32(out->data + start, sink.count);
    return OK;
}

/* Returns true if the object has an attribute of this name with this text. `name` and `text` have at most 64
 * bytes each. */
static bool attr_says(hid_t object, const char *name, const char *text)
{
    uint8_t found_room[256], want_room[256];
    Buf found = {found_room, 0, sizeof found_room}, want = {want_room, 0, sizeof want_room};
    AttrSink sink = {.out = &found};
    if (h5.Aexists(object, name) <= 0)
        return false;
    visit_attr(object, name, NULL, &sink);
    put_text(&want, name);
    buf_u8(&want, ATTR_TEXT);
    put_text(&want, text);
    return found.size == want.size && !memcmp(found.data, want.data, want.size);
}

/* ---- checks of type, filters, size, shape and storage ---- */

typedef enum { NOT_FLOATS, FLOATS, HALVES, INTEGERS } Content;

static Status refuse(Error *err, const char *what)
{
    return FAIL(err, ERR_CORRUPT, "%s", what);
}

static bool is_ordered(hid_t type)
{
    const H5T_order_t order = h5.Tget_order(type);
    return h5.Tget_size(type) == 1 || order == H5T_ORDER_LE || order == H5T_ORDER_BE;
}

/* The floats of IEEE 754, bfloat16 and E5M2: sign above exponent above fraction. */
static const struct {
    ArrayType type;
    size_t bytes, exponent, fraction;
} layouts[] = {{ARRAY_F16, 2, 5, 10}, {ARRAY_BF16, 2, 8, 7}, {ARRAY_F32, 4, 8, 23}, {ARRAY_F64, 8, 11, 52}, {ARRAY_F8_E5M2, 1, 5, 2}};

static ArrayType float_type(hid_t type)
{
    size_t sign, at, exponent, from, fraction;
    if (h5.Tget_fields(type, &sign, &at, &exponent, &from, &fraction) < 0 || h5.Tget_precision(type) != 8 * h5.Tget_size(type))
        return ARRAY_OTHER;
    for (size_t i = 0; i < countof(layouts); i++)
        if (h5.Tget_size(type) == layouts[i].bytes && exponent == layouts[i].exponent && fraction == layouts[i].fraction && from == 0 &&
            at == fraction && sign == at + exponent && h5.Tget_ebias(type) == ((size_t)1 << (exponent - 1)) - 1)
            return layouts[i].type;
    return ARRAY_OTHER;
}

/* True for floats that HDF5 converts by the rules of IEEE 754, and that are meant so: of 16 to 64 bits, or E5M2. Other floats of 8
 * bits may have numbers where IEEE 754 has infinities, which HDF5 cannot know. */
static bool is_float(hid_t type)
{
    const size_t size = h5.Tget_size(type);
    return h5.Tget_class(type) == H5T_FLOAT && size > 0 && size <= 8 && is_ordered(type) && (size > 1 || float_type(type) == ARRAY_F8_E5M2);
}

/* Returns true if an attribute says that elements of two bytes, which are integers, bits or without a type in HDF5, are floats
 * (Keras, h5py with ml_dtypes and others), or if the user says so of those without a type. Sets *half to their type. */
static bool is_half(hid_t dataset, hid_t type, int voids, Found *half)
{
    static const char *const names[] = {"dtype", "torch_dtype", "original_dtype"};
    static const struct {
        const char *text;
        ArrayType type;
    } texts[] = {{"bfloat16", ARRAY_BF16}, {"BF16", ARRAY_BF16},   {"bf16", ARRAY_BF16},  {"torch.bfloat16", ARRAY_BF16},
                 {"float16", ARRAY_F16},   {"torch.float16", ARRAY_F16}, {"half", ARRAY_F16}, {"F16", ARRAY_F16}};
    const H5T_class_t class = h5.Tget_class(type);
    if (h5.Tget_size(type) != 2 || (class != H5T_INTEGER && class != H5T_BITFIELD && class != H5T_OPAQUE) ||
        (class != H5T_OPAQUE && (h5.Tget_precision(type) != 16 || !is_ordered(type))))
        return false;
    *half = (Found){.half = true, .big_endian = class != H5T_OPAQUE && h5.Tget_order(type) == H5T_ORDER_BE};
    for (size_t i = 0; i < countof(names); i++)
        for (size_t k = 0; k < countof(texts); k++)
            if (attr_says(dataset, names[i], texts[k].text)) {
                half->type = texts[k].type;
                return true;
            }
    half->type = voids == VOIDS_FLOAT16 ? ARRAY_F16 : ARRAY_BF16;
    return class == H5T_OPAQUE && voids;
}

/* The name, as in LeftOut, of a type that is left out; "": integers, texts and the like. */
static const char *odd_type(hid_t type, char out[TYPE_LIMIT])
{
    const int class = h5.Tget_class(type);
    const size_t size = h5.Tget_size(type);
    *out = 0;
    if (class == H5T_FLOAT)
        snprintf(out, TYPE_LIMIT, "float of %zu bits", 8 * size);
    else if (class == H5T_OPAQUE)
        snprintf(out, TYPE_LIMIT, "V%zu", size);
    else if (class == H5T_COMPOUND)
        return "compound, such as complex numbers";
    else if (class > H5T_ARRAY)
        return "complex";
    else if (class == H5T_ARRAY || class == H5T_VLEN)
        return "arrays in an array";
    return out;
}

static Status check_filters(hid_t creation, Error *err)
{
    const int count = h5.Pget_nfilters(creation);
    for (int i = 0; i < count; i++) {
        unsigned flags, config;
        size_t values = 0;
        char name[64] = "";
        const H5Z_filter_t id =
            h5.Pget_filter2(creation, (unsigned)i, &flags, &values, NULL, sizeof name, name, &config);
        if (id < 0 || (id >= H5Z_FILTER_RESERVED && id != hdf5_lzf.id) || h5.Zfilter_avail(id) <= 0) {
            FAIL(err, ERR_USAGE, "packed with filter %d%s%.40s, which needs a plug-in", (int)id,
                 *name ? " " : "", name);
            return error_hint(err, "python3 -c 'import h5py, hdf5plugin; f = h5py.File(\"FILE\"); g = h5py.File(\"NEW\", \"w\"); "
                                   "f.visititems(lambda n, d: g.__setitem__(n, d[()]) if isinstance(d, h5py.Dataset) else None)' "
                                   "writes it unpacked");
        }
    }
    return OK;
}

/* Fails if the shape has more elements than the file can hold. Deflate, which may compress a chunked
 * dataset, shrinks it by a factor of at most 1032. */
static Status check_extent(hid_t dataset, hid_t creation, uint64_t file_size, const Shape *shape,
                           size_t bytes, Error *err)
{
    const uint64_t stored = h5.Dget_storage_size(dataset);
    const bool chunked = h5.Pget_layout(creation) == H5D_CHUNKED;
    /* 1 MB is allowed for HDF5's fill values, which take no bytes in the file */
    const uint64_t small = (uint64_t)1 << 20;
    uint64_t most = stored <= file_size ? (chunked ? 1032 * stored : stored) : 0;
    most = most > small ? most : small;
    if (shape->n > most / bytes)
        return FAIL(err, ERR_CORRUPT, "claims %zu elements, more than this file of %llu bytes holds",
                    shape->n, (unsigned long long)file_size);
    return OK;
}

static Status check_shape(hid_t space, Shape *shape, Error *err)
{
    hsize_t extent[H5S_MAX_RANK];
    size_t dim[RANK_MAX];
    const int rank = h5.Sget_simple_extent_ndims(space);
    if (rank > RANK_MAX)
        return FAIL(err, ERR_USAGE, "rank %d, want at most %d", rank, RANK_MAX);
    if (rank < 0 || h5.Sget_simple_extent_dims(space, extent, NULL) < 0)
        return refuse(err, "its shape cannot be read");
    for (int i = 0; i < rank; i++)
        dim[i] = extent[i];
    if (!shape_make(shape, rank, dim))
        return refuse(err, "claims more elements than there can be");
    return OK;
}

static Status check_storage(hid_t dataset, hid_t creation, uint64_t file_size, const Shape *shape,
                            size_t bytes, Error *err)
{
    const H5D_layout_t layout = h5.Pget_layout(creation);
    if (layout == H5D_VIRTUAL)
        return refuse(err, "a virtual dataset, whose data stand in other files; refused");
    if (layout < 0 || h5.Pget_external_count(creation) != 0)
        return refuse(err, "external storage: its data stand in another file; refused");
    TRY(check_filters(creation, err));
    return check_extent(dataset, creation, file_size, shape, bytes, err);
}

/* What dataset_check finds out. */
typedef struct {
    Content content; /* NOT_FLOATS: the dataset is left out */
    Found found;     /* with n, and the type of HALVES */
    Shape shape;
    uint64_t at; /* file offset of the elements if they are contiguous and little-endian; NOWHERE: otherwise, or no data */
    char room[TYPE_LIMIT];
    const char *odd; /* of a dataset that is left out: as odd_type returns it */
} Checked;

/* Does the checks of `dataset_check`, which opens and closes these handles. */
static Status check_parts(hid_t dataset, hid_t type, hid_t space, hid_t creation, const Source *s, Checked *c, Error *err)
{
    char reason[HDF5_REASON];
    if (type < 0 || space < 0 || creation < 0)
        return FAIL(err, ERR_CORRUPT, "cannot be read (%s)", hdf5_reason(reason));
    if (h5.Sget_simple_extent_type(space) == H5S_NULL)
        return OK;
    const size_t bytes = h5.Tget_size(type);
    const bool whole = s->integers && h5.Tget_class(type) == H5T_INTEGER && bytes <= 8 && is_ordered(type);
    c->content = is_float(type)                            ? FLOATS
                 : is_half(dataset, type, s->voids, &c->found) ? HALVES
                 : whole                                   ? INTEGERS
                                                           : NOT_FLOATS;
    if (c->content == NOT_FLOATS) {
        const hssize_t n = h5.Sget_simple_extent_npoints(space);
        c->found.n = n > 0 ? (uint64_t)n : 0;
        c->odd = odd_type(type, c->room);
        return OK;
    }
    if (bytes == 0)
        return refuse(err, "elements of no bytes");
    if (c->content != HALVES)
        c->found = (Found){.type = c->content == FLOATS ? float_type(type) : ARRAY_OTHER};
    TRY(check_shape(space, &c->shape, err));
    c->found.n = c->shape.n;
    const bool little = bytes == 1 || h5.Tget_class(type) == H5T_OPAQUE || h5.Tget_order(type) == H5T_ORDER_LE;
    if (little && c->found.type != ARRAY_OTHER && h5.Pget_layout(creation) == H5D_CONTIGUOUS)
        c->at = h5.Dget_offset(dataset); /* HADDR_UNDEF, without data, is NOWHERE */
    return check_storage(dataset, creation, s->file_size, &c->shape, bytes, err);
}

/* Finds out whether the dataset holds floats (or halves of other types, or integers if s->integers), and its shape. Fails if it
 * does, but is not stored in this file or needs a filter that is not built in. */
static Status dataset_check(hid_t dataset, const Source *s, Checked *c, Error *err)
{
    const hid_t type = h5.Dget_type(dataset), space = h5.Dget_space(dataset),
                creation = h5.Dget_create_plist(dataset);
    *c = (Checked){.content = NOT_FLOATS, .at = NOWHERE, .odd = ""};
    const Status status = check_parts(dataset, type, space, creation, s, c, err);
    h5.Tclose(type);
    h5.Sclose(space);
    h5.Pclose(creation);
    return status;
}

/* ---- listing groups and tensors ---- */

typedef struct {
    Source *source;
    Buf message;
    char path[PATH_LIMIT + 1];
    size_t length;
    int depth;
    size_t objects;
    Status status;
    Error *err;
} Walk;

static herr_t visit_link(hid_t group, const char *name, const H5L_info_t *link, void *data);

static Status remember(Walk *w, Found found)
{
    Source *s = w->source;
    s->found = items_more(s->found, s->count, &s->room, sizeof found, s->arena);
    TRY(arena_check(s->found, s->arena, w->err));
    found.path = text_copy(s->arena, w->path);
    TRY(arena_check(found.path, s->arena, w->err));
    s->found[s->count++] = found;
    return OK;
}

static Status list_tensor(Walk *w, hid_t dataset, const Checked *c)
{
    Buf *b = message_tensor(&w->message, w->path, c->found.type, &c->shape, c->at);
    const hid_t creation = h5.Dget_create_plist(dataset);
    const Status status = attrs_put(dataset, creation, b, w->err);
    h5.Pclose(creation);
    TRY(status);
    return message_send(w->source->socket, b, w->err);
}

static Status visit_dataset(Walk *w, hid_t dataset)
{
    Checked c;
    TRY(dataset_check(dataset, w->source, &c, w->err));
    if (c.content == NOT_FLOATS)
        return message_send(w->source->socket, message_skipped(&w->message, w->path, c.odd, c.found.n), w->err);
    TRY(list_tensor(w, dataset, &c));
    return remember(w, c.found);
}

/* Lists the group itself, then its members, in order of creation if the file records that order, otherwise
 * by name. */
static Status visit_group(Walk *w, hid_t group)
{
    const hid_t creation = h5.Gget_create_plist(group);
    Buf *b = message_begin(&w->message, 'G');
    put_text(b, w->path);
    Status status = attrs_put(group, creation, b, w->err);
    unsigned flags = 0;
    h5.Pget_link_creation_order(creation, &flags);
    h5.Pclose(creation);
    TRY(status);
    TRY(message_send(w->source->socket, b, w->err));
    const H5_index_t order = flags & H5P_CRT_ORDER_TRACKED ? H5_INDEX_CRT_ORDER : H5_INDEX_NAME;
    char reason[HDF5_REASON];
    if (h5.Literate(group, order, H5_ITER_INC, NULL, visit_link, w) < 0 && w->status == OK)
        w->status = FAIL(w->err, ERR_CORRUPT, "the group cannot be listed (%s)", hdf5_reason(reason));
    return w->status;
}

static Status visit_object(Walk *w, hid_t object)
{
    H5O_info_t info;
    char reason[HDF5_REASON];
    if (object < 0 || h5.Oget_info2(object, &info, H5O_INFO_BASIC) < 0)
        return FAIL(w->err, ERR_CORRUPT, "cannot be opened (%s)", hdf5_reason(reason));
    if (++w->objects > OBJECTS_MAX - 1)
        return FAIL(w->err, ERR_CORRUPT, "more than %d objects in one file", OBJECTS_MAX);
    if (info.type == H5O_TYPE_DATASET)
        return visit_dataset(w, object);
    if (info.type != H5O_TYPE_GROUP)
        return OK;
    if (w->depth == DEPTH_LIMIT)
        return FAIL(w->err, ERR_CORRUPT, "groups stand more than %d deep", DEPTH_LIMIT);
    w->depth++;
    const Status status = visit_group(w, object);
    w->depth--;
    return status;
}

static Status visit_name(Walk *w, hid_t group, const char *name, H5L_type_t type)
{
    const size_t length = strlen(name), before = w->length;
    if (length == 0 || strchr(name, '/') || !strcmp(name, ".") || before + length + 1 > PATH_LIMIT)
        return FAIL(w->err, ERR_CORRUPT, "%.200s/%.200s: a name that cannot be", w->path, name);
    w->length += (size_t)snprintf(w->path + before, sizeof w->path - before, "%s%s", before ? "/" : "", name);
    Status status = OK;
    if (type == H5L_TYPE_HARD) {
        const hid_t object = h5.Oopen(group, name, H5P_DEFAULT);
        status = visit_object(w, object);
        h5.Oclose(object);
    } else if (type != H5L_TYPE_SOFT) {
        status = FAIL(w->err, ERR_CORRUPT, "an external link, which points into another file; refused");
    }
    /* Visits are nested. The innermost failing call is the first to set `w->status`; it alone adds its path
     * to the error. */
    if (status != OK && w->status == OK)
        error_at(w->err, "%.200s", w->path);
    w->length = before;
    w->path[before] = 0;
    return status;
}

static herr_t visit_link(hid_t group, const char *name, const H5L_info_t *link, void *data)
{
    Walk *w = data;
    const Status status = visit_name(w, group, name, link->type);
    if (w->status == OK)
        w->status = status;
    return w->status == OK ? 0 : 1;
}

/* Lists all groups and datasets: sends messages 'G', 'T', 'S' and 'Z' (tensor_stream.h) and stores the
 * tensors in `s->found`. */
static Status walk_file(Source *s, Error *err)
{
    Walk *w = NEW_ZERO(s->arena, Walk, 1);
    uint8_t *room = NEW(s->arena, uint8_t, 4 + MESSAGE_MAX);
    TRY(arena_check(w && room, s->arena, err));
    *w = (Walk){.source = s, .message = {room, 0, 4 + MESSAGE_MAX}, .err = err};
    const hid_t root = h5.Gopen2(s->id, "/", H5P_DEFAULT);
    TRY(visit_object(w, root));
    h5.Gclose(root);
    Buf *b = message_begin(&w->message, 'Z');
    buf_u64(b, s->count);
    return message_send(s->socket, b, err);
}

/* ---- answers ---- */

static void send_error(int socket, const Error *err)
{
    uint8_t room[4 + 16 + sizeof err->text + sizeof err->hint];
    Buf b = {room, 0, sizeof room};
    Error ignored;
    message_begin(&b, 'E');
    buf_u8(&b, (uint8_t)err->status);
    put_text(&b, err->text);
    put_text(&b, err->hint);
    (void)message_send(socket, &b, &ignored);
}

static void send_done(int socket)
{
    uint8_t room[5];
    Buf b = {room, 0, sizeof room};
    Error ignored;
    (void)message_send(socket, message_begin(&b, 'D'), &ignored);
}

/* ---- reading ---- */

/* Reads the elements of a tensor that walk_file has found, as floats. HDF5 refuses it if their number is no longer f->n. Halves
 * are read without conversion, to the end of x. */
static Status found_read(const Source *s, const Found *f, float *x, Error *err)
{
    char reason[HDF5_REASON];
    const hid_t dataset = h5.Dopen2(s->id, f->path, H5P_DEFAULT);
    const hid_t space = h5.Screate_simple(1, &(hsize_t){f->n}, NULL);
    const hid_t type = f->half ? h5.Dget_type(dataset) : h5.Tcopy(*h5.T_NATIVE_FLOAT);
    uint8_t *raw = (uint8_t *)x + (f->half ? 2 * f->n : 0);
    Status status = OK;
    if (h5.Dread(dataset, type, space, H5S_ALL, H5P_DEFAULT, raw) < 0)
        status = FAIL(err, ERR_CORRUPT, "cannot be read (%s)", hdf5_reason(reason));
    else if (f->half)
        array_convert(f->type, f->big_endian, raw, f->n, x);
    h5.Tclose(type);
    h5.Sclose(space);
    h5.Dclose(dataset);
    return status;
}

static Status list_hdf5(Source *s, Error *err)
{
    h5.PLset_loading_state(0);
    h5.Zregister(&hdf5_lzf);
    s->id = h5.Fopen(s->file, H5F_ACC_RDONLY, H5P_DEFAULT);
    confine_calls(false); /* so that the file cannot make the library open another file */
    if (s->id >= 0)
        return walk_file(s, err);
    char reason[HDF5_REASON];
    FAIL(err, ERR_CORRUPT, "not a readable HDF5 file (%s)", hdf5_reason(reason));
    if (strstr(reason, "lock file"))
        error_hint(
            err,
            "another program may be writing it; where locks do not work set HDF5_USE_FILE_LOCKING=FALSE");
    if (strstr(reason, "already open for write"))
        error_hint(err, "its writer may have died: h5clear -s FILE clears the mark");
    return err->status;
}

static Status list_arrays(Source *s, Error *err)
{
    const int fd = open(s->file, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return FAIL(err, ERR_IO, "cannot be opened: %s", strerror(errno));
    confine_calls(false);
    s->arrays = (ArrayFile){.fd = fd, .file = s->file, .size = s->file_size, .arena = s->arena, .voids = s->voids};
    TRY(arrays_list(&s->arrays, s->kind, err));
    return arrays_send(s->socket, &s->arrays, err);
}

static bool take_request(uint8_t request[REQUEST_SIZE])
{
    for (size_t got = 0; got < REQUEST_SIZE;) {
        const ssize_t part = recv(SOCKET_FD, request + got, REQUEST_SIZE - got, 0);
        if (part == 0 || (part < 0 && errno != EINTR))
            return false;
        got += part > 0 ? (size_t)part : 0;
    }
    return true;
}

static Status serve(const Source *s, const uint8_t request[REQUEST_SIZE], float **x, size_t *room, Error *err)
{
    const uint64_t i = load_u64(request), bytes = load_u64(request + 8);
    const bool hdf5 = s->kind == FILE_HDF5;
    if (!*x) {
        /* taking all pages at once is faster, but they would stay in memory while smaller tensors are read */
        const int populate = bytes <= SHARED_KEEP ? MAP_POPULATE : 0;
        void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | populate, MEMORY_FD, 0);
        if (memory == MAP_FAILED)
            return FAIL(err, ERR_MEMORY, "out of memory: %zu bytes were asked for", (size_t)bytes);
        *x = memory;
        *room = bytes;
    }
    if (i >= (hdf5 ? s->count : s->arrays.count) ||
        (hdf5 ? s->found[i].n : s->arrays.array[i].shape.n) > *room / sizeof **x)
        return FAIL(err, ERR_CORRUPT, "a request for what is not there");
    return hdf5 ? found_read(s, &s->found[i], *x, err) : array_read(&s->arrays, i, *x, err);
}

_Noreturn void reader_run(int socket, int memory, const char *file, FileKind kind, uint64_t file_size,
                          const DumpHints *hints)
{
    const bool integers = hints->integers;
    Source s = {.socket = SOCKET_FD,
                .file = file,
                .file_size = file_size,
                .integers = integers,
                .voids = hints->voids,
                .kind = kind,
                .arena = arena_open(0)};
    Error err = {0};
    float *x = NULL;
    size_t room = 0;
    uint8_t request[REQUEST_SIZE];
    confine_begin((int[]){socket, memory}, 2);
    /* loading the library opens files, so it comes before the limits */
    const Status loaded = kind == FILE_HDF5 ? hdf5_ready(&err) : OK;
    confine_limit(1024 * MIB + (integers ? 8 * file_size : 0), 8 + file_size / (16 * MIB)); /* bytes become floats */
    if (kind == FILE_HDF5) /* the library opens the file; list_arrays does it before it reads */
        confine_calls(true);
    if (loaded != OK || (kind == FILE_HDF5 ? list_hdf5 : list_arrays)(&s, &err) != OK) {
        send_error(SOCKET_FD, &err);
        _exit(1);
    }
    while (take_request(request)) {
        err = (Error){0};
        if (serve(&s, request, &x, &room, &err) == OK)
            send_done(SOCKET_FD);
        else
            send_error(SOCKET_FD, &err);
    }
    _exit(0);
}
