/* array_notes.c -- converts attributes to and from the metadata of a safetensors file (array_notes.h). */
#include "dump/array_notes.h"

#include "dump/array_write.h"
#include "dump/tensor_stream.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_MOST = 1 << 16 }; /* bytes; the limit of HDF5 */

/* ---- values ---- */

/* Returns `v` as text in `out`; ".0" is appended to a whole number, so that the text reads as a real number. */
static const char *real_text(char out[40], double v)
{
    text_double(out, v);
    if (isfinite(v) && !out[strspn(out, "-0123456789")])
        strcat(out, ".0");
    return out;
}

/* Sets *attr to a number and returns true if `text` is exactly what note_value writes for that number. */
static bool take_number(const char *text, Attr *attr)
{
    char again[40];
    if (text_to_int(text, &attr->whole) &&
        snprintf(again, sizeof again, "%lld", (long long)attr->whole) > 0 && !strcmp(again, text)) {
        attr->type = ATTR_INT;
        return true;
    }
    attr->type = ATTR_REAL;
    attr->real = (double)NAN;
    return !strcmp(text, "nan") ||
           (text_to_real(text, &attr->real) && !strcmp(real_text(again, attr->real), text));
}

static bool needs_quotes(const char *text)
{
    Attr ignored;
    return *text == '"' || take_number(text, &ignored);
}

static Status take_value(const char *text, Attr *attr, Arena *a, Error *err)
{
    const size_t length = strlen(text);
    if (take_number(text, attr))
        return OK;
    attr->type = ATTR_TEXT;
    attr->text = text;
    if (length < 2 || *text != '"' || text[length - 1] != '"')
        return OK;
    const char *inside = text_slice(a, text + 1, length - 2);
    if (!inside)
        return arena_fail(a, err);
    if (needs_quotes(inside))
        attr->text = inside;
    return OK;
}

char *note_value(const Attr *attr, Arena *a)
{
    char real[40];
    if (attr->type == ATTR_INT)
        return text_format(a, "%lld", (long long)attr->whole);
    if (attr->type == ATTR_REAL)
        return text_copy(a, isnan(attr->real) ? "nan" : real_text(real, attr->real));
    return text_format(a, needs_quotes(attr->text) ? "\"%s\"" : "%s", attr->text);
}

/* ---- keys ---- */

char *note_key(const char *object, const Attr *attr, Arena *a)
{
    return text_format(a, "%s%s%s", object, *object ? "@" : "", attr->name);
}

/* True if the sorted list has the path `wanted`, or with `whole` = false a path that begins with `wanted`. */
static bool found(const char *const *path, size_t count, const char *wanted, bool whole)
{
    size_t low = 0, high = count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (strcmp(path[middle], wanted) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && (whole ? !strcmp(path[low], wanted) : !strncmp(path[low], wanted, strlen(wanted)));
}

/* Splits a key "OBJECT@NAME" at the first '@' that follows the path of an array or group. Without such an '@',
 * the whole key is the name of an attribute of the root. */
static Status take_key(Note *note, const char *key, const char *const *path, size_t count, Arena *a,
                       Error *err)
{
    note->object = "";
    note->attr.name = key;
    for (const char *at = strchr(key, '@'); at; at = strchr(at + 1, '@')) {
        const ArenaMark mark = arena_mark(a);
        const char *object = text_slice(a, key, (size_t)(at - key)),
                   *group = text_format(a, "%.*s/", (int)(at - key), key);
        if (!object || !group)
            return arena_fail(a, err);
        if (at > key && at[1] && (found(path, count, object, true) || found(path, count, group, false))) {
            note->object = object;
            note->attr.name = at + 1;
            return OK;
        }
        arena_rewind(a, mark);
    }
    return OK;
}

/* ---- lists of attributes ---- */

/* True for a pair that is left out: no attribute can hold it, or it only says that `convert` wrote the
 * file. */
static bool left_out(const Json *pair)
{
    return !*pair->name || !strcmp(pair->name, CONVERT_KEY) || strlen(pair->name) > PATH_LIMIT + TEXT_MOST ||
           strlen(pair->text) > TEXT_MOST;
}

static Status take_pairs(ArrayFile *f, const Json *metadata, const char **key, Error *err)
{
    const char **path = arrays_sorted(f);
    if (!path)
        return arena_fail(f->arena, err);
    size_t keys = 0;
    for (const Json *v = metadata->first; v; v = v->next) {
        if (v->type != JSON_TEXT)
            return FAIL(err, ERR_CORRUPT, "__metadata__: %.200s is no text", v->name);
        key[keys++] = v->name;
        if (left_out(v))
            continue;
        Note *note = &f->note[f->notes++];
        TRY(take_key(note, v->name, path, f->count, f->arena, err));
        TRY(take_value(v->text, &note->attr, f->arena, err));
    }
    const char *twin = sort_names(key, keys);
    return twin ? FAIL(err, ERR_CORRUPT, "__metadata__: two members %.200s", twin) : OK;
}

static int compare_notes(const void *left, const void *right)
{
    const Note *a = left, *b = right;
    const int order = strcmp(a->object, b->object);
    return order ? order : strcmp(a->attr.name, b->attr.name);
}

Status notes_from_metadata(ArrayFile *f, const Json *metadata, Error *err)
{
    size_t pairs = 0;
    if (metadata->type != JSON_OBJECT)
        return FAIL(err, ERR_CORRUPT, "__metadata__ is no object");
    for (const Json *v = metadata->first; v; v = v->next)
        pairs++;
    const char **key = NEW(f->arena, const char *, pairs);
    f->note = NEW_ZERO(f->arena, Note, pairs);
    if (!key || !f->note)
        return arena_fail(f->arena, err);
    TRY(take_pairs(f, metadata, key, err));
    if (f->notes)
        qsort(f->note, f->notes, sizeof *f->note, compare_notes);
    return OK;
}

AttrList notes_of(const ArrayFile *f, const char *object, Attr *room)
{
    AttrList list = {.item = room};
    size_t low = 0, high = f->notes;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (strcmp(f->note[middle].object, object) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < f->notes && !strcmp(f->note[low].object, object); low++)
        room[list.count++] = f->note[low].attr;
    return list;
}
