/* doctor.c -- implements doctor.h. */
#include "app/doctor.h"

#include "base/confine.h"
#include "base/host.h"
#include "data/dataset.h"
#include "dump/tensor.h"
#include "net/net.h"
#include "vec/kernels.h"
#include "num/linalg.h"
#include "plot/plot.h"
#include "measure/timing.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

typedef struct {
    Finding *finding;
    size_t count;
    bool (*stopped)(void);
    Arena *a;
} Look;

static const double GB = 1e9;

static void add(Look *l, const char *what, const char *found, const char *advice)
{
    assert(l->count < FINDINGS_MAX);
    l->finding[l->count++] = (Finding){what, found ? found : "unknown", advice};
}

/* ---- checks of the machine ---- */

static void look_at_cpu(Look *l)
{
    const bool slow = !strcmp(kernels()->name, "sse2");
    add(l, "cpu", host_cpu(l->a), NULL);
    add(l, "instruction set", kernels()->name,
        slow ? "this CPU shows no AVX2: compressors run at a fraction of their speed; in a virtual machine "
               "pass the host's CPU through"
             : NULL);
    add(l, "os", host_os(l->a), NULL);
}

static void look_at_cores(Look *l)
{
    const int usable = parallel_cores();
    const long present = sysconf(_SC_NPROCESSORS_ONLN);
    add(l, "cores", text_format(l->a, "%d of %ld usable", usable, present),
        usable < present
            ? "the affinity mask hides cores: start without taskset or widen the container's cpuset"
            : NULL);
    const char *threads = getenv("OMP_THREAD_LIMIT");
    if (threads)
        add(l, "OMP_THREAD_LIMIT", threads, "it can keep --threads from working: unset it");
}

static void look_at_memory(Look *l)
{
    const char *text = host_value("/proc/meminfo", "MemAvailable", ":", l->a);
    const double free_bytes = text ? 1024 * strtod(text, NULL) : 0;
    add(l, "memory", text ? text_format(l->a, "%.1f GB available", free_bytes / GB) : NULL,
        text && free_bytes < GB ? "large tensors may not fit: close programs, or pass --memory to compare"
                                : NULL);
}

static void look_at_clock(Look *l)
{
    const double step = clock_resolution();
    char *source =
        host_value("/sys/devices/system/clocksource/clocksource0/current_clocksource", "", "", l->a);
    add(l, "clock",
        text_format(l->a, "%.0f ns steps%s%s", 1e9 * step, source ? ", " : "", source ? source : ""),
        step > 1e-6 ? "too coarse for short calls: choose tsc in /sys/devices/system/clocksource" : NULL);
}

static void look_at_disk(Look *l, const char *what, const char *path, const char *advice)
{
    struct statvfs fs;
    if (statvfs(path, &fs) != 0 || access(path, W_OK) != 0) {
        add(l, what, text_format(l->a, "%s: cannot be written", path), advice);
        return;
    }
    const double left = (double)fs.f_bavail * (double)fs.f_frsize;
    add(l, what, text_format(l->a, "%s: %.1f GB free", path, left / GB), left < 0.25 * GB ? advice : NULL);
}

/* ---- checks of the libraries ---- */

static void look_at_blas(Look *l)
{
    Error err;
    BlasInfo blas;
    if (linalg_blas_info(&blas, &err) != OK) {
        add(l, "blas", text_copy(l->a, err.text), text_copy(l->a, err.hint));
        return;
    }
    add(l, "blas", text_copy(l->a, blas.file), NULL);
    add(l, "blas kernels", text_format(l->a, "%s, threads: %s", blas.core, blas.threading),
        blas.wanted ? text_format(l->a, "too slow for this CPU: set OPENBLAS_CORETYPE=%s", blas.wanted)
                    : NULL);
    add(l, "lapack", text_format(l->a, "%d.%d.%d", blas.lapack[0], blas.lapack[1], blas.lapack[2]), NULL);
}

/* Adds the version of a library that is loaded when it is needed, or why it was not loaded. */
static void add_loaded(Look *l, const char *what, Status loaded, const char *version, const Error *err)
{
    if (loaded == OK)
        add(l, what, text_copy(l->a, version), NULL);
    else
        add(l, what, text_copy(l->a, err->text), text_copy(l->a, err->hint));
}

static void look_at_loaded(Look *l)
{
    Error err;
    const char *hdf5;
    Status loaded = hdf5_library(&hdf5, &err);
    add_loaded(l, "hdf5", loaded, hdf5, &err);
    loaded = net_try(&err);
    add_loaded(l, "mpi", loaded, net_library(), &err);
}

static void look_at_files(Look *l)
{
    const bool filtered = confine_can_filter();
    add(l, "reader process",
        filtered ? "system calls are filtered (seccomp)" : "system calls are not filtered",
        filtered ? NULL : "read no files from untrusted sources here: this kernel has no seccomp filters");
    look_at_loaded(l);
    const char *plugins = getenv("HDF5_PLUGIN_PATH");
    if (plugins)
        add(l, "HDF5_PLUGIN_PATH", plugins, "filters that need a plug-in are refused all the same: unset it");
    add(l, "fftw", library_fftw(l->a), NULL);
    add(l, "zstd", library_zstd(l->a), NULL);
    add(l, "blosc", library_blosc(l->a), NULL);
    add(l, "zfp", library_zfp(l->a), NULL);
}

static bool has_word(const char *list, const char *name)
{
    const size_t length = strlen(name);
    for (const char *at = list; (at = strstr(at, name)); at += length) {
        const bool starts = at == list || at[-1] == ' ' || at[-1] == '\n';
        if (starts && (at[length] == ' ' || at[length] == '\n' || !at[length]))
            return true;
    }
    return false;
}

static void look_at_gnuplot(Look *l)
{
    static const char *const needed[] = {"pdfcairo", "svg", "pngcairo", "pict2e"};
    Error err;
    char *version, *terminals;
    if (gnuplot_ask(&version, &terminals, l->stopped, l->a, &err) != OK) {
        add(l, "gnuplot", text_copy(l->a, err.text), "plot needs it: install gnuplot-nox");
        return;
    }
    TextBuf there = {.arena = l->a}, missing = {.arena = l->a};
    for (size_t i = 0; i < countof(needed); i++)
        text_addf(has_word(terminals, needed[i]) ? &there : &missing, " %s", needed[i]);
    add(l, "gnuplot", text_format(l->a, "%s:%s", version, text_done(&there)),
        missing.size ? text_format(l->a, "it lacks%s: install gnuplot-nox", text_done(&missing)) : NULL);
}

size_t doctor_look(Finding *findings, bool (*stopped)(void), Arena *a)
{
    Look l = {.finding = findings, .stopped = stopped, .a = a};
    const char *temporary = getenv("TMPDIR");
    look_at_cpu(&l);
    look_at_cores(&l);
    look_at_memory(&l);
    look_at_blas(&l);
    look_at_files(&l);
    look_at_gnuplot(&l);
    look_at_clock(&l);
    look_at_disk(&l, "temporary files", temporary && *temporary ? temporary : "/tmp",
                 "plot works there: set TMPDIR to a directory with space");
    look_at_disk(&l, "this directory", ".",
                 "results cannot be kept here: go elsewhere, or give -o a path with space");
    return l.count;
}
