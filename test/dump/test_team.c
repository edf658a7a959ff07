/* test_team.c -- a `Team` supplies the gradients of P workers from a dump (a file of gradients). If the dump
 * has fewer than P gradients of a tensor, the `Team` makes more of them by adding noise. */
#include "dump/groups.h"
#include "rig/check.h"
#include "rig/scratch_dir.h"

static Error err;
static Arena *arena;
static Dump *dump;

enum { N = 5 };

static float element(size_t group, size_t t, size_t i)
{
    return (float)(1 + 100 * group + 10 * t + i);
}

/* Group number `without` lacks the second tensor. Returns the dump's `Team`. */
static Team make_team(const char *const *groups, size_t count, size_t without)
{
    DumpWriter *w;
    Team team;
    VectorList list;
    const GroupSpec spec = {0};
    check_ok(dump_create(&w, in_scratch("g.h5"), &err), &err);
    for (size_t g = 0; g < count; g++)
        for (size_t t = 0; t < 2; t++) {
            const Shape shape = shape_vector(N);
            float x[N];
            char path[64];
            snprintf(path, sizeof path, "%s%sw%zu", groups[g], *groups[g] ? "/" : "", t);
            for (size_t i = 0; i < N; i++)
                x[i] = element(g, t, i);
            if (t == 0 || g != without)
                check_ok(dump_write(w, path, &shape, x, NULL, &err), &err);
        }
    check_ok(dump_finish(w, OK, &err), &err);
    arena = arena_open(0);
    check_ok(dump_open(&dump, in_scratch("g.h5"), arena, &err), &err);
    check_ok(groups_make(&list, dump, &spec, arena, &err), &err);
    check_ok(team_make(&team, dump, &list, arena, &err), &err);
    team.threads = 1;
    team.seed = 1;
    team.noise = 1;
    return team;
}

static void drop(void)
{
    dump_close(dump);
    arena_close(arena);
}

static void check_from(Team *c, size_t vector, size_t worker, size_t group)
{
    float x[N];
    const Vector *v = &c->list.item[vector];
    check_ok(team_load(c, v, worker, x, &err), &err);
    for (size_t i = 0; i < N; i++)
        check(x[i] == element(group, (size_t)(v->name[1] - '0'), i));
}

TEST(worker_groups_are_the_workers_step_by_step)
{
    static const char *const groups[] = {"step_1/worker_0", "step_1/worker_1", "step_1/worker_2",
                                         "step_2/worker_0", "step_2/worker_1"};
    Team c = make_team(groups, countof(groups), 1);
    check(c.list.count == 4 && c.list.tensors == 4 && c.list.elements == 4 * N);
    check(c.list.item[0].step == 1 && c.list.item[2].step == 2 && c.list.item[0].step_group &&
          !c.list.item[0].worker_group);
    check(team_made(&c, &c.list.item[0], 4) == 1 && team_made(&c, &c.list.item[1], 4) == 2 &&
          team_made(&c, &c.list.item[2], 2) == 0);
    check_from(&c, 0, 0, 0);
    check_from(&c, 0, 1, 1);
    /* group 1 lacks this tensor, so worker 1 gets the tensor's gradient in group 2 */
    check_from(&c, 1, 1, 2);
    check_from(&c, 3, 1, 4);
    drop();
}

TEST(without_worker_groups_steps_are_the_workers)
{
    static const char *const groups[] = {"step_1", "step_2", "step_9"};
    Team c = make_team(groups, countof(groups), 99);
    check(c.list.count == 2 && !c.list.item[0].step_group && c.list.item[0].step == c.list.item[1].step);
    check(team_made(&c, c.list.item, 3) == 0 && team_made(&c, c.list.item, 512) == 509);
    for (size_t w = 0; w < 3; w++)
        check_from(&c, 1, w, w);
    drop();
}

TEST(one_gradient_is_enough)
{
    static const char *const groups[] = {""};
    Team c = make_team(groups, 1, 99);
    check(c.list.count == 2 && team_made(&c, c.list.item, 8) == 7);
    c.noise = 0;
    check_from(&c, 0, 7, 0);
    drop();
}

/* If the dump has F gradients of a tensor, worker p >= F gets the gradient of worker p mod F plus normal
 * noise. The standard deviation of the noise is `noise` times the root mean square of this gradient. */
TEST(made_gradients_are_real_ones_with_noise)
{
    enum { MADE = 4000 };
    static const char *const groups[] = {"step_1", "step_2"};
    double sum = 0, squares = 0, rms = 0;
    float x[N], again[N];
    Team c = make_team(groups, countof(groups), 99);
    c.noise = 0.5;
    for (size_t i = 0; i < N; i++)
        rms += (double)(element(1, 0, i) * element(1, 0, i)) / N;
    for (size_t w = 3; w < 2 * MADE; w += 2) {
        check_ok(team_load(&c, c.list.item, w, x, &err), &err);
        for (size_t i = 0; i < N; i++) {
            const double z = ((double)x[i] - (double)element(1, 0, i)) / (0.5 * sqrt(rms));
            sum += z;
            squares += z * z;
        }
    }
    check_ok(team_load(&c, c.list.item, 2 * MADE - 1, again, &err), &err);
    check(!memcmp(x, again, sizeof x));
    c.seed = 2;
    check_ok(team_load(&c, c.list.item, 2 * MADE - 1, again, &err), &err);
    check(memcmp(x, again, sizeof x) != 0);
    /* z is the noise divided by its standard deviation. The mean of z must be 0, with standard error 1 /
     * sqrt(count). The mean of z^2 must be 1, with standard error sqrt(2 / count). */
    const double count = (MADE - 1.0) * N;
    check_near(sum / count, 0, 4 / sqrt(count));
    check_near(squares / count, 1, 4 * sqrt(2 / count));
    drop();
}

TEST(noise_does_not_depend_on_threads)
{
    enum { LONG = 3 * BLOCK + 17 };
    static float zero[LONG], one[LONG], three[LONG];
    const Shape shape = shape_vector(LONG);
    DumpWriter *w;
    VectorList list;
    Team c;
    zero[0] = zero[BLOCK] = 1;
    check_ok(dump_create(&w, in_scratch("g.h5"), &err), &err);
    check_ok(dump_write(w, "w", &shape, zero, NULL, &err), &err);
    check_ok(dump_finish(w, OK, &err), &err);
    arena = arena_open(0);
    check_ok(dump_open(&dump, in_scratch("g.h5"), arena, &err), &err);
    check_ok(groups_make(&list, dump, &(GroupSpec){0}, arena, &err), &err);
    check_ok(team_make(&c, dump, &list, arena, &err), &err);
    c.noise = 1;
    c.seed = 1;
    c.threads = 1;
    check_ok(team_load(&c, c.list.item, 1, one, &err), &err);
    c.threads = 3;
    check_ok(team_load(&c, c.list.item, 1, three, &err), &err);
    check(!memcmp(one, three, sizeof one));
    check(one[0] != one[BLOCK]);
    drop();
}

CHECK_ALL(scratch_open, scratch_close)
