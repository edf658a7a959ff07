/* cli_rows.c -- the table of options (cli_parts.h). */
#include "app/cli_parts.h"

#include "report/report.h"

#include <string.h>

static const char *const colors[] = {"auto", "always", "never", NULL};

enum { COMMON_ROWS = 9, EVERYONE = 0 };
static const Option help_row = OPTION('h', "help", NULL, (bool *)NULL, "print this help");

/* Writes to `out` the rows (entries of the table of options) for the common options whose bits are set in
 * `takes`. Returns the number of rows. */
static size_t common_rows(Common *c, unsigned takes, Option *out)
{
    const struct {
        unsigned takes;
        Option row;
    } all[COMMON_ROWS] = {
        {TAKES_SEED, OPTION(0, "seed", "N", &c->seed, "seed of all random numbers", .high = 0x1p63)},
        {TAKES_THREADS, OPTION(0, "threads", "N", &c->threads,
                               "number of threads; results do not depend on it", .low = 1, .high = 1024)},
        {TAKES_FORMAT,
         OPTION('f', "format", "NAME", &c->format, "format of the results", .choices = report_formats)},
        {TAKES_OUTPUT,
         OPTION('o', "output", "FILE", &c->output,
                takes & TAKES_FORMAT ? "write results to FILE, completely or not at all; its ending "
                                       "(csv, json, md, tex, txt) sets the format; - is standard output"
                                     : "write FILE, completely or not at all")},
        {TAKES_OUTPUT | TAKES_FORCE,
         OPTION(0, "force", NULL, &c->force,
                "replace a file of gradients, payloads or records of a run; tables, figures and pages need it not")},
        {TAKES_RESUME, OPTION(0, "resume", NULL, &c->resume, "continue an interrupted run")},
        {EVERYONE, OPTION('q', "quiet", NULL, &c->quiet, "no progress bar")},
        {EVERYONE,
         OPTION('v', "verbose", NULL, &c->verbose, "print each part that is finished")},
        {EVERYONE, OPTION(0, "color", "WHEN", &c->color, "colours in tables", .choices = colors)},
    };
    size_t count = 0;
    for (size_t i = 0; i < COMMON_ROWS; i++)
        if (all[i].takes == EVERYONE || (all[i].takes & takes))
            out[count++] = all[i].row;
    return count;
}

const Option *cli_rows(const Command *command, Arena *a, size_t *count)
{
    size_t own = 0;
    while (command->options && command->options[own].name)
        own++;
    Option *rows = NEW_ZERO(a, Option, own + COMMON_ROWS + 2);
    if (!rows)
        return NULL;
    if (own)
        memcpy(rows, command->options, own * sizeof *rows);
    if (command->common)
        own += common_rows(command->common, command->takes, rows + own);
    rows[own] = help_row;
    *count = own + 1;
    return rows;
}

static bool is_called(const char *name, const char *word, size_t length)
{
    return name && strlen(name) == length && !strncmp(name, word, length);
}

const Option *cli_option(const Option *rows, const char *word)
{
    const bool wide = !strncmp(word, "--", 2);
    const size_t length = wide ? strcspn(word + 2, "=") : 0;
    for (const Option *o = rows; *word == '-' && o->name; o++)
        if (wide ? is_called(o->name, word + 2, length) || is_called(o->alias, word + 2, length)
                 : o->letter && word[1] == o->letter && !word[2])
            return o;
    return NULL;
}

/* Writes a limit of an option's range as text; whole numbers have no exponent. The limit 2^63 does not fit
 * int64_t and is written as the largest int64_t. */
static const char *limit(const Option *o, double v, char out[32])
{
    if (o->type == CLI_INT)
        snprintf(out, 32, "%lld", v >= 0x1p63 ? (long long)INT64_MAX : (long long)v);
    else
        text_double(out, v);
    return out;
}

const char *cli_range(const Option *o, char out[96])
{
    char low[32], high[32];
    const char *const kind = o->type == CLI_INT ? "a whole number" : "a number";
    /* an upper limit near that of float32 means "no limit", so the range of a real number does not name it */
    const bool open = o->high >= 1e30;
    size_t used = 0;
    if (o->type == CLI_CHOICE) {
        for (size_t i = 0; o->choices[i] && used < 96; i++)
            used += (size_t)snprintf(out + used, 96 - used, "%s%s", i ? "|" : "", o->choices[i]);
    } else if (o->type == CLI_SIZE) {
        snprintf(out, 96, "bytes, such as 4096, 512M or 2G");
    } else if (o->low == 0 && o->high == 0) {
        snprintf(out, 96, "%s", kind);
    } else if (open && o->type == CLI_REAL) {
        snprintf(out, 96, "%s from %s", kind, text_double(low, o->low));
    } else {
        snprintf(out, 96, "%s to %s", limit(o, o->low, low), limit(o, o->high, high));
    }
    return out;
}
