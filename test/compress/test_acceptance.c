/* test_acceptance.c -- errors and payload sizes of codecs against a table of expected values, on two vectors of
 * 65,536 elements: normal numbers and Laplace numbers.
 *
 * The measured error is the mean of |y - x|^2 / |x|^2 over ten repeats, where y is the estimate of x. The error
 * must be within 3 % of the closed form, and the closed form within 6 % of the table (made with another
 * vector). Without a closed form, the error must be within 3 % of the table, or within 2 % of a published
 * error. */
#include "rig/try.h"

enum { N = 65536, REPEATS = 10 };

/* What the measured error is compared with. FORMULA: the closed form of the codec. RANGE: the closed form of
 * one-bit rounding between the smallest and the largest value. TABLE: the value in the row.
 * PUBLISHED: the value in the row, from a paper. */
typedef enum { FORMULA, RANGE, TABLE, PUBLISHED } Source;

typedef struct {
    const char *spec;
    /* expected |y - x|^2 / |x|^2; 0: only the closed form is tested; NAN: the error is not tested */
    double normal, laplace;
    double normal_bits, laplace_bits; /* bits per element */
    Source source;
    /* number of repeats; 0: ten. Codecs that send few elements need more, as their errors vary more. */
    size_t repeats;
} Row;

/* The values for stc and adaq are computed. These codecs send the share p of the elements of largest magnitude,
 * as signs times the mean magnitude m. So the error is 1 - p m^2 / E x^2. Indices take entropy(p) bits per
 * element, and signs 1 bit per element sent.
 *
 * Normal elements: m = 2 phi(q) / p, with the normal density phi and the threshold q, which is 2.576 at p =
 * 0.01 and 1.036 at p = 0.3. Laplace elements: m = 1 - ln p and E x^2 = 2. */
static const Row rows[] = {
    {"eden:bits=1", .574, .569, 1, 1, PUBLISHED, 0},
    {"eden", .132, .133, 2, 2, PUBLISHED, 0},
    {"eden:bits=3", .0357, .0358, 3, 3, PUBLISHED, 0},
    {"eden:bits=4", .0095, .0096, 4, 4, PUBLISHED, 0},
    {"eden:bits=4,rotations=1", .0095, .0096, 4, 4, PUBLISHED, 0},
    {"eden:bits=8", 4.1187e-5, 4.1187e-5, 8, 8, PUBLISHED, 0},
    /* error 1 / (1 - D) - 1 with the distortion D = .24044, the mean of the distortions at 1 and 2 bits */
    {"eden:bits=1.5", .31655, .31655, 1.5, 1.5, PUBLISHED, 0},
    /* half of the elements are sent, with 1 bit each */
    {"eden:bits=0.5", M_PI - 1, M_PI - 1, .5, .5, PUBLISHED, 0},
    /* a tenth of the elements is sent, with 1 bit each */
    {"eden:bits=0.1", 14.708, 14.708, .1, .1, PUBLISHED, 0},
    {"drive", M_PI / 2 - 1, M_PI / 2 - 1, 1, 1, PUBLISHED, 0}, /* the error is 1 / (2/pi) - 1 */
    {"drive:scale=mse", .363, .364, 1, 1, PUBLISHED, 0},       /* the error is 1 - 2/pi */
    /* the error is not tested, as the codec sends no scale */
    {"sign", NAN, NAN, 1, 1, TABLE, 0},
    /* the error is 1 - 2/pi for normal, 1/2 for Laplace elements */
    {"scaledsign", .364, .501, 1, 1, TABLE, 0},
    {"scaledsign:scale=bucket", .364, .501, 1.0625, 1.0625, TABLE, 0},
    {"onebit", .364, .501, 1, 1, TABLE, 0},
    {"onebit:scope=tensor", .364, .501, 1, 1, TABLE, 0},
    {"minmax:bits=1,bucket=0,rounding=stochastic", 0, 0, 1.001, 1.001, FORMULA, 0},
    {"rotated:bits=1", 0, 0, 1.001, 1.001, RANGE, 0},
    {"terngrad", 0, 0, 1.6, 1.6, FORMULA, 0},
    {"terngrad:clip=2.5", 1.01, .88, 1.6, 1.6, TABLE, 0},
    {"qsgd:levels=1", 17.06, 15.02, .435, .405, FORMULA, 0},
    {"qsgd:levels=15", .379, .353, 2.337, 2.175, FORMULA, 0},
    {"qsgd:levels=15,code=elias-dense", .379, .353, 2.54, 2.32, FORMULA, 0},
    {"qsgd:levels=127", .0053, .0053, 6.11, 5.62, FORMULA, 0},
    {"qsgd:levels=127,code=elias-sparse", .0053, .0053, 6.431, 5.851, FORMULA, 0},
    {"qsgd:levels=7,norm=linf", .0362, .0822, 4.18, 3.17, FORMULA, 0},
    {"minmax", .0138, .0282, 4.125, 4.125, TABLE, 0},
    {"zipml", 0, 0, 4.74, 4.54, FORMULA, 0},
    {"natural", .082, .083, 9, 9, FORMULA, 0},
    {"nuqsgd:bits=3", 0, 0, 4.004, 4.004, FORMULA, 0},
    {"nuqsgd", .082, .083, 5.004, 5.004, FORMULA, 0},
    {"randk:ratio=0.03125", 31, 31, 1, 1, FORMULA, 40},
    {"topk", .914, .836, .4, .4, TABLE, 0},
    {"topk:ratio=0.1", .559, .402, 3.67, 3.67, TABLE, 0},
    {"entry", 62, 49, .09, .09, FORMULA, 60},
    {"entry:ratio=0.1", 5.4, 4, .57, .57, FORMULA, 0},
    {"stc", .9164, .8429, .0908, .0908, TABLE, 0},
    {"stc:ratio=0.3", .2749, .2714, 1.1813, 1.1813, TABLE, 0},
    {"adaq", .9164, .8429, .0908, .0908, TABLE, 0},
    {"adaq:ratio=0.3", .2749, .2714, 1.1813, 1.1813, TABLE, 0},
};

