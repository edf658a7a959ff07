/* test_synth.c -- synthetic gradients must have the statistical properties of their distributions. Seeds are
 * fixed. Each limit is 5 standard errors of the estimate; with a random seed, an estimate would exceed it
 * with probability below 6e-7. */
#include "dump/write.h"
#include "rig/check.h"

enum { N = 200000 };
static Error err;
static float x[N];

static Synth base(Law law)
{
    return (Synth){.law = law, .scale = 0.5, .alpha = 3, .rank = 2, .density = 0.1, .seed = 11, .threads = 1};
}

static void fill(const Synth *s, Shape shape, int64_t worker, int64_t step, const char *name, float *to)
{
    Arena *a = arena_open(0);
    check_ok(synth_fill(s, worker, step, name, &shape, to, a, &err), &err);
    arena_close(a);
}

static double mean_of(double (*f)(double))
{
    double sum = 0;
    for (size_t i = 0; i < N; i++)
        sum += f((double)x[i]);
    return sum / N;
}
static double itself(double v)
{
    return v;
}
static double squared(double v)
{
    return v * v;
}
static double is_zero(double v)
{
    return v == 0;
}
static double above_one(double v)
{
    return fabs(v) > 1;
}

TEST(normal_has_mean_zero_and_the_scale_as_deviation)
{
    const Synth s = base(LAW_NORMAL);
    fill(&s, shape_vector(N), 0, 1, "a", x);
    check_near(mean_of(itself), 0, 5 * 0.5 / sqrt(N));
    check_near(mean_of(squared), 0.25, 5 * 0.25 * sqrt(2.0 / N));
    check_near(mean_of(above_one), erfc(2 / sqrt(2)), 5 * sqrt(0.0455 * 0.9545 / N));
}

TEST(laplace_has_the_scale_as_mean_magnitude)
{
    const Synth s = base(LAW_LAPLACE);
    fill(&s, shape_vector(N), 0, 1, "a", x);
    check_near(mean_of(itself), 0, 5 * 0.5 * sqrt(2.0 / N));
    check_near(mean_of(fabs), 0.5, 5 * 0.5 / sqrt(N));
    check_near(mean_of(above_one), exp(-2), 5 * sqrt(exp(-2) * (1 - exp(-2)) / N));
}

TEST(power_has_the_tail_it_names)
{
    const Synth s = base(LAW_POWER);
    fill(&s, shape_vector(N), 0, 1, "a", x);
    /* P(|x| > 1) = (0.5 / 1)^3 = 0.125 for a power law with least magnitude 0.5 */
    check_near(mean_of(above_one), 0.125, 5 * sqrt(0.125 * 0.875 / N));
    double least = INFINITY;
    for (size_t i = 0; i < N; i++)
        least = fmin(least, fabs((double)x[i]));
    check_rel(least, 0.5, 1e-4);
}

TEST(sparse_has_its_density)
{
    const Synth s = base(LAW_SPARSE);
    fill(&s, shape_vector(N), 0, 1, "a", x);
    check_near(mean_of(is_zero), 0.9, 5 * sqrt(0.09 / N));
    check_near(mean_of(squared), 0.1 * 0.25, 5 * 0.25 * sqrt(0.3 / N));
}

/* Projects each column on the space of the first two columns. Returns the largest share of a column's
 * squared norm that is outside this space. */
static double beyond_rank_two(const float *m, size_t rows, size_t cols)
{
    double q[2][512], worst = 0;
    for (size_t j = 0; j < cols; j++) {
        double v[512], before = 0, after = 0;
        for (size_t i = 0; i < rows; i++) {
            v[i] = (double)m[i * cols + j];
            before += v[i] * v[i];
        }
        for (size_t k = 0; k < (j < 2 ? j : 2); k++) {
            double dot = 0;
            for (size_t i = 0; i < rows; i++)
                dot += v[i] * q[k][i];
            for (size_t i = 0; i < rows; i++)
                v[i] -= dot * q[k][i];
        }
        for (size_t i = 0; i < rows; i++)
            after += v[i] * v[i];
        for (size_t i = 0; j < 2 && i < rows; i++)
            q[j][i] = v[i] / sqrt(after);
        if (j >= 2)
            worst = fmax(worst, after / before);
    }
    return worst;
}

TEST(lowrank_has_its_rank_on_the_papers_matrix)
{
    Synth s = base(LAW_LOWRANK);
    Shape shape;
    check(shape_make(&shape, 4, (size_t[]){40, 10, 3, 3})); /* the 4-D shape is viewed as a 200 x 18 matrix */
    fill(&s, shape, 0, 1, "a", x);
    check(beyond_rank_two(x, 200, 18) < 1e-10);
    s.noise = 0.1;
    fill(&s, shape, 0, 1, "a", x);
    check(beyond_rank_two(x, 200, 18) > 1e-4);
}

TEST(elements_depend_on_the_address_and_not_on_threads)
{
    static float y[N];
    for (int law = 0; law_names[law]; law++) {
        Synth s = base((Law)law);
        fill(&s, shape_vector(N), 0, 1, "a", x);
        s.threads = 3;
        fill(&s, shape_vector(N), 0, 1, "a", y);
        assert_memory_equal(x, y, sizeof x);
        fill(&s, shape_vector(N), 1, 1, "a", y);
        check(memcmp(x, y, sizeof x) != 0);
        fill(&s, shape_vector(N), 0, 2, "a", y);
        check(memcmp(x, y, sizeof x) != 0);
        fill(&s, shape_vector(N), 0, 1, "b", y);
        check(memcmp(x, y, sizeof x) != 0);
        s.seed++;
        fill(&s, shape_vector(N), 0, 1, "a", y);
        check(memcmp(x, y, sizeof x) != 0);
    }
}

TEST(shapes_are_read_from_text)
{
    Shape shape;
    check(synth_shape("64x3x3x3", &shape) && shape.rank == 4 && shape.n == 1728 && shape.dim[0] == 64);
    check(synth_shape("0", &shape) && shape.n == 0);
    static const char *const bad[] = {"",     "x",
                                      "3x",   "x3",
                                      "3x-1", "3 x3",
                                      "3X3",  "1x1x1x1x1x1x1x1x1",
                                      "1e3",  "999999999999999x999999999999999"};
    for (size_t i = 0; i < countof(bad); i++)
        check(!synth_shape(bad[i], &shape));
}

CHECK_ALL(NULL, NULL)
