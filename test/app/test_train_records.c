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

TEST(accuracies_are_read_in_their_order)
{
    TrainRecords r;
    check_ok(read_targets(&r, "0.98,0.5,1"), &err);
    check(r.targets == 3 && r.target[0].accuracy == 0.98 && r.target[2].accuracy == 1);
    check_ok(read_targets(&r, NULL), &err);
    check(r.targets == 0);
}

TEST(accuracies_outside_0_to_1_are_refused)
{
    static const char *const wrong[] = {"0", "1.01", "-0.5", "0.5,,0.6", "0.5;0.6", "nan", "high"};
    TrainRecords r;
    for (size_t i = 0; i < countof(wrong); i++)
        check(read_targets(&r, wrong[i]) == ERR_USAGE);
    check(read_targets(&r, ".1,.1,.1,.1,.1,.1,.1,.1,.1,.1,.1,.1,.1,.1,.1,.1,.1") == ERR_USAGE);
}

CHECK_ALL_IN(scratch)
