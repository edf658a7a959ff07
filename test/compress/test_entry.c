/* test_entry.c -- element-wise ATOMO (codec entry) against its definition. An element x is kept with
 * probability min(1, |x| / tau), and then decodes to x or to tau with the sign of x. The water level tau
 * follows from the budget, the expected number of elements kept. */
#include "rig/codec_rig.h"
#include "rig/sources.h"
#include "rig/draws.h"
#include "rig/set_bits.h"
#include "base/coin.h"
#include "compress/atoms/waterfill.h"
#include "math/vec/kernels.h"

static Arena *forever;

static float *vector(size_t n, const char *law)
{
    const Rng rng = rng_open(5, 0, 0, 0, rng_hash(law));
    const Shape shape = shape_vector(n);
    float *x = NEW(forever, float, n + 1);
    if (!strcmp(law, "laplace"))
        fill_laplace(&rng, &shape, x);
    else if (!strcmp(law, "spike"))
        fill_spike(&rng, &shape, x);
    else if (!strcmp(law, "zeros"))
        fill_zeros(&rng, &shape, x);
    else if (!strcmp(law, "constant"))
        fill_constant(&rng, &shape, x);
    else if (!strcmp(law, "denormal"))
        fill_denormal(&rng, &shape, x);
    else
        rng_normals(&rng, USE_TEST, 0, n, 1, x);
    return x;
}

/* Returns tau for a budget by Algorithm 1 of the ATOMO paper, rounded to float32. */
static float level_ref(const float *x, size_t n, double budget)
{
    Level level;
    check(waterfill_floats(x, n, budget, 1, forever, &level));
    return (float)level.tau;
}

static void decoded_ref(const Rig *rig, const float *x, float tau, float *y)
{
    for (size_t i = 0; i < rig->shape.n; i++) {
        const RngKey key = rng_key(&rig->call.rng, USE_COIN, i / BLOCK);
        y[i] = 0;
        if (tau == 0 || fabsf(x[i]) > tau)
            y[i] = x[i];
        else if (coin_keep(coin_make(tau), x[i], &key, (uint32_t)(i % BLOCK)))
            y[i] = copysignf(tau, x[i]);
    }
}

static void decodes_to_the_reference(const float *x, size_t n, const char *spec, double budget)
{
    Rig rig;
    rig_open(&rig, spec, shape_vector(n));
    float *y = NEW(rig.forever, float, n + 1);
    check_ok(rig_encode(&rig, x, 3), &rig.err);
    check_ok(rig_decode(&rig), &rig.err);
    decoded_ref(&rig, x, level_ref(x, n, budget), y);
    /* A raw payload has the floats of the estimate y or of x. */
    if (rig.payload.data[0] == PAYLOAD_RAW && memcmp(rig.decoded, y, n * sizeof *x))
        y = memcpy(y, x, n * sizeof *x);
    for (size_t i = 0; i < n; i++)
        if (rig.decoded[i] != y[i]) {
            print_error("%s, n %zu, element %zu: %g, want %g\n", spec, n, i, (double)rig.decoded[i],
                        (double)y[i]);
            check(false);
        }
    rig_close(&rig);
}

/* The search for the water level starts from a sample of one element in `stride`. In these vectors the sampled
 * elements differ from all others, so the sample suggests a wrong water level. */
TEST(a_misleading_sample_changes_nothing)
{
    const size_t n = 262144, stride = n / 16384;
    const ArenaMark mark = arena_mark(forever);
    float *x = vector(n, "normal");
    for (int how = 0; how < 4; how++) {
        for (uint32_t i = 0; i < 16384; i++)
            for (size_t k = 0; k < stride; k++) {
                const bool seen = k == rng_mix(i, RNG_STRIDE) % stride;
                float *v = &x[i * stride + k];
                /* the guess from the sample is far too high */
                *v = copysignf(how == 0 ? (seen ? 100 : 1e-3f)
                               /* the guess from the sample is far too low */
                               : how == 1 ? (seen ? 1e-3f : 100)
                               : how == 2 ? (seen ? 0 : 1) /* all sampled elements are zero */
                                          : (i % 5000 || k ? 1e-6f * (float)(1 + k)
                                                           /* a few elements have nearly all of the sum */
                                                           : 1e7f),
                               *v);
            }
        decodes_to_the_reference(x, n, "entry", 0.01 * (double)n);
        decodes_to_the_reference(x, n, "entry:ratio=0.3", 0.3 * (double)n);
    }
    arena_rewind(forever, mark);
}

