/* array_write_safetensors.c -- writes safetensors files (safetensors.c has the layout), as an ArrayWriter. */
#include "base/bytes.h"
#include "base/json.h"
#include "base/outfile.h"
#include "dump/array_file.h"
#include "dump/array_write.h"

enum { HEADER_MOST = 100000000 };

typedef struct {
    const Dump *dump;
    OutFile out;
} StWriter;

/* ---- writing the JSON header ---- */

static bool is_utf8(const char *text)
{
    return text_is_utf8(text, strlen(text));
}

static bool holds(const Attr *attr)
{
    return is_utf8(attr->name) && strcmp(attr->name, CONVERT_KEY) != 0 &&
           (attr->type != ATTR_TEXT || is_utf8(attr->text));
}

static Status put_notes(TextBuf *out, const char *object, const AttrList *attrs, Error *err)
{
    for (size_t i = 0; i < attrs->count; i++) {
        const Attr *attr = &attrs->item[i];
        if (!holds(attr))
            continue;
        const char *key = text_format(out->arena, "%s%s%s", object, *object ? "@" : "", attr->name), *value = note_value(attr, out->arena);
        TRY(arena_check(key && value, out->arena, err));
        text_add(out, ",");
        json_put_text(out, key);
        text_add(out, ":");
        json_put_text(out, value);
    }
    return OK;
}

static Status put_metadata(TextBuf *out, const Dump *d, Error *err)
{
    text_add(out, "{\"__metadata__\":{\"" CONVERT_KEY "\":\"" CONVERT_SIGN "\"");
    for (size_t i = 0; i < dump_groups(d); i++) {
        const AttrList *attrs;
        const char *path = dump_group(d, i, &attrs);
        TRY(put_notes(out, path, attrs, err));
    }
    for (size_t i = 0; i < dump_count(d); i++)
        TRY(put_notes(out, dump_tensor(d, i)->path, &dump_tensor(d, i)->attrs, err));
    text_add(out, "},");
    return OK;
}

static Status put_tensors(TextBuf *out, const Dump *d, Error *err)
{
    uint64_t at = 0;
    for (size_t i = 0; i < dump_count(d); i++) {
        const TensorInfo *t = dump_tensor(d, i);
        const uint64_t end = at + t->shape.n * sizeof(float);
        if (!is_utf8(t->path) || !strcmp(t->path, "__metadata__"))
            return FAIL(err, ERR_USAGE, "%.200s: a name that safetensors cannot hold", t->path);
        text_add(out, i ? "," : "");
        json_put_text(out, t->path);
        text_add(out, ":{\"dtype\":\"F32\",\"shape\":[");
        for (int k = 0; k < t->shape.rank; k++)
            text_addf(out, "%s%zu", k ? "," : "", t->shape.dim[k]);
        text_addf(out, "],\"data_offsets\":[%llu,%llu]}", (unsigned long long)at, (unsigned long long)end);
        at = end;
    }
    text_add(out, "}");
    return OK;
}

/* Writes the header, padded with spaces so that the data begin at a multiple of 8 bytes. */
static Status write_header(StWriter *w, Arena *a, Error *err)
{
    TextBuf header = {.arena = a};
    TRY(put_metadata(&header, w->dump, err));
    TRY(put_tensors(&header, w->dump, err));
    text_addf(&header, "%*s", (int)((8 - header.size % 8) % 8), "");
    const char *text = text_done(&header);
    uint8_t length[8];
    TRY(arena_check(text, a, err));
    if (header.size > HEADER_MOST)
        return FAIL(err, ERR_USAGE, "names and attributes of %zu bytes; safetensors hold at most %d",
                    header.size, HEADER_MOST);
    store_u64(length, header.size);
    outfile_bytes(&w->out, length, sizeof length);
    outfile_bytes(&w->out, text, header.size);
    return OK;
}

/* ---- writing the whole file ---- */

static Status safetensors_open(void **out, const Dump *d, const char *path, Arena *a, Error *err)
{
    StWriter *w = NEW(a, StWriter, 1);
    TRY(arena_check(w, a, err));
    w->dump = d;
    TRY(outfile_open(&w->out, path, a, err));
    const Status status = write_header(w, a, err);
    if (status != OK)
        outfile_abandon(&w->out);
    *out = w;
    return status;
}

static Status safetensors_write(void *to, size_t i, const float *x, Error *err)
{
    StWriter *w = to;
    (void)err;
    outfile_bytes(&w->out, x, dump_tensor(w->dump, i)->shape.n * sizeof *x);
    return OK;
}

static Status safetensors_finish(void *to, Status written, Error *err)
{
    StWriter *w = to;
    if (written == OK)
        written = outfile_commit(&w->out, err);
    outfile_abandon(&w->out);
    return written;
}

const ArrayWriter safetensors_array_writer = {".safetensors",     true, safetensors_open, safetensors_write,
                                              safetensors_finish, holds};
