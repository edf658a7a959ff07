/* stc.c -- sparse ternary compression (Sattler, Wiedemann, Mueller, Samek 2019): sends the k elements of
 * largest magnitude, each as its sign times the mean magnitude of the k elements. The payload has the format of
 * sparse.h with one magnitude. */
#include "compress/sparse/sparse.h"

typedef struct {
    double ratio;
} Stc;

static const Param schema[] = {
    PARAM(Stc, ratio, "0.01", 0, 1, "elements sent as a share of all", .above = true, .rate = true),
    {0},
};

static size_t wanted(const Call *c)
{
    return picks_wanted(c->shape->n, ((const Stc *)c->self->params)->ratio);
}

static Status encode(const Call *c, const float *x, Buf *out)
{
    SignedSet s;
    TRY(signed_set_open(&s, c, x));
    TRY(arena_check(select_top(&s.picks, wanted(c)), c->scratch, c->err));
    TRY(signed_set_count(&s));
    const size_t count = s.picks.count;
    const float mean = count ? (float)((s.sum[PLUS] + s.sum[MINUS]) / (double)count) : 0;
    return signed_set_put(&s, &mean, 1, out);
}

static Status decode(const Call *c, Bytes in, float *x)
{
    float magnitude[SIDES];
    return signed_set_get(c, in, 1, wanted(c), x, magnitude);
}

const Compressor compressor_stc = {
    .name = "stc",
    .brief = "sparse ternary: the k largest, each as its sign times their mean magnitude",
    .plain = "Sends the k largest elements as signs, all with their mean magnitude. An element costs a gap "
             "between indices and one bit.",
    .use_when = "the floats of topk take too many bytes: ef+stc.",
    .example = "atomo-bench synth -o g.h5 --steps 4\n"
               "atomo-bench compare g.h5 -c ef+stc:ratio=0.01 -c ef+topk:ratio=0.01",
    .formula = "k = max(1, floor(ratio n + 1/2)); S = the k largest |g_i|, of equal ones the first\n"
               "mu = mean of |g_i| over S;  decode mu sgn(g_i) for i in S, else 0\n"
               "|g^ - g|^2 = |g|^2 - k mu^2. An element costs its gap and its sign.\n"
               "Zeros never travel: where fewer than k elements are not zero, those are sent.\n"
               "Biased: meant for ef+stc.",
    .paper =
        "Sattler, Wiedemann, Mueller, Samek: Robust and Communication-Efficient Federated Learning from\n"
        "Non-IID Data, IEEE TNNLS 2019",
    .look = {HUE_SPARSE, 2, 1},
    .params = schema,
    .params_size = sizeof(Stc),
    .promises = EXACT_BYTES | LEAVES_OUT,
    .bound = signed_set_bound,
    .encode = encode,
    .decode = decode,
};
