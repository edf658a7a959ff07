/* plot_data.c -- results read back, whichever way they were written. */
#include "plot.h"
#include "report_stored.h"

void plot_put_plain(TextBuf *out, char c)
{
    const char printable[2] = {c < 0x20 || c > 0x7e ? '?' : c, 0};
    text_add(out, c == '"' ? "''" : c == ',' ? ";" : c == '\\' ? "\\\\" : printable);
}

char *plot_name(const char *s, Arena *a)
{
    TextBuf out = {.arena = a};
    for (; *s; s++)
        plot_put_plain(&out, *s);
    return text_done(&out);
}

Status plot_load(Csv *out, const char *path, Arena *a, Error *err)
{
    Stored stored;
    TRY(stored_load(&stored, path, a, err));
    *out = stored.table;
    return OK;
}
