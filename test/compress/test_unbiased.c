/* test_unbiased.c -- Monte Carlo tests of unbiased codecs on the smooth test vectors of one block (SMOOTH in
 * every_codec.h names the specs that each vector has), and of one spec of each codec on a vector of two blocks. The mean
 * of the estimates must be the vector, and the mean squared error the closed-form variance. A planted bias of 1 % must
 * be detected.
 *
 * The environment variable TEST=name restricts the program to the test of this name. */
#include "rig/draws.h"
#include "rig/every_codec.h"
#include "compress/spec.h"

/* Returns the number of draws that detect a bias of 1 %, but at most as many as fit into the time of the test.
 * Fewer draws detect only a larger bias; the probability of a false alarm stays. `make certify` draws more.
 * A pilot tells the variance of the gain <estimate, x> / |x|^2 of one draw, where the vector is so short that it matters.
 * Gain and error of one draw of a long vector are sums over many elements, which vary less. */
static size_t repeats_for(Rig *rig, const float *x)
{
    enum { PILOTS = 60 };
    const double most = 1.5e5 / (double)(rig->shape.n + 300), fewest = rig->shape.n > 1000 ? 100 : 200;
    if (most <= fewest)
        return (size_t)fewest;
    const double gain_error = draws_take(rig, x, PILOTS).gain_error;
    return (size_t)fmax(fewest, fmin(1.08e6 * PILOTS * gain_error * gain_error, most));
}

/* Returns the mean of the closed-form variance over draws of the random numbers that workers share. */
static double mean_variance(Rig *rig, const float *x, size_t repeats)
{
    double sum = 0;
    for (size_t r = 0; r < repeats; r++) {
        rig_address(rig, r, 0);
        sum += codec_variance(&rig->call, x);
    }
    return sum / (double)repeats;
}

/* Checks that the mean of an unbiased codec's draws is the vector. */
static void check_mean(const Rig *rig, const Source *source, const Draws *d)
{
    if (!draws_gain_is_one(d))
        print_error("gain %.8f, standard error %.2g, %zu draws\n", d->gain, d->gain_error, d->repeats);
    CHECK_HERE(draws_gain_is_one(d));
    if (!draws_energy_is_right(d))
        print_error("bias ratio %.6f, nu %.0f, %zu draws\n", d->bias_ratio, d->freedom, d->repeats);
    CHECK_HERE(draws_energy_is_right(d));
}

/* Tests mean and squared error. */
static void check_draws(Rig *rig, const Source *source, const float *x)
{
    const unsigned traits = codec_traits(rig->codec);
    if (!(traits & RANDOM))
        return;
    double expected = codec_variance(&rig->call, x);
    if (!(traits & UNBIASED) && isnan(expected))
        return; /* a biased codec without a closed form is not tested */
    if (rig->codec->ops->variance && isnan(expected) && traits & UNBIASED)
        return; /* the closed form of the variance does not apply to this x */
    double norm2 = 0;
    for (size_t i = 0; i < rig->shape.n; i++)
        norm2 += (double)x[i] * (double)x[i];
    if (expected > 50 * norm2 * (double)rig->shape.n)
        return; /* nearly every draw is 0, such as 1e-30 rounded to half precision */
    const Draws d = draws_take(rig, x, repeats_for(rig, x));
    if (traits & UNBIASED)
        check_mean(rig, source, &d);
    if (traits & GIVEN_DRAWS)
        expected = mean_variance(rig, x, d.repeats);
    if (!isnan(expected)) {
        if (!draws_variance_is(&d, expected))
            print_error("mse %.8g, closed form %.8g, standard error %.2g\n", d.mse, expected, d.mse_error);
        CHECK_HERE(draws_variance_is(&d, expected));
    }
}

/* Returns the spec without the parameter `code` and without wrappers that pack bytes. Its payloads take more or fewer
 * bytes, and its estimates are the same unless one of them sends raw floats. */
static const char *without_code(const char *spec)
{
    const char *rest = spec, *code;
    while (!strncmp(rest, "zstd", 4) || !strncmp(rest, "blosc", 5))
        rest = strchr(rest, '+') + 1;
    code = strstr(rest, "code=");
    if (!code)
        return rest;
    const char *end = code + strcspn(code, ",+");
    const bool only = code[-1] == ':' && *end != ',';
    return text_format(forever, "%.*s%s", (int)(code - rest) - (only || *end != ','), rest,
                       end + (!only && *end == ','));
}

