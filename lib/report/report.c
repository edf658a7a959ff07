/* report.c -- takes the rows of a report and writes them to a file or stdout, as CSV or JSON, or by the formats of tables. A file
 * is written whole or not at all. */
#include "base/csv.h"
#include "base/json.h"
#include "base/text.h"
#include "report/fields.h"
#include "report/report_table.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *const report_formats[] = {"table", "csv", "json", "md", "latex", NULL};

/* ---- CSV and JSON ----
 *
 * CSV follows RFC 4180, with a header row and "\n" as the line end. A field with a comma, a quote or a line
 * end is quoted, and a quote in it is doubled. A value that does not exist is an empty field; an empty text is
 * "". A text that a spreadsheet would take for a formula gets an apostrophe in front (csv.h).
 *
 * JSON: {"schema": .., "meta": {..}, "results": [..]}, with one record of the result per line. It is strict
 * JSON: NaN and infinities become null. Control characters of terminals are escaped, and bytes that are not
 * UTF-8 become U+FFFD. */

typedef struct {
    const char *none;
    void (*text)(TextBuf *out, const char *s);
    void (*shape)(TextBuf *out, const Shape *shape);
} ValueForm;

static void put_value(TextBuf *out, const ValueForm *form, const Value *v)
{
    char number[32];
    switch (v->type) {
    case VALUE_NONE:
        text_add(out, form->none);
        break;
    case VALUE_TEXT:
        form->text(out, v->text);
        break;
    case VALUE_INT:
        text_addf(out, "%lld", (long long)v->whole);
        break;
    case VALUE_REAL:
        text_add(out, isfinite(v->real) ? text_double(number, v->real) : form->none);
        break;
    case VALUE_BOOL:
        text_add(out, v->on ? "true" : "false");
        break;
    case VALUE_SHAPE:
        form->shape(out, v->shape);
        break;
    }
}

/* ---- CSV ---- */

static const char *guard_of(const char *s)
{
    return csv_guarded(*s) ? CSV_GUARD : "";
}

static void put_quoted(TextBuf *out, const char *s)
{
    text_addf(out, "\"%s", guard_of(s));
    for (const char *quote; (quote = strchr(s, '"')); s = quote + 1) {
        text_add_bytes(out, s, (size_t)(quote - s));
        text_add(out, "\"\"");
    }
    text_addf(out, "%s\"", s);
}

static void put_csv_text(TextBuf *out, const char *s)
{
    if (*s && !strpbrk(s, ",\"\r\n"))
        text_addf(out, "%s%s", guard_of(s), s);
    else
        put_quoted(out, s);
}

static void put_csv_shape(TextBuf *out, const Shape *shape)
{
    for (int i = 0; i < shape->rank; i++)
        text_addf(out, "%s%zu", i ? "x" : "", shape->dim[i]);
    if (shape->rank == 0)
        text_add(out, "\"\"");
}

static const ValueForm csv_form = {"", put_csv_text, put_csv_shape};

static void csv_begin(const Report *r, TextBuf *out)
{
    for (size_t i = 0; i < r->spec.column_count; i++) {
        text_add(out, i ? "," : "");
        (i == 0 && r->spec.quoted ? put_quoted : put_csv_text)(out, r->spec.columns[i].name);
    }
    text_add(out, "\n");
}

static void csv_row(const Report *r, const Value *values, TextBuf *out)
{
    for (size_t i = 0; i < r->spec.column_count; i++) {
        text_add(out, i ? "," : "");
        put_value(out, &csv_form, &values[i]);
    }
    text_add(out, "\n");
}

static const ReportWriter report_csv = {csv_begin, csv_row, NULL};

/* ---- JSON ---- */

static void put_json_shape(TextBuf *out, const Shape *shape)
{
    text_add(out, "[");
    for (int i = 0; i < shape->rank; i++)
        text_addf(out, "%s%zu", i ? ", " : "", shape->dim[i]);
    text_add(out, "]");
}

static const ValueForm json_form = {"null", json_put_text, put_json_shape};

