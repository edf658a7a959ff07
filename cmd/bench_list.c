/* bench_list.c -- list [CODEC|SPEC]: lists all codecs, or describes the codecs of a spec with their keys. */
#include "bench_commands.h"

#include "app/codec_doc.h"
#include "app/notes.h"
#include "base/outfile.h"
#include "compress/names.h"
#include "compress/spec.h"

#include <errno.h>
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
    TRY(arena_check(text, l->a, l->err));
    if (!l->common.output) {
        const bool bad = fputs(text, stdout) < 0; /* `main` detects other write errors at its end */
        return bad ? FAIL(l->err, ERR_IO, "standard output: cannot write: %s", strerror(errno)) : OK;
    }
    return outfile_save(l->common.output, text, strlen(text), l->a, l->err);
}

static Status write_rows(List *l, const ReportSpec *spec, const Value *rows, size_t count)
{
    const char *text = rows ? report_text(spec, rows, count, l->a) : NULL;
    return write_text(l, text);
}

/* ---- describing one codec ---- */

static Status show(List *l, const Compressor *ops)
{
    const CodecDoc doc = codec_doc(ops, l->a);
    if (l->format == FORMAT_TABLE || l->format == FORMAT_MD)
        return write_text(l, codec_doc_page(&doc, l->format, cli_width(&l->common), l->a));
    size_t count;
    const Value *rows = codec_doc_keys(ops, &count, l->a);
    const CodecSight sight = codec_doc_sight(&doc, 64);
    const Fact facts[] = {
        {"codec", value_text(ops->name)},
        {"brief", value_text(ops->brief)},
        {"plain", value_text(ops->plain)},
        {"use_when", value_text(ops->use_when)},
        {"example", value_text(ops->example)},
        {"formula", value_text(ops->formula)},
        {"flags", value_text(codec_doc_flags(&doc, l->a))},
        {"choices", value_text(codec_doc_choices(&doc, l->a))},
        {"gain_variance", value_real(sight.gain)},
        {"gain_l1_variance", value_real(sight.gain_l1)},
        {"reference", value_text(ops->paper)},
    };
    const ReportSpec spec = {.schema = "atomo-list/1",
                             .meta = facts,
                             .facts = countof(facts),
                             .columns = codec_doc_columns,
                             .column_count = KEY_COLUMNS,
                             .format = l->format};
    return write_rows(l, &spec, rows, count);
}

static Status show_stages(List *l, const Codec *codec)
{
    TextBuf out = {.arena = l->a};
    for (; codec; codec = codec_alone(codec) ? NULL : codec->inner) {
        const CodecDoc doc = codec_doc(codec->ops, l->a);
        const char *page = codec_doc_page(&doc, l->format, cli_width(&l->common), l->a);
        TRY(arena_check(page, l->a, l->err));
        text_addf(&out, "%s%s", out.size ? "\n" : "", page);
    }
    return write_text(l, text_done(&out));
}

static Status show_spec(List *l, const char *spec)
{
    const Codec *codec;
    const Compressor *ops = compressor_find(spec);
    if (ops) /* also finds wrappers; most of their names alone are no valid specs */
        return show(l, ops);
    if (!literature_alias(spec) && (!strpbrk(spec, ":+/") || literature_has(spec))) {
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
    while (compressors[count])
        count++;
    Value *rows = NEW(l->a, Value, count * COLUMNS);
    for (size_t i = 0; rows && i < count; i++) {
        const CodecDoc doc = codec_doc(compressors[i], l->a);
        const Param *rate = param_rate(doc.ops->params);
        const char *flags = codec_doc_flags(&doc, l->a);
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
    return write_rows(l, &spec, rows, count);
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

/* Writes the text of docs/compressors.md. */
static Status show_details(List *l)
{
    TextBuf out = {.arena = l->a};
    if (l->format == FORMAT_MD)
        text_add(
            &out,
            "# Compressors\n"
            "\n"
            "Made by `make docs` from the codecs themselves; `atomo-bench list` shows the same. Flags hold at the defaults.\n"
            "\n");
    for (size_t i = 0; compressors[i]; i++) {
        const CodecDoc doc = codec_doc(compressors[i], l->a);
        const char *page = codec_doc_page(&doc, l->format, cli_width(&l->common), l->a);
        TRY(arena_check(page, l->a, l->err));
        text_addf(&out, "%s%s", i ? "\n" : "", page);
    }
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
