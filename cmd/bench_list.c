/* bench_list.c -- list [CODEC|SPEC]: lists all codecs, or describes the codecs of a spec with their keys. */
#include "bench_commands.h"

#include "app/notes.h"
#include "base/outfile.h"
#include "compress/spec.h"
#include "report/report.h"

#include <string.h>

typedef struct {
    Common common;
    bool details;
    Format format;
    Arena *a;
    Error *err;
} List;

static Status write_text(List *l, const char *text)
{
    const char *path = l->common.output ? l->common.output : "-";
    TRY(arena_check(text, l->a, l->err));
    TRY(outfile_save(path, text, strlen(text), l->a, l->err));
    if (!l->common.quiet && !outfile_is_stdout(path))
        fprintf(stderr, "wrote %s\n", path);
    return OK;
}

/* ---- what a codec promises ---- */

typedef struct {
    const Compressor *ops;
    /* the codec, opened with default parameters; NULL if opening failed. A wrapper that needs an inner codec
     * gets the codec `none`. */
    const Codec *codec;
    bool alone;        /* true: needs no inner codec, so its promises depend on no other codec */
    unsigned promises; /* the codec's promises (bits of codec.h: UNBIASED, ...); 0 unless `alone` */
    bool stateful;
} CodecDoc;

static const struct {
    unsigned trait;
    const char *name;
} promises[] = {{UNBIASED, "unbiased"}, {LINEAR, "linear"}, {MERGEABLE, "mergeable"}};

static CodecDoc codec_doc(const Compressor *ops, Arena *a)
{
    Error err;
    CodecDoc doc = {.ops = ops, .alone = !ops->wraps || ops->alone[0], .stateful = ops->state_size};
    const char *bare = text_format(a, "%s%s", ops->name, doc.alone ? "" : "+none");
    if (!bare || codec_open(&doc.codec, bare, a, &err) != OK)
        doc.codec = NULL;
    doc.promises = doc.codec && doc.alone ? codec_traits(doc.codec) : 0;
    return doc;
}

static void put_item(TextBuf *out, const char *item)
{
    text_addf(out, "%s%s", out->size ? ", " : "", item);
}

/* Returns the codec's flags with default parameters, for example "unbiased, linear, mergeable, stateful,
 * wrapper". */
static char *flags_of(const CodecDoc *doc, Arena *a)
{
    TextBuf out = {.arena = a};
    for (size_t i = 0; i < countof(promises); i++)
        if (doc->promises & promises[i].trait)
            put_item(&out, promises[i].name);
    if (doc->stateful)
        put_item(&out, "stateful");
    if (doc->ops->wraps)
        put_item(&out, "wrapper");
    return text_done(&out);
}

/* Appends the promises (such as "unbiased") that parameter `p` adds or removes if it is set to `choice`. */
static void put_difference(TextBuf *out, const CodecDoc *doc, const Param *p, const char *choice, Arena *a)
{
    Error err;
    const Codec *other;
    const char *spec = text_format(a, "%s:%s=%s%s", doc->ops->name, p->key, choice, doc->alone ? "" : "+none");
    if (!spec || codec_open(&other, spec, a, &err) != OK)
        return;
    const unsigned usual = codec_traits(doc->codec), now = codec_traits(other);
    for (size_t i = 0; i < countof(promises); i++)
        if ((usual ^ now) & promises[i].trait)
            text_addf(out, "%s%s=%s: %s%s", out->size ? ", " : "", p->key, choice,
                      now & promises[i].trait ? "" : "not ", promises[i].name);
}

/* Returns the parameter values that change the codec's promises, with the changed promises, comma-separated.
 * For example "rounding=stochastic: unbiased"; "" if there are none. */
static char *choices_of(const CodecDoc *doc, Arena *a)
{
    static const char *const switches[] = {"off", "on", NULL};
    TextBuf out = {.arena = a};
    for (const Param *p = doc->ops->params; doc->codec && p && p->key; p++) {
        const char *const *choices = p->type == PARAM_BOOL     ? switches
                                     : p->type == PARAM_CHOICE ? p->choices
                                                               : NULL;
        for (; choices && *choices; choices++)
            put_difference(&out, doc, p, *choices, a);
    }
    return text_done(&out);
}

