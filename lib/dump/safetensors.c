/* safetensors.c -- lists a safetensors file (Hugging Face's format, version 0.4):
 *
 *     size:u64  header (size bytes of JSON)  data
 *
 *     header = {"NAME": {"dtype": "F32", "shape": [3, 4], "data_offsets": [0, 48]}, ...,
 *               "__metadata__": {"NAME": "text", ...}}
 *
 * Offsets count from the first byte of the data. The arrays must cover the data without holes or overlaps. The
 * metadata hold attributes as pairs of texts NAME: VALUE.
 *
 * A pair NAME: VALUE is an attribute of the root group. A pair OBJECT@NAME: VALUE is an attribute of the group
 * or array OBJECT, if the file has one. A VALUE that looks like a number is a number: an integer ("-12") or a
 * real number ("0.1", "1e-05", "2.0", "nan", "-inf"). A text attribute that looks like a number, or begins with
 * a quote, is stored in quotes ("\"12\""). */
#include "base/bytes.h"
#include "base/json.h"
#include "dump/array_file.h"
#include "dump/array_write.h"
#include "dump/tensor_stream.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HEADER_MOST = 100000000, LENGTH = 8 }; /* HEADER_MOST: the format's own limit on the header's bytes */

/* ---- attributes in the metadata ---- */

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
    TRY(arena_check(inside, a, err));
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

