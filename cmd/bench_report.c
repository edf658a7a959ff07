/* bench_report.c -- report DIR: writes one HTML page about a folder of results; report RESULT: prints one
 * result as a table. */
#include "bench_commands.h"

#include "base/outfile.h"
#include "report/report_page.h"
#include "report/fields.h"
#include "report/report_stored.h"

#include <string.h>
#include <sys/stat.h>

typedef struct {
    Common common;
    Query query;
    const char *title, *baseline, *note;
    bool speedup;
    Arena *a;
    Error *err;
} ReportOptions;

static const char page[] = ".html";

/* ---- report DIR: the page of a folder ---- */

static bool asks_for_table(const ReportOptions *o)
{
    const Query *q = &o->query;
    return o->common.format != FORMAT_TABLE || o->speedup || q->columns || q->where.count || q->sort ||
           q->all || o->baseline || o->note;
}

static Status refuse_table(const ReportOptions *o, const char *folder)
{
    FAIL(o->err, ERR_USAGE, "report: %s: a directory makes a page of HTML, not a table", folder);
    return error_hint(o->err, "name a result, or leave out the options for tables");
}

static Status write_page(ReportOptions *o, const char *folder, const char *path)
{
    const PageSpec spec = {.folder = folder,
                           .path = path,
                           .title = o->title ? o->title : "Results of atomo",
                           .stopped = cli_stopped};
    const char *note;
    const Status status = page_write(&spec, &note, o->a, o->err);
    if (note && !o->common.quiet)
        fprintf(stderr, "note: %s\n", note);
    if (status == OK && !o->common.quiet && !outfile_is_stdout(path))
        fprintf(stderr, "wrote %s\n", path);
    return status;
}

/* ---- report RESULT: one result as a table ---- */

/* True if a column is a field that a command of this program writes, also where no command writes such a table. */
static bool has_field(const Csv *t)
{
    for (size_t i = 0; i < t->columns; i++)
        if (field_of_column(t->name[i], NULL))
            return true;
    return false;
}

/* Loads a result. Sets `kind` to NULL if no command of this program wrote the CSV, but the CSV has fields of
 * this program. */
static Status load(const ReportOptions *o, const char *path, Stored *from, const ResultKind **kind)
{
    const char *why;
    TRY(stored_load(from, path, o->a, o->err));
    *kind = from->whole ? result_kind(from, &why) : NULL;
    const bool ours = *kind || (from->whole && !from->schema && has_field(&from->table));
    if (ours && !from->table.rows)
        return FAIL(o->err, ERR_CORRUPT, "%s: the result has no rows", path);
    if (ours)
        return OK;
    FAIL(o->err, ERR_CORRUPT, "%s: %s", path, from->whole ? why : "it has no list of \"results\"");
    return error_hint(o->err, "want a result that a command of atomo-bench or atomo-train wrote with -o");
}

static Status put_speedups(const ReportOptions *o, Query *query, Csv *rows)
{
    const Csv run = *rows;
    query->empty = true; /* a target accuracy that no run reached */
    return speedup_rows(rows, &run, o->baseline ? o->baseline : "none", o->a, o->err);
}

static Status check_options(const ReportOptions *o)
{
    const char *output = o->common.output;
    if (output && text_glob("*.html", output)) {
        FAIL(o->err, ERR_USAGE, "a result makes a table; want a directory for a page");
        return error_hint(o->err, "name the directory, or -o TABLE.tex (or .md, .csv, .json, .txt)");
    }
    if (o->title)
        return FAIL(o->err, ERR_USAGE, "--title: a table has none; want a directory for a page");
    return o->baseline && !o->speedup
               ? FAIL(o->err, ERR_USAGE, "--baseline: want --speedup, whose baseline it is")
               : OK;
}

/* Writes the table as `spec` says, with a last column `remark` of --note. */
static Status put_table(const ReportOptions *o, const Stored *from, const ResultKind *kind, ReportSpec spec)
{
    Query query = o->query;
    query.people = spec.format != FORMAT_CSV && spec.format != FORMAT_JSON;
    query.remark = o->note;
    Csv rows = from->table;
    TRY(check_options(o));
    if (o->speedup)
        TRY(put_speedups(o, &query, &rows));
    if (o->note)
        TRY(csv_insert(&rows, rows.columns, "remark", o->note, o->a, o->err));
    return query_write(&query, &rows, o->speedup ? NULL : kind, spec, o->a, o->err);
}

