/* array_list.c -- lists a file of arrays with the parser for its format, and sends the groups and arrays, with their
 * attributes, to the parent process (array_file.h). */
#include "dump/array_file.h"

#include "dump/tensor_stream.h"

#include <string.h>

/* ---- listing a file ---- */

static Status refuse_twins(const ArrayFile *f, Error *err)
{
    const char **path = NEW(f->arena, const char *, f->count + f->skipped);
    TRY(arena_check(path, f->arena, err));
    for (size_t i = 0; i < f->count; i++)
        path[i] = f->array[i].path;
    for (size_t i = 0; i < f->skipped; i++)
        path[f->count + i] = f->skip[i].path;
    const char *twin = sort_names(path, f->count + f->skipped);
    return twin ? FAIL(err, ERR_CORRUPT, "%.200s: two arrays of this name", twin) : OK;
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

static Status send_array(Sender *s, const Array *a)
{
    const bool ordered = !a->big_endian && !a->fortran && !a->extent.deflated, summed = a->extent.summed;
    const uint64_t at = a->extent.at + a->head;
    message_tensor(&s->message, a->path, a->type, &a->shape, ordered && !summed ? at : NOWHERE);
    TRY(put_notes(s, a->path));
    TRY(message_send(s->socket, &s->message, s->err));
    if (a->type != ARRAY_F32 || !ordered || !summed)
        return OK;
    Buf *b = message_begin(&s->message, 'C');
    buf_u64(b, at);
    buf_u32(b, a->head_sum);
    buf_u32(b, a->extent.sum);
    return message_send(s->socket, b, s->err);
}

/* Sends the groups that have attributes. */
static Status send_groups(Sender *s)
{
    const ArrayFile *f = s->file;
    for (size_t i = 0; i < f->notes; i++)
        if (f->note[i].group && (i == 0 || strcmp(f->note[i - 1].object, f->note[i].object) != 0))
            TRY(send_group(s, f->note[i].object));
    return OK;
}

Status arrays_send(int socket, const ArrayFile *f, Error *err)
{
    uint8_t *bytes = NEW(f->arena, uint8_t, 4 + MESSAGE_MAX);
    Sender s = {.socket = socket, .file = f, .message = {bytes, 0, 4 + MESSAGE_MAX}, .err = err};
    s.room = NEW(f->arena, Attr, f->notes);
    TRY(arena_check(bytes && s.room, f->arena, err));
    TRY(send_group(&s, ""));
    TRY(send_groups(&s));
    for (size_t i = 0; i < f->count; i++)
        TRY(send_array(&s, &f->array[i]));
    for (size_t i = 0; i < f->skipped; i++)
        TRY(message_send(socket, message_skipped(&s.message, f->skip[i].path, f->skip[i].type, f->skip[i].n), err));
    buf_u64(message_begin(&s.message, 'Z'), f->count);
    return message_send(socket, &s.message, err);
}
