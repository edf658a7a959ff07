/* test_bench_verify.c -- output and exit code of the command verify if one of the paper's statements fails. */
#include "compress/atoms/waterfill.h"

static bool broken;

/* Levels 1 % low, where `broken` is true. */
static bool levels_now(const float *x, size_t n, const double *budget, size_t count, int threads, Arena *a, Level *out)
{
    const bool got = waterfill_budgets(x, n, budget, count, threads, a, out);
    for (size_t i = 0; i < count; i++)
        out[i].tau *= broken ? 0.99 : 1;
    return got;
}

#define waterfill_budgets levels_now
#include "measure/verify.c"
#undef waterfill_budgets
#include "cmd/bench_verify.c"
#include "rig/check.h"
#include "rig/scratch_dir.h"
#include "dump/write.h"
#include "report/report.h"

#include <unistd.h>

static Arena *scratch;
static Error err;

static Status run_job(const char *file)
{
    char *argv[] = {(char[]){"verify"}, NULL};
    VerifyJob job = {.common = {.seed = 1,
                                .threads = 1,
                                .format = FORMAT_CSV,
                                .quiet = true,
                                .output = in_scratch("out.csv"),
                                .argc = 1,
                                .argv = argv},
                     .forever = arena_open(0),
                     .scratch = arena_open(0),
                     .err = &err};
    const Status status = run(&job, &(TextList){&file, 1});
    arena_close(job.forever);
    arena_close(job.scratch);
    return status;
}

TEST_BETWEEN(a_statement_that_fails_is_named_and_the_exit_code_is_1, scratch_open, scratch_close)
{
    const Synth synth = {.law = LAW_NORMAL, .scale = 0.01, .seed = 1, .threads = 1};
    Shape shape[2];
    check(synth_shape("24x18", &shape[0]) && synth_shape("30", &shape[1]));
    const SynthLayout layout = {.shape = shape, .shapes = 2, .steps = 1, .workers = 1};
    const char *file = in_scratch("g.h5");
    DumpWriter *to;
    check_ok(dump_create(&to, file, &err), &err);
    check_ok(synth_dump(&synth, &layout, to, scratch, &err), &err);
    check_ok(dump_finish(to, OK, &err), &err);
    check_ok(run_job(file), &err);
    broken = true;
    check(run_job(file) == ERR_NUMERIC);
    check(strstr(err.text, "checks failed: Algorithm 1: budget on layer0.weight: ") != NULL);
    check(cli_report("test", &err) == 1);
}

CHECK_ALL_IN(scratch)
