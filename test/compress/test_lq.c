/* test_lq.c -- the codec lq, which keeps an element g_i with probability p = |g_i| / |g|_q: the
 * second moment. */
#include "rig/codec_rig.h"
#include "base/coin.h"
#include "rig/draws.h"
#include "rig/sources.h"
#include "compress/atoms/waterfill.h"

static Arena *forever;

static const struct {
    const char *spec;
    double q;
} rows[] = {{"lq:q=0.5", 0.5}, {"lq:q=1", 1}, {"lq:q=1.5", 1.5},     {"lq", 2},
            {"lq:q=3", 3},     {"lq:q=4", 4}, {"lq:q=inf", INFINITY}};

static float *vector(size_t n, uint64_t stream)
{
    const Rng rng = rng_open(9, 0, 0, 0, stream);
    float *x = NEW(forever, float, n + 1);
    rng_normals(&rng, USE_TEST, 0, n, 1, x);
    return x;
}

/* Returns v^q for v >= 0 and a multiple q of 1/2, by products and a square root: powl takes many times as long. */
static long double power(long double v, double q)
{
    long double product = fmod(q, 1) > 0 ? sqrtl(v) : 1;
    for (double k = 1; k <= q; k++)
        product *= v;
    return product;
}

/* Returns (sum |x|^q)^(1/q) in long double; the largest |x| for q = inf. */
static double norm_ref(const float *x, size_t n, double q)
{
    long double sum = 0, most = 0;
    for (size_t i = 0; i < n; i++) {
        const long double v = fabsl((long double)x[i]);
        most = fmaxl(most, v);
        sum += isinf(q) ? 0 : power(v, q);
    }
    return (double)(isinf(q) ? most : powl(sum, 1 / (long double)q));
}

static double squares(const float *x, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += (double)x[i] * (double)x[i];
    return sum;
}

TEST(the_second_moment_is_l1_times_lq)
{
    const size_t n = 100000;
    const ArenaMark mark = arena_mark(forever);
    const float *x = vector(n, 1);
    for (size_t r = 0; r < countof(rows); r++) {
        Rig rig;
        rig_open(&rig, rows[r].spec, shape_vector(n));
        check_rel(codec_variance(&rig.call, x) + squares(x, n), norm_ref(x, n, 1) * norm_ref(x, n, rows[r].q),
                  2e-7);
        rig_close(&rig);
    }
    arena_rewind(forever, mark);
}

CHECK_ALL_IN(forever)