/* True if the sorted list has a path that begins with `wanted`. */
static bool begins(const char *const *path, size_t count, const char *wanted)
{
    size_t low = 0, high = count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (strcmp(path[middle], wanted) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && !strncmp(path[low], wanted, strlen(wanted));
}

/* Splits a key "OBJECT@NAME" at the first '@' that follows the path of an array or group. Without such an '@',
 * the whole key is the name of an attribute of the root. */
static Status take_key(Note *note, const char *key, const char *const *path, size_t count, Arena *a,
                       Error *err)
{
    *note = (Note){.object = "", .attr.name = key};
    for (const char *at = strchr(key, '@'); at; at = strchr(at + 1, '@')) {
        const ArenaMark mark = arena_mark(a);
        const char *object = text_slice(a, key, (size_t)(at - key)),
                   *group = text_format(a, "%.*s/", (int)(at - key), key);
        if (!object || !group)
            return arena_fail(a, err);
        note->group = begins(path, count, group);
        if (at > key && at[1] && (note->group || name_found(path, count, object))) {
            note->object = object;
            note->attr.name = at + 1;
            return OK;
        }
        note->group = false;
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
    const char **path = NEW(f->arena, const char *, f->count);
    TRY(arena_check(path, f->arena, err));
    for (size_t i = 0; i < f->count; i++)
        path[i] = f->array[i].path;
    sort_names(path, f->count);
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

/* Sets f->note from `metadata`, the JSON object __metadata__, whose members are texts. f->array must be
 * complete. */
static Status notes_from_metadata(ArrayFile *f, const Json *metadata, Error *err)
{
    size_t pairs = 0;
    if (metadata->type != JSON_OBJECT)
        return FAIL(err, ERR_CORRUPT, "__metadata__ is no object");
    for (const Json *v = metadata->first; v; v = v->next)
        pairs++;
    const char **key = NEW(f->arena, const char *, pairs);
    f->note = NEW_ZERO(f->arena, Note, pairs);
    TRY(arena_check(key && f->note, f->arena, err));
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

/* ---- reading ---- */

/* The bytes of one array, counted from the start of the data: `from` inclusive, `to` exclusive. Arrays of
 * integers have a Span too. */
typedef struct {
    uint64_t from, to;
    const char *name;
} Span;

typedef struct {
    ArrayFile *file;
    uint64_t data; /* file offset of the data */
    uint64_t size; /* number of bytes of the data */
    Span *span;
    size_t spans;
    Error *err;
} Parse;

/* ---- reading the entry of one array ---- */

typedef struct {
    const char *name;
    unsigned bits; /* of an element; 0: unknown */
    int type;      /* an ArrayType; WHOLE, ODD: left out, as integers or as numbers that are no floats here */
} Dtype;

enum { WHOLE = -1, ODD = -2 };

static const Dtype dtypes[] = {{"F16", 16, ARRAY_F16}, {"BF16", 16, ARRAY_BF16}, {"F32", 32, ARRAY_F32}, {"F64", 64, ARRAY_F64},
                               {"F8_E4M3", 8, ARRAY_F8_E4M3}, {"F8_E5M2", 8, ARRAY_F8_E5M2},
                               {"BOOL", 8, WHOLE}, {"U8", 8, WHOLE}, {"I8", 8, WHOLE}, {"U16", 16, WHOLE}, {"I16", 16, WHOLE},
                               {"U32", 32, WHOLE}, {"I32", 32, WHOLE}, {"U64", 64, WHOLE}, {"I64", 64, WHOLE},
                               {"F4", 4, ODD}, {"F6_E2M3", 6, ODD}, {"F6_E3M2", 6, ODD}, {"F8_E8M0", 8, ODD},
                               {"F8_E4M3FNUZ", 8, ODD}, {"F8_E5M2FNUZ", 8, ODD}, {"C64", 64, ODD}, {"C128", 128, ODD}};

/* A type that is not in the table is left out, whatever its size. */
static Status take_dtype(const Json *entry, Dtype *dtype, Error *err)
{
    const Json *v = json_member(entry, "dtype");
    if (!v || v->type != JSON_TEXT || !*v->text)
        return FAIL(err, ERR_CORRUPT, "no dtype");
    *dtype = (Dtype){v->text, 0, ODD};
    for (size_t i = 0; i < countof(dtypes); i++)
        if (!strcmp(dtypes[i].name, v->text))
            *dtype = dtypes[i];
    return OK;
}

static size_t list_length(const Json *list)
{
    size_t length = 0;
    for (const Json *v = list->first; v; v = v->next)
        length++;
    return length;
}

static Status take_shape(const Json *entry, Shape *shape, Error *err)
{
    const Json *list = json_member(entry, "shape");
    size_t dim[RANK_MAX];
    int rank = 0;
    if (!list || list->type != JSON_ARRAY)
        return FAIL(err, ERR_CORRUPT, "no shape");
    if (list_length(list) > RANK_MAX)
        return FAIL(err, ERR_USAGE, "rank %zu, want at most %d", list_length(list), RANK_MAX);
    for (const Json *v = list->first; v; v = v->next) {
        if (v->type != JSON_NUMBER || !v->is_whole || v->whole < 0)
            return FAIL(err, ERR_CORRUPT, "a shape that is no list of sizes");
        dim[rank++] = (size_t)v->whole;
    }
    return shape_make(shape, rank, dim) ? OK
                                        : FAIL(err, ERR_CORRUPT, "claims more elements than there can be");
}

static Status take_offsets(const Json *entry, uint64_t size, Span *span, Error *err)
{
    const Json *list = json_member(entry, "data_offsets");
    const Json *from = list && list->type == JSON_ARRAY ? list->first : NULL, *to = from ? from->next : NULL;
    if (!to || to->next || !from->is_whole || !to->is_whole || from->whole < 0)
        return FAIL(err, ERR_CORRUPT, "no pair of data_offsets");
    if (to->whole < from->whole || (uint64_t)to->whole > size)
        return FAIL(err, ERR_CORRUPT, "data_offsets %s to %s, and the file has %llu bytes of data",
                    from->text, to->text, (unsigned long long)size);
    span->from = (uint64_t)from->whole;
    span->to = (uint64_t)to->whole;
    return OK;
}

/* The bytes of n elements; false: they end within a byte, or are more than can be. */
static bool bytes_of(size_t n, unsigned bits, uint64_t *bytes)
{
    *bytes = n / 8 * bits + n % 8 * bits / 8;
    return n % 8 * bits % 8 == 0 && n / 8 <= (UINT64_MAX >> 8) / bits;
}

static Status take_array(Parse *p, const Json *entry)
{
    Dtype dtype = {0};
    Shape shape;
    uint64_t need = 0;
    Span *span = &p->span[p->spans];
    if (entry->type != JSON_OBJECT || list_length(entry) != 3)
        return FAIL(p->err, ERR_CORRUPT, "want dtype, shape and data_offsets, and nothing else");
    TRY(take_dtype(entry, &dtype, p->err));
    TRY(take_shape(entry, &shape, p->err));
    TRY(take_offsets(entry, p->size, span, p->err));
    const uint64_t bytes = span->to - span->from;
    if (dtype.bits && !bytes_of(shape.n, dtype.bits, &need))
        return FAIL(p->err, ERR_CORRUPT, "%zu elements of %u bits are no whole bytes", shape.n, dtype.bits);
    if (dtype.bits && bytes != need)
        return FAIL(p->err, ERR_CORRUPT, "its shape needs %llu bytes, and data_offsets give it %llu", (unsigned long long)need,
                    (unsigned long long)bytes);
    span->name = entry->name;
    p->spans++;
    if (dtype.type < 0)
        return array_skip(p->file, (Skipped){entry->name, dtype.type == ODD ? dtype.name : "", shape.n}, p->err);
    const Array a = {.path = entry->name,
                     .shape = shape,
                     .type = (ArrayType)dtype.type,
                     .extent = {.at = p->data + span->from, .stored = bytes, .size = bytes}};
    return array_add(p->file, &a, p->err);
}

/* ---- checking and listing all arrays ---- */

static int compare_spans(const void *left, const void *right)
{
    const Span *a = left, *b = right;
    if (a->from != b->from)
        return a->from < b->from ? -1 : 1;
    return (a->to > b->to) - (a->to < b->to);
}

/* Checks that the arrays cover the data without holes or overlaps. */
static Status check_cover(Parse *p)
{
    uint64_t at = 0;
    if (p->spans)
        qsort(p->span, p->spans, sizeof *p->span, compare_spans);
    for (size_t i = 0; i < p->spans; i++) {
        const Span *s = &p->span[i];
        if (s->from != at)
            return FAIL(p->err, ERR_CORRUPT, "%.200s: %s bytes %llu to %llu of the data", s->name,
                        s->from < at ? "overlaps another array at" : "unused:",
                        (unsigned long long)(s->from < at ? s->from : at),
                        (unsigned long long)(s->from < at ? at : s->from));
        at = s->to;
    }
    if (at != p->size)
        return FAIL(p->err, ERR_CORRUPT, "the last %llu bytes of the data are in no array",
                    (unsigned long long)(p->size - at));
    return OK;
}

static Status take_arrays(Parse *p, const Json *header)
{
    const Json *metadata = NULL;
    for (const Json *v = header->first; v; v = v->next) {
        if (!strcmp(v->name, "__metadata__")) {
            if (metadata)
                return FAIL(p->err, ERR_CORRUPT, "two members __metadata__");
            metadata = v;
        } else if (take_array(p, v) != OK) {
            return error_at(p->err, "%.200s", v->name);
        }
    }
    TRY(check_cover(p));
    return metadata ? notes_from_metadata(p->file, metadata, p->err) : OK;
}

static Status load_header(ArrayFile *f, char **header, size_t *size, Error *err)
{
    uint8_t length[LENGTH];
    TRY(file_take(f->fd, 0, length, sizeof length, err));
    const uint64_t claimed = load_u64(length);
    if (claimed > HEADER_MOST || claimed > f->size - LENGTH)
        return FAIL(err, ERR_CORRUPT, "its header claims %llu bytes; want at most %llu here",
                    (unsigned long long)claimed,
                    (unsigned long long)(f->size - LENGTH < HEADER_MOST ? f->size - LENGTH : HEADER_MOST));
    *size = (size_t)claimed;
    *header = NEW(f->arena, char, *size);
    return *header ? file_take(f->fd, LENGTH, *header, *size, err) : arena_fail(f->arena, err);
}

Status safetensors_list(ArrayFile *f, Error *err)
{
    const Json *header;
    char *text = NULL;
    size_t size = 0;
    TRY(load_header(f, &text, &size, err));
    if (json_read(&header, text, size, f->arena, err) != OK)
        return error_at(err, "the header of safetensors");
    if (header->type != JSON_OBJECT)
        return FAIL(err, ERR_CORRUPT, "a safetensors header that is no JSON object");
    Parse p = {.file = f, .data = LENGTH + size, .size = f->size - LENGTH - size, .err = err};
    p.span = NEW(f->arena, Span, list_length(header) + 1);
    return p.span ? take_arrays(&p, header) : arena_fail(f->arena, err);
}
