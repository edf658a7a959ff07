/* cli_man.c -- manual pages (cli_parts.h). */
#include "app/cli_parts.h"

#include "app/codec_doc.h"
#include "compress/spec.h"
#include "report/fields.h"

#include <ctype.h>
#include <string.h>

/* ---- text ---- */

/* Adds text with the escapes of roff. At the start of a line a dot or quote would begin a request. */
static void put(TextBuf *out, const char *text)
{
    for (const char *s = text; *s; s++) {
        if ((*s == '.' || *s == '\'') && (!out->size || out->data[out->size - 1] == '\n'))
            text_add(out, "\\&");
        text_add(out, *s == '\\' ? "\\e" : *s == '-' ? "\\" : "");
        text_add_bytes(out, s, *s != '\\');
    }
}

/* Adds text as lines that roff fills. Escapes make them longer than LINE. */
static void put_paragraph(TextBuf *out, const char *text)
{
    enum { LINE = 66 };
    TextBuf lines = {.arena = out->arena};
    text_wrap(&lines, text + strspn(text, " "), 0, LINE);
    text_add(&lines, "\n");
    const char *all = text_done(&lines);
    put(out, all ? all : "");
}

/* Adds a paragraph below others. */
static void put_further(TextBuf *out, const char *text)
{
    text_add(out, text && *text ? ".PP\n" : "");
    put_paragraph(out, text ? text : "");
}

static void put_fixed(TextBuf *out, const char *text)
{
    text_add(out, ".nf\n");
    put(out, text);
    text_add(out, *text && text[strlen(text) - 1] == '\n' ? ".fi\n" : "\n.fi\n");
}

/* Adds a term, bold, with the rest of its line, and what it means. */
static void put_entry(TextBuf *out, const char *term, const char *rest, const char *meaning)
{
    text_add(out, ".TP\n\\fB");
    put(out, term);
    text_addf(out, "\\fR%s\n", rest);
    put_paragraph(out, meaning);
}

static void put_title(TextBuf *out, const char *name, const char *section, const char *brief)
{
    text_add(out, ".TH ");
    for (const char *s = name; *s; s++)
        text_addf(out, *s == '-' ? "\\-" : "%c", toupper((unsigned char)*s));
    text_addf(out, " %s @date@ atomo\n.SH NAME\n", section);
    put(out, name);
    text_add(out, " \\-\n");
    put_paragraph(out, brief);
}

static const char exit_status[] =
    ".SH \"EXIT STATUS\"\n0: done. 1: the work failed. 2: wrong usage. 130: stopped by a signal.\n"
    "A closed pipe ends the program by SIGPIPE.\n.SH \"SEE ALSO\"\n";

static void print(TextBuf *out, FILE *to)
{
    const char *page = text_done(out);
    fputs(page ? page : "", to);
}

/* ---- the page of a subcommand ---- */

static void put_options(TextBuf *out, const Command *c, Arena *a)
{
    size_t count;
    text_add(out, ".SH OPTIONS\n");
    for (const Option *o = cli_rows(c, a, &count); o && o->name; o++) {
        const char letter[] = {'-', o->letter, ',', ' ', 0};
        const char *text = cli_describe(o, a), *name = text_format(a, "%s--%s", o->letter ? letter : "", o->name);
        put_entry(out, name ? name : "", o->arg ? text_format(a, " \\fI%s\\fR", o->arg) : "", text ? text : o->help);
    }
}

/* A line that begins with a space keeps its form, but a long one with two columns becomes an entry: its first column,
 * and below it the second. Any other line becomes a paragraph. Empty lines are left out. */
static void put_details(TextBuf *out, const char *details, Arena *a)
{
    enum { LONG = 78 };
    text_add(out, ".SH DESCRIPTION\n");
    for (const char *line = details, *end; *line; line = *end ? end + 1 : end) {
        end = line + strcspn(line, "\n");
        const char *copy = text_slice(a, line, (size_t)(end - line));
        const char *word = copy ? copy + strspn(copy, " ") : "", *gap = strstr(word, "  ");
        if (!*word)
            continue;
        if (word == copy && line == details)
            put_paragraph(out, word);
        else if (word == copy)
            put_further(out, word);
        else if (gap && strlen(word) > LONG)
            put_entry(out, text_slice(a, word, (size_t)(gap - word)), "", gap);
        else
            put_fixed(out, copy);
    }
}