static void put_json_row(TextBuf *out, const Column *columns, size_t count, const Value *values)
{
    text_add(out, "{");
    for (size_t i = 0; i < count; i++) {
        text_add(out, i ? ", " : "");
        json_put_text(out, columns[i].name);
        text_add(out, ": ");
        put_value(out, &json_form, &values[i]);
    }
    text_add(out, "}");
}

char *report_json_row(const Column *columns, size_t count, const Value *values, Arena *a)
{
    TextBuf out = {.arena = a};
    put_json_row(&out, columns, count, values);
    return text_done(&out);
}

static void json_begin(const Report *r, TextBuf *out)
{
    text_add(out, "{\"schema\": ");
    json_put_text(out, r->spec.schema);
    text_add(out, ",\n\"meta\": {");
    for (size_t i = 0; i < r->spec.facts; i++) {
        text_add(out, i ? ",\n  " : "\n  ");
        json_put_text(out, r->spec.meta[i].name);
        text_add(out, ": ");
        put_value(out, &json_form, &r->spec.meta[i].value);
    }
    text_add(out, "},\n\"results\": [");
}

static void json_row(const Report *r, const Value *values, TextBuf *out)
{
    text_add(out, r->rows ? ",\n  " : "\n  ");
    put_json_row(out, r->spec.columns, r->spec.column_count, values);
}

static void json_end(const Report *r, TextBuf *out)
{
    (void)r;
    text_add(out, "\n]}\n");
}

static const ReportWriter report_json = {json_begin, json_row, json_end};

/* ---- the formats ---- */

static const ReportWriter *writer_of(Format format)
{
    static const ReportWriter *const writers[] = {
        [FORMAT_TABLE] = &report_table, [FORMAT_CSV] = &report_csv,     [FORMAT_JSON] = &report_json,
        [FORMAT_MD] = &report_md,       [FORMAT_LATEX] = &report_latex,
    };
    return writers[format];
}

static Status cannot_write(const Report *r, Error *err)
{
    return FAIL(err, ERR_IO, "%s: cannot write: %s", r->spec.path ? r->spec.path : "standard output",
                errno ? strerror(errno) : "some of it was lost");
}

/* Puts '?' for characters that steer a terminal in a line of CSV, which has them as they are elsewhere. */
static void make_line_printable(TextBuf *line)
{
    line->data[line->size - 1] = '\0'; /* its line end */
    text_make_printable(line->data);
    line->size = strlen(line->data);
    line->data[line->size++] = '\n';
}

static Status put_out(Report *r, TextBuf *text, Error *err)
{
    TRY(arena_check(text_done(text), r->a, err));
    if (r->terminal && r->spec.format == FORMAT_CSV && text->size)
        make_line_printable(text);
    errno = 0;
    return fwrite(text->data, 1, text->size, r->out.to) == text->size ? OK : cannot_write(r, err);
}

static const Value *fact(const Report *r, const char *name)
{
    for (size_t i = 0; i < r->spec.facts; i++)
        if (!strcmp(r->spec.meta[i].name, name) && r->spec.meta[i].value.type == VALUE_INT)
            return &r->spec.meta[i].value;
    return NULL;
}

/* Returns the index of the column called `name`; the number of columns if there is none. */
static size_t find_column(const Report *r, const char *name)
{
    size_t i = 0;
    while (i < r->spec.column_count && strcmp(r->spec.columns[i].name, name) != 0)
        i++;
    return i;
}

/* Appends "before NUMBER after" for a fact that exists. */
static void put_fact(TextBuf *out, const Value *fact, const char *before, const char *after)
{
    if (fact)
        text_addf(out, "%s%s%lld%s", out->size ? ", " : "", before, (long long)fact->whole, after);
}

/* Adds "seed 5", or "seeds 5 to 7" for three runs. */
static void put_seeds(TextBuf *out, const Value *seed, const Value *seeds)
{
    char last[32];
    const bool several = seed && seeds && seeds->whole > 1;
    snprintf(last, sizeof last, " to %lld", several ? (long long)(seed->whole + seeds->whole - 1) : 0LL);
    put_fact(out, seed, several ? "seeds " : "seed ", several ? last : "");
}

/* Returns the heading of a column. If the report has the fact `repeats`, or has the fact `workers` and no
 * column of that name, the heading of the column of compressors (else of the first column) also gives these
 * numbers and the seed. */
