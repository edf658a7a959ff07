/* bench_doctor.c -- doctor: checks libraries, CPU and memory, and gives advice if something is wrong. */
#include "bench_commands.h"

#include "base/confine.h"
#include "base/host.h"
#include "dump/tensor.h"
#include "exchange/net.h"
#include "math/linalg.h"
#include "report/plot.h"
#include "report/report.h"
#include "math/vec/kernels.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct {
    Common common;
    Report *report;
    Status status; /* of the rows so far */
    Arena *a;
    Error *err;
} Doctor;

static const double GB = 1e9;

/* advice: how to mend what is wrong; NULL: nothing is wrong */
static void add(Doctor *d, const char *what, const char *found, const char *advice)
{
    const Value row[] = {value_text(what), value_text(found ? text_copy(d->a, found) : "unknown"),
                         value_bool(!advice), value_text(advice ? text_copy(d->a, advice) : NULL)};
    if (d->status == OK)
        d->status = report_row(d->report, row, true, d->err);
}

/* ---- the machine ---- */

static void look_at_cpu(Doctor *d)
{
    const int usable = parallel_cores();
    const long present = sysconf(_SC_NPROCESSORS_ONLN);
    add(d, "cpu", host_cpu(d->a), NULL);
    add(d, "instruction set", kernels()->name,
        strcmp(kernels()->name, "sse2")
            ? NULL
            : "this CPU shows no AVX2: compressors run at a fraction of their speed; in a virtual machine "
              "pass the host's CPU through");
    add(d, "os", host_os(d->a), NULL);
    add(d, "cores", text_format(d->a, "%d of %ld usable", usable, present),
        usable < present
            ? "the affinity mask hides cores: start without taskset or widen the container's cpuset"
            : NULL);
}

static void look_at_memory(Doctor *d)
{
    const char *text = host_value("/proc/meminfo", "MemAvailable", ":", d->a);
    const double free_bytes = text ? 1024 * strtod(text, NULL) : GB;
    add(d, "memory", text ? text_format(d->a, "%.1f GB available", free_bytes / GB) : NULL,
        free_bytes < GB ? "large tensors may not fit: close programs, or pass --memory to compare" : NULL);
}

static void look_at_clock(Doctor *d)
{
    enum { READINGS = 1000 };
    double step = INFINITY, before = clock_now(); /* step: the smallest observed */
    for (int i = 0; i < READINGS || isinf(step); i++) {
        const double now = clock_now();
        step = now > before ? fmin(step, now - before) : step;
        before = now;
    }
    add(d, "clock", text_format(d->a, "%.0f ns steps", 1e9 * step),
        step > 1e-6 ? "too coarse for short calls: choose tsc in /sys/devices/system/clocksource" : NULL);
}

/* ---- the libraries ---- */

static void look_at_blas(Doctor *d)
{
    BlasInfo blas;
    Error err;
    if (linalg_blas_info(&blas, &err) != OK) {
        add(d, "blas", err.text, err.hint);
        return;
    }
    add(d, "blas", blas.file, NULL);
    add(d, "blas kernels", text_format(d->a, "%s, threads: %s", blas.core, blas.threading),
        blas.wanted ? text_format(d->a, "too slow for this CPU: set OPENBLAS_CORETYPE=%s", blas.wanted)
                    : NULL);
    add(d, "lapack", text_format(d->a, "%d.%d.%d", blas.lapack[0], blas.lapack[1], blas.lapack[2]), NULL);
}

static void look_at_libraries(Doctor *d)
{
    const bool filtered = confine_can_filter();
    Error err;
    const char *hdf5;
    add(d, "reader process",
        filtered ? "system calls are filtered (seccomp)" : "system calls are not filtered",
        filtered ? NULL : "read no files from untrusted sources here: this kernel has no seccomp filters");
    Status loaded = hdf5_library(&hdf5, &err);
    add(d, "hdf5", loaded == OK ? hdf5 : err.text, loaded == OK ? NULL : err.hint);
    loaded = net_try(&err);
    add(d, "mpi", loaded == OK ? net_library() : err.text, loaded == OK ? NULL : err.hint);
    for (size_t i = 0; library_names[i]; i++)
        add(d, library_names[i], library_version(i, d->a), NULL);
}

static void look_at_gnuplot(Doctor *d)
{
    static const char *const needed[] = {"pdfcairo", "svg", "pngcairo", "pict2e"};
    static const char ask[] = "set print '-'\nprint sprintf('%.1f patchlevel %s', GPVAL_VERSION, GPVAL_PATCHLEVEL)\nprint GPVAL_TERMINALS\n";
    Drawing answer;
    Error err;
    if (gnuplot_draw(&answer, ask, cli_stopped, d->a, &err) != OK) {
        add(d, "gnuplot", err.text, "plot needs it: install gnuplot-nox");
        return;
    }
    TextBuf there = {.arena = d->a}, missing = {.arena = d->a};
    const size_t version = strcspn(answer.data, "\n");
    for (size_t i = 0; i < countof(needed); i++)
        text_addf(strstr(answer.data + version, needed[i]) ? &there : &missing, " %s", needed[i]);
    add(d, "gnuplot", text_format(d->a, "%.*s:%s", (int)version, answer.data, text_done(&there)),
        missing.size ? text_format(d->a, "it lacks%s: install gnuplot-nox", text_done(&missing)) : NULL);
}

static void look(Doctor *d)
{
    look_at_cpu(d);
    look_at_memory(d);
    look_at_blas(d);
    look_at_libraries(d);
    look_at_gnuplot(d);
    look_at_clock(d);
}

static Status run(void *options, const TextList *arguments)
{
    static const Column columns[] = {{"what", true}, {"found", true}, {"ok", true}, {"advice", true}};
    static const ReportSpec spec = {
        .schema = "atomo-doctor/1", .columns = columns, .column_count = countof(columns)};
    Doctor *d = options;
    (void)arguments;
    TRY(cli_report_open(&d->report, &d->common, &spec, d->a, d->err));
    look(d);
    if (cli_stopped())
        d->status = FAIL(d->err, ERR_STOPPED, "doctor: stopped");
    return report_finish(d->report, d->status, d->err);
}

int bench_doctor(int argc, char **argv)
{
    Error err;
    Doctor d = {.a = arena_open(0), .err = &err};
    const Command command = {
        .program = "atomo-bench",
        .command = "doctor",
        .brief = "check this machine: libraries, CPU, memory, and advice where something is wrong",
        .examples = "\n"
                    "-f json\n",
        .usage = "",
        .common = &d.common,
        .takes = TAKES_FORMAT | TAKES_OUTPUT,
    };
    return cli_run(&command, argc, argv, run, &d, d.a, &err);
}
