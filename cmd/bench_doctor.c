/* bench_doctor.c -- doctor: checks libraries, CPU, memory and disk, and gives advice where something is wrong. */
#include "bench_commands.h"

#include "app/doctor.h"
#include "report/report.h"

static Status run(const Common *common, int argc, char **argv, Arena *a, Error *err)
{
    static const Column columns[] = {{"what", true}, {"found", true}, {"ok", true}, {"advice", true}};
    Finding finding[FINDINGS_MAX];
    Fact *facts;
    size_t fact_count;
    Report *report;
    TRY(report_meta(&facts, &fact_count, argc, argv, common->seed, common->threads, a, err));
    const size_t count = doctor_look(finding, cli_stopped, a);
    if (cli_stopped())
        return FAIL(err, ERR_STOPPED, "doctor: stopped");
    const ReportSpec spec = {
        .schema = "atomo-doctor/1",
        .meta = facts,
        .facts = fact_count,
        .columns = columns,
        .column_count = countof(columns),
        .format = (Format)common->format,
        .path = common->output,
        .color = !common->output && cli_color(common),
    };
    TRY(report_open(&report, &spec, a, err));
    for (size_t i = 0; i < count; i++) {
        const Value row[] = {value_text(finding[i].what), value_text(finding[i].found),
                             value_bool(!finding[i].advice), value_text(finding[i].advice)};
        const Status status = report_row(report, row, true, err);
        if (status != OK) {
            report_abandon(report);
            return status;
        }
    }
    return report_close(report, err);
}

int bench_doctor(int argc, char **argv)
{
    Error err;
    TextList arguments;
    bool helped;
    Common common = {0};
    Arena *a = arena_open(0);
    const Command command = {
        .program = "atomo-bench",
        .command = "doctor",
        .brief = "check this machine: libraries, CPU, memory, disk, and advice where something is wrong",
        .usage = "",
        .common = &common,
        .takes = TAKES_FORMAT | TAKES_OUTPUT,
    };
    Status status = cli_parse(&command, argc, argv, &arguments, &helped, a, &err);
    if (status == OK && !helped)
        status = run(&common, argc, argv, a, &err);
    arena_close(a);
    return status == OK ? 0 : cli_report("atomo-bench", &err);
}
