/* cli_help.c -- prints --help from the table of options. */
#include "app/cli_parts.h"

#include "report/fields.h"

#include <math.h>
#include <string.h>

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