/* True if the first draws of two codecs are equal, bit for bit. */
static bool draws_are_equal(Rig *rig, Rig *plain, const float *x)
{
    enum { DRAWS = 20 };
    bool equal = true;
    draws_plan(rig, x);
    draws_plan(plain, x);
    for (uint64_t r = 0; r < DRAWS && equal; r++) {
        check_ok(rig_encode(rig, x, r), &rig->err);
        check_ok(rig_decode(rig), &rig->err);
        check_ok(rig_encode(plain, x, r), &plain->err);
        check_ok(rig_decode(plain), &plain->err);
        equal = !memcmp(rig->decoded, plain->decoded, rig->shape.n * sizeof(float));
    }
    return equal;
}

/* Estimates that are those of a spec with a faster code are tested on that spec. */
static void unbiased(Rig *rig, const Source *source, const float *x)
{
    const char *spec = codec_text(rig->codec, forever), *plain = without_code(spec);
    Rig fast;
    if (!strcmp(spec, plain) || !(codec_traits(rig->codec) & RANDOM)) {
        check_draws(rig, source, x);
        return;
    }
    rig_open(&fast, plain, source_shape(source));
    check(codec_traits(fast.codec) & RANDOM);
    check_draws(draws_are_equal(rig, &fast, x) ? &fast : rig, source, x);
    rig_close(&fast);
}

TEST(unbiased_codecs_are_and_closed_forms_hold)
{
    for_all(unbiased, SMOOTH);
}

/* ---- the second block of a long vector ---- */

static const Codec *codec_of(const char *spec)
{
    const Codec *codec;
    Error err;
    check_ok(codec_open(&codec, spec, forever, &err), &err);
    return codec;
}

/* Returns the first spec of a codec that is unbiased and random: its default, or the default with another value of one
 * parameter or another codec inside; NULL: there is none. */
static const char *first_unbiased(const Compressor *ops)
{
    for (size_t k = 0; k < spec_count; k++) {
        const Codec *codec = codec_of(specs[k]);
        if (codec->ops == ops && codec_traits(codec) & UNBIASED && codec_traits(codec) & RANDOM)
            return specs[k];
    }
    return NULL;
}

/* Tests the gain over the second block, and mean and squared error over both. Squared errors of so many elements are
 * nearly normal, so the mean of 30 has Student's distribution with 29 degrees of freedom: `limit` standard errors have
 * the probability 5e-10. The test sees a bias of the second block from 1.5 % on where the codec sends all elements
 * (terngrad and joint: 4.1 %), from 16 to 40 % on where it sends one in a hundred; a wrong variance of the second block
 * from 9 to 21 % on (rotated, whose scale is random: 220 %), or from 75 to 170 %. */
TEST(second_blocks_are_unbiased)
{
    enum { DRAWS = 30 };
    static const double limit = 9.13;
    const Source *source = &sources[countof(sources) - 1];
    float *x = NEW(forever, float, LARGEST);
    check(blocks_of(source_shape(source).n) == 2);
    source_fill(source, x);
    for (size_t c = 0; compressor_number(c); c++) {
        Rig rigs, *rig = &rigs;
        const char *spec = first_unbiased(compressor_number(c));
        if (!spec)
            continue;
        rig_open(rig, spec, source_shape(source));
        const Draws d = draws_take_from(rig, x, BLOCK, DRAWS);
        const bool given = codec_traits(rig->codec) & GIVEN_DRAWS;
        const double expected = given ? mean_variance(rig, x, DRAWS) : codec_variance(&rig->call, x);
        const bool is_right = !(fabs(d.mse - expected) > limit * d.mse_error + d.rounding);
        check_mean(rig, source, &d);
        if (!is_right)
            print_error("mse %.8g, closed form %.8g, standard error %.2g\n", d.mse, expected, d.mse_error);
        CHECK_HERE(is_right);
        rig_close(rig);
    }
}

/* ---- tests that a planted bias is detected ---- */

enum { PILOT = 60, DRAWS_GOOD = 1000, DRAWS_MOST = 40000 };

