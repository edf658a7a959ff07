/* test_entry_promises.c -- element-wise ATOMO (codec entry): payload sizes, mean and variance of the estimates,
 * and payloads that must be refused because no encoder writes them. */
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

/* The draws must pass the tests of draws.h, which raise a false alarm with probability below 1e-6 per spec. The
 * draws must fail if every estimate is multiplied by 1.01. */
static void draws_are_unbiased_and_vary_as_the_closed_form_says(void **state)
{
    (void)state;
    static const struct {
        const char *spec;
        size_t repeats;
    } rows[] = {{"entry:ratio=0.1", 2600},
                {"entry:ratio=0.1,draw=systematic", 2600},
                {"entry:ratio=0.1,probs=clip", 2600}};
    const ArenaMark mark = arena_mark(forever);
    const float *x = vector(4096, "normal");
    for (size_t r = 0; r < countof(rows); r++) {
        draws_check(rows[r].spec, shape_vector(4096), x, rows[r].repeats, 1.01);
    }
    arena_rewind(forever, mark);
}

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

/* ---- limits of float32 ---- */

static void levels_beyond_float32_are_refused(void **state)
{
    (void)state;
    const ArenaMark mark = arena_mark(forever);
    float *x = vector(100, "constant");
    Rig rig;
    for (size_t i = 0; i < 100; i++)
        x[i] = FLT_MAX;
    rig_open(&rig, "entry:budget=2", shape_vector(100));
    check(rig_encode(&rig, x, 0) == ERR_NUMERIC && isnan(codec_variance(&rig.call, x)));
    rig_close(&rig);
    rig_open(&rig, "entry:budget=100", shape_vector(100));
    check_ok(rig_encode(&rig, x, 0), &rig.err);
    check_ok(rig_decode(&rig), &rig.err);
    check(!memcmp(rig.decoded, x, 400) && codec_variance(&rig.call, x) == 0);
    rig_close(&rig);
    arena_rewind(forever, mark);
}

static void an_empty_draw_is_three_bytes_of_zeros(void **state)
{
    (void)state;
    Rig rig;
    const float zeros[500] = {0};
    rig_open(&rig, "entry", shape_vector(500));
    check_ok(rig_encode(&rig, zeros, 0), &rig.err);
    check(rig.payload.size == 3);
    check_ok(rig_decode(&rig), &rig.err);
    check(!memcmp(rig.decoded, zeros, sizeof zeros));
    rig_close(&rig);
}

static void payloads_no_encoder_writes_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *why;
        uint8_t bytes[24];
        size_t size;
    } refused[] = {
        {"empty", {0}, 0},
        {"no light list", {1, 0}, 2},
        {"merged", {2, 0, 0}, 3},
        {"byte left over", {1, 0, 0, 0}, 4},
        {"heavy atom of 0", {1, 1, 0, 0x80, 0, 0, 0, 0, 0}, 9},
        {"heavy atom is infinite", {1, 1, 0, 0x80, 0, 0, 0x80, 0x7f, 0}, 9},
        {"level of 0", {1, 0, 1, 0, 0x80, 0, 0, 0, 0, 0}, 10},
        {"level under 0", {1, 0, 1, 0, 0x80, 0, 0, 0x80, 0xbf, 0}, 10},
        {"level is no number", {1, 0, 1, 0, 0x80, 0, 0, 0xc0, 0x7f, 0}, 10},
        {"bit behind the signs", {1, 0, 1, 0, 0x80, 0, 0, 0x80, 0x3f, 2}, 10},
        {"signs are missing", {1, 0, 1, 0, 0x80, 0, 0, 0x80, 0x3f}, 9},
        {"heavy atom under the level", {1, 1, 0, 0x80, 0, 0, 0, 0x3f, 1, 0, 0x40, 0, 0, 0x80, 0x3f, 0}, 16},
        {"element in both lists", {1, 1, 0, 0x80, 0, 0, 0, 0x40, 1, 0, 0x80, 0, 0, 0x80, 0x3f, 0}, 16},
    };
    Rig rig;
    rig_open(&rig, "entry", shape_vector(9));
    rig.message.rounds = 1;
    for (size_t i = 0; i < countof(refused); i++)
        if (rig_decode_bytes(&rig, refused[i].bytes, refused[i].size, rig.decoded) != ERR_CORRUPT) {
            print_error("taken: %s\n", refused[i].why);
            check(false);
        }
    const uint8_t good[] = {1, 1, 0, 0x80, 0, 0, 0, 0x40, 1, 0, 0x40, 0, 0, 0x80, 0x3f, 1};
    check_ok(rig_decode_bytes(&rig, good, sizeof good, rig.decoded), &rig.err);
    check(rig.decoded[0] == 2 && rig.decoded[1] == -1 && rig.decoded[2] == 0);
    rig_close(&rig);
}

static void streams_are_what_the_payload_carries(void **state)
{
    (void)state;
    const size_t n = 65536;
    const ArenaMark mark = arena_mark(forever);
    const float *x = vector(n, "laplace");
    static const char *const specs[] = {"entry", "entry:ratio=0.1", "entry:ratio=0.2"};
    for (size_t s = 0; s < countof(specs); s++) {
        Rig rig;
        Streams streams = {0};
        rig_open(&rig, specs[s], shape_vector(n));
        rig.call.streams = &streams;
        check_ok(rig_encode(&rig, x, 0), &rig.err);
        const SetBits bits = set_bits(buf_bytes(&rig.payload), n, 32, 1, rig.forever);
        const double sent = 8 * (double)rig.payload.size;
        check(streams.reported && !streams.raw);
        check_rel(streams.entropy_bits, bits.entropy, 1e-9);
        check(bits.information > 0.975 * sent && bits.information < sent && bits.entropy < bits.information);
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
        cmocka_unit_test(draws_are_unbiased_and_vary_as_the_closed_form_says),
        cmocka_unit_test(drawing_again_inflates_by_the_chance_of_not_being_empty),
        cmocka_unit_test(levels_beyond_float32_are_refused),
        cmocka_unit_test(an_empty_draw_is_three_bytes_of_zeros),
        cmocka_unit_test(payloads_no_encoder_writes_are_refused),
        cmocka_unit_test(streams_are_what_the_payload_carries),
    };
    forever = arena_open(0);
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    arena_close(forever);
    return failed ? 1 : 0;
}
