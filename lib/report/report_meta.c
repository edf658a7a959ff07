/* report_meta.c -- facts about a run: versions, machine, command line. */
#include "base/host.h"
#include "dump/tensor.h"
#include "exchange/net.h"
#include "math/vec/kernels.h"
#include "math/linalg.h"
#include "report/report.h"

#include <errno.h>
#include <string.h>
#include <time.h>

enum { FACTS_OWN = 19 };

static void add(Fact *facts, size_t *count, const char *name, const char *text)
{
    facts[(*count)++] = (Fact){name, value_text(text)};
}

/* "0.3.21" for "OpenBLAS 0.3.21 NO_LAPACKE ..." */
static const char *blas_version(const char *config, Arena *a)
{
    config += strcspn(config, " ");
    config += strspn(config, " ");
    return text_slice(a, config, strcspn(config, " "));
}

Status report_about(Fact **out, size_t *count, bool with_blas, Arena *a, Error *err)
{
    Error ignored;
    BlasInfo blas = {0};
    const bool loaded = with_blas && linalg_blas_info(&blas, &ignored) == OK;
    Fact *facts = *out = NEW_ZERO(a, Fact, FACTS_OWN + FACTS_SPARE);
    *count = 0;
    TRY(arena_check(facts, a, err));
    add(facts, count, "version", ATOMO_VERSION);
    add(facts, count, "revision", *ATOMO_REVISION ? ATOMO_REVISION : NULL);
    add(facts, count, "cpu", host_cpu(a));
    add(facts, count, "isa", kernels()->name);
    add(facts, count, "os", host_os(a));
    add(facts, count, "hdf5", hdf5_version());
    add(facts, count, "openblas", loaded ? blas_version(blas.config, a) : NULL);
    add(facts, count, "blas_core", blas.core);
    add(facts, count, "lapack",
        loaded ? text_format(a, "%d.%d.%d", blas.lapack[0], blas.lapack[1], blas.lapack[2]) : NULL);
    for (size_t i = 0; library_names[i]; i++)
        add(facts, count, library_names[i], library_version(i, a));
    add(facts, count, "mpi", net_library());
    return OK;
}

char *report_command(int argc, char **argv, Arena *a)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=:,./@%";
    TextBuf out = {.arena = a};
    text_add(&out, program_invocation_short_name);
    for (int i = 0; i < argc; i++) {
        const char *s = argv[i];
        text_add(&out, " ");
        if (*s && !s[strspn(s, plain)]) {
            text_add(&out, s);
            continue;
        }
        text_add(&out, "'");
        for (size_t length; (length = strcspn(s, "'")), s[length]; s += length + 1) {
            text_add_bytes(&out, s, length);
            text_add(&out, "'\\''");
        }
        text_addf(&out, "%s'", s);
    }
    return text_done(&out);
}

static char *time_text(Arena *a)
{
    char text[32];
    struct tm utc;
    const time_t now = time(NULL);
    gmtime_r(&now, &utc);
    strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
    return text_copy(a, text);
}

Status report_meta(Fact **facts, size_t *count, Format format, int argc, char **argv, int64_t seed,
                   int64_t threads, Arena *a, Error *err)
{
    TRY(report_about(facts, count, format == FORMAT_JSON || format == FORMAT_LATEX, a, err));
    const char *command = report_command(argc, argv, a), *started = time_text(a);
    TRY(arena_check(command && started, a, err));
    add(*facts, count, "command", command);
    (*facts)[(*count)++] = (Fact){"seed", value_int(seed)};
    (*facts)[(*count)++] = (Fact){"threads", value_int(threads)};
    add(*facts, count, "started", started);
    return OK;
}
