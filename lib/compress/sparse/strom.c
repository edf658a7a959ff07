/* strom.c -- threshold quantisation (Strom 2015): an element whose accumulated value reaches tau is sent as
 * plus or minus tau; the remainder is added to the gradients of later steps.
 *
 *     t = x + r        decode tau sgn(t_i) where |t_i| >= tau, else 0        r = t - decoded
 *
 * The payload has the format of sparse.h with one magnitude, tau. State: r (n floats). */
#include "compress/sparse/sparse.h"
#include "math/blockwise.h"
#include "math/finite.h"

#include <float.h>
#include <math.h>

typedef struct {
    double tau;
} Strom;

static const Param schema[] = {
    PARAM(Strom, tau, NULL, 0, 3.4028234663852886e38,
          "the threshold and what is sent; if unset, half the root mean square of t", .above = true,
          .rate = true),
    {0},
};

/* Returns the spec's tau. NaN: the spec sets no tau, and half the root mean square of t is used. */
static double tau_of(const Call *c)
{
    return ((const Strom *)c->self->params)->tau;
}

static float threshold(double tau)
{
    const float nearest = (float)tau;
    return nearest > 0 ? nearest : FLT_TRUE_MIN;
}

/* ---- accumulated values: the gradient plus the residual ---- */

static size_t state_size(const Call *c)
{
    return sizeof(float) * c->shape->n;
}

/* Returns t = x + r in scratch, or x if there is no state. Returns NULL on an error, which is in c->err. */
static const float *gathered(const Call *c, const float *x)
{
    const size_t n = c->shape->n;
    const float *r = c->state;
    if (!r)
        return x;
    float *t = NEW(c->scratch, float, n);
    if (!t) {
        arena_fail(c->scratch, c->err);
        return NULL;
    }
    if (blockwise_add(x, r, 1, n, c->threads, t))
        return t;
    FAIL(c->err, ERR_NUMERIC, "strom: gradient plus residual is beyond float32 at element %zu",
         first_nonfinite(t, n, NULL));
    return NULL;
}

static float half_rms(const float *t, size_t n, int threads)
{
    return threshold(n ? 0.5 * sqrt(blockwise_squares(t, n, threads) / (double)n) : 0);
}

/* ---- the hooks of the codec ---- */

static Status encode(const Call *c, const float *x, Buf *out)
{
    const float *t = gathered(c, x);
    SignedSet s;
    if (!t)
        return c->err->status;
    const float tau = isnan(tau_of(c)) ? half_rms(t, c->shape->n, c->threads) : threshold(tau_of(c));
    TRY(signed_set_open(&s, c, t));
    select_from(&s.picks, (double)tau);
    TRY(signed_set_count(&s));
    return signed_set_put(&s, &tau, 1, out);
}

static Status decode(const Call *c, Bytes in, float *x)
{
    float tau[SIDES];
    TRY(signed_set_get(c, in, 1, c->shape->n, x, tau));
    if (!isnan(tau_of(c)) && tau[PLUS] > 0 && tau[PLUS] != threshold(tau_of(c)))
        return payload_bad(c, "magnitude %g, want tau = %g", (double)tau[PLUS], tau_of(c));
    return OK;
}

static Status settle(const Call *c, const float *x, const Bytes *sent, const float *agreed, void *state)
{
    const size_t n = c->shape->n;
    const float *t = gathered(c, x);
    float *r = state, *decoded = NEW(c->scratch, float, n);
    (void)agreed;
    if (!t)
        return c->err->status;
    TRY(arena_check(decoded, c->scratch, c->err));
    TRY(codec_decode(c, sent[0], decoded));
    blockwise_add(t, decoded, -1, n, c->threads, r);
    return OK;
}

static double residual(const Call *c)
{
    return c->state ? sqrt(blockwise_squares(c->state, c->shape->n, c->threads)) : 0;
}

const Compressor compressor_strom = {
    .name = "strom",
    .brief = "elements that have gathered tau or more send plus or minus tau, the rest waits",
    .plain = "Adds gradients up at each worker. An element whose sum has reached tau sends plus or minus "
             "tau, and the rest of the sum waits.",
    .use_when = "you reproduce Strom's method, or payloads should be small whenever little has gathered.",
    .example = "atomo-bench synth -o g.h5 --steps 4\n"
               "atomo-bench compare g.h5 -c strom",
    .formula =
        "t = g + r;  decode tau sgn(t_i) where |t_i| >= tau, else 0;  r = t - decoded\n"
        "The state r starts at zero, one per worker and tensor: error feedback is part of the method.\n"
        "tau = half the root mean square of t unless it is given; it travels with each payload.\n"
        "An element costs its gap and its sign. Biased in each step; nothing is lost over steps.",
    .paper = "Strom: Scalable Distributed DNN Training Using Commodity GPU Cloud Computing, Interspeech 2015",
    .look = {HUE_SPARSE, 4, 3},
    .params = schema,
    .params_size = sizeof(Strom),
    .promises = EXACT_BYTES | LEAVES_OUT,
    .bound = signed_set_bound,
    .encode = encode,
    .decode = decode,
    .state_size = state_size,
    .settle = settle,
    .residual = residual,
};
