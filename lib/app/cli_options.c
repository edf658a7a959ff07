/* cli_options.c -- the table of options, the width of the terminal, and completion of command lines for shells. */
#include "app/cli.h"

#include "compress/spec.h"
#include "exchange/net.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* ---- what the reader of stdout can take: colours and characters a line ---- */

bool cli_color(const Common *common)
{
    enum { AUTO, ALWAYS, NEVER };
    const char *plain = getenv("NO_COLOR"), *term = getenv("TERM");
    if (common->color != AUTO)
        return common->color == ALWAYS;
    /* mpirun gives ranks a terminal of its own, whatever becomes of their output */
    return !(plain && *plain) && term && strcmp(term, "dumb") != 0 && !net_under_launcher() &&
           isatty(STDOUT_FILENO);
}

size_t cli_width(const Common *common)
{
    const char *columns = getenv("COLUMNS");
    int64_t wanted = 0;
    struct winsize size;
    if (common->output)
        return 0;
    if (columns && text_to_int(columns, &wanted) && wanted > 0)
        return (size_t)wanted;
    if (!isatty(STDOUT_FILENO))
        return 0;
    return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

size_t cli_help_width(void)
{
    enum { WIDTH = 80 };
    const size_t width = cli_width(&(Common){0});
    return width && width < WIDTH ? width : WIDTH;
}

/* ---- the table ---- */

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

/* ==== completion of command lines for shells ==== */

/* Prints "BEFORE NAME AFTER", without the spaces, if NAME begins with `typed`. */
static void offer(FILE *to, const char *before, size_t length, const char *typed, const char *name,
                  const char *after)
{
    if (!strncmp(name, typed, strlen(typed)))
        fprintf(to, "%.*s%s%s\n", (int)length, before, name, after);
}

static const char *behind_last(const char *text, char separator)
{
    const char *at = strrchr(text, separator);
    return at ? at + 1 : text;
}

/* Offers codecs for the last stage or alternative of a spec, unless it has keys already. `before`: the text that stands before
 * the spec in the same word. */
static void offer_spec(FILE *to, const char *before, const char *typed, Arena *a)
{
    const char *word = text_format(a, "%s%s", before, typed);
    const char *stage = word ? behind_last(word + strlen(before), '+') : ":", *part = behind_last(stage, '/');
    const Compressor *c;
    for (size_t i = 0; !strchr(stage, ':') && (c = compressor_number(i)); i++) {
        if (!c->wraps || c->alone[0])
            offer(to, word, (size_t)(part - word), part, c->name, "");
        if (c->wraps)
            offer(to, word, (size_t)(part - word), part, c->name, "+");
    }
}

/* ---- values of options and arguments ---- */

static void offer_value(FILE *to, const Option *o, const char *before, const char *typed, Arena *a)
{
    const size_t length = strlen(before);
    if (o->type == CLI_CHOICE)
        for (size_t i = 0; o->choices[i]; i++)
            offer(to, before, length, typed, o->choices[i], "");
    if (o->arg && !strcmp(o->arg, "SPEC"))
        offer_spec(to, before, typed, a);
    const char *last = o->listed ? behind_last(typed, ',') : typed;
    const char *all = text_format(a, "%s%.*s", before, (int)(last - typed), typed);
    for (size_t i = 0; all && o->names && o->names(NULL, i); i++)
        offer(to, all, strlen(all), last, o->names(NULL, i), "");
}

/* Offers values of the first word. Other arguments are names of files. */
static void offer_argument(FILE *to, const Command *command, const char *typed, Arena *a)
{
    if (!strcmp(command->command, "list"))
        offer_spec(to, "", typed, a);
    for (size_t i = 0; command->names && command->names(NULL, i); i++)
        offer(to, "", 0, typed, command->names(NULL, i), "");
}

/* ---- words ---- */

void cli_complete(const Command *command, int count, char **words, FILE *to, Arena *a)
{
    size_t rows_count;
    const Option *rows = cli_rows(command, a, &rows_count);
    if (!rows || count < 1)
        return;
    const char *typed = words[count - 1], *equals = strchr(typed, '=');
    const Option *before = count > 1 ? cli_option(rows, words[count - 2]) : NULL,
                 *here = !strncmp(typed, "--", 2) && equals ? cli_option(rows, typed) : NULL;
    if (here)
        offer_value(to, here, text_slice(a, typed, (size_t)(equals + 1 - typed)), equals + 1, a);
    else if (before && before->type != CLI_SWITCH && !strchr(words[count - 2], '='))
        offer_value(to, before, "", typed, a);
    else if (*typed == '-')
        for (const Option *o = rows; o->name; o++)
            offer(to, "--", 2, typed[1] == '-' ? typed + 2 : typed + 1, o->name, "");
    else if (count == 1)
        offer_argument(to, command, typed, a);
}
