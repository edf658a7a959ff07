/* fuzz_plot.c -- fuzzes the data of figures. Each kind of figure must refuse a result with a reason, or lay it out. No text of
 * the result may become a command of the script.
 *
 * Input: a result in CSV or JSON. */
#include "report/plot_figure.h"
#include "rig/memory_file.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The script is printable UTF-8 but for line ends, without the back quotes in which gnuplot would run a command outside apostrophes. */
static void check_script(const char *script)
{
    bool quoted = false;
    size_t bytes;
    for (const char *s = script; *s; s += bytes) {
        bytes = text_utf8(s, strnlen(s, 4));
        quoted ^= *s == '\'';
        if (!bytes || (*s != '\n' && text_steers(s, bytes)) || (!quoted && *s == '`') || (quoted && *s == '\n'))
            abort();
    }
}

static void draw(const PlotKind *kind, const Csv *table, Arena *a)
{
    Error err = {0};
    const PlotOptions look = {.x = kind->against ? kind->against[0] : "", .y = kind->up ? kind->up[0] : ""};
    PlotFigure f;
    char *script;
    const Status status = plot_script(kind, table, &look, ".svg", &f, &script, a, &err);
    if (status == OK)
        check_script(script);
    if (status != OK && (!*err.text || strchr(err.text, '\n')))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[MEMORY_PATH];
    const int fd = memory_file(data, size, path);
    Arena *a = arena_open((size_t)1 << 28);
    Error err = {0};
    Csv table = {0};
    if (plot_load(&table, path, a, &err) == OK) {
        for (const PlotKind *const *kind = plot_kinds; *kind; kind++)
            draw(*kind, &table, a);
        Csv twice = table; /* as if two files had the same records */
        if (plot_load(&twice, path, a, &err) == OK && twice.rows != 2 * table.rows)
            abort();
    } else if (!*err.text) {
        abort();
    }
    close(fd);
    arena_close(a);
    return 0;
}
