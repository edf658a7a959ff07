/* bench_report.c -- report DIR: one HTML page of a set of results. */
#include "bench.h"

#include "../lib/report_page.h"

static void note(void *common, const char *text)
{
    if (!((const Common *)common)->quiet)
        fprintf(stderr, "note: %s\n", text);
}

static Status run(Common *common, const char *folder, const char *title, Arena *a, Error *err)
{
    const char *path = common->output ? common->output : text_format(a, "%s/report.html", folder);
    if (!path)
        return arena_fail(a, err);
    const PageSpec spec = {
        .folder = folder, .path = path, .title = title, .stopped = cli_stopped, .data = common, .note = note};
    return page_write(&spec, a, err) == OK ? OK : error_at(err, "report");
}

int bench_report(int argc, char **argv)
{
    Error err;
    TextList arguments;
    bool helped;
    const char *title = "Results of atomo";
    Common common = {0};
    Arena *a = arena_open(0);
    const Option options[] = {OPTION(0, "title", "TEXT", &title, "what the page is called"), {0}};
    const Command command = {
        .program = "atomo-bench",
        .command = "report",
        .usage = "DIR",
        .brief = "one HTML page of a set of results",
        .options = options,
        .common = &common,
        .takes = TAKES_OUTPUT,
        .arguments_min = 1,
        .arguments_max = 1,
    };
    Status status = cli_parse(&command, argc, argv, &arguments, &helped, a, &err);
    if (status == OK && !helped)
        status = run(&common, arguments.item[0], title, a, &err);
    arena_close(a);
    return status == OK ? 0 : cli_report("atomo-bench", &err);
}
