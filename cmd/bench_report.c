/* bench_report.c -- report DIR: one HTML page of a set of results; report RESULT: a table of one. */
#include "bench_commands.h"

#include "bench_report.h"

#include "page/report_page.h"

#include <string.h>
#include <sys/stat.h>

static const char page[] = ".html";

/* ---- a folder ---- */

static void note(void *options, const char *text)
{
    if (!((const ReportOptions *)options)->common.quiet)
        fprintf(stderr, "note: %s\n", text);
}

static bool asks_for_table(const ReportOptions *o)
{
    const Query *q = &o->query;
    return o->common.format != FORMAT_TABLE || o->speedup || q->columns || q->where.count || q->sort ||
           q->across || q->all || o->baseline || o->beside || o->on;
}

static Status write_page(ReportOptions *o, const char *folder)
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

static Status run(ReportOptions *o, const char *path)
{
    struct stat now;
    const bool folder = stat(path, &now) == 0 && S_ISDIR(now.st_mode);
    const Status status = folder ? write_page(o, path) : report_table_write(o, path);
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
    "  atomo-bench report run.csv --speedup -f latex\n"
    "  atomo-bench report new.json --beside old.json --on compressor,tensor,step \\\n"
    "      --columns 'compressor,bytes,other bytes'\n";

int bench_report(int argc, char **argv)
{
    Error err;
    TextList arguments;
    bool helped;
    ReportOptions o = {.a = arena_open(0), .err = &err};
    const Option options[] = {
        OPTION(0, "title", "TEXT", &o.title, "of the page (default Results of atomo)"),
        OPTION(0, "columns", "LIST", &o.query.columns,
               "of the table, by name, with commas between them; A/B is B where there is no A"),
        OPTION(0, "where", "FIELD=VALUE", &o.query.where,
               "only such rows, of all there are, or with != the others; repeatable"),
        OPTION(0, "all", NULL, &o.query.all, "every row: single tensors, steps and workers, too"),
        OPTION(0, "sort", "FIELD", &o.query.sort, "or FIELD:desc; what does not exist comes last"),
        OPTION(0, "across", "FIELD", &o.query.across,
               "a row to each value of the first column, the others once for each value of FIELD"),
        OPTION(0, "beside", "RESULT", &o.beside,
               "each row with those of another result that agree in the fields of --on"),
        OPTION(0, "on", "LIST", &o.on, "fields of both; in the other's a text with a * is a pattern"),
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