/* ---- table of a codec's keys ---- */

enum { KEY_COLUMNS = 7 };
static const Column key_columns[KEY_COLUMNS] = {
    {"key", true},  {"type", true},     {"range", true},   {"default", true},
    {"rate", true}, {"excludes", true}, {"meaning", true},
};

static char *excludes_of(const Param *schema, const Param *p, Arena *a)
{
    TextBuf out = {.arena = a};
    for (const Param *other = schema; other->key; other++)
        if (other != p && p->group && other->group == p->group)
            put_item(&out, other->key);
    return text_done(&out);
}

/* Returns the table's rows, one for each key; NULL: out of memory. */
static Value *keys_of(const Compressor *ops, size_t *count, Arena *a)
{
    size_t keys = 0;
    while (ops->params && ops->params[keys].key)
        keys++;
    Value *rows = NEW(a, Value, keys * KEY_COLUMNS + 1);
    for (size_t i = 0; rows && i < keys; i++) {
        char range[96];
        const Param *p = &ops->params[i];
        Value *row = rows + i * KEY_COLUMNS;
        const char *excludes = excludes_of(ops->params, p, a);
        row[0] = value_text(p->key);
        row[1] = value_text(param_type(p));
        row[2] = value_text(text_copy(a, param_range(p, range)));
        row[3] = value_text(p->fallback);
        row[4] = value_bool(p->rate);
        row[5] = value_text(excludes && *excludes ? excludes : NULL);
        row[6] = value_text(p->help);
    }
    *count = keys;
    return rows;
}

/* ---- the page about a codec ---- */

/* Appends each line of the text behind `indent` spaces. Lines longer than `width` are folded, and continue two spaces
 * further in. `width` 0: no line is folded. */
static void put_folded(TextBuf *out, size_t indent, const char *text, size_t width)
{
    while (*text) {
        const size_t length = strcspn(text, "\n"), inner = strspn(text, " ");
        const char *line = text_slice(out->arena, text, length);
        out->failed |= !line;
        text_addf(out, "%*s", (int)indent, "");
        if (!line || !width || indent + text_characters(line, length) <= width) {
            text_add(out, line ? line : "");
        } else {
            text_addf(out, "%*s", (int)inner, "");
            text_wrap(out, line + inner, indent + inner + 2, width);
        }
        text_add(out, "\n");
        text += length + (text[length] == '\n');
    }
}

/* Appends the description for people who are new to the codec, and an example. */
static void put_guide(TextBuf *out, const Compressor *ops, size_t width, Arena *a)
{
    enum { LINE = 100 };
    const size_t most = width && width < LINE ? width : LINE;
    if (!ops->plain || !ops->use_when || !ops->example)
        return;
    const char *use = text_format(a, "Use it when %s", ops->use_when);
    text_add(out, "\n");
    text_wrap(out, ops->plain, 0, most);
    text_add(out, "\n\n");
    text_wrap(out, use ? use : "", 0, most);
    text_add(out, "\n\nExample:\n\n");
    put_folded(out, 4, ops->example, 0);
    out->failed |= !use;
}

static void put_keys(TextBuf *out, const Compressor *ops, Format format, size_t width, Arena *a)
{
    size_t count;
    const Value *rows = keys_of(ops, &count, a);
    const ReportSpec spec = {
        .columns = key_columns, .column_count = KEY_COLUMNS, .format = format, .width = width};
    const char *table = rows && count ? report_text(&spec, rows, count, a) : "no keys\n";
    text_add(out, table ? table : "");
    out->failed |= !table || !rows;
}

/* Returns the page about the codec, for a terminal of `width` characters a line (FORMAT_TABLE; 0: any width) or
 * in Markdown. NULL: out of memory. */
