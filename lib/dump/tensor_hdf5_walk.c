/* tensor_hdf5_walk.c -- lists a file's groups and tensors; runs in the reader process.
 *
 * Only hard links are followed. Each group is entered once, so that cycles of links end. Soft links are
 * skipped, since their target is listed under the name of its hard link. Links to other files are refused.
 *
 * Three checks protect the user: datasets stored outside the file are refused, because external storage and
 * virtual datasets can present any of the user's files as a tensor; so are datasets that need a plug-in, and
 * datasets that claim more elements than the file can hold. */
#include "dump/tensor_hdf5.h"

/* ---- checks of type, filters, size, shape and storage ---- */

typedef enum { NOT_FLOATS, FLOATS, BFLOATS, INTEGERS } Content;

static Status refuse(Error *err, const char *what)
{
    return FAIL(err, ERR_CORRUPT, "%s", what);
}

static Status check_number(hid_t type, Error *err)
{
    if (h5.Tget_size(type) > 8)
        return refuse(err, "numbers of more than 64 bits; want 16, 32 or 64");
    const H5T_order_t order = h5.Tget_order(type);
    if (h5.Tget_size(type) > 1 && order != H5T_ORDER_LE && order != H5T_ORDER_BE)
        return refuse(err, "numbers in neither little- nor big-endian order");
    return OK;
}

/* Returns true for uint16 with the attribute dtype = "bfloat16". */
static bool is_bfloat16(hid_t dataset, hid_t type)
{
    return h5.Tget_class(type) == H5T_INTEGER && h5.Tget_size(type) == 2 &&
           attr_says(dataset, "dtype", "bfloat16");
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
        if (id < 0 || id >= H5Z_FILTER_RESERVED || h5.Zfilter_avail(id) <= 0) {
            FAIL(err, ERR_USAGE, "packed with filter %d%s%.40s, which needs a plug-in", (int)id,
                 *name ? " " : "", name);
            return error_hint(err, "h5repack -f GZIP=1 FILE NEW packs it with a filter that every HDF5 has");
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

/* Does the checks of `dataset_check`, which opens and closes these handles. */
static Status check_parts(hid_t dataset, hid_t type, hid_t space, hid_t creation, const Source *s,
                          Content *content, Shape *shape, Error *err)
{
    char reason[HDF5_REASON];
    if (type < 0 || space < 0 || creation < 0)
        return FAIL(err, ERR_CORRUPT, "cannot be read (%s)", hdf5_reason(reason));
    if (h5.Sget_simple_extent_type(space) == H5S_NULL)
        return OK;
    const Content kind = h5.Tget_class(type) == H5T_FLOAT                    ? FLOATS
                         : is_bfloat16(dataset, type)                        ? BFLOATS
                         : s->integers && h5.Tget_class(type) == H5T_INTEGER ? INTEGERS
                                                                             : NOT_FLOATS;
    if (kind == NOT_FLOATS)
        return OK;
    if (kind != BFLOATS)
        TRY(check_number(type, err));
    const size_t bytes = h5.Tget_size(type);
    if (bytes == 0)
        return refuse(err, "elements of no bytes");
    TRY(check_shape(space, shape, err));
    TRY(check_storage(dataset, creation, s->file_size, shape, bytes, err));
    *content = kind;
    return OK;
}

/* Finds out whether the dataset holds floats (or bfloat16 as uint16, or integers if s->integers), and its shape. Leaves
 * *content, which is NOT_FLOATS, if it holds none. Fails if the dataset is not stored in this file or needs a filter that
 * is not built in. */
static Status dataset_check(hid_t dataset, const Source *s, Content *content, Shape *shape, Error *err)
{
    const hid_t type = h5.Dget_type(dataset), space = h5.Dget_space(dataset),
                creation = h5.Dget_create_plist(dataset);
    const Status status = check_parts(dataset, type, space, creation, s, content, shape, err);
    h5.Tclose(type);
    h5.Sclose(space);
    h5.Pclose(creation);
    return status;
}

/* Returns the file offset of a dataset that is stored as contiguous float32 in the byte order of this
 * machine; NOWHERE for any other layout or type, or without data. */
static uint64_t dataset_plain_at(hid_t dataset)
{
    const hid_t type = h5.Dget_type(dataset), creation = h5.Dget_create_plist(dataset);
    const bool plain = h5.Tequal(type, *h5.T_NATIVE_FLOAT) > 0 && h5.Pget_layout(creation) == H5D_CONTIGUOUS;
    const haddr_t at = plain ? h5.Dget_offset(dataset) : HADDR_UNDEF;
    h5.Tclose(type);
    h5.Pclose(creation);
    return at == HADDR_UNDEF ? NOWHERE : at;
}

/* ---- listing groups and tensors ---- */

enum { SHARED_MAX = 4096 }; /* the most groups that have more than one name */

typedef struct {
    Source *source;
    Buf message;
    char path[PATH_LIMIT + 1];
    size_t length;
    int depth;
    haddr_t *shared; /* file addresses of the entered groups that have several names */
    size_t shared_count;
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

static Status list_tensor(Walk *w, hid_t dataset, const Shape *shape)
{
    Buf *b = message_tensor(&w->message, w->path, shape,
                            w->source->has_user_block ? NOWHERE : dataset_plain_at(dataset));
    const hid_t creation = h5.Dget_create_plist(dataset);
    const Status status = attrs_put(dataset, creation, b, w->err);
    h5.Pclose(creation);
    TRY(status);
    return message_send(w->source->socket, b, w->err);
}

static Status visit_dataset(Walk *w, hid_t dataset)
{
    Content content = NOT_FLOATS;
    Shape shape = {0};
    TRY(dataset_check(dataset, w->source, &content, &shape, w->err));
    if (content == NOT_FLOATS)
        return message_send(w->source->socket, message_begin(&w->message, 'S'), w->err);
    TRY(list_tensor(w, dataset, &shape));
    return remember(w, (Found){.n = shape.n, .bfloat16 = content == BFLOATS});
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

/* Returns true if the group has already been entered under another name. */
static bool entered(const Walk *w, const H5O_info_t *info)
{
    for (size_t i = 0; info->rc > 1 && i < w->shared_count; i++)
        if (w->shared[i] == info->addr)
            return true;
    return false;
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
    if (info.type != H5O_TYPE_GROUP || entered(w, &info))
        return OK;
    if (info.rc > 1 && w->shared_count == SHARED_MAX)
        return FAIL(w->err, ERR_CORRUPT, "more than %d groups with several names", SHARED_MAX);
    if (info.rc > 1)
        w->shared[w->shared_count++] = info.addr;
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

Status walk_file(Source *s, Error *err)
{
    Walk *w = NEW_ZERO(s->arena, Walk, 1);
    uint8_t *room = NEW(s->arena, uint8_t, 4 + MESSAGE_MAX);
    haddr_t *shared = NEW(s->arena, haddr_t, SHARED_MAX);
    TRY(arena_check(w && room && shared, s->arena, err));
    *w = (Walk){.source = s, .message = {room, 0, 4 + MESSAGE_MAX}, .shared = shared, .err = err};
    const hid_t root = h5.Gopen2(s->id, "/", H5P_DEFAULT);
    TRY(visit_object(w, root));
    h5.Gclose(root);
    Buf *b = message_begin(&w->message, 'Z');
    buf_u64(b, s->count);
    return message_send(s->socket, b, err);
}
