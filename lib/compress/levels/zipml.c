/* zipml.c -- quantises each bucket to the levels for which stochastic rounding of its elements has the least
 * variance (Zhang et al. 2017; best_levels.h). The payload has the format
 * of buckets.h with symbols (symbols.h); the head of a bucket is
 *
 *     { level:32 } x levels         rising; a bucket with fewer different values repeats the highest level */
#include "compress/levels/buckets.h"
#include "math/best_levels.h"

#include <math.h>

typedef struct {
    int64_t levels, bucket;
    int solver;
} Zipml;

static const char *const solvers[] = {"exact", NULL};

static const Param schema[] = {
    PARAM(Zipml, levels, "16", 2, KNOTS_MOST,
          "levels of a bucket, its smallest and largest number among them", .rate = true),
    PARAM(Zipml, bucket, "512", 1, KNOTS_OF, "elements that share levels"),
    PARAM_OF(Zipml, solver, "exact", solvers, "the best levels"),
    {0},
};

/* ---- the levels of a bucket ---- */

typedef struct {
    size_t count, differ; /* count: number of levels; differ: number of different levels */
    float level[KNOTS_MOST];
} ZipmlHead;

static const Zipml *params_of(const Buckets *b)
{
    return b->c->self->params;
}

static ZipmlHead head_load(const Buckets *b, const uint8_t *at)
{
    ZipmlHead h = {.count = (size_t)params_of(b)->levels, .differ = 1};
    for (size_t k = 0; k < h.count; k++)
        h.level[k] = load_f32(at + 4 * k);
    while (h.differ < h.count && h.level[h.differ] > h.level[h.differ - 1])
        h.differ++;
    return h;
}

static bool good(const Buckets *b, const uint8_t *head)
{
    const ZipmlHead h = head_load(b, head);
    bool all = isfinite(h.level[0]) && isfinite((float)((double)h.level[h.differ - 1] - (double)h.level[0]));
    for (size_t k = 0; k < h.count; k++)
        all = all && isfinite(h.level[k]) && !(h.level[k] == 0 && signbit(h.level[k])) &&
              (k < h.differ || h.level[k] == h.level[h.differ - 1]);
    return all;
}

static Status refuse(const Buckets *b, size_t bucket, const uint8_t *head)
{
    const ZipmlHead h = head_load(b, head);
    return payload_bad(b->c, "bucket %zu has levels from %g to %g that no encoder writes", bucket,
                       (double)h.level[0], (double)h.level[h.count - 1]);
}

/* The buckets are divided into at most PIECES_MOST groups, searched in parallel. The memory for all searches is
 * limited to about ROOM_MOST bytes. */
enum { PIECES_MOST = 16, ROOM_MOST = 1 << 26 };

typedef struct {
    const Buckets *b;
    uint8_t *head;
    KnotsRoom *room;
    size_t pieces;
} ZipmlSearch;

static void find_piece(void *data, size_t piece)
{
    const ZipmlSearch *s = data;
    const Buckets *b = s->b;
    const Zipml *p = params_of(b);
    float level[KNOTS_MOST];
    for (size_t i = piece; i < b->buckets; i += s->pieces) {
        const size_t start = i * b->bucket, size = codes_run_end(&b->codes, start, b->n) - start;
        knots_best(&s->room[piece], b->x + start, size, level);
        for (size_t k = 0; k < (size_t)p->levels; k++)
            store_f32(s->head + b->head_size * i + 4 * k, level[k]);
    }
}

static Status find_all(const Buckets *b, uint8_t *head)
{
    const Call *c = b->c;
    const size_t longest = b->bucket < b->n ? b->bucket : b->n, count = (size_t)params_of(b)->levels;
    const size_t rooms = ROOM_MOST / knots_size(longest, count) + 1;
    size_t pieces = b->buckets < PIECES_MOST ? b->buckets : PIECES_MOST;
    pieces = pieces < rooms ? pieces : rooms;
    ZipmlSearch s = {b, head, NEW(c->scratch, KnotsRoom, pieces), pieces};
    for (size_t i = 0; i < pieces; i++)
        TRY(arena_check(s.room && knots_open(&s.room[i], longest, count, c->scratch), c->scratch, c->err));
    parallel_for(c->threads, pieces, find_piece, &s);
    return OK;
}

