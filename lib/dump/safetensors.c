/* safetensors.c -- lists a safetensors file (Hugging Face's format, version 0.4):
 *
 *     size:u64  header (size bytes of JSON)  data
 *
 *     header = {"NAME": {"dtype": "F32", "shape": [3, 4], "data_offsets": [0, 48]}, ...,
 *               "__metadata__": {"NAME": "text", ...}}
 *
 * Offsets count from the first byte of the data. The arrays must cover the data without holes or overlaps. The
 * metadata hold attributes of arrays and groups (array_notes.h). */
#include "base/bytes.h"
#include "base/json.h"
#include "dump/array_notes.h"

#include <stdlib.h>
#include <string.h>

enum { HEADER_MOST = 100000000, LENGTH = 8 }; /* HEADER_MOST: the format's own limit on the header's bytes */

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
    size_t bytes; /* of an element */
    int type;     /* an ArrayType; NOT_FLOAT: arrays of this type are left out */
} Dtype;

enum { NOT_FLOAT = -1 };

static const Dtype dtypes[] = {{"F16", 2, ARRAY_F16}, {"BF16", 2, ARRAY_BF16}, {"F32", 4, ARRAY_F32},
                               {"F64", 8, ARRAY_F64}, {"BOOL", 1, NOT_FLOAT},  {"U8", 1, NOT_FLOAT},
                               {"I8", 1, NOT_FLOAT},  {"U16", 2, NOT_FLOAT},   {"I16", 2, NOT_FLOAT},
                               {"U32", 4, NOT_FLOAT}, {"I32", 4, NOT_FLOAT},   {"U64", 8, NOT_FLOAT},
                               {"I64", 8, NOT_FLOAT}};

static Status take_dtype(const Json *entry, const Dtype **dtype, Error *err)
{
    const Json *v = json_member(entry, "dtype");
    if (!v || v->type != JSON_TEXT)
        return FAIL(err, ERR_CORRUPT, "no dtype");
    for (size_t i = 0; i < countof(dtypes); i++)
        if (!strcmp(dtypes[i].name, v->text)) {
            *dtype = &dtypes[i];
            return OK;
        }
    return FAIL(err, ERR_USAGE, "dtype \"%.40s\"; want F16, BF16, F32 or F64 (integers are left out)",
                v->text);
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

static Status take_array(Parse *p, const Json *entry)
{
    const Dtype *dtype = NULL;
    Shape shape;
    Span *span = &p->span[p->spans];
    if (entry->type != JSON_OBJECT || list_length(entry) != 3)
        return FAIL(p->err, ERR_CORRUPT, "want dtype, shape and data_offsets, and nothing else");
    TRY(take_dtype(entry, &dtype, p->err));
    TRY(take_shape(entry, &shape, p->err));
    TRY(take_offsets(entry, p->size, span, p->err));
    if (span->to - span->from != shape.n * dtype->bytes)
        return FAIL(p->err, ERR_CORRUPT, "its shape needs %zu bytes, and data_offsets give it %llu",
                    shape.n * dtype->bytes, (unsigned long long)(span->to - span->from));
    span->name = entry->name;
    p->spans++;
    if (dtype->type == NOT_FLOAT) {
        p->file->skipped++;
        return OK;
    }
    const uint64_t bytes = span->to - span->from;
    const Array a = {.path = entry->name,
                     .shape = shape,
                     .type = (ArrayType)dtype->type,
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

static Status check_names(Parse *p)
{
    const char **name = NEW(p->file->arena, const char *, p->spans);
    if (!name)
        return arena_fail(p->file->arena, p->err);
    for (size_t i = 0; i < p->spans; i++)
        name[i] = p->span[i].name;
    const char *twin = sort_names(name, p->spans);
    return twin ? FAIL(p->err, ERR_CORRUPT, "%.200s: two arrays of this name", twin) : OK;
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
    TRY(check_names(p));
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
