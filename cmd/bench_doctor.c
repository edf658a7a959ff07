/* bench_doctor.c -- doctor: checks libraries, CPU, memory and disk, and gives advice if something is wrong. */
#include "bench_commands.h"

#include "app/doctor.h"
#include "report/report.h"

typedef struct {
    Common common;
    Arena *a;
    Error *err;
} Options;

static Status run(void *options, const TextList *arguments)
{
    const Options *o = options;
    static const Column columns[] = {{"what", true}, {"found", true}, {"ok", true}, {"advice", true}};
    Finding finding[FINDINGS_MAX];
    Report *report;
    (void)arguments;
    const size_t count = doctor_look(finding, cli_stopped, o->a);
    if (cli_stopped())
        return FAIL(o->err, ERR_STOPPED, "doctor: stopped");
    const ReportSpec spec = {
        .schema = "atomo-doctor/1", .columns = columns, .column_count = countof(columns)};
    TRY(cli_report_open(&report, &o->common, &spec, o->a, o->err));
    Status status = OK;
    for (size_t i = 0; i < count && status == OK; i++) {
        const Value row[] = {value_text(finding[i].what), value_text(finding[i].found),
                             value_bool(!finding[i].advice), value_text(finding[i].advice)};
        status = report_row(report, row, true, o->err);
    }
    return report_finish(report, status, o->err);
}

int bench_doctor(int argc, char **argv)
{
    Error err;
    Options o = {.a = arena_open(0), .err = &err};
    const Command command = {
        .program = "atomo-bench",
        .command = "doctor",
        .brief = "check this machine: libraries, CPU, memory, disk, and advice where something is wrong",
        .examples = "\n"
                    "-f json\n",
        .usage = "",
        .common = &o.common,
        .takes = TAKES_FORMAT | TAKES_OUTPUT,
    };
    return cli_run(&command, argc, argv, run, &o, o.a, &err);
}
