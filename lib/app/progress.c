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

/* Cuts the text to its first `count` characters. */
static void cut(char *s, size_t count)
{
    for (; *s && count; count--) {
        const size_t bytes = text_utf8(s, strnlen(s, 4));
        s += bytes ? bytes : 1;
    }
    *s = 0;
}

/* Draws "comparing [########------------]  12/30 records  0:05 left  3.4 records/s  svd on fc1.weight", cut to the width of the
 * terminal, because a bar that wraps cannot be erased. */
static void draw(Progress *p, double elapsed)
{
    char line[LINE], bar[BAR + 1], left[24] = "?";
    const double share = p->total ? (double)p->done / (double)p->total : 0;
    const double rate = (double)(p->done - p->old) / elapsed;
    const size_t full = share < 1 ? (size_t)(share * BAR) : BAR;
    memset(bar, '-', BAR);
    memset(bar, '#', full);
    bar[BAR] = 0;
    if (rate > 0 && p->done <= p->total)
        put_duration(left, (double)(p->total - p->done) / rate);
    snprintf(line, sizeof line, "%s [%s]  %" PRIu64 "/%" PRIu64 " %s  %s left  %.3g %s/s  %s", p->what, bar, p->done, p->total,
             p->unit, left, rate, p->unit, p->at);
    cut(line, terminal_width());
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
