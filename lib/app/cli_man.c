/* cli_man.c -- implements cli_man.h. */
#include "app/cli_man.h"

#include "app/cli_rows.h"
#include "app/codec_doc.h"
#include "compress/names.h"
#include "report/fields.h"

#include <ctype.h>
#include <string.h>

/* ---- text ---- */

/* Writes text with the escapes of roff. At the start of a line a dot or quote would begin a request. */
static void put(FILE *to, const char *text, bool line_start)
{
    for (const char *s = text; *s; s++) {
        if (line_start && (*s == '.' || *s == '\''))
            fputs("\\&", to);
        if (*s == '\\')
            fputs("\\e", to);
        else if (*s == '-')
            fputs("\\-", to);
        else
            fputc(*s, to);
        line_start = *s == '\n';
    }
}

/* Writes text as a paragraph. Each sentence begins a new line, as roff wants it. Lines are broken at LINE
 * bytes; only a longer word exceeds them. */
static void put_paragraph(FILE *to, const char *text)
{
    enum { LINE = 76 };
    size_t used = 0;
    for (const char *word = text, *end; *(word += strspn(word, " \n")); word = end) {
        char copy[LINE];
        size_t length = strcspn(word, " \n"), dashes = 0;
        end = word + length;
        for (size_t i = 0; i < length; i++)
            dashes += word[i] == '-'; /* written as two bytes */
        if (used && used + 1 + length + dashes > LINE) {
            fputc('\n', to);
            used = 0;
        }
        fputs(used ? " " : "", to);
        for (const char *at = word; at < end; at += length) {
            length = end - at < LINE - 1 ? (size_t)(end - at) : LINE - 1;
            memcpy(copy, at, length);
            copy[length] = 0;
            put(to, copy, !used && at == word);
        }
        used += (used > 0) + (size_t)(end - word) + dashes;
        if (strchr(".!?", end[-1]) && *end == ' ' && isupper((unsigned char)end[1])) {
            fputc('\n', to);
            used = 0;
        }
    }
    fputs(used ? "\n" : "", to);
}

static void put_fixed(FILE *to, const char *text)
{
    fputs(".nf\n", to);
    put(to, text, true);
    fputs(text[0] && text[strlen(text) - 1] == '\n' ? ".fi\n" : "\n.fi\n", to);
}

static void put_title(FILE *to, const char *name, const char *section, const char *brief)
{
    fprintf(to, ".TH ");
    for (const char *s = name; *s; s++)
        if (*s == '-')
            fputs("\\-", to);
        else
            fputc(toupper((unsigned char)*s), to);
    fprintf(to, " %s @date@ atomo\n.SH NAME\n", section);
    put(to, name, true);
    fputs(" \\-\n", to);
    put_paragraph(to, brief);
}

/* ---- the page of a subcommand ---- */

static void put_options(FILE *to, const Command *c, Arena *a)
{
    size_t count;
    const Option *rows = cli_rows(c, a, &count);
    fputs(".SH OPTIONS\n", to);
    for (const Option *o = rows; o && o->name; o++) {
        const char *text = cli_describe(o, a);
        fputs(".TP\n\\fB", to);
        if (o->letter)
            fprintf(to, "\\-%c\\fR, \\fB", o->letter);
        put(to, "--", false);
        put(to, o->name, false);
        fputs("\\fR", to);
        if (o->arg) {
            fputs(" \\fI", to);
            put(to, o->arg, false);
            fputs("\\fR", to);
        }
        fputc('\n', to);
        put_paragraph(to, text ? text : o->help);
    }
}

/* A line that begins with a space keeps its form, but a long one with two columns becomes an entry: its first column,
 * and below it the second, indented. Any other line becomes a paragraph. Empty lines are left out. */
static void put_details(FILE *to, const char *details, Arena *a)
{
    enum { LONG = 78 };
    bool fixed = false, first = true;
    fputs(".SH DESCRIPTION\n", to);
    for (const char *line = details, *end; *line; line = *end ? end + 1 : end) {
        end = line + strcspn(line, "\n");
        const char *copy = text_slice(a, line, (size_t)(end - line));
        const char *word = copy ? copy + strspn(copy, " ") : "", *gap = strstr(word, "  ");
        const bool entry = word != copy && gap && strlen(word) > LONG, keeps = word != copy && !entry;
        if (!*word)
            continue;
        if (fixed && !keeps)
            fputs(".fi\n", to);
        if (entry)
            fprintf(to, ".TP\n%.*s\n", (int)(gap - word), word);
        else if (!first && !(fixed && keeps))
            fputs(".PP\n", to);
        if (keeps && !fixed)
            fputs(".nf\n", to);
        put(to, keeps ? copy : "", true);
        fputs(keeps ? "\n" : "", to);
        put_paragraph(to, keeps ? "" : entry ? gap : word);
        fixed = keeps;
        first = false;
    }
    fputs(fixed ? ".fi\n" : "", to);
}

static void put_fields(FILE *to, const char *names)
{
    fputs(".SH FIELDS\n", to);
    for (const Field *f = fields; f->name; f++)
        if (text_listed(names, f->name)) {
            fputs(".TP\n\\fB", to);
            put(to, f->name, false);
            fputs("\\fR\n", to);
            put_paragraph(to, f->meaning);
        }
}

