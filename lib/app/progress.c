/* progress.c -- implements progress.h. */
#include "app/progress.h"

#include "app/cli.h"
#include "base/text.h"
#include "measure/timing.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* seconds before the bar is first drawn, and between two redraws */
static const double PATIENCE = 1.0, PERIOD = 0.1;
enum { BAR = 20, LINE = 256 };
/* The parts of the bar beside count, time left and item. The first layout with which the widest item so far fits is drawn. */
static const struct {
    size_t cells;
    bool what, rate;
} layouts[] = {
    {BAR, true, true}, {BAR / 4, true, true}, {BAR / 4, true, false}, {0, true, false}, {0, false, false}};

void progress_open(Progress *p, const char *what, const char *unit, uint64_t total, bool quiet)
{
    const char *term = getenv("TERM");
    *p = (Progress){.what = what, .unit = unit, .total = total, .started = clock_now()};
    p->enabled = !quiet && isatty(STDERR_FILENO) && term && strcmp(term, "dumb") != 0;
}

void progress_at(Progress *p, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(p->at, sizeof p->at, format, args);
    va_end(args);
    text_make_printable(p->at);
    const size_t characters = text_characters(p->at, strlen(p->at));
    p->widest = characters > p->widest ? characters : p->widest;
}

/* Writes a duration as "3:07" or "1:02:03". */
static void put_duration(char out[24], double seconds)
{
    const unsigned s = seconds < 359999 ? (unsigned)seconds : 359999;
    if (s < 3600)
        snprintf(out, 24, "%u:%02u", s / 60, s % 60);
    else
        snprintf(out, 24, "%u:%02u:%02u", s / 3600, s / 60 % 60, s % 60);
}

static size_t terminal_width(void)
{
    struct winsize size;
    return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1 ? size.ws_col - 1u : 79;
}

/* Appends formatted text at *end, cut before `limit`. */
static void PRINTF(3) add(char **end, const char *limit, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const int length = vsnprintf(*end, (size_t)(limit - *end), format, args);
    va_end(args);
    *end += length < limit - *end ? length : limit - *end - 1;
}

/* Writes all but the item, in one of the layouts. Returns its end. */
static char *put_head(char *line, const char *limit, const Progress *p, double elapsed, size_t layout)
{
    char bar[BAR + 1], left[24] = "?", *end = line;
    const double share = p->total ? (double)p->done / (double)p->total : 0;
    const double rate = (double)(p->done - p->old) / elapsed;
    const size_t cells = layouts[layout].cells, full = share < 1 ? (size_t)(share * (double)cells) : cells;
    memset(bar, '-', cells);
    memset(bar, '#', full);
    bar[cells] = 0;
    if (rate > 0 && p->done <= p->total)
        put_duration(left, (double)(p->total - p->done) / rate);
    if (layouts[layout].what)
        add(&end, limit, "%s", p->what);
    if (cells)
        add(&end, limit, " [%s]", bar);
    add(&end, limit, "%s%" PRIu64 "/%" PRIu64 " %s  ", end > line ? "  " : "", p->done, p->total, p->unit);
    if (layouts[layout].rate)
        add(&end, limit, "%.3g %s/s  ", rate, p->unit);
    add(&end, limit, "%s left  ", left);
    return end;
}

/* Returns the part of s behind its first `count` characters. */
static const char *behind(const char *s, size_t count)
{
    for (; *s && count; count--) {
        const size_t bytes = text_utf8(s, strnlen(s, 4));
        s += bytes ? bytes : 1;
    }
    return s;
}

/* Writes the item into `room` characters, without its middle if it is longer. */
static void put_item(char **end, const char *limit, const char *item, size_t room)
{
    const size_t characters = text_characters(item, strlen(item));
    if (characters <= room) {
        add(end, limit, "%s", item);
    } else if (room > 2) {
        const size_t first = (room - 2) / 2;
        add(end, limit, "%.*s..%s", (int)(behind(item, first) - item), item,
            behind(item, characters - (room - 2 - first)));
    }
}

/* Draws "comparing [########------------]  12/30 records  3.4 records/s  0:05 left  svd on fc1.weight", no wider than the
 * terminal, because a bar that wraps cannot be erased. */
static void draw(Progress *p, double elapsed)
{
    char line[LINE], *end = line;
    const char *limit = line + sizeof line;
    const size_t width = terminal_width();
    for (size_t layout = 0; layout < countof(layouts); layout++) {
        end = put_head(line, limit, p, elapsed, layout);
        if ((size_t)(end - line) + p->widest <= width)
            break;
    }
    if ((size_t)(end - line) <= width)
        put_item(&end, limit, p->at, width - (size_t)(end - line));
    else
        line[width] = 0;
    fprintf(stderr, "\r%s\033[K", line);
    fflush(stderr);
    p->visible = true;
}

static void wipe(Progress *p)
{
    if (p->visible)
        fputs("\r\033[K", stderr);
    p->visible = false;
}

void progress_step(Progress *p, uint64_t done)
{
    p->done = done;
    if (!p->enabled)
        return;
    const double t = clock_now();
    if (t - p->started < PATIENCE || t - p->drawn < PERIOD)
        return;
    p->drawn = t;
    draw(p, t - p->started);
}

bool progress_tick(void *p, uint64_t done, const char *at)
{
    progress_at(p, "%s", at);
    progress_step(p, done);
    return !cli_stopped();
}

void progress_note(Progress *p, const char *format, ...)
{
    char text[2048];
    const bool again = p->visible;
    va_list args;
    wipe(p);
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    text_make_printable(text);
    fprintf(stderr, "%s\n", text);
    if (again)
        draw(p, clock_now() - p->started);
}

void progress_close(Progress *p)
{
    wipe(p);
    p->enabled = false;
}
