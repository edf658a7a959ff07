/* test_train_records.c -- the target accuracies of a training run, read from its command line. */
#include "cmd/train_job.c"

#include "cmd/train_records.c"
#include "rig/check.h"

static Arena *scratch;
static Error err;

static Status read_targets(TrainRecords *r, const char *list)
{
    static TrainJob job;
    job = (TrainJob){.a = scratch, .err = &err};
    *r = (TrainRecords){.job = &job};
    return train_records_targets(r, list);
}

static void accuracies_are_read_in_their_order(void **state)
{
    TrainRecords r;
    check_ok(read_targets(&r, "0.98,0.5,1"), &err);
    check(r.targets == 3 && r.target[0].accuracy == 0.98 && r.target[2].accuracy == 1);
    check_ok(read_targets(&r, NULL), &err);
    check(r.targets == 0);
}

static void accuracies_outside_0_to_1_are_refused(void **state)
{
    static const char *const wrong[] = {"0", "1.01", "-0.5", "0.5,,0.6", "0.5;0.6", "nan", "high"};
    TrainRecords r;
    for (size_t i = 0; i < countof(wrong); i++)
        check(read_targets(&r, wrong[i]) == ERR_USAGE);
    check(read_targets(&r, ".1,.1,.1,.1,.1,.1,.1,.1,.1,.1,.1,.1,.1,.1,.1,.1,.1") == ERR_USAGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accuracies_are_read_in_their_order),
        cmocka_unit_test(accuracies_outside_0_to_1_are_refused),
    };
    scratch = arena_open(0);
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    arena_close(scratch);
    return failed ? 1 : 0;
}
