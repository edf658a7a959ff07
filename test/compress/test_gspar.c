/* test_gspar.c -- the codec gspar with a given density (expected share of elements kept) or a given variance
 * `eps`: each decoded element against the definition, and the optimality of the probabilities. */
#include "rig/try.h"

#include "base/coin.h"
#include "rig/variance_level.h"
#include "compress/spec.h"

static void density_is_entrys_draw_to_the_byte(void **state)
{
    (void)state;
    static const char *const pairs[][2] = {{"gspar", "entry"},
                                           {"gspar:density=0.3", "entry:ratio=0.3"},
                                           {"gspar:density=0.001", "entry:ratio=0.001"}};
    for (size_t s = 0; s < countof(pairs); s++)
        for (size_t n = 0; n < 300000; n = n * 7 + 1) {
            Try *g = try_open(pairs[s][0], n), *e = try_open(pairs[s][1], n);
            try_laplace(g, 60), try_laplace(e, 60);
            try_both(g), try_both(e);
            check(g->out.size == e->out.size && !memcmp(g->out.data, e->out.data, g->out.size));
            check(!memcmp(g->y, e->y, n * sizeof *g->y));
            const double v = codec_variance(&e->call, e->x);
            check(codec_variance(&g->call, g->x) == v);
            try_close(g), try_close(e);
        }
}

static void eps_decides_every_element_by_its_own_coin(void **state)
{
    (void)state;
    for (size_t k = 0; k < countof(sizes); k++)
        for (size_t e = 0; e < countof(epsilons); e++) {
            char spec[48];
            const ArenaMark mark = arena_mark(scratch);
            snprintf(spec, sizeof spec, "gspar:eps=%g", epsilons[e]);
            Try *t = try_open(spec, sizes[k]);
            try_normal(t, 61);
            try_both(t);
            const Sorted sorted = sorted_of(t->x, sizes[k]);
            const float tau = (float)sorted_level(&sorted, epsilons[e]);
            const bool raw = t->sent.round[0].data[0] == PAYLOAD_RAW;
            for (size_t i = 0; i < sizes[k]; i++) {
                const RngKey key = rng_key(&t->call.rng, USE_COIN, i / BLOCK);
                const bool heavy = fabsf(t->x[i]) > tau;
                const bool kept = coin_keep(coin_make(tau), t->x[i], &key, (uint32_t)(i % BLOCK));
                const float drawn = heavy ? t->x[i] : kept ? copysignf(tau, t->x[i]) : 0;
                check(t->y[i] == drawn || (raw && t->y[i] == t->x[i]));
            }
            try_close(t);
            arena_rewind(scratch, mark);
        }
}

static void eps_is_the_variance_and_takes_fewer_atoms_than_any_other_level(void **state)
{
    (void)state;
    static const double wanted[] = {0.1, 1, 10, 62};
    for (size_t e = 0; e < countof(wanted); e++) {
        char spec[48];
        const size_t n = 65536;
        snprintf(spec, sizeof spec, "gspar:eps=%g", wanted[e]);
        Try *t = try_open(spec, n);
        try_normal(t, 62);
        double squares = 0;
        for (size_t i = 0; i < n; i++)
            squares += (double)t->x[i] * (double)t->x[i];
        check_rel(codec_variance(&t->call, t->x), wanted[e] * squares, 1e-5);
        /* Other probabilities of the same variance, p = min(1, (|x| / scale)^a) with a = 0.8 or 1.2, must have
         * a larger sum. */
        const double tau = waterfill_of_variance(t->x, n, wanted[e], 1, scratch);
        for (double a = 0.8; a < 1.3; a += 0.4) {
            double low = 0, high = 1e6, atoms = 0;
            for (int step = 0; step < 200; step++) {
                const double scale = 0.5 * (low + high);
                double v = 0;
                atoms = 0;
                for (size_t i = 0; i < n; i++) {
                    const double x = fabs((double)t->x[i]), p = fmin(1, pow(x / scale, a));
                    v += x > 0 ? x * x * (1 / p - 1) : 0;
                    atoms += p;
                }
                if (v > wanted[e] * squares)
                    high = scale;
                else
                    low = scale;
                if (high - low < 1e-7 * high)
                    break;
            }
            check(atoms > expected_atoms(t->x, n, tau));
        }
        try_close(t);
    }
}

static void density_and_eps_exclude_each_other(void **state)
{
    (void)state;
    static const char *const wrong[] = {"gspar:density=0.1,eps=1", "gspar:eps=0", "gspar:eps=-1",
                                        "gspar:density=0", "gspar:density=1.5"};
    const Codec *codec;
    Error err;
    for (size_t i = 0; i < countof(wrong); i++)
        check(codec_open(&codec, wrong[i], scratch, &err) == ERR_USAGE);
    check_ok(codec_open(&codec, "gspar:eps=1", scratch, &err), &err);
    check(!strcmp(codec_text(codec, scratch), "gspar:eps=1"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(density_is_entrys_draw_to_the_byte),
        cmocka_unit_test(eps_decides_every_element_by_its_own_coin),
        cmocka_unit_test(eps_is_the_variance_and_takes_fewer_atoms_than_any_other_level),
        cmocka_unit_test(density_and_eps_exclude_each_other),
    };
    scratch = arena_open(0);
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    arena_close(scratch);
    return failed ? 1 : 0;
}
