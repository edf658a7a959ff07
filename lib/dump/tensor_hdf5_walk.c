/* tensor_hdf5_walk.c -- lists a file's groups and tensors; runs in the reader process.
 *
 * Only hard links are followed. Each group is entered once, so that cycles of links end. Soft links are
 * skipped, since their target is listed under the name of its hard link. Links to other files are refused. */
#include "dump/tensor_hdf5.h"

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

static Buf *message_begin(Walk *w, char type)
{
    w->message.size = 4;
    buf_u8(&w->message, (uint8_t)type);
    return &w->message;
}

static Status remember(Walk *w, Found found)
{
    Source *s = w->source;
    if (s->count == s->room) {
        const size_t room = s->room ? 2 * s->room : 256;
        Found *wider = NEW(s->arena, Found, room);
        TRY(arena_check(wider, s->arena, w->err));
        if (s->count)
            memcpy(wider, s->found, s->count * sizeof *wider);
        s->found = wider;
        s->room = room;
    }
    found.path = text_copy(s->arena, w->path);
    TRY(arena_check(found.path, s->arena, w->err));
    s->found[s->count++] = found;
    return OK;
}

static Status list_tensor(Walk *w, hid_t dataset, const Shape *shape)
{
    Buf *b = message_begin(w, 'T');
    put_text(b, w->path);
    buf_u8(b, (uint8_t)shape->rank);
    for (int i = 0; i < shape->rank; i++)
        buf_u64(b, shape->dim[i]);
    buf_u64(b, w->source->has_user_block ? NOWHERE : dataset_plain_at(dataset));
    const hid_t creation = h5.Dget_create_plist(dataset);
    const Status status = attrs_put(dataset, creation, b, w->err);
    h5.Pclose(creation);
    TRY(status);
    return message_send(w->source->socket, b, w->err);
}

static Status visit_dataset(Walk *w, hid_t dataset)
{
    Content content;
    Shape shape = {0};
    size_t bytes = 0;
    TRY(dataset_check(dataset, w->source, &content, &shape, &bytes, w->err));
    if (content == NOT_FLOATS)
        return message_send(w->source->socket, message_begin(w, 'S'), w->err);
    TRY(list_tensor(w, dataset, &shape));
    return remember(w, (Found){.n = shape.n, .bytes = bytes, .bfloat16 = content == BFLOATS});
}

/* Lists the group itself, then its members, in order of creation if the file records that order, otherwise
 * by name. */
static Status visit_group(Walk *w, hid_t group)
{
    const hid_t creation = h5.Gget_create_plist(group);
    Buf *b = message_begin(w, 'G');
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
    Buf *b = message_begin(w, 'Z');
    buf_u64(b, s->count);
    return message_send(s->socket, b, err);
}
