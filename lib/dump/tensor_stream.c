/* tensor_stream.c -- sends the reader's messages (laid out in tensor_stream.h), parses them and checks every field. */
#include "dump/tensor_stream.h"

#include <errno.h>
#include <sys/socket.h>

static Status bad_message(Error *err, const char *what)
{
    return FAIL(err, ERR_CORRUPT, "the reader process sent nonsense (%s)", what);
}

/* Returns the error "out of memory" if the arena has run out of memory, because then texts are missing from
 * a valid message. Otherwise returns the error that the reader process sent a bad message. */
static Status malformed(const Arena *a, Error *err, const char *what)
{
    return arena_failed(a) ? arena_fail(a, err) : bad_message(err, what);
}

void *items_more(void *items, size_t count, size_t *room, size_t size, Arena *a)
{
    if (count < *room)
        return items;
    const size_t wider = *room ? 2 * *room : 64;
    void *moved = arena_take(a, wider, size);
    if (moved && count)
        memcpy(moved, items, count * size);
    if (moved)
        *room = wider;
    return moved;
}

static Status take_group(Listing *l, Reader *r, Error *err)
{
    ListedGroup g = {.path = take_text(r, PATH_LIMIT, l->arena)};
    take_attrs(r, &g.attrs, l->arena);
    if (!reader_done(r) || (*g.path && !path_valid(g.path)))
        return malformed(l->arena, err, "a group");
    l->group = items_more(l->group, l->groups, &l->group_room, sizeof g, l->arena);
    TRY(arena_check(l->group, l->arena, err));
    l->group[l->groups++] = g;
    return OK;
}

static bool stands_in_file(const Listed *t, uint64_t file_size)
{
    const size_t item = array_item_bytes[t->info.type];
    return t->at == NOWHERE || (item && t->at <= file_size && t->info.shape.n <= (file_size - t->at) / item);
}

static Status take_tensor(Listing *l, Reader *r, Error *err)
{
    Listed t = {.number = l->tensors};
    size_t dim[RANK_MAX] = {0};
    t.info.path = take_text(r, PATH_LIMIT, l->arena);
    const uint8_t type = take_u8(r);
    t.info.type = type < ARRAY_OTHER ? (ArrayType)type : ARRAY_OTHER;
    const int rank = take_u8(r);
    for (int i = 0; i < rank && i < RANK_MAX; i++)
        dim[i] = take_u64(r);
    t.at = take_u64(r);
    if (r->bad || !path_valid(t.info.path) || !shape_make(&t.info.shape, rank, dim) ||
        t.info.shape.n > elements_limit(l->file_size) || !stands_in_file(&t, l->file_size))
        return malformed(l->arena, err, "a tensor");
    take_attrs(r, &t.info.attrs, l->arena);
    if (!reader_done(r))
        return malformed(l->arena, err, "a tensor's attributes");
    t.whole = t.info.shape.n;
    l->tensor = items_more(l->tensor, l->tensors, &l->tensor_room, sizeof t, l->arena);
    TRY(arena_check(l->tensor, l->arena, err));
    l->tensor[l->tensors++] = t;
    return OK;
}

static Status take_checksum(Listing *l, Reader *r, Error *err)
{
    if (!l->tensors)
        return bad_message(err, "a checksum of no tensor");
    Listed *t = &l->tensor[l->tensors - 1];
    t->summed_at = take_u64(r);
    t->before = take_u32(r);
    t->sum = take_u32(r);
    return reader_done(r) ? OK : bad_message(err, "a checksum");
}

static Status take_skipped(Listing *l, Reader *r, Error *err)
{
    const ArenaMark mark = arena_mark(l->arena);
    LeftOut *all = &l->left_out;
    const char *path = take_text(r, PATH_LIMIT, l->arena), *type = take_text(r, TYPE_LIMIT, l->arena);
    const uint64_t n = take_u64(r);
    if (!reader_done(r))
        return malformed(l->arena, err, "a dataset that is left out");
    l->skipped++;
    if (*type)
        all->elements += n < UINT64_MAX - all->elements ? n : UINT64_MAX - all->elements;
    if (*type && !all->count++) {
        all->path = path;
        all->type = type;
    } else {
        arena_rewind(l->arena, mark);
    }
    return OK;
}

Status message_error(Bytes message, Error *err)
{
    Reader r = reader_open(message);
    const uint8_t type = take_u8(&r), status = take_u8(&r);
    const uint32_t size = take_u32(&r);
    const char *text = (const char *)take_bytes(&r, size);
    const uint32_t hint_size = take_u32(&r);
    const char *hint = (const char *)take_bytes(&r, hint_size);
    if (type != 'E' || !reader_done(&r) || !size || !*text || status < ERR_USAGE || status > ERR_MEMORY)
        return bad_message(err, "an answer of unknown type");
    FAIL(err, (Status)status, "%.*s", (int)(size < 500 ? size : 500), text);
    return error_hint(err, "%.*s", (int)(hint_size < 200 ? hint_size : 200), hint);
}

Status listing_take(Listing *l, Bytes message, Error *err)
{
    Reader r = reader_open(message);
    const uint8_t type = take_u8(&r);
    l->heard += message.size;
    if (type == 'E')
        return message_error(message, err);
    if (l->ended || message.size > MESSAGE_MAX || l->heard > ((uint64_t)64 << 20) + 16 * l->file_size ||
        l->groups + l->tensors + l->skipped > OBJECTS_MAX)
        return bad_message(err, "more than a file of this size can hold");
    if (type == 'G')
        return take_group(l, &r, err);
    if (type == 'T')
        return take_tensor(l, &r, err);
    if (type == 'C')
        return take_checksum(l, &r, err);
    if (type == 'S')
        return take_skipped(l, &r, err);
    l->ended = type == 'Z' && take_u64(&r) == l->tensors && reader_done(&r);
    return l->ended ? OK : bad_message(err, "a message of unknown type");
}

/* ---- in the reader process ---- */

Buf *message_begin(Buf *b, char type)
{
    b->size = 4;
    buf_u8(b, (uint8_t)type);
    return b;
}

Buf *message_tensor(Buf *b, const char *path, ArrayType type, const Shape *shape, uint64_t at)
{
    put_text(message_begin(b, 'T'), path);
    buf_u8(b, (uint8_t)type);
    buf_u8(b, (uint8_t)shape->rank);
    for (int i = 0; i < shape->rank; i++)
        buf_u64(b, shape->dim[i]);
    buf_u64(b, at);
    return b;
}

Buf *message_skipped(Buf *b, const char *path, const char *type, uint64_t n)
{
    const size_t length = strlen(path), most = strlen(type);
    message_begin(b, 'S');
    put_slice(b, path, length < PATH_LIMIT ? length : PATH_LIMIT);
    put_slice(b, type, most < TYPE_LIMIT ? most : TYPE_LIMIT);
    buf_u64(b, n);
    return b;
}

Status message_send(int socket, Buf *b, Error *err)
{
    store_u32(b->data, (uint32_t)(b->size - 4));
    for (size_t sent = 0; sent < b->size;) {
        const ssize_t part = send(socket, b->data + sent, b->size - sent, MSG_NOSIGNAL);
        if (part < 0 && errno != EINTR)
            return FAIL(err, ERR_IO, "the parent process is gone");
        sent += part > 0 ? (size_t)part : 0;
    }
    return OK;
}
