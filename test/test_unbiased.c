/* test_unbiased.c -- codecs that promise the right mean have it, and the variance of their closed form, by Monte
 * Carlo on every source; and a bias of one percent would be seen. */
#include "draws.h"
#include "every_codec.h"

/* Enough draws to see a 1 % bias (1.08e6 V1), within what a test may cost. */
static size_t repeats_for(double gain_sd, size_t n)
{
    const double wanted = 1.08e6 * gain_sd * gain_sd, most = 1.5e6 / (double)(n + 300);
    return (size_t)fmax(200, fmin(wanted, most));
}

static void unbiased(Rig *rig, const Source *source, const float *x)
{
    const unsigned traits = codec_traits(rig->codec);
    if (!(traits & RANDOM) || rig->shape.n > 5000)
        return;
    const double expected = codec_variance(&rig->call, x);
    if (!(traits & UNBIASED) && isnan(expected))
        return; /* nothing is promised */
    if (rig->codec->ops->variance && isnan(expected) && traits & UNBIASED)
        return; /* the codec says that x is beyond its range: it saturates */
    const Draws pilot = draws_take(rig, x, 60, 1);
    if (expected > 50 * pilot.norm2 * (double)rig->shape.n)
        return; /* hardly ever anything but zero: 1e-30 in half precision. The closed form is all there is to see */
    const Draws d = draws_take(rig, x, repeats_for(pilot.gain_error * sqrt(60), rig->shape.n), 1);
    if (traits & UNBIASED) {
        if (!draws_gain_is_one(&d))
            print_error("gain %.8f, standard error %.2g, %zu draws\n", d.gain, d.gain_error, d.repeats);
        CHECK_HERE(draws_gain_is_one(&d));
        if (!draws_energy_is_right(&d))
            print_error("bias ratio %.6f, nu %.0f, %zu draws\n", d.bias_ratio, d.freedom, d.repeats);
        CHECK_HERE(draws_energy_is_right(&d));
    }
    if (!isnan(expected)) {
        if (!draws_variance_is(&d, expected))
            print_error("mse %.8g, closed form %.8g, standard error %.2g\n", d.mse, expected, d.mse_error);
        CHECK_HERE(draws_variance_is(&d, expected));
    }
}

static void unbiased_codecs_are_and_closed_forms_hold(void **state)
{
    (void)state;
    for_all(unbiased, true);
}

static bool holds(const TextList *list, const char *name)
{
    for (size_t i = 0; i < list->count; i++)
        if (!strcmp(list->item[i], name))
            return true;
    return false;
}

/* A codec that multiplied everything by 1.01 would be caught. */
static void a_bias_of_one_percent_is_caught(void **state)
{
    (void)state;
    float *x = NEW(forever, float, LARGEST);
    const Source *source = &sources[0];
    TextList seen = {NEW(forever, const char *, spec_count), 0}; /* one mode of each codec is enough */
    for (size_t k = 0; k < spec_count; k++) {
        Rig rig;
        rig_open(&rig, specs[k], source_shape(source));
        source_fill(source, x);
        const unsigned traits = codec_traits(rig.codec);
        if (traits & UNBIASED && traits & RANDOM && !holds(&seen, rig.codec->ops->name)) {
            seen.item[seen.count++] = rig.codec->ops->name;
            const Draws pilot = draws_take(&rig, x, 60, 1);
            const double v1 = pilot.gain_error * pilot.gain_error * 60;
            const Draws d = draws_take(&rig, x, (size_t)fmax(200, fmin(1.08e6 * v1, 40000)), 1.01);
            if (draws_gain_is_one(&d))
                print_error("%s: gain %.6f passed for 1, standard error %.2g\n", specs[k], d.gain,
                            d.gain_error);
            check(!draws_gain_is_one(&d));
        }
        rig_close(&rig);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unbiased_codecs_are_and_closed_forms_hold),
        cmocka_unit_test(a_bias_of_one_percent_is_caught),
    };
    return cmocka_run_group_tests(tests, collect_specs, drop_specs) ? 1 : 0;
}
