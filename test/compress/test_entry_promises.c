/* test_entry_promises.c -- element-wise ATOMO (codec entry): payload sizes, systematic and repeated draws, and clipping. */
#include "rig/draws.h"
#include "rig/entry_rig.h"
#include "rig/set_bits.h"

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

static void bits_are_spent_as_asked(void **state)
{
    (void)state;
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
static void a_systematic_draw_keeps_a_steady_number(void **state)
{
    (void)state;
    const size_t n = 200000;
    const ArenaMark mark = arena_mark(forever);
    const float *x = vector(n, "laplace");
    for (uint64_t r = 0; r < 10; r++) {
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

static void clip_spends_no_more_than_the_released_coder(void **state)
{
    (void)state;
    const ArenaMark mark = arena_mark(forever);
    const size_t n = 4000;
    const float *x = vector(n, "normal");
    double one = 0, V = 0;
    for (size_t i = 0; i < n; i++)
        one += fabs((double)x[i]);
    const double tau = (double)(float)(one / (0.5 * (double)n));
    for (size_t i = 0; i < n; i++)
        V += fmax(0, fabs((double)x[i]) * (tau - fabs((double)x[i])));
    Rig clip, best;
    rig_open(&clip, "entry:ratio=0.5,probs=clip", shape_vector(n));
    rig_open(&best, "entry:ratio=0.5", shape_vector(n));
    check_rel(codec_variance(&clip.call, x), V, 1e-6);
    check(codec_variance(&best.call, x) < V);
    rig_close(&clip);
    rig_close(&best);
    arena_rewind(forever, mark);
}

/* ---- mean and variance of estimates ---- */

/* With empty=resample, a draw that keeps no element is repeated. So the mean of the gain <estimate, x> / |x|^2
 * is 1 / P(draw not empty), 1.58 if one element is expected. The limit is six standard errors. */
static void drawing_again_inflates_by_the_chance_of_not_being_empty(void **state)
{
    (void)state;
    static const struct {
        const char *spec;
        bool independent;
        double budget;
    } rows[] = {{"entry:budget=1,empty=resample", true, 1},
                {"entry:budget=0.05,empty=resample", true, 0.05},
                {"entry:budget=0.4,empty=resample,draw=systematic", false, 0.4}};
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
        for (uint64_t k = 0; k < 20000; k++) {
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
        const double gain = dot / 20000, error = sqrt((square / 20000 - gain * gain) / 20000);
        check_near(gain * (1 - empty) / norm2, 1, 6 * error * (1 - empty) / norm2);
        check(!(codec_traits(rig.codec) & UNBIASED) && isnan(codec_variance(&rig.call, x)));
        rig_close(&rig);
    }
    arena_rewind(forever, mark);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bits_are_spent_as_asked),
        cmocka_unit_test(a_systematic_draw_keeps_a_steady_number),
        cmocka_unit_test(clip_spends_no_more_than_the_released_coder),
        cmocka_unit_test(drawing_again_inflates_by_the_chance_of_not_being_empty),
    };
    forever = arena_open(0);
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    arena_close(forever);
    return failed ? 1 : 0;
}
