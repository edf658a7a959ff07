/* test_groups.c -- tests `groups_make`, which joins the tensors of a dump (a file of gradients) into the
 * vectors that a codec compresses. */
#include "dump/groups.h"
#include "rig/check.h"
#include "rig/scratch_dir.h"

static Error err;
static Arena *arena;
static Dump *dump;

static const struct {
    const char *name;
    int rank;
    size_t dim[4];
} model[] = {
    {"conv1.weight", 4, {2, 3, 1, 1}}, {"bn.weight", 1, {2}}, {"fc1.weight", 2, {4, 5}}, {"fc1.bias", 1, {4}},
    {"fc2.weight", 2, {3, 4}},         {"nothing", 1, {0}},
};

static float element(size_t group, size_t t, size_t i)
{
    return (float)(1000 * group + 100 * t + i);
}

/* Writes a dump of two steps with two workers each. In the tensor `bad`, one element is NaN and one is
 * infinity. */
static void make_dump(const char *bad)
{
    static const char *const groups[] = {"step_1/worker_0", "step_1/worker_1", "step_2/worker_0",
                                         "step_2/worker_1"};
    DumpWriter *w;
    check_ok(dump_create(&w, in_scratch("g.h5"), &err), &err);
    for (size_t g = 0; g < countof(groups); g++)
        for (size_t t = 0; t < countof(model); t++) {
            Shape shape;
            float x[64];
            char path[64];
            shape_make(&shape, model[t].rank, model[t].dim);
            snprintf(path, sizeof path, "%s/%s", groups[g], model[t].name);
            for (size_t i = 0; i < shape.n; i++)
                x[i] = element(g, t, i);
            if (bad && !strcmp(bad, path)) {
                x[1] = NAN;
                x[3] = INFINITY;
            }
            check_ok(dump_write(w, path, &shape, x, NULL, &err), &err);
        }
    check_ok(dump_finish(w, OK, &err), &err);
    arena = arena_open(0);
    check_ok(dump_open(&dump, in_scratch("g.h5"), arena, &err), &err);
}
static void drop_dump(void)
{
    dump_close(dump);
    arena_close(arena);
}

static VectorList make(GroupSpec spec)
{
    VectorList list;
    check_ok(groups_make(&list, dump, &spec, arena, &err), &err);
    return list;
}

TEST(tensors_stay_single_by_default)
{
    make_dump(NULL);
    const VectorList list = make((GroupSpec){0});
    assert_int_equal(list.count, 24);
    assert_int_equal(list.tensors, 24);
    assert_int_equal(list.elements, 4 * (6 + 2 + 20 + 4 + 12));
    assert_int_equal(list.largest, 20);
    const Vector *v = &list.item[6]; /* worker_1's conv1.weight */
    assert_string_equal(v->name, "conv1.weight");
    check(v->shape.rank == 4 && v->worker == 1 && v->step == 1 && v->kind == KIND_CONV && !v->joined);
    assert_string_equal(v->worker_group, "worker_1");
    drop_dump();
}

TEST(kinds_are_three_vectors_of_each_step_and_worker)
{
    make_dump(NULL);
    const VectorList list = make((GroupSpec){.grouping = GROUP_KIND});
    assert_int_equal(list.count, 12);
    /* the vectors come in the order of their first tensors */
    static const char *const names[] = {"conv", "other", "fc"};
    static const size_t sizes[] = {6, 6, 32};
    for (size_t v = 0; v < list.count; v++) {
        assert_string_equal(list.item[v].name, names[v % 3]);
        assert_int_equal(list.item[v].shape.n, sizes[v % 3]);
        check(list.item[v].shape.rank == 1 && list.item[v].joined);
    }
    float x[32];
    check_ok(vector_load(dump, &list.item[11], x, &err), &err); /* fc1.weight, then fc2.weight */
    check(x[0] == element(3, 2, 0) && x[19] == element(3, 2, 19) && x[20] == element(3, 4, 0) &&
          x[31] == element(3, 4, 11));
    assert_int_equal(list.item[11].kind, KIND_FC);
    assert_int_equal(list.item[10].kind, KIND_OTHER);
    drop_dump();
}

TEST(all_is_the_whole_gradient_of_one_step_and_worker)
{
    make_dump(NULL);
    const VectorList list = make((GroupSpec){.grouping = GROUP_ALL, .selection = {.step = "2"}});
    assert_int_equal(list.count, 2);
    assert_int_equal(list.item[0].shape.n, 44);
    assert_int_equal(list.item[0].members, 6);
    float x[44];
    check_ok(vector_load(dump, &list.item[1], x, &err), &err);
    check(x[0] == element(3, 0, 0) && x[43] == element(3, 4, 11));
    drop_dump();
}

TEST(small_tensors_travel_alone_and_raw)
{
    make_dump(NULL);
    const VectorList list = make(
        (GroupSpec){.grouping = GROUP_ALL, .min_elements = 12, .selection = {.step = "1", .worker = "0"}});
    /* the vectors are conv1.weight, bn.weight, fc1.weight joined with fc2.weight, fc1.bias, `nothing` */
    assert_int_equal(list.count, 5);
    check(list.item[0].raw && !list.item[0].joined && list.item[0].shape.rank == 4);
    check(!list.item[2].raw && list.item[2].members == 2 && list.item[2].shape.n == 32);
    assert_string_equal(list.item[2].name, "all");
    check(list.item[4].raw && list.item[4].shape.n == 0);
    drop_dump();
}

TEST(what_is_not_finite_stops_or_is_left_out)
{
    make_dump("step_1/worker_1/fc1.weight");
    VectorList list = make((GroupSpec){0});
    float x[64];
    assert_int_equal(vector_load(dump, &list.item[8], x, &err), ERR_NUMERIC);
    check(strstr(err.text, "step_1/worker_1/fc1.weight: 2 of 20 elements are NaN or Inf as float32, the "
                           "first is element 1") != NULL);
    check(strstr(err.hint, "--skip-nonfinite") != NULL);
    list = make((GroupSpec){.skip_nonfinite = true});
    check(list.count == 23 && list.skipped == 1);
    assert_string_equal(list.item[8].name, "fc1.bias");
    const char *glob = "fc1.weight";
    const GroupSpec only = {.skip_nonfinite = true,
                            .selection = {.tensors = {&glob, 1}, .step = "1", .worker = "1"}};
    assert_int_equal(groups_make(&list, dump, &only, arena, &err), ERR_NUMERIC);
    drop_dump();
}

CHECK_ALL(scratch_open, scratch_close)