typedef struct {
    /* means over the repeats of |y - x|^2 / |x|^2, closed form / |x|^2 and bits per element */
    double error, told, bits;
} Measured;

/* Returns the closed form of one-bit rounding to `low` or `high`, divided by `norm` = |x|^2: the sum of (z -
 * low) (high - z) / norm over the elements z of the rotated vector. The sum of all z is nearly 0, and the sum
 * of z^2 is |x|^2. */
static double between_extremes(const Try *t, double norm)
{
    const double low = (double)load_f32(t->out.data + 1), high = (double)load_f32(t->out.data + 5);
    return -low * high * N / norm - 1;
}

static Measured measure(const Row *row, bool laplace)
{
    Try *t = try_open(row->spec, N);
    Measured m = {0};
    double norm = 0;
    const bool random = codec_traits(t->codec) & RANDOM;
    const size_t repeats = !random ? 1 : row->repeats ? row->repeats : REPEATS;
    (laplace ? try_laplace : try_normal)(t, 20);
    for (size_t i = 0; i < N; i++)
        norm += (double)t->x[i] * (double)t->x[i];
    for (uint64_t r = 0; r < repeats; r++) {
        double error = 0;
        try_repeat(t, r);
        t->call.rng_shared = rng_open(1, r, RNG_EVERYONE, 0, 0);
        try_both(t);
        for (size_t i = 0; i < N; i++) {
            const double e = (double)t->y[i] - (double)t->x[i];
            error += e * e;
        }
        m.error += error / norm / (double)repeats;
        const double told =
            row->source == RANGE ? between_extremes(t, norm) : codec_variance(&t->call, t->x) / norm;
        m.told += told / (double)repeats;
        m.bits += 8 * (double)t->out.size / N / (double)repeats;
    }
    try_close(t);
    return m;
}

static void check_row(const Row *row, bool laplace)
{
    const double error = laplace ? row->laplace : row->normal,
                 bits = laplace ? row->laplace_bits : row->normal_bits;
    const Measured m = measure(row, laplace);
    print_message("%-44s %-7s error %.5g (table %.5g, closed form %.5g)  bits %.4f (%.4g)\n", row->spec,
                  laplace ? "laplace" : "normal", m.error, error, m.told, m.bits, bits);
    check(m.bits <= bits + fmax(0.02 * bits, 0.01));
    check(isnan(m.told) == (row->source > RANGE));
    if (row->source <= RANGE) {
        check_rel(m.error, m.told, 0.03);
        check(error == 0 || fabs(m.told / error - 1) <= 0.06);
    } else if (!isnan(error)) {
        check_rel(m.error, error, row->source == PUBLISHED ? 0.02 : 0.03);
    }
}

static void check_rows(bool published)
{
    for (size_t i = 0; i < countof(rows); i++)
        for (int laplace = 0; laplace < 2 && (rows[i].source == PUBLISHED) == published; laplace++)
            check_row(&rows[i], laplace);
}

TEST(errors_and_bits_are_those_of_the_table)
{
    check_rows(false);
}

CHECK_ALL(NULL, NULL)