static Status write_table(const ReportOptions *o, const char *path)
{
    const Common *c = &o->common;
    const ResultKind *kind;
    Stored from;
    TRY(load(o, path, &from, &kind));
    ReportSpec spec = {.schema = kind ? kind->schema : "atomo-table/1",
                       .format = (Format)c->format,
                       .path = c->output,
                       .say = c->quiet ? NULL : stderr,
                       .absent = o->speedup ? "N/A" : NULL,
                       .color = !c->output && cli_color(c),
                       .width = cli_width(c)};
    const char *own = report_command(c->argc, c->argv, o->a);
    TRY(arena_check(own, o->a, o->err));
    TRY(stored_facts(&spec, from.meta, own, o->a, o->err));
    const Status status = put_table(o, &from, kind, spec);
    return status == OK || status == ERR_IO ? status : error_at(o->err, "%s", path);
}

static Status run(void *options, const TextList *arguments)
{
    ReportOptions *o = options;
    const char *path = arguments->item[0];
    const bool dash = o->common.output && !strcmp(o->common.output, "-");
    struct stat now;
    const bool folder = stat(path, &now) == 0 && S_ISDIR(now.st_mode);
    if (dash && !folder)
        o->common.output = NULL;
    const char *html = o->common.output;
    if (folder && asks_for_table(o))
        return refuse_table(o, path);
    if (folder && !html) {
        html = text_format(o->a, "%s/report.html", path);
        TRY(arena_check(html, o->a, o->err));
    }
    const Status status = folder ? write_page(o, path, html) : write_table(o, path);
    return status == OK ? OK : error_at(o->err, "report");
}

/* ---- the command report ---- */

static const char details[] =
    "DIR: every result in it, from atomo-bench and atomo-train, CSV or JSON, as DIR/report.html or -o "
    "PAGE.html: tables "
    "that sort at a click, and figures, which need gnuplot; without it a note stands in their place. SVG and "
    "PNG files "
    "are shown as they are. The page needs no network and no other file. What is no result is named on it "
    "with the "
    "reason; a damaged one makes the exit code 1.\n"
    "RESULT: one of those files, or - for standard input, as a table, its rows of everything selected, or a run's summaries. With "
    "--format csv or "
    "json what was asked for and no more.\n"
    "  atomo-bench report compare.json -f latex --columns compressor,bytes,relative_error\n"
    "  atomo-bench report tune.csv --where chosen=true --columns compressor,lr\n"
    "  atomo-bench report run.csv --speedup -f latex\n";

int bench_report(int argc, char **argv)
{
    Error err;
    ReportOptions o = {.a = arena_open(0), .err = &err};
    const Option options[] = {
        OPTION(0, "title", "TEXT", &o.title, "of the page (default Results of atomo)"),
        OPTION(0, "note", "TEXT", &o.note, "a last column of a table, with this text in every row"),
        OPTION(0, "columns", "LIST", &o.query.columns,
               "of the table, by name, with commas between them; A/B is B where there is no A",
               .names = field_name, .listed = true),
        OPTION(0, "where", "FIELD=VALUE", &o.query.where,
               "only such rows, of all there are, or with != the others; repeatable"),
        OPTION(0, "all", NULL, &o.query.all, "every row: single tensors, steps and workers, too"),
        OPTION(0, "sort", "FIELD", &o.query.sort, "or FIELD:desc; what does not exist comes last",
               .names = field_name),
        OPTION(0, "speedup", NULL, &o.speedup,
               "of a training run: to each target accuracy, the baseline's time over each codec's"),
        OPTION(0, "baseline", "SPEC", &o.baseline, "whose time that is (default none)"),
        {0},
    };
    const Command command = {
        .program = "atomo-bench",
        .command = "report",
        .usage = "DIR|RESULT",
        .brief = "one HTML page of a set of results, or a table of one",
        .examples = "results/ -o report.html\n"
                    "result.csv --columns compressor,bytes --sort bytes\n",
        .details = details,
        .options = options,
        .common = &o.common,
        .takes = TAKES_FORMAT | TAKES_OUTPUT,
        .page = page,
        .arguments_min = 1,
        .arguments_max = 1,
    };
    return cli_run(&command, argc, argv, run, &o, o.a, &err);
}