TEST(instruction_sets_sift_the_same_candidates)
{
    static const float scales[] = {0.5f, 3, 100, 1e-30f, 1e-44f, FLT_TRUE_MIN};
    const ArenaMark mark = arena_mark(forever);
    const float *x = vector(BLOCK, "normal"), *tiny = vector(BLOCK, "denormal");
    uint32_t *at[2];
    float *value[2];
    for (int k = 0; k < 2; k++) {
        at[k] = NEW(forever, uint32_t, BLOCK + 16);
        value[k] = NEW(forever, float, BLOCK + 16);
    }
    for (size_t s = 0; s < countof(scales); s++)
        for (size_t n = 0; n <= BLOCK; n = n * 5 + 3)
            for (int isa = ISA_BASE; isa < ISA_COUNT; isa++) {
                const Kernels *k = kernels_of((Isa)isa);
                const RngKey key = {.a = 11, .b = (uint32_t)n, .c = 13, .d = 14};
                const Coin coin = coin_make(scales[s]);
                const float *v = s < 3 ? x : tiny;
                double sum[2];
                if (!k)
                    continue;
                const size_t want =
                    kernels_of(ISA_BASE)->coin_sift(v, n, coin, &key, at[0], value[0], &sum[0]);
                const size_t got = k->coin_sift(v, n, coin, &key, at[1], value[1], &sum[1]);
                check(want == got && sum[0] == sum[1] && k->sum_magnitudes(v, n) == sum[0]);
                check(!memcmp(at[0], at[1], got * 4) && !memcmp(value[0], value[1], got * 4));
                /* `coin_sift` lists every element that `coin_keep` keeps, and possibly more */
                size_t next = 0;
                for (uint32_t i = 0; i < n; i++) {
                    const bool there = next < got && at[1][next] == i;
                    check(there || !coin_keep(coin, v[i], &key, i));
                    next += there;
                }
            }
    arena_rewind(forever, mark);
}

/* ---- payload sizes ---- */

static double mean_bits(const char *spec, const float *x, size_t n)
{
    Rig rig;
    double bits = 0;
    rig_open(&rig, spec, shape_vector(n));
    for (uint64_t k = 0; k < 20; k++) {
        check_ok(rig_encode(&rig, x, k), &rig.err);
        bits += 8 * (double)rig.payload.size / 20;
    }
    rig_close(&rig);
    return bits / (double)n;
}

TEST(bits_are_spent_as_asked)
{
    static const double wanted[] = {0.02, 0.1, 0.5, 1, 2, 5, 12};
    static const char *const laws[] = {"normal", "laplace"};
    for (size_t l = 0; l < countof(laws); l++)
        for (size_t w = 0; w < countof(wanted); w++) {
            char spec[32];
            const ArenaMark mark = arena_mark(forever);
            snprintf(spec, sizeof spec, "entry:bits=%g", wanted[w]);
            const double bits = mean_bits(spec, vector(50000, laws[l]), 50000);
            check_rel(bits, wanted[w], wanted[w] < 0.1 ? 0.04 : 0.02);
            arena_rewind(forever, mark);
        }
}

/* With draw=systematic, the number of elements kept differs from its mean by at most one. */
TEST(a_systematic_draw_keeps_a_steady_number)
{
    const size_t n = 200000;
    const ArenaMark mark = arena_mark(forever);
    const float *x = vector(n, "laplace");
    for (uint64_t r = 0; r < 3; r++) {
        Rig rig;
        size_t kept = 0;
        rig_open(&rig, "entry:draw=systematic", shape_vector(n));
        check_ok(rig_encode(&rig, x, r), &rig.err);
        check_ok(rig_decode(&rig), &rig.err);
        for (size_t i = 0; i < n; i++)
            kept += rig.decoded[i] != 0;
        check_near((double)kept, 2000, 1.01);
        rig_close(&rig);
    }
    arena_rewind(forever, mark);
}

/* ---- mean and variance of estimates ---- */

/* With empty=resample, a draw that keeps no element is repeated. So the mean of the gain <estimate, x> / |x|^2
 * is 1 / P(draw not empty), 1.58 if one element is expected. The limit is six standard errors. */
TEST(drawing_again_inflates_by_the_chance_of_not_being_empty)
{
    static const struct {
        const char *spec;
        bool independent;
        double budget;
    } rows[] = {{"entry:budget=1,empty=resample", true, 1},
                {"entry:budget=0.05,empty=resample", true, 0.05},
                {"entry:budget=0.4,empty=resample,draw=systematic", false, 0.4}};
    enum { DRAWS = 6000 };
    const size_t n = 50;
    const ArenaMark mark = arena_mark(forever);
    const float *x = vector(n, "laplace");
    for (size_t r = 0; r < countof(rows); r++) {
        Rig rig;
        rig_open(&rig, rows[r].spec, shape_vector(n));
        const float tau = level_ref(x, n, rows[r].budget);
        double empty = 1, dot = 0, norm2 = 0, square = 0;
        for (size_t i = 0; i < n; i++) {
            empty *= 1 - fmin(1, fabs((double)x[i]) / (double)tau);
            norm2 += (double)x[i] * (double)x[i];
        }
        if (!rows[r].independent)
            empty = 1 - rows[r].budget;
        for (uint64_t k = 0; k < DRAWS; k++) {
            double one = 0;
            size_t kept = 0;
            check_ok(rig_encode(&rig, x, k), &rig.err);
            check_ok(rig_decode(&rig), &rig.err);
            for (size_t i = 0; i < n; i++) {
                one += (double)rig.decoded[i] * (double)x[i];
                kept += rig.decoded[i] != 0;
            }
            check(kept > 0);
            dot += one;
            square += one * one;
        }
        const double gain = dot / DRAWS, error = sqrt((square / DRAWS - gain * gain) / DRAWS);
        check_near(gain * (1 - empty) / norm2, 1, 6 * error * (1 - empty) / norm2);
        check(!(codec_traits(rig.codec) & UNBIASED) && isnan(codec_variance(&rig.call, x)));
        rig_close(&rig);
    }
    arena_rewind(forever, mark);
}

CHECK_ALL_IN(forever)