/* ---- quantising and dequantising ---- */

/* Rounds each x up with probability (x - low) / (up - low), else down. `low` and `up` are the levels next below
 * and above x. coin.h makes the random decision. */
static void quantise(const Buckets *b, const uint8_t *head, const float *x, size_t n, const RngKey *key,
                     uint32_t first, void *code)
{
    const ZipmlHead h = head_load(b, head);
    uint8_t *up = code;
    Coin coin[KNOTS_MOST];
    memset(code, 0, n);
    if (!good(b, head))
        return;
    for (size_t k = 1; k < h.differ; k++)
        coin[k] = coin_make((float)((double)h.level[k] - (double)h.level[k - 1]));
    kernels()->stretches(x, n, h.level, h.differ - 1, up);
    for (size_t i = 0; i < n; i++) {
        const unsigned k = up[i];
        if (k && x[i] != h.level[k])
            up[i] = (uint8_t)(k - !coin_keep(coin[k], x[i] - h.level[k - 1], key, first + (uint32_t)i));
    }
}

static const char *dequantise(const Buckets *b, const uint8_t *head, const void *code, size_t n, float *x)
{
    const ZipmlHead h = head_load(b, head);
    const uint8_t *at = code;
    unsigned most = 0;
    for (size_t i = 0; i < n; i++) {
        most = at[i] > most ? at[i] : most;
        x[i] = h.level[at[i] < h.count ? at[i] : 0];
    }
    return most < h.differ ? NULL : "a level that the bucket does not have";
}

static double bucket_variance(const Buckets *b, const uint8_t *head, const float *x, size_t n)
{
    const ZipmlHead h = head_load(b, head);
    return knots_variance(x, n, h.level, h.differ);
}

static void open(Buckets *b, const Call *c)
{
    const Zipml *p = c->self->params;
    buckets_open(b, c, p->bucket, (uint32_t)p->levels - 1, true, CODE_RANS);
    b->head_size = 4 * (size_t)p->levels;
}

static const BucketLaw law = {
    .open = open,
    .name = "level range",
    .find_all = find_all,
    .good = good,
    .refuse = refuse,
    .quantise = quantise,
    .dequantise = dequantise,
    .variance = bucket_variance,
};

const Compressor compressor_zipml = {
    .name = "zipml",
    .brief = "the levels that leave each bucket the least variance",
    .plain = "Chooses levels that fit the elements of each run, so that random rounding has the least "
             "variance. Finding them takes more time than even spacing does.",
    .use_when = "few levels must serve an uneven distribution, and encoding time matters little.",
    .example = "atomo-bench synth -o g.h5 --law laplace --shape 64x64\n"
               "atomo-bench compare g.h5 -c zipml:levels=4 -c qsgd:bits=2",
    .formula =
        "Each bucket of consecutive elements has its own levels l_1 < ... < l_K, K = levels at most, all of "
        "them\n"
        "elements, l_1 = min x and l_K = max x. For l_k <= x_i <= l_(k+1): x^_i = l_(k+1) with probability\n"
        "(x_i - l_k) / (l_(k+1) - l_k), else l_k.\n"
        "E x^ = x;  E |x^ - x|^2 = sum (l_(k+1) - x_i)(x_i - l_k).\n"
        "No K numbers leave less, by a dynamic program over the sorted bucket within bounds from the "
        "best\n"
        "levels where each costs a toll: about n log n steps, K n log n at worst.\n"
        "32 levels bits a bucket and about log2 levels an element: rANS, or planes where these are shorter. "
        "Raw where\n"
        "planes would not be smaller.",
    .paper = "Zhang, Li, Kara, Alistarh, Liu, Zhang: ZipML: Training Linear Models with End-to-End Low\n"
             "Precision, and a Little Bit of Deep Learning, ICML 2017",
    .look = {HUE_LEVELS, 2, 4},
    .params = schema,
    .params_size = sizeof(Zipml),
    .promises = UNBIASED | RANDOM | EXACT_BYTES,
    .family = &law,
    BUCKET_HOOKS,
};