static char *page_of(const CodecDoc *doc, Format format, size_t width, Arena *a)
{
    const bool markdown = format == FORMAT_MD;
    const Compressor *ops = doc->ops;
    const char *flags = flags_of(doc, a), *choices = choices_of(doc, a);
    TextBuf out = {.arena = a}, last = {.arena = a};
    if (!flags || !choices)
        return NULL;
    const char *head = text_format(a, "%s%s%s%s%s", ops->brief, *flags ? "; " : "", flags,
                                   *choices ? "; with " : "", choices);
    text_addf(&out, "%s%s\n\n", markdown ? "## " : "", ops->name);
    put_folded(&out, 0, head ? head : "", width);
    put_guide(&out, ops, width, a);
    if (ops->formula) {
        text_add(&out, "\nDefinition:\n\n");
        put_folded(&out, 4, ops->formula, width);
    }
    text_add(&out, "\n");
    put_keys(&out, ops, format, width, a);
    if (doc->codec && codec_caution(doc->codec))
        text_addf(&last, "\nCaution: %s\n", codec_caution(doc->codec));
    if (ops->paper)
        text_addf(&last, "\nReference: %s\n", ops->paper);
    const char *rest = text_done(&last);
    put_folded(&out, 0, rest ? rest : "", width);
    return head && rest ? text_done(&out) : NULL;
}

/* ---- describing one codec ---- */

static Status show(List *l, const Compressor *ops)
{
    const CodecDoc doc = codec_doc(ops, l->a);
    if (l->format == FORMAT_TABLE || l->format == FORMAT_MD)
        return write_text(l, page_of(&doc, l->format, cli_width(&l->common), l->a));
    size_t count;
    const Value *rows = keys_of(ops, &count, l->a);
    const Fact facts[] = {
        {"codec", value_text(ops->name)},
        {"brief", value_text(ops->brief)},
        {"plain", value_text(ops->plain)},
        {"use_when", value_text(ops->use_when)},
        {"example", value_text(ops->example)},
        {"formula", value_text(ops->formula)},
        {"flags", value_text(flags_of(&doc, l->a))},
        {"choices", value_text(choices_of(&doc, l->a))},
        {"reference", value_text(ops->paper)},
    };
    const ReportSpec spec = {.schema = "atomo-list/1",
                             .meta = facts,
                             .facts = countof(facts),
                             .columns = key_columns,
                             .column_count = KEY_COLUMNS,
                             .format = l->format};
    return write_text(l, rows ? report_text(&spec, rows, count, l->a) : NULL);
}

static void add_page(List *l, TextBuf *out, const Compressor *ops)
{
    const CodecDoc doc = codec_doc(ops, l->a);
    const char *page = page_of(&doc, l->format, cli_width(&l->common), l->a);
    text_addf(out, "%s%s", out->size ? "\n" : "", page ? page : "");
    out->failed |= !page;
}

static Status show_stages(List *l, const Codec *codec)
{
    TextBuf out = {.arena = l->a};
    for (; codec; codec = codec_alone(codec) ? NULL : codec->inner)
        add_page(l, &out, codec->ops);
    return write_text(l, text_done(&out));
}

static Status show_spec(List *l, const char *spec)
{
    const Codec *codec;
    const Compressor *ops = compressor_find(spec);
    if (ops) /* also finds wrappers; most of their names alone are no valid specs */
        return show(l, ops);
    if (!literature_alias(spec) && (!strpbrk(spec, ":+/") || literature_find(spec))) {
        compressor_unknown(l->err, spec);
        return error_at(l->err, "list");
    }
    if (codec_open(&codec, spec, l->a, l->err) != OK)
        return error_at(l->err, "list");
    notes_specs(&(TextList){&spec, 1});
    if (!codec->inner || codec_alone(codec))
        return show(l, codec->ops);
    if (l->format == FORMAT_TABLE || l->format == FORMAT_MD)
        return show_stages(l, codec);
    FAIL(l->err, ERR_USAGE, "list: %s: several codecs: want --format table or md", spec);
    return error_hint(l->err, "atomo-bench list %s -f %s", codec->ops->name, report_formats[l->format]);
}

/* ---- listing all codecs ---- */