static const char *heading(const Report *r, size_t column)
{
    const char *head = field_heading(r->spec.columns[column].name, r->spec.format != FORMAT_LATEX, r->a);
    const size_t none = r->spec.column_count, named = find_column(r, "compressor");
    const Value *repeats = fact(r, "repeats"),
                *workers = find_column(r, "workers") < none ? NULL : fact(r, "workers");
    if (column != (named < none ? named : 0) || !(repeats || workers) || !head)
        return head;
    TextBuf run = {.arena = r->a};
    put_fact(&run, repeats, "R = ", "");
    put_fact(&run, workers, "", workers && workers->whole == 1 ? " worker" : " workers");
    put_seeds(&run, fact(r, "seed"), fact(r, "seeds"));
    const char *facts = text_done(&run);
    return facts ? text_format(r->a, "%s (%s)", head, facts) : NULL;
}

/* Returns the heading with '?' for characters that steer a terminal: the column's name may come from a file. */
static const char *printable_heading(const Report *r, size_t column)
{
    const char *head = heading(r, column);
    char *copy = head ? text_copy(r->a, head) : NULL;
    if (copy)
        text_make_printable(copy);
    return copy;
}

/* Sets the headings of the shown columns if the format is a table. False: out of memory. */
static bool head_columns(Report *r)
{
    const size_t columns = r->spec.column_count;
    if (writer_of(r->spec.format)->row)
        return true;
    r->title = NEW_ZERO(r->a, const char *, columns + 1);
    for (size_t i = 0; r->title && i < columns; i++)
        if (r->spec.columns[i].shown) {
            r->title[i] = printable_heading(r, i);
            if (!r->title[i])
                return false;
        }
    return r->title;
}

/* Writes the beginning or the end of the output. */
static Status put_part(Report *r, void (*part)(const Report *r, TextBuf *out), Error *err)
{
    const ArenaMark mark = arena_mark(r->a);
    TextBuf text = {.arena = r->a};
    if (part)
        part(r, &text);
    const Status status = put_out(r, &text, err);
    arena_rewind(r->a, mark);
    return status;
}

Status report_open(Report **out, const ReportSpec *spec, Arena *a, Error *err)
{
    Report *r = NEW_ZERO(a, Report, 1);
    TRY(arena_check(r, a, err));
    r->spec = *spec;
    r->a = a;
    TRY(arena_check(head_columns(r), a, err));
    if (spec->path)
        TRY(outfile_open(&r->out, spec->path, a, err));
    else
        r->out.to = spec->to ? spec->to : stdout;
    r->terminal = !spec->path && isatty(fileno(r->out.to));
    const Status status = put_part(r, writer_of(spec->format)->begin, err);
    if (status != OK)
        report_abandon(r);
    *out = r;
    return status;
}

Status report_row(Report *r, const Value *row, bool shown, Error *err)
{
    const ReportWriter *writer = writer_of(r->spec.format);
    if (!writer->row)
        return !shown || report_keep(r, row) ? OK : arena_fail(r->a, err);
    const ArenaMark mark = arena_mark(r->a);
    TextBuf text = {.arena = r->a};
    writer->row(r, row, &text);
    const Status status = put_out(r, &text, err);
    arena_rewind(r->a, mark);
    r->rows++;
    return status;
}

Status report_close(Report *r, Error *err)
{
    const Status status = put_part(r, writer_of(r->spec.format)->end, err);
    if (status != OK) {
        report_abandon(r);
        return status;
    }
    if (r->spec.path)
        return outfile_commit(&r->out, err);
    errno = 0;
    return fflush(r->out.to) || ferror(r->out.to) ? cannot_write(r, err) : OK;
}

void report_abandon(Report *r)
{
    if (r && r->spec.path)
        outfile_abandon(&r->out);
}

Status report_finish(Report *r, Status written, Error *err)
{
    if (written == OK)
        return report_close(r, err);
    report_abandon(r);
    return written;
}

