/* fuzz_report.c -- fuzzes the results that `report` reads. A file must be refused with a reason, or be shown in
 * every format. The CSV and the JSON that `report` writes must be readable and have the same number of rows. The
 * HTML table must have no element besides those that the program writes.
 *
 * Input: a result in CSV or JSON. */
#include "base/json.h"
#include "report/report_page.h"
#include "report/report_stored.h"
#include "rig/memory_file.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t json_rows(const char *text, size_t size, Arena *a)
{
    const Json *all;
    Error err;
    size_t count = 0;
    if (json_read(&all, text, size, a, &err) != OK)
        abort();
    const Json *results = json_member(all, "results");
    for (const Json *row = results ? results->first : NULL; row; row = row->next)
        count++;
    return count;
}

static void check_written(Format format, const char *text, size_t size, size_t rows, Arena *a)
{
    Error err;
    Csv again;
    if (format == FORMAT_CSV && (csv_parse(&again, "again", text, size, a, &err) != OK || again.rows != rows))
        abort();
    if (format == FORMAT_JSON && json_rows(text, size, a) != rows)
        abort();
    for (size_t i = 0; format != FORMAT_CSV && i < size; i++) /* CSV keeps every character */
        if ((unsigned char)text[i] < ' ' && !strchr("\t\r\n", text[i]))
            abort();
}

static void write_table(const Stored *s, const Query *query, const ResultKind *kind, Format format, Arena *a)
{
    Error err = {0};
    const char *text = NULL;
    ReportSpec spec = {.schema = "fuzz/1", .format = format, .text = &text};
    if (stored_facts(&spec, s->meta, NULL, a, &err) != OK)
        abort();
    const Status status = query_write(query, &s->table, kind, spec, a, &err);
    if (status == OK && query->all)
        check_written(format, text, strlen(text), s->table.rows, a);
    else if (status != OK && !*err.text)
        abort();
}

/* Aborts if the HTML has an element that page_table does not write. */
static void check_html(const char *html)
{
    static const char *const elements[] = {"table", "thead", "tbody", "tr", "th",      "td",
                                           "span",  "p",     "div",   "a",  "details", "summary",
                                           "input", "label", "b",     "br", "em"};
    for (const char *s = html; (s = strchr(s, '<')); s++) {
        const char *name = s + 1 + (s[1] == '/');
        const size_t length = strcspn(name, " >\n");
        size_t k = 0;
        while (k < countof(elements) &&
               (strlen(elements[k]) != length || strncmp(elements[k], name, length) != 0))
            k++;
        if (k == countof(elements))
            abort();
    }
}

static void write_page(const Csv *rows, const ResultKind *kind, Arena *a)
{
    TextBuf out = {.arena = a};
    RowRank *rank = NEW(a, RowRank, rows->rows);
    bool *used = NEW_ZERO(a, bool, 1000);
    if (!rank || !used || !rows->rows)
        return;
    result_rank(kind, rows, rank);
    const PageTable t = {
        .id = "r1", .file = "r.csv", .rows = rows, .rank = rank, .usual = kind->usual, .used = used};
    page_table(&out, &t, a);
    const char *html = text_done(&out);
    if (html)
        check_html(html);
}

static void show(const Stored *s, Arena *a)
{
    const char *why = NULL;
    const ResultKind *kind = result_kind(s, &why);
    Csv times;
    Error err = {0};
    if (!kind && !why)
        abort();
    for (int people = 0; people < 2; people++)
        for (Format format = FORMAT_TABLE; format <= FORMAT_LATEX; format++) {
            const Query query = {.all = people, .people = people};
            write_table(s, &query, kind, format, a);
        }
    if (kind)
        write_page(&s->table, kind, a);
    (void)!speedup_rows(&times, &s->table, "none", a, &err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[MEMORY_PATH];
    const int fd = memory_file(data, size, path);
    Arena *a = arena_open((size_t)1 << 28);
    Error err = {0};
    Stored s;
    if (stored_load(&s, path, a, &err) != OK && !*err.text)
        abort();
    if (!*err.text && s.whole)
        show(&s, a);
    close(fd);
    arena_close(a);
    return 0;
}
