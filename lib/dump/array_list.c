/* array_list.c -- lists a file of arrays with the parser for its format, and sends the groups and arrays, with their
 * attributes, to the parent process (array_file.h). */
#include "dump/array_file.h"

#include "dump/tensor_stream.h"

#include <stdlib.h>
#include <string.h>

/* ---- listing a file ---- */

static Status refuse_twins(const ArrayFile *f, Error *err)
{
    const char **path = arrays_sorted(f);
    if (!path)
        return arena_fail(f->arena, err);
    for (size_t i = 1; i < f->count; i++)
        if (!strcmp(path[i - 1], path[i]))
            return FAIL(err, ERR_CORRUPT, "%.200s: two arrays of this name", path[i]);
    return OK;
}

Status arrays_list(ArrayFile *f, FileKind kind, Error *err)
{
    static Status (*const list[])(ArrayFile *, Error *) = {
        [FILE_SAFETENSORS] = safetensors_list, [FILE_NPY] = npy_list, [FILE_ZIP] = npz_list};
    TRY(list[kind](f, err));
    return refuse_twins(f, err);
}

/* ---- sending the list ---- */

typedef struct {
    int socket;
    const ArrayFile *file;
    Buf message;
    Attr *room; /* memory for the attributes of one object */
    Error *err;
} Sender;

static Status put_notes(Sender *s, const char *object)
{
    const AttrList list = notes_of(s->file, object, s->room);
    if (attrs_bytes(&list) > s->message.cap - s->message.size)
        return FAIL(s->err, ERR_USAGE, "%.200s: its attributes are beyond %d bytes", *object ? object : "/",
                    MESSAGE_MAX);
    put_attrs(&s->message, &list);
    return OK;
}

static Status send_group(Sender *s, const char *path)
{
    put_text(message_begin(&s->message, 'G'), path);
    TRY(put_notes(s, path));
    return message_send(s->socket, &s->message, s->err);
}

/* Returns the array's offset in the file if its bytes can be used as floats: float32 in the byte order of
 * this machine, in C order, not deflated, without a checksum. Returns NOWHERE for any other array. */
static uint64_t plain_at(const Array *a)
{
    const bool as_here = a->big_endian == (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
    const bool plain =
        a->type == ARRAY_F32 && as_here && !a->fortran && !a->extent.deflated && !a->extent.summed;
    return plain ? a->extent.at + a->head : NOWHERE;
}

static Status send_array(Sender *s, const Array *a)
{
    message_tensor(&s->message, a->path, &a->shape, plain_at(a));
    TRY(put_notes(s, a->path));
    return message_send(s->socket, &s->message, s->err);
}

/* ---- groups ---- */

typedef struct {
    const char *path;
    size_t number; /* position of the group in the order of first appearance */
} Group;

static int compare_groups(const void *left, const void *right)
{
    const Group *a = left, *b = right;
    const int order = strcmp(a->path, b->path);
    return order ? order : (a->number > b->number) - (a->number < b->number);
}

static int compare_numbers(const void *left, const void *right)
{
    const Group *a = left, *b = right;
    return (a->number > b->number) - (a->number < b->number);
}

/* Returns the length of the path of the innermost group that contains both paths. */
static size_t common_group(const char *path, const char *other)
{
    size_t length = 0;
    for (size_t i = 0; path[i] && path[i] == other[i]; i++)
        if (path[i] == '/')
            length = i;
    return length;
}

/* Lists, for each array in file order, the groups that contain the array but not the previous array. A group
 * may be listed several times. If `group` is NULL, only counts. */
static Status list_groups(const ArrayFile *f, Group *group, size_t *count, Error *err)
{
    *count = 0;
    for (size_t i = 0; i < f->count; i++) {
        const char *path = f->array[i].path;
        const size_t known = i ? common_group(path, f->array[i - 1].path) : 0;
        for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
            if ((size_t)(slash - path) <= known)
                continue;
            if (group &&
                !(group[*count] = (Group){text_slice(f->arena, path, (size_t)(slash - path)), *count}).path)
                return arena_fail(f->arena, err);
            ++*count;
        }
    }
    return OK;
}

/* Sends each group once, in the order in which groups first appear. */
static Status send_groups(Sender *s)
{
    const ArrayFile *f = s->file;
    size_t count = 0, kept = 0;
    TRY(list_groups(f, NULL, &count, s->err));
    Group *group = NEW(f->arena, Group, count);
    if (!group)
        return arena_fail(f->arena, s->err);
    TRY(list_groups(f, group, &count, s->err));
    if (count)
        qsort(group, count, sizeof *group, compare_groups);
    for (size_t i = 0; i < count; i++)
        if (i == 0 || strcmp(group[kept - 1].path, group[i].path) != 0)
            group[kept++] = group[i];
    if (kept + f->count + f->skipped >= OBJECTS_MAX)
        return FAIL(s->err, ERR_CORRUPT, "more than %d objects in one file", OBJECTS_MAX);
    if (kept)
        qsort(group, kept, sizeof *group, compare_numbers);
    for (size_t i = 0; i < kept; i++)
        TRY(send_group(s, group[i].path));
    return OK;
}

Status arrays_send(int socket, const ArrayFile *f, Error *err)
{
    uint8_t *bytes = NEW(f->arena, uint8_t, 4 + MESSAGE_MAX);
    Sender s = {.socket = socket, .file = f, .message = {bytes, 0, 4 + MESSAGE_MAX}, .err = err};
    s.room = NEW(f->arena, Attr, f->notes);
    if (!bytes || !s.room)
        return arena_fail(f->arena, err);
    TRY(send_group(&s, ""));
    TRY(send_groups(&s));
    for (size_t i = 0; i < f->count; i++)
        TRY(send_array(&s, &f->array[i]));
    for (size_t i = 0; i < f->skipped; i++)
        TRY(message_send(socket, message_begin(&s.message, 'S'), err));
    buf_u64(message_begin(&s.message, 'Z'), f->count);
    return message_send(socket, &s.message, err);
}