char *report_text(const ReportSpec *spec, const Value *rows, size_t count, Arena *a)
{
    const ReportWriter *writer = writer_of(spec->format);
    Report r = {.spec = *spec, .a = a};
    TextBuf text = {.arena = a};
    if (!head_columns(&r))
        return NULL;
    if (writer->begin)
        writer->begin(&r, &text);
    for (; r.rows < count; r.rows++) {
        const Value *row = rows + r.rows * spec->column_count;
        if (writer->row)
            writer->row(&r, row, &text);
        else if (!report_keep(&r, row))
            return NULL;
    }
    if (writer->end)
        writer->end(&r, &text);
    return text_done(&text);
}

size_t report_column(const Column *columns, const char *name)
{
    size_t i = 0;
    while (strcmp(columns[i].name, name) != 0)
        i++;
    return i;
}

/* ---- rows in the order of one field, for the option --sort ---- */

Status sort_check(const char *sort, Error *err)
{
    const char *rest = sort + strcspn(sort, ":");
    return !*rest || !strcmp(rest, ":desc")
               ? OK
               : FAIL(err, ERR_USAGE, "--sort %.60s: want FIELD or FIELD:desc", sort);
}

bool sort_is_by(const char *sort, const char *field)
{
    const size_t length = strlen(field);
    return sort && !strncmp(sort, field, length) && (!sort[length] || sort[length] == ':');
}

typedef struct {
    Value value;
    size_t row;
} SortKey;

static double number(const Value *v)
{
    return v->type == VALUE_BOOL ? (double)v->on : value_number(v);
}

enum { NUMBER, TEXT, NOTHING };

static int class_of(const Value *v)
{
    return !isnan(number(v)) ? NUMBER : v->type == VALUE_TEXT ? TEXT : NOTHING;
}

static int compare(const SortKey *v, const SortKey *w, int sign)
{
    const int class = class_of(&v->value), other = class_of(&w->value);
    const double a = number(&v->value), b = number(&w->value);
    const int order = class != other    ? 0
                      : class == NUMBER ? (a > b) - (a < b)
                      : class == TEXT   ? strcmp(v->value.text, w->value.text)
                                        : 0;
    return class != other ? class - other : order ? sign * order : (v->row > w->row) - (v->row < w->row);
}

static int upwards(const void *v, const void *w)
{
    return compare(v, w, 1);
}

static int downwards(const void *v, const void *w)
{
    return compare(v, w, -1);
}

static size_t key_column(const RowSet *s)
{
    size_t i = 0;
    while (s->sort && i + 1 < s->stride && !sort_is_by(s->sort, s->columns[i].name))
        i++;
    return i;
}

static Status write_group(const RowSet *s, size_t first, SortKey *key, Value *row, Report *r, Error *err)
{
    const size_t count = s->rows - first < s->group ? s->rows - first : s->group, by = key_column(s);
    for (size_t k = 0; k < count; k++)
        key[k] = (SortKey){s->cell[(first + k) * s->stride + by], first + k};
    if (s->sort)
        qsort(key, count, sizeof *key, strchr(s->sort, ':') ? downwards : upwards);
    for (size_t k = 0; k < count; k++) {
        const size_t at = key[k].row;
        const Value *cell = s->cell + at * s->stride;
        if (s->have && !s->have[at])
            continue;
        for (size_t i = 0; i < s->count; i++)
            row[i] = cell[cell[s->written[i].at].type == VALUE_NONE ? s->written[i].instead : s->written[i].at];
        TRY(report_row(r, row, !s->shown || s->shown[at], err));
    }
    return OK;
}

Status rows_write(const RowSet *s, ReportSpec spec, Arena *a, Error *err)
{
    Report *r;
    Column *columns = NEW(a, Column, s->count + 1);
    SortKey *key = NEW(a, SortKey, s->group + 1);
    Value *row = NEW(a, Value, s->count + 1);
    TRY(arena_check(columns && key && row, a, err));
    for (size_t i = 0; i < s->count; i++)
        columns[i] = s->written[i].column;
    spec.columns = columns;
    spec.column_count = s->count;
    TRY(report_open(&r, &spec, a, err));
    Status status = OK;
    for (size_t first = 0; first < s->rows && status == OK; first += s->group)
        status = write_group(s, first, key, row, r, err);
    return report_finish(r, status, err);
}