static void put_examples(FILE *to, const Command *c, Arena *a)
{
    TextBuf text = {.arena = a};
    for (const char *line = c->examples; line && *line;) {
        const size_t length = strcspn(line, "\n");
        text_addf(&text, "    %s %s %.*s\n", c->program, c->command, (int)length, line);
        line += length + (line[length] == '\n');
    }
    const char *all = text_done(&text);
    fputs(".SH EXAMPLES\n", to);
    put_fixed(to, all ? all : "");
}

void cli_man(const Command *c, FILE *to, Arena *a)
{
    const char *name = text_format(a, "%s-%s", c->program, c->command);
    if (!name)
        return;
    put_title(to, name, "1", c->brief);
    fprintf(to, ".SH SYNOPSIS\n.B %s %s\n", c->program, c->command);
    if (c->usage && *c->usage) {
        put(to, c->usage, true);
        fputc('\n', to);
    }
    fputs("[\\fIOPTION\\fR]...\n", to);
    if (c->details && *c->details)
        put_details(to, c->details, a);
    put_options(to, c, a);
    if (c->fields)
        put_fields(to, c->fields);
    if (c->examples)
        put_examples(to, c, a);
    fputs(
        ".SH \"EXIT STATUS\"\n0: done. 1: the work failed. 2: wrong usage. 130: stopped by a signal. A closed pipe ends the program by SIGPIPE.\n.SH \"SEE ALSO\"\n",
        to);
    fprintf(to, ".BR %s (1),\n.BR atomo (7)\n", c->program);
}

/* ---- the page of a program ---- */

void cli_man_program(const char *program, const char *brief, const Subcommand *table, FILE *to)
{
    put_title(to, program, "1", brief);
    fprintf(to, ".SH SYNOPSIS\n.B %s\n\\fICOMMAND\\fR [\\fIARGUMENT\\fR]...\n.SH COMMANDS\n", program);
    for (const Subcommand *c = table; c->name; c++) {
        fprintf(to, ".TP\n.BR %s\\-%s (1)\n", program, c->name);
        put_paragraph(to, c->brief);
    }
    fprintf(to, ".TP\n.B help \\fINAME\\fR\nDescribes a command or a codec.\n");
    fputs(
        ".SH \"EXIT STATUS\"\n0: done. 1: the work failed. 2: wrong usage. 130: stopped by a signal. A closed pipe ends the program by SIGPIPE.\n.SH \"SEE ALSO\"\n.BR atomo (7)",
        to);
    for (const Subcommand *c = table; c->name; c++)
        fprintf(to, ",\n.BR %s\\-%s (1)", program, c->name);
    fputc('\n', to);
}

/* ---- the page of all codecs ---- */

static void put_key(FILE *to, const Param *p)
{
    char range[96];
    fputs(".TP\n\\fB", to);
    put(to, p->key, false);
    fprintf(to, "\\fR=%s", p->fallback ? p->fallback : "");
    fputs(" (", to);
    put(to, param_range(p, range), false);
    fputs(")\n", to);
    put_paragraph(to, p->help);
}

static void put_codec(FILE *to, const Compressor *c, Arena *a)
{
    const CodecDoc doc = codec_doc(c, a);
    const char *flags = codec_doc_flags(&doc, a);
    fprintf(to, ".SS %s\n", c->name);
    put_paragraph(to, c->brief);
    if (flags && *flags) {
        fputs(".PP\nFlags:\n", to);
        put_paragraph(to, flags);
    }
    if (c->plain) {
        fputs(".PP\n", to);
        put_paragraph(to, c->plain);
    }
    if (c->use_when) {
        fputs(".PP\nUse it when\n", to);
        put_paragraph(to, c->use_when);
    }
    for (const Param *p = c->params; p && p->key; p++)
        put_key(to, p);
    if (c->formula) {
        fputs(".PP\n", to);
        put_fixed(to, c->formula);
    }
    if (c->paper) {
        fputs(".PP\n", to);
        put_paragraph(to, c->paper);
    }
}

void cli_man_codecs(FILE *to, Arena *a)
{
    put_title(to, "atomo", "7", "gradient compressors and their specs");
    fputs(".SH SPECS\nA spec is \\fINAME\\fR:\\fIkey\\fR=\\fIvalue\\fR,\\fIkey\\fR=\\fIvalue\\fR.\n"
          "A wrapper stands before another codec, as in ef+qsgd:bits=2.\n"
          "A slash separates alternatives: qsgd:bits=1/2/4 is three specs.\n.SH CODECS\n",
          to);
    for (const Compressor *const *c = compressors; *c; c++)
        put_codec(to, *c, a);
    fputs(".SH \"NAMES IN THE LITERATURE\"\n", to);
    for (const Literature *l = literature; l->title; l++) {
        fputs(".TP\n", to);
        put(to, l->title, true);
        fputc('\n', to);
        put(to, l->spec, true);
        fputs(l->note ? ":\n" : "\n", to);
        put_paragraph(to, l->note ? l->note : "");
    }
    fputs(".SH \"SEE ALSO\"\n.BR atomo\\-bench (1),\n.BR atomo\\-train (1)\n", to);
}
