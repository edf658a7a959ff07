/* threshold.c -- sends every element whose magnitude reaches a threshold (Strom 2015 without accumulation;
 * Dutta et al. 2020). The payload has the format of sparse.h. */
#include "compress/sparse/sparse.h"
#include "math/blockwise.h"

typedef struct {
    double tau, rel;
} Threshold;

static const Param schema[] = {
    PARAM(Threshold, tau, NULL, 0, 3.4028234663852886e38, "least magnitude that is sent", .above = true,
          .group = 1),
    PARAM(Threshold, rel, "0.01", 0, 1, "the same as a share of the largest magnitude", .above = true,
          .rate = true, .group = 1),
    {0},
};

static double least_of(const Call *c, double largest)
{
    const Threshold *t = c->self->params;
    return t->tau > 0 ? t->tau : t->rel * largest;
}

static Status encode(const Call *c, const float *x, Buf *out)
{
    const Threshold *t = c->self->params;
    Picks s;
    TRY(picks_open(c, x, &s));
    select_from(&s, least_of(c, t->tau > 0 ? 0 : (double)blockwise_most(x, c->shape->n, c->threads)));
    return picks_put(c, &s, out);
}

/* Decodes, and checks that no sent magnitude is below the threshold. For a threshold relative to the largest
 * magnitude, the decoder knows that magnitude: the largest element is always sent. */
static Status decode(const Call *c, Bytes in, float *x)
{
    PicksRead read;
    TRY(picks_get(c, in, x, &read));
    if (!((double)read.least >= least_of(c, (double)read.largest)))
        return payload_bad(c, "a value of %g is under the threshold", (double)read.least);
    return OK;
}

const Compressor compressor_threshold = {
    .name = "threshold",
    .brief = "all magnitudes from a threshold on",
    .plain = "Sends all elements whose magnitude reaches a threshold, and drops the others. Nothing is "
             "sorted, but the size of the payload changes from step to step.",
    .use_when = "choosing the k largest takes too long, and payloads may vary in size: ef+threshold.",
    .example = "atomo-bench synth -o g.h5 --steps 4\n"
               "atomo-bench compare g.h5 -c ef+threshold:rel=0.3 -c ef+topk:ratio=0.01",
    .formula =
        "decode g_i where |g_i| >= t, else 0; t = tau, or rel max|g|\n"
        "The size of the payload is the gradient's to say: a fixed tau sends less as training settles.\n"
        "Biased: meant for ef+threshold.",
    .paper =
        "Strom: Scalable Distributed DNN Training Using Commodity GPU Cloud Computing, Interspeech 2015;\n"
        "Dutta et al.: On the Discrepancy between the Theoretical Analysis and Practical Implementations\n"
        "of Compressed Communication for Distributed Deep Learning, AAAI 2020",
    .look = {HUE_SPARSE, 3, 1},
    .params = schema,
    .params_size = sizeof(Threshold),
    .promises = EXACT_BYTES | LEAVES_OUT,
    .bound = picks_bound,
    .encode = encode,
    .decode = decode,
};
