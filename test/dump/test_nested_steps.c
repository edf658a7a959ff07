/* test_nested_steps.c -- a glob names the groups of a dump that hold steps. */
#include "dump/tensor.h"
#include "rig/scratch_dir.h"

static Error err;

/* Writes a dump with a tensor of one element at each path. The element is the path's index. If `numbered`, the
 * group "e1/i1" has the attribute step = 700. */
static void write_paths(const char *const *path, size_t count, bool numbered)
{
    DumpWriter *w;
    Attr step = {"step", ATTR_INT, 700, 0, NULL};
    const AttrList attrs = {&step, 1};
    const Shape shape = shape_vector(1);
    check_ok(dump_create(&w, in_scratch("s.h5"), &err), &err);
    for (size_t i = 0; i < count; i++) {
        const float x = (float)i;
        check_ok(dump_write(w, path[i], &shape, &x, NULL, &err), &err);
    }
    if (numbered)
        check_ok(dump_write_attrs(w, "e1/i1", &attrs, &err), &err);
    check_ok(dump_finish(w, OK, &err), &err);
}

typedef struct {
    const char *group, *worker;
    int64_t step;
    const char *name;
    float x;
} Want;

static void check_tensors(const char *glob, const Want *want, size_t count)
{
    Arena *a = arena_open(0);
    Dump *d;
    check_ok(dump_open_as(&d, in_scratch("s.h5"), &(DumpHints){.steps_from = glob}, a, &err), &err);
    check(dump_count(d) == count);
    for (size_t i = 0; i < count; i++) {
        const TensorInfo *t = dump_tensor(d, i);
        float x;
        check_ok(dump_read(d, i, &x, &err), &err);
        check(x == want[i].x && t->step == want[i].step && !strcmp(t->name, want[i].name));
        check(!t->step_group == !want[i].group && (!t->step_group || !strcmp(t->step_group, want[i].group)));
        check(!t->worker_group == !want[i].worker &&
              (!t->worker_group || !strcmp(t->worker_group, want[i].worker)));
    }
    dump_close(d);
    arena_close(a);
}

TEST(iterations_that_begin_anew_in_each_epoch_get_joined_numbers_in_order)
{
    static const char *const paths[] = {"epoch10/iter3/w", "epoch2/iter100/w", "epoch2/iter20/w",
                                        "epoch2/iter3/w"};
    static const Want want[] = {{"epoch2/iter3", NULL, 2000003, "w", 3},
                                {"epoch2/iter20", NULL, 2000020, "w", 2},
                                {"epoch2/iter100", NULL, 2000100, "w", 1},
                                {"epoch10/iter3", NULL, 10000003, "w", 0}};
    write_paths(paths, countof(paths), false);
    check_tensors("epoch*/iter*", want, countof(want));
}

TEST(iterations_that_go_on_keep_their_numbers)
{
    static const char *const paths[] = {"epoch1/iter90/a/w", "epoch2/iter100/a/w", "epoch1/iter5/a/w"};
    static const Want want[] = {{"epoch1/iter5", NULL, 5, "a/w", 2},
                                {"epoch1/iter90", NULL, 90, "a/w", 0},
                                {"epoch2/iter100", NULL, 100, "a/w", 1}};
    write_paths(paths, countof(paths), false);
    check_tensors("epoch*/iter*", want, countof(want));
}

TEST(workers_stand_below_nested_steps)
{
    static const char *const paths[] = {"it7/worker_1/w", "it7/worker_0/w"};
    static const Want want[] = {{"it7", "worker_0", 7, "w", 1}, {"it7", "worker_1", 7, "w", 0}};
    write_paths(paths, countof(paths), false);
    check_tensors("it*", want, countof(want));
}

TEST(an_attribute_gives_the_number_of_a_step)
{
    static const char *const paths[] = {"e1/i1/w", "e2/i1/w", "e3/i1/w"};
    static const Want want[] = {
        {"e1/i1", NULL, 700, "w", 0}, {"e2/i1", NULL, 2000001, "w", 1}, {"e3/i1", NULL, 3000001, "w", 2}};
    write_paths(paths, countof(paths), true);
    check_tensors("e*/i*", want, countof(want));
}

TEST(a_glob_that_no_group_matches_is_an_error_with_a_better_glob)
{
    static const char *const paths[] = {"epoch_1/it2/w"}, *const plain[] = {"layer1/w"};
    const DumpHints hints = {.steps_from = "iter*"};
    Arena *a = arena_open(0);
    Dump *d;
    write_paths(paths, 1, false);
    check(dump_open_as(&d, in_scratch("s.h5"), &hints, a, &err) == ERR_USAGE);
    check(strstr(err.text, "no groups match --steps-from \"iter*\"; the first tensor is epoch_1/it2/w") !=
          NULL);
    check(!strcmp(err.hint, "--steps-from 'epoch_*/it*'"));
    write_paths(plain, 1, false);
    check(dump_open_as(&d, in_scratch("s.h5"), &hints, a, &err) == ERR_USAGE);
    check(strstr(err.hint, "epoch*/iter*") != NULL);
    arena_close(a);
}

TEST(groups_of_layers_are_not_taken_for_steps)
{
    static const struct {
        const char *path, *glob;
    } cases[] = {
        {"epoch3/iter17/conv1.weight", "epoch*/iter*"},
        {"Epoch_3/step-5/w", "Epoch_*/step-*"},
        {"iteration00100/w", "iteration*"},
        {"global_step12/layer1/w", "global_step*"},
        {"layer1/0/conv1.weight", ""},
        {"conv1.weight", ""},
        {"iter17", ""},
        {"epochs3/w", ""},
        {"epoch/w", ""},
        {"7/w", ""},
    };
    Arena *a = arena_open(0);
    for (size_t i = 0; i < countof(cases); i++)
        check(!strcmp(steps_guess(cases[i].path, a), cases[i].glob));
    arena_close(a);
}

CHECK_ALL(scratch_open, scratch_close)
