/* test_verify_command.c -- what the command verify says and exits with when a statement fails. */
#include "rig/check.h"
#include "rig/scratch_dir.h"
#include "dump/synth.h"
#include "verify/verify_parts.h"

#include <unistd.h>

/* The command, whose solver can be replaced. */
static Tested in_command;
#define verify_tested in_command
#include "../cmd/bench_verify.c"
#undef verify_tested

static Arena *scratch;
static Error err;

static bool level_too_low(const float *x, size_t n, double budget, int threads, Arena *a, Level *out)
{
    const bool got = waterfill_floats(x, n, budget, threads, a, out);
    out->tau *= 0.99;
    return got;
}

static int run_command(const Tested *tested, const char *file)
{
    char *argv[] = {
        "verify", (char *)(uintptr_t)file, "-o", (char *)(uintptr_t)in_scratch("out.csv"), "-q", "--color",
        "never"};
    in_command = *tested;
    return bench_verify(countof(argv), argv);
}

static void the_exit_code_is_1_when_a_statement_fails(void **state)
{
    (void)state;
    const Synth synth = {.law = LAW_NORMAL, .scale = 0.01, .seed = 1, .threads = 1};
    Shape shape[2];
    check(synth_shape("24x18", &shape[0]) && synth_shape("30", &shape[1]));
    const SynthLayout layout = {.shape = shape, .shapes = 2, .steps = 1, .workers = 1};
    const char *file = in_scratch("g.h5");
    DumpWriter *to;
    check_ok(dump_create(&to, file, &err), &err);
    check_ok(synth_dump(&synth, &layout, to, scratch, &err), &err);
    check_ok(dump_commit(to, &err), &err);
    Tested broken = verify_tested;
    broken.level = level_too_low;
    fflush(stderr);
    const int terminal = dup(2);
    check(freopen(in_scratch("err"), "w", stderr) != NULL);
    const int good = run_command(&verify_tested, file), bad = run_command(&broken, file);
    fflush(stderr);
    dup2(terminal, 2);
    close(terminal);
    size_t size;
    uint8_t *said = file_load(in_scratch("err"), &size);
    said[size] = 0;
    check(good == 0 && bad == 1);
    check(strstr((char *)said, "checks failed: Lemma 2: equality on layer0.weight: ") != NULL);
    free(said);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_exit_code_is_1_when_a_statement_fails, scratch_open,
                                        scratch_close),
    };
    scratch = arena_open(0);
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    arena_close(scratch);
    return failed ? 1 : 0;
}