void cli_man(const Command *c, FILE *to, Arena *a)
{
    TextBuf out = {.arena = a};
    const char *name = text_format(a, "%s-%s", c->program, c->command);
    if (!name)
        return;
    put_title(&out, name, "1", c->brief);
    text_addf(&out, ".SH SYNOPSIS\n.B %s %s\n", c->program, c->command);
    if (c->usage && *c->usage)
        put_paragraph(&out, c->usage);
    text_add(&out, "[\\fIOPTION\\fR]...\n");
    if (c->details && *c->details)
        put_details(&out, c->details, a);
    put_options(&out, c, a);
    text_add(&out, c->fields ? ".SH FIELDS\n" : "");
    for (const Field *f = fields; c->fields && f->name; f++)
        if (text_listed(c->fields, f->name))
            put_entry(&out, f->name, "", f->meaning);
    if (c->examples) {
        TextBuf lines = {.arena = a};
        cli_examples(&lines, c, "    ");
        const char *all = text_done(&lines);
        text_add(&out, ".SH EXAMPLES\n");
        put_fixed(&out, all ? all : "");
    }
    text_addf(&out, "%s.BR %s (1),\n.BR atomo (7)\n", exit_status, c->program);
    print(&out, to);
}

/* ---- the page of all codecs ---- */

static void put_codec(TextBuf *out, const Compressor *c, Arena *a)
{
    const CodecDoc doc = codec_doc(c, a);
    const char *flags = codec_doc_flags(&doc, a);
    text_addf(out, ".SS %s\n", c->name);
    put_paragraph(out, c->brief);
    put_further(out, flags && *flags ? text_format(a, "Flags: %s", flags) : NULL);
    put_further(out, c->plain);
    put_further(out, c->use_when ? text_format(a, "Use it when %s", c->use_when) : NULL);
    for (const Param *p = c->params; p && p->key; p++) {
        char range[96];
        TextBuf rest = {.arena = a};
        text_addf(&rest, "=%s (", p->fallback ? p->fallback : "");
        put(&rest, param_range(p, range));
        text_add(&rest, ")");
        const char *value = text_done(&rest);
        put_entry(out, p->key, value ? value : "", p->help);
    }
    if (c->formula) {
        text_add(out, ".PP\n");
        put_fixed(out, c->formula);
    }
    put_further(out, c->paper);
}

static void man_codecs(FILE *to, Arena *a)
{
    TextBuf out = {.arena = a};
    put_title(&out, "atomo", "7", "gradient compressors and their specs");
    text_add(&out, ".SH SPECS\nA spec is \\fINAME\\fR:\\fIkey\\fR=\\fIvalue\\fR,\\fIkey\\fR=\\fIvalue\\fR.\n"
                   "A wrapper stands before another codec, as in ef+qsgd:bits=2.\n"
                   "A slash separates alternatives: qsgd:bits=1/2/4 is three specs.\n.SH CODECS\n");
    for (const Compressor *const *c = compressors; *c; c++)
        put_codec(&out, *c, a);
    text_add(&out, ".SH \"NAMES IN THE LITERATURE\"\n");
    for (const Literature *l = literature; l->title; l++) {
        const char *meaning = text_format(a, "%s%s%s", l->spec, l->note ? ": " : "", l->note ? l->note : "");
        put_entry(&out, l->title, "", meaning ? meaning : "");
    }
    text_add(&out, ".SH \"SEE ALSO\"\n.BR atomo\\-bench (1),\n.BR atomo\\-train (1)\n");
    print(&out, to);
}

/* ---- the page of a program ---- */

void cli_man_program(const char *program, const char *brief, const Subcommand *table, const char *page, FILE *to, Arena *a)
{
    TextBuf out = {.arena = a};
    if (page && !strcmp(page, "codecs")) {
        man_codecs(to, a);
        return;
    }
    put_title(&out, program, "1", brief);
    text_addf(&out, ".SH SYNOPSIS\n.B %s\n\\fICOMMAND\\fR [\\fIARGUMENT\\fR]...\n.SH COMMANDS\n", program);
    for (const Subcommand *c = table; c->name; c++) {
        text_addf(&out, ".TP\n.BR %s\\-%s (1)\n", program, c->name);
        put_paragraph(&out, c->brief);
    }
    text_addf(&out, ".TP\n.B help \\fINAME\\fR\nDescribes a command or a codec.\n%s.BR atomo (7)", exit_status);
    for (const Subcommand *c = table; c->name; c++)
        text_addf(&out, ",\n.BR %s\\-%s (1)", program, c->name);
    text_add(&out, "\n");
    print(&out, to);
}
