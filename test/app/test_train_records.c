/* test_train_records.c -- the step at which a training run reaches its target accuracies, computed from its
 * records; and learning rates read from a result file of the command tune. */
#include "rig/check.h"
#include "rig/scratch_dir.h"
#include "app/train_rates.h"
#include "app/train_records.h"
#include "compress/spec.h"

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
    (void)state;
    TrainRecords r;
    check_ok(read_targets(&r, "0.98,0.5,1"), &err);
    check(r.targets == 3 && r.target[0].accuracy == 0.98 && r.target[2].accuracy == 1);
    check_ok(read_targets(&r, NULL), &err);
    check(r.targets == 0);
}

static void accuracies_outside_0_to_1_are_refused(void **state)
{
    (void)state;
    static const char *const wrong[] = {"0", "1.01", "-0.5", "0.5,,0.6", "0.5;0.6", "nan", "high"};
    TrainRecords r;
    for (size_t i = 0; i < countof(wrong); i++)
        check(read_targets(&r, wrong[i]) == ERR_USAGE);
    check(read_targets(&r, ".1,.1,.1,.1,.1,.1,.1,.1,.1,.1,.1,.1,.1,.1,.1,.1,.1") == ERR_USAGE);
}

static const Codec *open_codec(const char *spec)
{
    const Codec *codec;
    check_ok(codec_open(&codec, spec, scratch, &err), &err);
    return codec;
}

static void each_codec_gets_the_step_size_that_was_chosen_for_its_spec(void **state)
{
    (void)state;
    const char *file = in_scratch("tune.csv");
    FILE *f = fopen(file, "w");
    check(f != NULL);
    fputs("compressor,lr,chosen\nnone,0.1,false\nnone,0.2,true\nqsgd,0.3,true\nsign,fast,true\n", f);
    fclose(f);
    const Codec *codec[] = {open_codec("qsgd"), open_codec("none")}, *bad[] = {open_codec("sign")},
                *missing[] = {open_codec("terngrad")};
    double *rate;
    check_ok(train_rates_load(&rate, file, codec, 2, scratch, &err), &err);
    check(rate[0] == 0.3 && rate[1] == 0.2);
    check(train_rates_load(&rate, file, bad, 1, scratch, &err) == ERR_CORRUPT);
    check(train_rates_load(&rate, file, missing, 1, scratch, &err) == ERR_USAGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accuracies_are_read_in_their_order),
        cmocka_unit_test(accuracies_outside_0_to_1_are_refused),
        cmocka_unit_test_setup_teardown(each_codec_gets_the_step_size_that_was_chosen_for_its_spec,
                                        scratch_open, scratch_close),
    };
    scratch = arena_open(0);
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    arena_close(scratch);
    return failed ? 1 : 0;
}
