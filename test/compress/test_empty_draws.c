/* test_empty_draws.c -- an ATOMO codec may keep no atom at all. The probability of an empty draw by
 * `codec_moments` is compared with the share of empty draws among 4000. The count is binomial; the limit of 4.9
 * standard deviations has a false-alarm probability of 1e-6. Without `resample`, a fifth of its draws would be empty. */
#include "rig/draws.h"
#include "rig/sources.h"

enum { ROWS = 24, COLS = 16, DRAWS = 4000, FEW = 200 };

/* Returns the number of draws that decode to zeros. */
static double count_empty(Rig *rig, const float *x, uint64_t draws)
{
    double empty = 0;
    draws_plan(rig, x);
    for (uint64_t r = 0; r < draws; r++) {
        size_t i = 0;
        check_ok(rig_encode(rig, x, r), &rig->err);
        check_ok(rig_decode(rig), &rig->err);
        while (i < ROWS * COLS && rig->decoded[i] == 0)
            i++;
        empty += i == ROWS * COLS;
    }
    return empty;
}

TEST(draws_are_empty_as_often_as_the_codec_knows)
{
    static const struct {
        const char *spec;
        bool sometimes;
    } cases[] = {{"svd:rank=1", true},
                 {"svd:rank=0.5,vectors=bf16", true},
                 {"svd:rank=1,empty=resample", false},
                 {"dct:ratio=0.006", true},
                 {"hadamard:ratio=0.005", true},
                 {"wavelet:ratio=0.004,empty=resample", false},
                 {"zstd+dct:ratio=0.006", true}};
    float x[ROWS * COLS];
    const Shape shape = {2, {ROWS, COLS}, ROWS * COLS};
    const Rng rng = rng_open(3, 0, 0, 0, 0);
    fill_laplace(&rng, &shape, x);
    for (size_t k = 0; k < countof(cases); k++) {
        Rig rig;
        AtomMoments m = {0};
        rig_open(&rig, cases[k].spec, shape);
        check(codec_moments(&rig.call, x, &m) == ATOMWISE);
        check(cases[k].sometimes ? m.none > 0.05 && m.none < 0.9 : m.none == 0);
        const double found = count_empty(&rig, x, cases[k].sometimes ? DRAWS : FEW) / DRAWS;
        if (fabs(found - m.none) > 4.9 * sqrt(m.none * (1 - m.none) / DRAWS))
            print_error("%s: %g of the draws are empty, the codec says %g\n", cases[k].spec, found, m.none);
        check(fabs(found - m.none) <= 4.9 * sqrt(m.none * (1 - m.none) / DRAWS));
        rig_close(&rig);
    }
}

CHECK_ALL(NULL, NULL)
