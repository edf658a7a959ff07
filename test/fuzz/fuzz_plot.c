/* fuzz_plot.c -- fuzzes the data of figures. Each kind of figure must refuse a result with a reason, or pick rows
 * from it. The picked rows must be a CSV of printable UTF-8, so that gnuplot reads them correctly and a text of the
 * result cannot run a command.
 *
 * Input: a result in CSV or JSON. */
#include "report/plot.h"
#include "rig/memory_file.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_text(const char *text, size_t rows, Arena *a)
{
    Error err;
    Csv again;
    size_t bytes;
    for (const char *s = text; *s; s += bytes) {
        bytes = text_utf8(s, strnlen(s, 4));
        if (!bytes || (*s != '\n' && text_steers(s, bytes)) || *s == '\\' || *s == '`')
            abort();
    }
    if (csv_parse(&again, "figure", text, strlen(text), a, &err) != OK || again.rows != rows)
        abort();
}

static void draw(const PlotKind *kind, const Csv *table, Arena *a)
{
    Error err = {0};
    Value *rows;
    size_t count;
    char *text;
    Status status = plot_rows(kind, table, &rows, &count, a, &err);
    if (status == OK) {
        status = plot_text(kind, table, NULL, &text, a, &err);
        if (status == OK)
            check_text(text, count, a);
    }
    if (status != OK && (!*err.text || strchr(err.text, '\n')))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[MEMORY_PATH];
    const int fd = memory_file(data, size, path);
    Arena *a = arena_open((size_t)1 << 28);
    Error err = {0};
    Csv table;
    if (plot_load(&table, path, a, &err) == OK) {
        for (const PlotKind *const *kind = plot_kinds; *kind; kind++)
            draw(*kind, &table, a);
        Csv twice = table; /* as if two files had the same records */
        if (plot_append(&twice, &table, a, &err) == OK && twice.rows != 2 * table.rows)
            abort();
    } else if (!*err.text) {
        abort();
    }
    close(fd);
    arena_close(a);
    return 0;
}
