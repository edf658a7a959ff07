/* bench_report.c -- report DIR: one HTML page of a set of results; report RESULT: a table of one. */
#include "bench.h"

#include "../lib/report_page.h"
#include "../lib/report_query.h"
#include "../lib/report_sheet.h"
#include "../lib/report_speedup.h"

#include <string.h>
#include <sys/stat.h>

typedef struct {
    Common common;
    Query query;
    const char *title, *baseline;
    bool speedup;
    Arena *a;
    Error *err;
} Options;

static const char page[] = ".html";

static bool ends_in_page(const char *path)
{
    const size_t length = path ? strlen(path) : 0;
    return length >= sizeof page && !strcmp(path + length - (sizeof page - 1), page);
}

/* ---- a folder ---- */

static void note(void *options, const char *text)
{
    if (!((const Options *)options)->common.quiet)
        fprintf(stderr, "note: %s\n", text);
}

static bool asks_for_table(const Options *o)
{
    const Query *q = &o->query;
    return o->common.format != FORMAT_TABLE || o->speedup || q->columns || q->where.count || q->sort ||
           q->across || q->all || o->baseline;
}

static Status write_page(Options *o, const char *folder)
{
    const char *path = o->common.output ? o->common.output : text_format(o->a, "%s/report.html", folder);
    if (!path)
        return arena_fail(o->a, o->err);
    if (asks_for_table(o)) {
        FAIL(o->err, ERR_USAGE, "%s: a directory makes a page of HTML, not a table", folder);
        return error_hint(o->err, "name a result, or leave out what is about tables");
    }
    const PageSpec spec = {.folder = folder,
                           .path = path,
                           .title = o->title ? o->title : "Results of atomo",
                           .stopped = cli_stopped,
                           .data = o,
                           .note = note};
    return page_write(&spec, o->a, o->err);
}

/* ---- a result ---- */

static Status speedups(const Options *o, Csv *rows)
{
    const Csv run = *rows;
    return speedup_rows(rows, &run, o->baseline ? o->baseline : "none", o->a, o->err);
}

static Status load(const Options *o, const char *path, Stored *from, const ResultKind **kind)
{
    const char *why;
    TRY(stored_load(from, path, o->a, o->err));
    *kind = from->whole ? result_kind(from, &why) : NULL;
    if (*kind && !from->table.rows)
        return FAIL(o->err, ERR_CORRUPT, "%s: the result has no rows", path);
    if (*kind)
        return OK;
    FAIL(o->err, ERR_CORRUPT, "%s: %s", path, from->whole ? why : "it has no list of \"results\"");
    return error_hint(o->err,
                      "a table is made of what a command of atomo-bench or atomo-train wrote with -o");
}

/* What would do nothing. */
static Status refuse_idle(const Options *o, const char *path)
{
    if (o->title)
        return FAIL(o->err, ERR_USAGE, "%s: --title: a table has none; want a directory for a page", path);
    if (o->baseline && !o->speedup)
        return FAIL(o->err, ERR_USAGE, "%s: --baseline: want --speedup, whose baseline it is", path);
    return OK;
}

static Status write_table(Options *o, const char *path)
{
    const Common *c = &o->common;
    const ResultKind *kind;
    Stored from;
    Csv rows;
    if (ends_in_page(c->output)) {
        FAIL(o->err, ERR_USAGE, "%s: a result makes a table; want a directory for a page", path);
        return error_hint(o->err, "name the directory, or -o TABLE.tex (or .md, .csv, .json, .txt)");
    }
    TRY(load(o, path, &from, &kind));
    TRY(refuse_idle(o, path));
    if (o->speedup && speedups(o, &from.table) != OK)
        return error_at(o->err, "%s", path);
    if (query_run(&rows, &o->query, &from.table, o->speedup ? NULL : kind, o->a, o->err) != OK)
        return error_at(o->err, "%s", path);
    const ReportSpec spec = {.schema = kind->schema,
                             .format = (Format)c->format,
                             .path = c->output,
                             .absent = o->speedup ? "N/A" : NULL,
                             .color = !c->output && cli_color(c)};
    return sheet_write(&rows, &from, spec, o->a, o->err);
}

static Status run(Options *o, const char *path)
{
    struct stat now;
    const bool folder = stat(path, &now) == 0 && S_ISDIR(now.st_mode);
    const Status status = folder ? write_page(o, path) : write_table(o, path);
    return status == OK ? OK : error_at(o->err, "report");
}

/* ---- the command ---- */

static const char details[] =
    "DIR: every result in it, from atomo-bench and atomo-train, CSV or JSON, as DIR/report.html or -o "
    "PAGE.html: tables "
    "that sort at a click, and figures, which need gnuplot; without it a note stands in their place. SVG and "
    "PNG files "
    "are shown as they are. The page needs no network and no other file. What is no result is named on it "
    "with the "
    "reason; a damaged one makes the exit code 1.\n"
    "RESULT: one of those files as a table, its rows of everything selected, or a run's summaries. With "
    "--format csv or "
    "json what was asked for and no more.\n"
    "  atomo-bench report compare.json -f latex --columns compressor,bytes,relative_error\n"
    "  atomo-bench report compare.csv --all --columns tensor,bytes,second_moment --across compressor\n"
    "  atomo-bench report tune.csv --where chosen=true --columns compressor,lr\n"
    "  atomo-bench report run.csv --speedup -f latex\n";

int bench_report(int argc, char **argv)
{
    Error err;
    TextList arguments;
    bool helped;
    Options o = {.a = arena_open(0), .err = &err};
    const Option options[] = {
        OPTION(0, "title", "TEXT", &o.title, "of the page (default Results of atomo)"),
        OPTION(0, "columns", "LIST", &o.query.columns, "of the table, by name, with commas between them"),
        OPTION(0, "where", "FIELD=VALUE", &o.query.where, "only such rows, of all there are; repeatable"),
        OPTION(0, "all", NULL, &o.query.all, "every row: single tensors, steps and workers, too"),
        OPTION(0, "sort", "FIELD", &o.query.sort, "or FIELD:desc; what does not exist comes last"),
        OPTION(0, "across", "FIELD", &o.query.across,
               "a row to each value of the first column, the others once for each value of FIELD"),
        OPTION(0, "speedup", NULL, &o.speedup,
               "of a training run: to each target accuracy, the baseline's time over each compressor's"),
        OPTION(0, "baseline", "SPEC", &o.baseline, "whose time that is (default none)"),
        {0},
    };
    const Command command = {
        .program = "atomo-bench",
        .command = "report",
        .usage = "DIR|RESULT",
        .brief = "one HTML page of a set of results, or a table of one",
        .details = details,
        .options = options,
        .common = &o.common,
        .takes = TAKES_FORMAT | TAKES_OUTPUT,
        .page = page,
        .arguments_min = 1,
        .arguments_max = 1,
    };
    Status status = cli_parse(&command, argc, argv, &arguments, &helped, o.a, &err);
    if (status == OK && !helped)
        status = run(&o, arguments.item[0]);
    arena_close(o.a);
    return status == OK ? 0 : cli_report("atomo-bench", &err);
}
