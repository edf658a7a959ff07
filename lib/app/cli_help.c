/* cli_help.c -- the table of options, and --help made from it, in the width of the terminal. */
#include "app/cli_parts.h"

#include "exchange/net.h"
#include "report/fields.h"

#include <math.h>
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

/* ---- --help ---- */

enum { INDENT = 26, NARROW = 60, NARROW_INDENT = 8 };

/* Returns the option's default as text: the value of the option's target before parsing. Returns NULL if the
 * help shows no default, because the option is unset, off, or outside its range. */
static const char *default_text(const Option *o, Arena *a)
{
    char out[32];
    const double real = o->type == CLI_INT    ? (double)*(const int64_t *)o->target
                        : o->type == CLI_REAL ? *(const double *)o->target
                                              : 0;
    const bool any = o->low == 0 && o->high == 0;
    switch (o->type) {
    case CLI_INT:
        return any || (real >= o->low && real <= o->high) ? text_format(a, "%.0f", real) : NULL;
    case CLI_REAL:
        if (isnan(real) || (!any && (real < o->low || real > o->high)))
            return NULL;
        return text_copy(a, text_double(out, real));
    case CLI_TEXT:
        return *(const char **)o->target;
    case CLI_CHOICE:
        return o->choices[*(const int *)o->target];
    case CLI_SIZE: {
        const uint64_t bytes = ((const Bytecount *)o->target)->bytes;
        const bool whole = bytes % (1 << 20) == 0;
        return bytes
                   ? text_format(a, "%llu%s", (unsigned long long)(whole ? bytes >> 20 : bytes),
                                 whole ? "M" : "")
                   : NULL;
    }
    default:
        return NULL;
    }
}

static void add_note(TextBuf *out, const char *before, const char *note)
{
    text_addf(out, "%s%s%s", out->size ? ", " : "", before, note);
}

/* Returns an option's help followed by "(range, default D, also --alias)", with the parts that the option has. NULL: out
 * of memory. */
static const char *describe(const Option *o, Arena *a)
{
    char range[96];
    TextBuf notes = {.arena = a};
    const char *standing = default_text(o, a);
    if (o->type == CLI_CHOICE || o->low != 0 || (o->high != 0 && o->high < 1e15))
        add_note(&notes, "", cli_range(o, range));
    if (standing)
        add_note(&notes, "default ", standing);
    if (o->alias)
        add_note(&notes, "also --", o->alias);
    return notes.size ? text_format(a, "%s (%s)", o->help, text_done(&notes)) : o->help;
}

static void put_option(TextBuf *out, const Option *o, size_t width, Arena *a)
{
    const int indent = width < NARROW ? NARROW_INDENT : INDENT;
    char letter[5] = "";
    const size_t start = out->size;
    if (o->letter)
        snprintf(letter, sizeof letter, "-%c, ", o->letter);
    text_addf(out, "  %4s--%s%s%s", letter, o->name, o->arg ? " " : "", o->arg ? o->arg : "");
    const int used = (int)(out->size - start);
    text_addf(out, used > indent - 2 ? "\n%*s" : "%*s", used > indent - 2 ? indent : indent - used, "");
    const char *text = describe(o, a);
    text_wrap(out, text ? text : o->help, (size_t)indent, width);
    text_add(out, "\n");
}

/* Appends a line that begins with spaces. A line longer than `width` is folded: if its second column begins in the
 * left half, only that column; otherwise the whole line, which continues two spaces further in. */
static void put_fixed(TextBuf *out, const char *line, size_t width)
{
    const size_t length = strlen(line), indent = strspn(line, " ");
    const char *gap = strstr(line + indent, "  ");
    const size_t second = gap ? (size_t)(gap - line) + strspn(gap, " ") : length;
    if (text_characters(line, length) <= width) {
        text_add(out, line);
    } else if (second < width / 2) {
        text_add_bytes(out, line, second);
        text_wrap(out, line + second, second, width);
    } else {
        text_addf(out, "%*s", (int)indent, "");
        text_wrap(out, line + indent, indent + 2, width);
    }
}

static void put_details(TextBuf *out, const char *details, size_t width, Arena *a)
{
    for (const char *line = details; line && *line;) {
        const size_t length = strcspn(line, "\n");
        const char *copy = text_slice(a, line, length);
        if (copy && *copy == ' ')
            put_fixed(out, copy, width);
        else
            text_wrap(out, copy ? copy : "", 0, width);
        text_add(out, "\n");
        line += length + (line[length] == '\n');
    }
}

static void put_examples(TextBuf *out, const Command *c)
{
    text_add(out, c->examples ? "\nexamples:\n" : "");
    for (const char *line = c->examples; line && *line;) {
        const size_t length = strcspn(line, "\n");
        text_addf(out, "  %s %s%s%.*s\n", c->program, c->command, length ? " " : "", (int)length, line);
        line += length + (line[length] == '\n');
    }
}

void cli_help(const Command *c, FILE *to, Arena *a)
{
    TextBuf out = {.arena = a};
    size_t count;
    const Option *rows = cli_rows(c, a, &count);
    const size_t width = cli_help_width();
    const char *usage = text_format(a, "%s %s%s%s [OPTION]...", c->program, c->command,
                                    c->usage && *c->usage ? " " : "", c->usage ? c->usage : "");
    text_add(&out, "usage: ");
    text_wrap(&out, usage ? usage : "", strlen("usage: "), width);
    text_add(&out, "\n\n");
    text_wrap(&out, c->brief, 0, width);
    text_add(&out, "\n");
    put_examples(&out, c);
    text_add(&out, "\noptions:\n");
    for (const Option *o = rows; o && o->name; o++)
        put_option(&out, o, width, a);
    if (c->usage && !strncmp(c->usage, "FILE.h5", strlen("FILE.h5"))) {
        text_add(&out, "\n");
        text_wrap(&out, "FILE.h5 is a file of gradients: HDF5, safetensors, .npz or .npy.", 0, width);
        text_add(&out, "\n");
    }
    if (c->details && *c->details) {
        text_add(&out, "\n");
        put_details(&out, c->details, width, a);
    }
    if (c->fields) {
        text_add(&out, "\nfields:\n");
        fields_explain(&out, c->fields, width);
    }
    const char *text = text_done(&out);
    fputs(text ? text : "", to);
}
