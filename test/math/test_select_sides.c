/* test_select_sides.c -- selects the k[0] largest positive and the k[1] most negative elements, and compares
 * the result with a sort. */
#include "rig/check.h"

#include "base/rng.h"
#include "math/select.c"

static const float *sorted; /* the elements that by_magnitude compares: qsort passes it no argument */

static int by_magnitude(const void *a, const void *b)
{
    const size_t i = *(const size_t *)a, j = *(const size_t *)b;
    const float v = fabsf(sorted[i]), w = fabsf(sorted[j]);
    return v > w ? -1 : v < w ? 1 : i < j ? -1 : 1;
}

/* Sets in[i] for the k[0] largest positive elements and the k[1] most negative elements. Of equal elements,
 * those with the lowest indices are taken. */
static void sides_ref(const float *x, size_t n, const size_t k[2], size_t *room, bool *in)
{
    memset(in, 0, n * sizeof *in);
    for (int side = 0; side < 2; side++) {
        size_t m = 0;
        for (size_t i = 0; i < n; i++)
            if (side ? x[i] < 0 : x[i] > 0)
                room[m++] = i;
        sorted = x;
        qsort(room, m, sizeof *room, by_magnitude);
        for (size_t i = 0; i < k[side]; i++)
            in[room[i]] = true;
    }
}

static void unfold(const Picks *s, size_t *room, bool *in)
{
    memset(in, 0, s->n * sizeof *in);
    for (size_t i = 0; s->place && i < s->count; i++) {
        check(s->value[i] == s->x[s->place[i]]);
        in[s->place[i]] = true;
    }
    for (size_t b = 0; !s->place && b < blocks_of(s->n); b++) {
        const size_t count = select_places(s, b, room);
        for (size_t i = 0; i < count; i++)
            in[room[i]] = true;
    }
}

/* The selection estimates its threshold from a sample of the elements. The distributions are such that the
 * sample is representative, useless, or misleading. */
static float normal(const Rng *rng, size_t i)
{
    return (float)rng_normal(rng, USE_TEST, i);
}
static float tied(const Rng *rng, size_t i)
{
    return (float)round(rng_normal(rng, USE_TEST, i));
}
static float skewed(const Rng *rng, size_t i)
{
    const float v = (float)rng_normal(rng, USE_TEST, i);
    return v > 0 ? v : 1e-3f * v;
}
static float positive(const Rng *rng, size_t i)
{
    return fabsf((float)rng_normal(rng, USE_TEST, i));
}
static float rising(const Rng *rng, size_t i)
{
    (void)rng;
    return (float)(i + 1) * (i % 2 ? 1 : -1);
}
static float mostly_zero(const Rng *rng, size_t i)
{
    return i % 997 ? (i % 2 ? 0.0f : -0.0f) : (float)rng_normal(rng, USE_TEST, i);
}
static float few_below(const Rng *rng, size_t i)
{
    const float v = fabsf((float)rng_normal(rng, USE_TEST, i));
    return i % 20011 == 5 ? -v : v;
}

TEST(the_largest_of_each_side_are_those_of_a_sort)
{
    static float (*const laws[])(const Rng *, size_t) = {normal, tied,        skewed,   positive,
                                                         rising, mostly_zero, few_below};
    static const size_t sizes[] = {1, 2, 100, 1000, 70001, 150000};
    static const double shares[] = {0, 0.001, 0.01, 0.11, 0.5, 1};
    for (size_t l = 0; l < countof(laws); l++)
        for (size_t z = 0; z < countof(sizes); z++) {
            const size_t n = sizes[z];
            const Rng rng = rng_open(9, l, 0, 0, z);
            Arena *a = arena_open(0);
            float *x = NEW(a, float, n);
            size_t *room = NEW(a, size_t, n), of[2] = {0, 0};
            bool *want = NEW(a, bool, n), *got = NEW(a, bool, n);
            for (size_t i = 0; i < n; i++) {
                x[i] = laws[l](&rng, i);
                of[0] += x[i] > 0;
                of[1] += x[i] < 0;
            }
            for (size_t s = 0; s < countof(shares); s++) {
                const size_t other = s == 2 ? 0 : s;
                const size_t k[2] = {(size_t)(shares[s] * (double)of[0]),
                                     (size_t)(shares[other] * (double)of[1])};
                Picks p;
                check(select_open(&p, x, n, 1, a) && select_sides(&p, k));
                check(p.count == k[0] + k[1]);
                sides_ref(x, n, k, room, want);
                unfold(&p, room, got);
                assert_memory_equal(got, want, n * sizeof *got);
            }
            arena_close(a);
        }
}

CHECK_ALL(NULL, NULL)