static Status show_all(List *l)
{
    enum { COLUMNS = 8 };
    static const Column columns[COLUMNS] = {
        {"codec", true},     {"flags", true},   {"rate", true},      {"brief", true},
        {"unbiased", false}, {"linear", false}, {"stateful", false}, {"wrapper", false},
    };
    size_t count = 0;
    while (compressor_number(count))
        count++;
    Value *rows = NEW(l->a, Value, count * COLUMNS);
    for (size_t i = 0; rows && i < count; i++) {
        const CodecDoc doc = codec_doc(compressor_number(i), l->a);
        const Param *rate = param_rate(doc.ops->params);
        const char *flags = flags_of(&doc, l->a);
        Value *row = rows + i * COLUMNS;
        row[0] = value_text(doc.ops->name);
        row[1] = value_text(flags && *flags ? flags : NULL);
        row[2] = value_text(rate ? rate->key : NULL);
        row[3] = value_text(doc.ops->brief);
        row[4] = doc.alone ? value_bool(doc.promises & UNBIASED) : value_none();
        row[5] = doc.alone ? value_bool(doc.promises & LINEAR) : value_none();
        row[6] = value_bool(doc.stateful);
        row[7] = value_bool(doc.ops->wraps);
    }
    const ReportSpec spec = {.schema = "atomo-list/1",
                             .columns = columns,
                             .column_count = COLUMNS,
                             .format = l->format,
                             .color = !l->common.output && cli_color(&l->common),
                             .width = cli_width(&l->common)};
    return write_text(l, rows ? report_text(&spec, rows, count, l->a) : NULL);
}

/* Appends a table of the names of compressors in the literature, with the spec of each here. */
static void put_literature(TextBuf *out, Format format, Arena *a)
{
    enum { COLUMNS = 3 };
    static const Column columns[COLUMNS] = {{"name", true}, {"here", true}, {"difference", true}};
    size_t count = 0;
    while (literature[count].title)
        count++;
    Value *rows = NEW(a, Value, count * COLUMNS);
    for (size_t i = 0; rows && i < count; i++) {
        rows[i * COLUMNS] = value_text(literature[i].title);
        rows[i * COLUMNS + 1] = value_text(literature[i].spec);
        rows[i * COLUMNS + 2] = value_text(literature[i].note);
    }
    const ReportSpec spec = {.columns = columns, .column_count = COLUMNS, .format = format};
    const char *table = rows ? report_text(&spec, rows, count, a) : NULL;
    text_addf(out, "\n%sNames in the literature\n\nA name without a difference may stand in a spec.\n\n%s",
              format == FORMAT_MD ? "# " : "", table ? table : "");
    out->failed |= !table;
}

/* Writes the text of docs/generated/compressors.md. */
static Status show_details(List *l)
{
    TextBuf out = {.arena = l->a};
    if (l->format == FORMAT_MD)
        text_add(
            &out,
            "# Compressors\n"
            "\n"
            "Made by `make docs` from the codecs themselves; `atomo-bench list` shows the same. Flags hold at the defaults.\n");
    for (size_t i = 0; compressor_number(i); i++)
        add_page(l, &out, compressor_number(i));
    put_literature(&out, l->format, l->a);
    return write_text(l, text_done(&out));
}

static Status run(void *options, const TextList *arguments)
{
    List *l = options;
    l->format = (Format)l->common.format;
    if (arguments->count)
        return show_spec(l, arguments->item[0]);
    if (!l->details)
        return show_all(l);
    if (l->format != FORMAT_TABLE && l->format != FORMAT_MD)
        return FAIL(l->err, ERR_USAGE, "list: --details: want --format table or md");
    return show_details(l);
}

int bench_list(int argc, char **argv)
{
    Error err;
    List l = {.a = arena_open(0), .err = &err};
    const Option options[] = {
        OPTION(0, "details", NULL, &l.details, "print the page of every codec"),
        {0},
    };
    const Command command = {
        .program = "atomo-bench",
        .command = "list",
        .usage = "[CODEC|SPEC]",
        .brief =
            "every codec with one line and its flags; with a name: description, example, formula, keys, reference",
        .examples = "\n"
                    "qsgd\n"
                    "ef+topk\n"
                    "--details\n",
        .details =
            "Flags. unbiased: the mean of the decoded gradients over draws is the gradient. linear: merged payloads decode "
            "to the sum. mergeable: payloads merge undecoded. stateful: keeps a state between steps. wrapper: is written "
            "before another codec, as in ef+qsgd, and may change its flags; joint may also be used alone.\n",
        .options = options,
        .common = &l.common,
        .takes = TAKES_FORMAT | TAKES_OUTPUT,
        .arguments_max = 1,
    };
    return cli_run(&command, argc, argv, run, &l, l.a, &err);
}
