/* noise.c -- normal random numbers from uniform ones (noise.h).
 *
 * `noise_quantile` computes the quantile of the normal distribution by Wichura's rational functions (AS 241,
 * 1988). One function serves 0.075 <= u <= 0.925. Two functions of sqrt(-log(min(u, 1 - u))) serve the
 * tails. */
#include "dump/noise.h"

#include "math/log_series.h"

#include <math.h>

enum { DEGREE = 7 };

static const double middle_above[DEGREE + 1] = {2.5090809287301226727e3, 3.3430575583588128105e4,
                                                6.7265770927008700853e4, 4.5921953931549871457e4,
                                                1.3731693765509461125e4, 1.9715909503065514427e3,
                                                1.3314166789178437745e2, 3.3871328727963666080e0},
                                          middle_below[DEGREE + 1] = {
                                              5.2264952788528545610e3, 2.8729085735721942674e4,
                                              3.9307895800092710610e4, 2.1213794301586595867e4,
                                              5.3941960214247511077e3, 6.8718700749205790830e2,
                                              4.2313330701600911252e1, 1};
static const double tail_above[DEGREE + 1] = {7.74545014278341407640e-4, 2.27238449892691845833e-2,
                                              2.41780725177450611770e-1, 1.27045825245236838258e0,
                                              3.64784832476320460504e0,  5.76949722146069140550e0,
                                              4.63033784615654529590e0,  1.42343711074968357734e0},
                                        tail_below[DEGREE + 1] = {
                                            1.05075007164441684324e-9, 5.47593808499534494600e-4,
                                            1.51986665636164571966e-2, 1.48103976427480074590e-1,
                                            6.89767334985100004550e-1, 1.67638483018380384940e0,
                                            2.05319162663775882187e0,  1};
static const double far_above[DEGREE + 1] = {2.01033439929228813265e-7, 2.71155556874348757815e-5,
                                             1.24266094738807843860e-3, 2.65321895265761230930e-2,
                                             2.96560571828504891230e-1, 1.78482653991729133580e0,
                                             5.46378491116411436990e0,  6.65790464350110377720e0},
                                       far_below[DEGREE + 1] = {
                                           2.04426310338993978564e-15, 1.42151175831644588870e-7,
                                           1.84631831751005468180e-5,  7.86869131145613259100e-4,
                                           1.48753612908506148525e-2,  1.36929880922735805310e-1,
                                           5.99832206555887937690e-1,  1};

static double polynomial(const double c[DEGREE + 1], double x)
{
    double sum = c[0];
    for (int i = 1; i <= DEGREE; i++)
        sum = sum * x + c[i];
    return sum;
}

static double log_of(double u)
{
    int e;
    const double log_m = log_split(u, &e);
    return e * M_LN2 + log_m;
}

double noise_quantile(double u)
{
    const double q = u - 0.5;
    if (fabs(q) <= 0.425) {
        const double r = 0.180625 - q * q;
        return q * polynomial(middle_above, r) / polynomial(middle_below, r);
    }
    const double r = sqrt(-log_of(q < 0 ? u : 1 - u));
    const double z = r <= 5 ? polynomial(tail_above, r - 1.6) / polynomial(tail_below, r - 1.6)
                            : polynomial(far_above, r - 5) / polynomial(far_below, r - 5);
    return q < 0 ? -z : z;
}

typedef struct {
    float *x;
    size_t at, end; /* x[0] is element `at` of the vector, and the last of x is element end - 1 */
    double scale;
    const Rng *rng;
} Job;

static void add_block(void *data, size_t b)
{
    const Job *job = data;
    const size_t block = job->at / BLOCK + b, begin = block * BLOCK, left = job->end - begin;
    const RngKey key = rng_key(job->rng, USE_DATA, block);
    const uint32_t from = (uint32_t)(begin < job->at ? job->at - begin : 0),
                   to = (uint32_t)(left < BLOCK ? left : BLOCK);
    float *x = job->x + (begin + from - job->at);
    for (uint32_t i = from; i < to; i++, x++) {
        const uint64_t word = (uint64_t)rng_word(&key, i) << 20 | rng_word_more(&key, i) >> 12;
        *x = (float)((double)*x + job->scale * noise_quantile(((double)word + 0.5) * 0x1p-52));
    }
}

void noise_add(float *x, size_t at, size_t n, double scale, const Rng *rng, int threads)
{
    Job job = {x, at, at + n, scale, rng};
    if (n)
        parallel_for(threads, blocks_of(at % BLOCK + n), add_block, &job);
}
