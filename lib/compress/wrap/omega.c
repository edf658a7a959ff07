/* omega.c -- measures the largest relative variance of a codec (omega.h).
 *
 * The variance is measured on four vectors, each with a large variance for some codecs. `noise` is for codecs
 * that use a basis. `level`, whose elements all have the same magnitude, is for codecs with few levels and for
 * norms that grow with n. `peak`, one element of 1 among elements of 1/sqrt(n), is for codecs that scale by the
 * largest magnitude. `spikes`, one element of 1 and one of -1 in every 256, is for codecs with levels between
 * minimum and maximum and for codecs that rotate. */
#include "compress/wrap/omega.h"

#include <math.h>

enum { PAIR = 256, DRAWS = 3 };

static float noise(const Rng *rng, size_t n, size_t i)
{
    (void)n;
    return (float)rng_normal(rng, USE_DATA, i);
}
static float level(const Rng *rng, size_t n, size_t i)
{
    (void)n;
    return rng_u32(rng, USE_DATA, i) & 1 ? 1 : -1;
}
static float peak(const Rng *rng, size_t n, size_t i)
{
    return i == n / 2 ? 1 : level(rng, n, i) / sqrtf((float)n);
}
static float spikes(const Rng *rng, size_t n, size_t i)
{
    (void)rng, (void)n;
    return i % PAIR == 0 ? 1 : i % PAIR == PAIR / 2 ? -1 : 0;
}

static float (*const hard[])(const Rng *, size_t, size_t) = {noise, level, peak, spikes};

/* Sets *variance to the mean squared error over DRAWS draws; for codecs without a closed form of the
 * variance. */
static Status measure(const Call *c, const float *x, double *variance)
{
    const size_t n = c->shape->n;
    Buf payload = {.cap = codec_message_bound(c)};
    float *y = NEW(c->scratch, float, n);
    payload.data = NEW(c->scratch, uint8_t, payload.cap);
    TRY(arena_check(y && payload.data, c->scratch, c->err));
    Call draw = *c;
    *variance = 0;
    for (uint64_t r = 0; r < DRAWS; r++) {
        Message m;
        draw.rng = draw.rng_shared = rng_open(1, r, 0, 0, rng_hash("omega"));
        payload.size = 0;
        TRY(codec_send(&draw, x, &payload, &m));
        TRY(codec_receive(&draw, &m, y));
        for (size_t i = 0; i < n; i++)
            *variance += ((double)y[i] - (double)x[i]) * ((double)y[i] - (double)x[i]) / DRAWS;
    }
    return OK;
}

/* Computes the largest E|Q(x) - x|^2 / |x|^2 over the four vectors, as an estimate of omega. The result
 * depends only on spec and shape, so all workers compute the same number. */
static Status find_omega(const Call *call, double *omega)
{
    const size_t n = call->shape->n;
    const Rng rng = rng_open(1, 0, 0, 0, rng_hash("omega"));
    Call c = *call;
    c.state = c.plan = NULL;
    c.heard = NULL;
    c.streams = NULL;
    c.round = 0;
    float *x = NEW(c.scratch, float, n);
    TRY(arena_check(x, c.scratch, c.err));
    *omega = 0;
    for (size_t k = 0; k < countof(hard) && n; k++) {
        const ArenaMark mark = arena_mark(c.scratch);
        double norm = 0;
        for (size_t i = 0; i < n; i++) {
            x[i] = hard[k](&rng, n, i);
            norm += (double)x[i] * (double)x[i];
        }
        double variance = codec_variance(&c, x);
        if (isnan(variance))
            TRY(measure(&c, x, &variance));
        *omega = fmax(*omega, variance / norm);
        arena_rewind(c.scratch, mark);
    }
    return OK;
}

Status omega_rate(const Call *c, double *rate)
{
    double omega;
    int exponent;
    TRY(find_omega(c, &omega));
    const double mantissa = frexp(1 / (1 + omega), &exponent);
    *rate = ldexp(floor(256 * mantissa), exponent - 8);
    return OK;
}