/* Returns the number of draws that detect a bias of 1 %. The limit of the test, 6.22 standard errors, is then
 * at most 0.006, so a bias of 0.01 is four standard errors above the limit. */
static double draws_wanted(double gain_variance)
{
    return fmax(200, 1.08e6 * gain_variance);
}

static size_t draws_for(double gain_variance)
{
    return (size_t)fmin(draws_wanted(gain_variance), DRAWS_MOST);
}

/* Returns the smallest bias b, at least 0.01, that DRAWS_MOST draws detect; NaN: none. If a bias of 0.01 needs
 * f^2 DRAWS_MOST draws, b = 0.01 f + 0.006 f b. The last term is there because the standard error, and with it
 * the limit of the test, grows by the factor 1 + b. */
static double bias_seen(double gain_variance)
{
    const double f = sqrt(draws_wanted(gain_variance) / DRAWS_MOST);
    return f <= 1 ? 0.01 : f < 100 ? 0.01 * f / (1 - 0.006 * f) : NAN;
}

/* Returns the variance of the gain <estimate, x> / |x|^2 of one draw, from a number of draws; NaN if the codec is biased
 * or not RANDOM. */
static double gain_variance(const char *spec, const float *x, size_t draws)
{
    Rig rig;
    rig_open(&rig, spec, source_shape(&sources[0]));
    const unsigned traits = codec_traits(rig.codec);
    double v = NAN;
    if (traits & UNBIASED && traits & RANDOM) {
        const Draws pilot = draws_take(&rig, x, draws);
        v = pilot.gain_error * pilot.gain_error * (double)draws;
    }
    rig_close(&rig);
    return v;
}

/* Checks that the draws pass the test of bias, but fail if every estimate is multiplied by 1 + bias. `v` is the
 * variance of the gain of one draw. */
static void check_planted(const char *spec, const float *x, double v)
{
    Rig rig;
    const double bias = bias_seen(v);
    rig_open(&rig, spec, source_shape(&sources[0]));
    const Draws d = draws_take(&rig, x, draws_for(v)), planted = draws_scaled(&d, 1 + bias);
    if (!(bias <= 0.01))
        print_message("%s: one percent takes %.3g draws, %zu were taken: a bias under %.2g %% is not seen\n",
                      spec, draws_wanted(v), d.repeats, 100 * bias);
    if (!draws_gain_is_one(&d) || draws_gain_is_one(&planted))
        print_error("%s: gain %.6f, standard error %.2g, %zu draws\n", spec, d.gain, d.gain_error, d.repeats);
    check(draws_gain_is_one(&d));
    check(isnan(bias) || !draws_gain_is_one(&planted));
    rig_close(&rig);
}

/* True if a spec whose gain has variance `v` is to be tested rather than one with variance `other`. If
 * DRAWS_GOOD draws suffice for both, the noisier spec is tested, otherwise the less noisy. */
static bool goes_before(double v, double other)
{
    const bool good = draws_wanted(v) <= DRAWS_GOOD, other_good = draws_wanted(other) <= DRAWS_GOOD;
    return good != other_good ? good : good ? v > other : v < other;
}

/* Tests one spec of each codec, chosen by a few draws of those without the parameter `code`. If a bias of 1 % needs more
 * than DRAWS_MOST draws, a larger bias is planted. */
TEST(a_bias_of_one_percent_is_caught)
{
    float *x = NEW(forever, float, LARGEST);
    source_fill(&sources[0], x);
    for (size_t c = 0; compressor_number(c); c++) {
        const char *mode = NULL;
        double v = 0;
        for (size_t k = 0; k < spec_count; k++) {
            const bool own =
                codec_of(specs[k])->ops == compressor_number(c) && !strstr(specs[k], "code=");
            const double w = own ? gain_variance(specs[k], x, PILOT / 5) : NAN;
            if (w > 0 && (!mode || goes_before(w, v))) {
                mode = specs[k];
                v = w;
            }
        }
        if (mode)
            check_planted(mode, x, gain_variance(mode, x, PILOT));
    }
}

int main(void)
{
    cmocka_set_test_filter(getenv("TEST"));
    return check_run(collect_specs, drop_specs) ? 1 : 0;
}
