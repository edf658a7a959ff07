/* report.c -- takes the rows of a report and writes them to a file or stdout. A file is written whole or not
 * at all. */
#include "base/text.h"
#include "report/fields.h"
#include "report/report_table.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

const char *const report_formats[] = {"table", "csv", "json", "md", "latex", NULL};

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
