/* test_lq.c -- the codec lq, which keeps an element g_i with probability p = |g_i| / |g|_q: the
 * random choice of each element, and draws that outgrow floats. */
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

static void the_second_moment_is_l1_times_lq(void **state)
{
    (void)state;
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

static const size_t sizes[] = {0, 1, 2, 3, 64, 65, 1000, 65535, 65536, 65537, 300000};

static void every_element_is_decided_by_its_own_coin(void **state)
{
    (void)state;
    const float *x = vector(sizes[countof(sizes) - 1], 2);
    for (size_t k = 0; k < countof(sizes); k++)
        for (size_t r = 0; r < countof(rows); r++) {
            const size_t n = sizes[k];
            const float scale = (float)norm_ref(x, n, rows[r].q);
            for (int threads = 1; threads <= 8; threads = threads == 1 ? 2 : threads * 4) {
                Rig rig;
                rig_open(&rig, rows[r].spec, shape_vector(n));
                rig.call.threads = threads;
                check_ok(rig_encode(&rig, x, 1), &rig.err);
                check_ok(rig_decode(&rig), &rig.err);
                if (rig.payload.data[0] == PAYLOAD_RAW)
                    check(n < 8);
                RngKey key = {0};
                for (size_t i = 0; i < n && rig.payload.data[0] == PAYLOAD_METHOD; i++) {
                    if (i % BLOCK == 0)
                        key = rng_key(&rig.call.rng, USE_COIN, i / BLOCK);
                    const bool kept = coin_keep(coin_make(scale), x[i], &key, (uint32_t)(i % BLOCK));
                    check(rig.decoded[i] == (kept ? copysignf(scale, x[i]) : 0));
                }
                rig_close(&rig);
            }
        }
}

/* One element takes seven bytes as an atom but five as a raw payload. The reported entropy must be that of the
 * raw float. */
static void a_draw_that_outgrows_raw_counts_as_raw(void **state)
{
    (void)state;
    Rig rig;
    Streams streams = {0};
    rig_open(&rig, "lq", shape_vector(1));
    rig.call.streams = &streams;
    check_ok(rig_encode(&rig, (const float[]){-2.5f}, 0), &rig.err);
    check(rig.payload.size == 5 && rig.payload.data[0] == 0);
    check(streams.reported && streams.raw && streams.entropy_bits == 32);
    rig_close(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_second_moment_is_l1_times_lq),
        cmocka_unit_test(every_element_is_decided_by_its_own_coin),
        cmocka_unit_test(a_draw_that_outgrows_raw_counts_as_raw),
    };
    forever = arena_open(0);
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    arena_close(forever);
    return failed ? 1 : 0;
}
