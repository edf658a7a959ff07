/* report_stored.c -- reads a stored result from CSV or JSON into a table (report_stored.h). */
#include "report/report_stored.h"

#include "base/file.h"
#include "dump/file_kind.h"
#include "report/report_part.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

/* Returns an array of whole numbers as a shape, "64x3x3x3"; "" if an element is not a whole number. */
static const char *shape_of(const Json *array, Arena *a)
{
    TextBuf out = {.arena = a};
    for (const Json *v = array->first; v; v = v->next) {
        if (!v->is_whole)
            return "";
        text_addf(&out, "%s%lld", v == array->first ? "" : "x", (long long)v->whole);
    }
    return text_done(&out);
}

/* Returns a JSON value as a CSV field: "" for null, for objects, and for arrays that are not shapes. NULL:
 * out of memory. */
static const char *cell_of(const Json *v, Arena *a)
{
    if (!v || v->type == JSON_NULL)
        return "";
    switch (v->type) {
    case JSON_BOOL:
        return v->on ? "true" : "false";
    case JSON_TEXT:
    case JSON_NUMBER:
        return v->text;
    case JSON_ARRAY:
        return shape_of(v, a);
    default:
        return "";
    }
}

/* The fields of a record; behind them, a line of FILE.part has what only --resume reads, from "part_row" on. */
static bool is_field(const Json *v)
{
    return v && strcmp(v->name, "part_row") != 0;
}

/* The table's columns are the fields of the first record. Records mostly have the same fields in the same
 * order, so the field after the last one found is tried first. */
static bool put_record(const char **cell, const Csv *out, const Json *record, Arena *a)
{
    const Json *at = record->first;
    for (size_t i = 0; i < out->columns; i++) {
        const bool next = at && !strcmp(at->name, out->name[i]);
        cell[i] = cell_of(next ? at : json_member(record, out->name[i]), a);
        if (!cell[i])
            return false;
        at = next ? at->next : at;
    }
    return true;
}

typedef struct {
    Csv *table;
    size_t room; /* capacity in rows */
    bool other;  /* the first element of "results" is no object: the file is no result */
    Arena *a;
    Error *err;
} Records;

static Status name_columns(Records *r, const Json *record)
{
    Csv *t = r->table;
    for (const Json *field = record->first; is_field(field); field = field->next)
        t->columns++;
    if (t->columns > COLUMNS_MOST)
        return FAIL(r->err, ERR_CORRUPT, "more than %d columns", COLUMNS_MOST);
    t->name = NEW(r->a, const char *, t->columns);
    TRY(arena_check(t->name, r->a, r->err));
    size_t i = 0;
    for (const Json *field = record->first; is_field(field); field = field->next)
        t->name[i++] = field->name;
    return OK;
}

static Status make_room(Records *r)
{
    Csv *t = r->table;
    const size_t more = 2 * r->room + 64;
    const char **cell = arena_take(r->a, more, t->columns * sizeof *cell);
    TRY(arena_check(cell, r->a, r->err));
    if (t->rows)
        memcpy(cell, t->cell, t->rows * t->columns * sizeof *cell);
    t->cell = cell;
    r->room = more;
    return OK;
}

static Status take_record(Records *r, const Json *record)
{
    Csv *t = r->table;
    if (t->rows == 0) {
        r->other = r->other || record->type != JSON_OBJECT;
        if (r->other)
            return OK;
        TRY(name_columns(r, record));
    }
    if (record->type != JSON_OBJECT)
        return FAIL(r->err, ERR_CORRUPT, "record %zu is no object", t->rows + 1);
    if (t->rows == r->room)
        TRY(make_room(r));
    TRY(arena_check(put_record(t->cell + t->rows * t->columns, t, record, r->a), r->a, r->err));
    t->rows++;
    return OK;
}

static Status parse_json(Stored *out, const char *path, char *text, size_t length, Arena *a, Error *err)
{
    const Json *all;
    Records r = {.table = &out->table, .a = a, .err = err};
    if (json_read(&all, text, length, a, err) != OK)
        return error_at(err, "%s", path);
    const Json *results = json_member(all, "results");
    for (const Json *v = results && results->type == JSON_ARRAY ? results->first : NULL; v; v = v->next)
        if (take_record(&r, v) != OK)
            return error_at(err, "%s", path);
    if (!results || results->type != JSON_ARRAY || r.other) {
        out->table = (Csv){0};
        return OK;
    }
    out->whole = true;
    const Json *schema = json_member(all, "schema"), *meta = json_member(all, "meta");
    out->schema = schema && schema->type == JSON_TEXT ? schema->text : NULL;
    out->meta = meta && meta->type == JSON_OBJECT ? meta : NULL;
    return OK;
}

