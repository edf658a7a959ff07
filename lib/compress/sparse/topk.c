/* topk.c -- sends the k elements of largest magnitude (Aji and Heafield 2017; Stich, Cordonnier, Jaggi 2018).
 * Of equal magnitudes, the lower index comes first. The payload has the format of sparse.h. */
#include "compress/sparse/sparse.h"

typedef struct {
    double ratio;
} Topk;

static const Param schema[] = {
    PARAM(Topk, ratio, "0.01", 0, 1, "elements sent as a share of all", .above = true, .rate = true),
    {0},
};

static size_t wanted(const Call *c)
{
    return picks_wanted(c->shape->n, ((const Topk *)c->self->params)->ratio);
}

static Status encode(const Call *c, const float *x, Buf *out)
{
    Picks s;
    TRY(picks_open(c, x, &s));
    TRY(arena_check(select_top(&s, wanted(c)), c->scratch, c->err));
    return picks_put(c, &s, out);
}

static Status decode(const Call *c, Bytes in, float *x)
{
    PicksRead read;
    TRY(picks_get(c, in, x, &read));
    if (read.count > wanted(c))
        return payload_bad(c, "%zu elements, want %zu at most", read.count, wanted(c));
    return OK;
}

const Compressor compressor_topk = {
    .name = "topk",
    .brief = "the k largest magnitudes as they are",
    .plain = "Sends the elements of largest magnitude with their indices and drops the others. Of all sets "
             "of as many elements it leaves the least error, but it is biased.",
    .use_when = "one element in a hundred or fewer may travel, and the others can wait: ef+topk.",
    .example = "atomo-bench synth -o g.h5 --steps 4\n"
               "atomo-bench compare g.h5 -c topk:ratio=0.01 -c ef+topk:ratio=0.01",
    .formula = "k = max(1, floor(ratio n + 1/2)); S = the k largest |g_i|, of equal ones the first\n"
               "decode g_i for i in S, else 0; |decoded - g|^2 <= (1 - k/n) |g|^2\n"
               "Zeros never travel: where fewer than k elements are not zero, those are sent.\n"
               "Biased: meant for ef+topk.",
    .paper = "Aji, Heafield: Sparse Communication for Distributed Gradient Descent, EMNLP 2017;\n"
             "Stich, Cordonnier, Jaggi: Sparsified SGD with Memory, NeurIPS 2018",
    .look = {HUE_SPARSE, 2, 0},
    .params = schema,
    .params_size = sizeof(Topk),
    .promises = EXACT_BYTES | LEAVES_OUT,
    .bound = picks_bound,
    .encode = encode,
    .decode = decode,
};
