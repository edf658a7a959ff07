/* cli_help.c -- prints --help from the table of options. */
#include "app/cli_rows.h"

#include "report/fields.h"

#include <math.h>
#include <string.h>

enum { WIDTH = 80, INDENT = 26 };

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
        return bytes ? text_format(a, "%llu%s", (unsigned long long)(whole ? bytes >> 20 : bytes),
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

/* Returns the help text followed by "(range, default D, also --alias)", with the parts that the option has. */
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

/* Prints `text` in lines of WIDTH that begin at column `indent`, where the cursor is already. */
static void print_wrapped(FILE *to, const char *text, size_t indent)
{
    size_t column = indent;
    while (*text) {
        const size_t word = strcspn(text, " "), gap = column > indent;
        if (gap && column + gap + word > WIDTH) {
            fprintf(to, "\n%*s", (int)indent, "");
            column = indent;
        } else if (gap) {
            fputc(' ', to);
            column++;
        }
        fwrite(text, 1, word, to);
        column += word;
        text += word + strspn(text + word, " ");
    }
    fputc('\n', to);
}

static void print_option(FILE *to, const Option *o, Arena *a)
{
    char letter[5] = "";
    if (o->letter)
        snprintf(letter, sizeof letter, "-%c, ", o->letter);
    const int used = fprintf(to, "  %4s--%s%s%s", letter, o->name, o->arg ? " " : "", o->arg ? o->arg : "");
    if (used > INDENT - 2)
        fprintf(to, "\n%*s", INDENT, "");
    else
        fprintf(to, "%*s", INDENT - used, "");
    const char *text = describe(o, a);
    print_wrapped(to, text ? text : o->help, INDENT);
}

static void print_details(FILE *to, const char *details, Arena *a)
{
    for (const char *line = details; line && *line;) {
        const size_t length = strcspn(line, "\n");
        char *copy = text_slice(a, line, length);
        if (copy && *copy == ' ')
            fprintf(to, "%s\n", copy);
        else if (copy)
            print_wrapped(to, copy, 0);
        line += length + (line[length] == '\n');
    }
}

static void print_examples(FILE *to, const Command *c)
{
    if (c->examples)
        fputs("\nexamples:\n", to);
    for (const char *line = c->examples; line && *line;) {
        const size_t length = strcspn(line, "\n");
        fprintf(to, "  %s %s%s%.*s\n", c->program, c->command, length ? " " : "", (int)length, line);
        line += length + (line[length] == '\n');
    }
}

void cli_help(const Command *c, FILE *to, Arena *a)
{
    size_t count;
    const Option *rows = cli_rows(c, a, &count);
    fprintf(to, "usage: %s %s%s%s [OPTION]...\n\n%s\n", c->program, c->command,
            c->usage && *c->usage ? " " : "", c->usage ? c->usage : "", c->brief);
    print_examples(to, c);
    fputs("\noptions:\n", to);
    for (const Option *o = rows; o && o->name; o++)
        print_option(to, o, a);
    if (c->usage && !strncmp(c->usage, "FILE.h5", strlen("FILE.h5")))
        fputs("\nFILE.h5 is a file of gradients: HDF5, safetensors, .npz or .npy.\n", to);
    if (c->details && *c->details) {
        fputc('\n', to);
        print_details(to, c->details, a);
    }
    if (c->fields) {
        TextBuf text = {.arena = a};
        fields_explain(&text, c->fields);
        const char *lines = text_done(&text);
        fprintf(to, "\nfields:\n%s", lines ? lines : "");
    }
}