/* Reads FILE.part, the records that a run has finished so far; returns false if the text is something else. */
static bool parse_part(Stored *out, const char *path, const char *text, size_t length, Arena *a, Error *err)
{
    size_t at = 0;
    const Json *line;
    Records r = {.table = &out->table, .a = a, .err = err};
    if (!part_line(&line, text, length, &at, a, err))
        return err->status != OK;
    const Json *schema = json_member(line, "part");
    if (!schema || schema->type != JSON_TEXT)
        return false;
    out->schema = schema->text;
    out->whole = true;
    while (part_line(&line, text, length, &at, a, err))
        if (take_record(&r, line) != OK)
            break;
    if (err->status != OK)
        error_at(err, "%s", path);
    return true;
}

/* Refuses a file of gradients, which a user may take for a result. */
static Status refuse_gradients(const char *path, FileKind kind, Error *err)
{
    static const char *const kinds[] = {[FILE_HDF5] = "an HDF5 file",
                                        [FILE_SAFETENSORS] = "a safetensors file",
                                        [FILE_NPY] = "a .npy file",
                                        [FILE_ZIP] = "a zip archive, such as .npz"};
    const bool piped = !strcmp(path, "-");
    if (kind == FILE_UNKNOWN)
        return OK;
    if (kind == FILE_PICKLE) {
        refuse_pickle(path, err);
        const Error saves = *err;
        FAIL(err, ERR_USAGE, "%s: a Python pickle, not a result", path);
        return error_hint(err, "%s, for atomo-bench compare", saves.hint);
    }
    FAIL(err, ERR_USAGE, "%s: %s, not a result", path, kinds[kind]);
    return error_hint(err, "atomo-bench compare %.150s -o result.csv makes a result of gradients",
                      piped ? "FILE" : path);
}

static Status load_text(char **text, size_t *length, const char *path, Arena *a, Error *err)
{
    if (strcmp(path, "-") != 0) {
        TRY(refuse_gradients(path, file_kind_at(path), err));
        return file_load(text, length, path, SIZE_MAX, a, err) == OK ? OK : error_at(err, "%s", path);
    }
    if (file_read(text, length, STDIN_FILENO, SIZE_MAX, a, err) != OK)
        return error_at(err, "standard input");
    return refuse_gradients(path, file_kind_in(*text, *length), err);
}

Status stored_load(Stored *out, const char *path, Arena *a, Error *err)
{
    char *text;
    size_t length;
    *out = (Stored){0};
    TRY(load_text(&text, &length, path, a, err));
    path = strcmp(path, "-") ? path : "standard input";
    const bool json = text[strspn(text, " \t\r\n")] == '{';
    err->status = OK;
    if (json && parse_part(out, path, text, length, a, err))
        return err->status;
    out->whole = !json;
    return json ? parse_json(out, path, text, length, a, err)
                : csv_parse(&out->table, path, text, length, a, err);
}

bool stored_same(const char *cell, const char *other)
{
    double v, w;
    return !strcmp(cell, other) || (text_to_real(cell, &v) && text_to_real(other, &w) && v == w);
}

/* Returns a JSON value as a Value: none for NULL, null, arrays and objects. The text is borrowed. */
static Value stored_json(const Json *v)
{
    if (!v)
        return value_none();
    return v->type == JSON_TEXT     ? value_text(v->text)
           : v->type == JSON_BOOL   ? value_bool(v->on)
           : v->type != JSON_NUMBER ? value_none()
           : v->is_whole            ? value_int(v->whole)
                                    : value_real(v->number);
}

void stored_row(const Json *record, const Column *columns, size_t count, Value *row)
{
    for (size_t i = 0; i < count; i++)
        row[i] = stored_json(json_member(record, columns[i].name));
}

Value stored_value(const char *cell, bool text)
{
    int64_t whole;
    double real;
    if (!*cell)
        return value_none();
    if (text)
        return value_text(cell);
    if (!strcmp(cell, "true") || !strcmp(cell, "false"))
        return value_bool(*cell == 't');
    if (text_to_int(cell, &whole))
        return value_int(whole);
    return text_to_real(cell, &real) && isfinite(real) ? value_real(real) : value_text(cell);
}

Status stored_facts(ReportSpec *spec, const Json *meta, const char *own, Arena *a, Error *err)
{
    size_t count = 1;
    for (const Json *v = meta ? meta->first : NULL; v; v = v->next)
        count++;
    Fact *facts = NEW(a, Fact, count);
    TRY(arena_check(facts, a, err));
    spec->meta = facts;
    spec->facts = 0;
    for (const Json *v = meta ? meta->first : NULL; v; v = v->next)
        if (!own || strcmp(v->name, "report") != 0)
            facts[spec->facts++] = (Fact){v->name, stored_json(v)};
    if (own)
        facts[spec->facts++] = (Fact){"report", value_text(own)};
    return OK;
}
