/* topk.c -- sends the k elements of largest magnitude (Aji and Heafield 2017; Stich, Cordonnier, Jaggi 2018). Of equal
 * magnitudes, the lower index comes first. The payload has the format of sparse.h.
 *
 * With `share` all workers send the same elements, which they agree on in a first round, so that payloads add:
 *
 *                round 0                                            round 1
 *     leader     of the leader: kind:8  set                        kind:8  { value:f32 } x k
 *                of the others: nothing
 *     sketch     kind:8  { p:f32 } x 4 rows,  P = G V               kind:8  { value:f32 } x k cols
 *
 * The leader's k elements of largest magnitude (CLT-k, Chen et al. 2020); or k whole rows of the matrix G, those of largest norm
 * in the sum of the workers' P, where V is random and the same for all (ARC-Top-K 2025). If fewer are not 0, the
 * values that are left over are 0. Round 1, and the first round of sketch, merge as addends.h says; the
 * first round of leader merges to the leader's payload. */
#include "compress/lowrank/addends.h"
#include "compress/sparse/sparse.h"

#include <float.h>

enum { SHARE_OFF, SHARE_LEADER, SHARE_SKETCH };
static const char *const share_names[] = {"off", "leader", "sketch", NULL};
enum { SKETCH = 4 }; /* columns of V */

typedef struct {
    double ratio;
    int share;
} Topk;

static const Param schema[] = {
    RATIO_KEY(Topk, "0.01", "elements sent as a share of all"),
    PARAM_OF(Topk, share, "off", share_names,
             "all workers send the elements that one of them selects, or the rows that a sketch of their sum does, so that payloads add"),
    {0},
};

static int sharing(const Codec *codec)
{
    return ((const Topk *)codec->params)->share;
}

static int rounds(const Codec *codec)
{
    return sharing(codec) ? 2 : 1;
}

static unsigned traits(const Codec *codec)
{
    const int share = sharing(codec);
    return !share ? LEAVES_OUT : LINEAR | MERGEABLE | (share == SHARE_SKETCH ? RANDOM | SHARED_DRAWS | FIXED_SIZE | NEEDS_ALL : 0);
}

/* ---- a round in which workers agree on k of `units` elements or rows, of `width` elements each, or send them ---- */

typedef struct {
    size_t units, width, k;
    bool sketch, last, raw; /* raw: the tensor is sent as raw floats, in the last round */
    size_t bound;           /* bytes of a payload; but for the leader's set, all payloads take as many */
} Round;

static Round round_of(const Call *c)
{
    Round r = {.units = c->shape->n, .width = 1, .sketch = sharing(c->self) == SHARE_SKETCH, .last = is_last_round(c)};
    const bool matrix = c->shape->rank > 1 && c->shape->n;
    if (r.sketch && matrix)
        matrix_view(c->shape, RESHAPE_ROWS, &r.units, &r.width);
    r.k = share_of(r.units, ratio_of(c));
    const size_t first = 1 + (r.sketch ? 4 * SKETCH * r.units : indices_bound(r.units)), values = 1 + 4 * r.k * r.width;
    r.raw = (r.sketch && !matrix) || first + values >= raw_size(c);
    r.bound = !r.raw ? (r.last ? values : first) : r.last ? raw_size(c) : 0;
    return r;
}

static size_t bound(const Call *c)
{
    return sharing(c->self) ? round_of(c).bound : picks_bound(c);
}

static Status lead(const Call *c, const Round *r, const float *x, Buf *out)
{
    Picks picks;
    if (c->workers > 1 && (size_t)c->worker != c->leader)
        return OK;
    TRY(picks_open(c, x, &picks));
    TRY(arena_check(select_top(&picks, r->k) && select_values(&picks), c->scratch, c->err));
    const Indices set = picks_indices(&picks);
    buf_u8(out, PAYLOAD_METHOD);
    indices_put(&set, r->units, out);
    streams_gaps(c, &set);
    return OK;
}

static Status sketch(const Call *c, const Round *r, const float *x, Buf *out)
{
    float *v = NEW(c->scratch, float, SKETCH * r->width), *p = NEW(c->scratch, float, SKETCH * r->units);
    TRY(arena_check(v && p, c->scratch, c->err));
    rng_normals(&c->rng_shared, USE_INIT, 0, SKETCH * r->width, 1, v);
    thin_right(x, r->units, r->width, v, SKETCH, c->threads, p);
    if (first_nonfinite(p, SKETCH * r->units, NULL) < SKETCH * r->units)
        return FAIL(c->err, ERR_NUMERIC, "topk: the sketch of a row is beyond float32");
    buf_u8(out, PAYLOAD_METHOD);
    buf_floats(out, p, SKETCH * r->units);
    streams_floats(c->streams, SKETCH * r->units);
    return OK;
}

/* ---- the units that the first round has selected, in rising order ---- */

static Status led_units(const Call *c, const Round *r, Bytes bytes, size_t *at, size_t *count)
{
    Reader in = reader_open(bytes);
    Places set;
    *count = 0;
    if (!bytes.size)
        return FAIL(c->err, ERR_CORRUPT, "topk: the worker that leads in this step has sent nothing");
    TRY(payload_kind(c, take_u8(&in), PAYLOAD_METHOD));
    TRY(payload_set(c, &in, r->units, &set));
    TRY(payload_end(c, &in));
    if (set.count > r->k)
        return payload_bad(c, "%zu elements, want %zu at most", set.count, r->k);
    for (size_t block = 0; block < blocks_of(r->units); block++)
        for (; *count < set.before[block + 1]; ++*count)
            at[*count] = block * BLOCK + set.at[*count];
    return OK;
}

static Status sketched_units(const Call *c, const Round *r, Bytes in, size_t *at, size_t *count)
{
    Picks picks;
    float *p = NEW(c->scratch, float, SKETCH * r->units), *norm = NEW(c->scratch, float, r->units);
    TRY(arena_check(p && norm, c->scratch, c->err));
    TRY(addends_get(c, in, PAYLOAD_METHOD, SKETCH * r->units, p));
    for (size_t i = 0; i < r->units; i++) {
        double squares = 0;
        for (size_t j = 0; j < SKETCH; j++)
            squares += (double)p[j * r->units + i] * (double)p[j * r->units + i];
        norm[i] = (float)(sqrt(squares) / 2); /* at most the largest of the four */
    }
    TRY(arena_check(select_open(&picks, norm, r->units, c->threads, c->scratch) && select_top(&picks, r->k), c->scratch, c->err));
    *count = picks.count;
    if (picks.place)
        memcpy(at, picks.place, picks.count * sizeof *at);
    for (size_t i = 0, k = 0; i < r->units && !picks.place; i++)
        if (picks.bits[i / 64] >> i % 64 & 1)
            at[k++] = i;
    return OK;
}

static Status heard_units(const Call *c, const Round *r, Bytes in, size_t **at, size_t *count)
{
    *at = NEW(c->scratch, size_t, r->k);
    TRY(arena_check(*at, c->scratch, c->err));
    return (r->sketch ? sketched_units : led_units)(c, r, in, *at, count);
}

/* ---- the hooks of the codec ---- */

static Status encode(const Call *c, const float *x, Buf *out)
{
    const Round r = round_of(c);
    size_t *at, count;
    Picks own;
    if (!sharing(c->self)) {
        TRY(picks_open(c, x, &own));
        TRY(arena_check(select_top(&own, r.k), c->scratch, c->err));
        return picks_put(c, &own, out);
    }
    if (r.raw)
        return r.last ? raw_put(c, x, out) : OK;
    if (!r.last)
        return (r.sketch ? sketch : lead)(c, &r, x, out);
    TRY(heard_units(c, &r, c->heard[0], &at, &count));
    buf_u8(out, PAYLOAD_METHOD);
    for (size_t i = 0; i < count; i++)
        buf_floats(out, x + at[i] * r.width, r.width);
    memset(buf_room(out, 4 * (r.k - count) * r.width), 0, 4 * (r.k - count) * r.width);
    streams_floats(c->streams, r.k * r.width);
    return OK;
}

static Status decode_shared(const Call *c, const Round *r, Bytes in, float *x)
{
    size_t *at, count;
    float *value = NEW(c->scratch, float, r->k * r->width);
    TRY(arena_check(value, c->scratch, c->err));
    TRY(addends_get(c, in, PAYLOAD_METHOD, r->k * r->width, value));
    TRY(heard_units(c, r, c->heard[0], &at, &count));
    memset(x, 0, c->shape->n * sizeof *x);
    for (size_t i = 0; i < count; i++)
        memcpy(x + at[i] * r->width, value + i * r->width, r->width * sizeof *x);
    for (size_t i = count * r->width; i < r->k * r->width; i++)
        if (value[i] != 0)
            return payload_bad(c, "value %zu is %g, and only %zu places were selected", i, (double)value[i], count);
    return OK;
}

static Status decode(const Call *c, Bytes in, float *x)
{
    const Round r = round_of(c);
    PicksRead read = {0};
    if (sharing(c->self)) {
        TRY(payload_last_round(c));
        return r.raw ? addends_get(c, in, PAYLOAD_RAW, c->shape->n, x) : decode_shared(c, &r, in, x);
    }
    TRY(picks_get(c, in, x, &read));
    return read.count <= r.k ? OK : payload_bad(c, "%zu elements, want %zu at most", read.count, r.k);
}

static Numbers numbers(const Call *c)
{
    const Round r = round_of(c);
    const bool adds = sharing(c->self) && (r.sketch || r.last);
    return addends_numbers(adds ? r.bound / 4 : 0, 1, FLT_MAX);
}

/* The first round of leader: all payloads but one are empty. */
static Status merge_led(const Call *c, const Round *r, const Bytes *in, size_t n, Buf *out)
{
    const size_t start = out->size;
    size_t count, *at;
    for (size_t w = 0; w < n; w++) {
        if (!in[w].size)
            continue;
        if (out->size > start)
            return payload_bad(c, "two workers lead");
        TRY(heard_units(c, r, in[w], &at, &count));
        buf_copy(out, in[w].data, in[w].size);
    }
    return OK;
}

static Status merge(const Call *c, const Bytes *in, size_t n, Buf *out)
{
    const Round r = round_of(c);
    const Numbers m = numbers(c);
    if (!sharing(c->self))
        return FAIL(c->err, ERR_USAGE, "topk: with share=off each worker sends elements of its own");
    return !r.raw && !r.sketch && !r.last ? merge_led(c, &r, in, n, out)
                                          : addends_merge(c, in, n, r.raw ? PAYLOAD_RAW : PAYLOAD_METHOD, &m, out);
}

const Compressor compressor_topk = {
    .name = "topk",
    .brief = "the k largest magnitudes as they are",
    .plain = "Sends the elements of largest magnitude with their indices and drops the others. Of all sets "
             "of as many elements it leaves the least error, but it is biased.",
    .use_when = "one element in a hundred or fewer may travel, and the others can wait: ef+topk.",
    .example = "atomo-bench synth -o g.h5 --force --steps 4\n"
               "atomo-bench compare g.h5 -c topk:ratio=0.01 -c ef+topk:ratio=0.01",
    .formula = "k = max(1, floor(ratio n + 1/2)); S = the k largest |g_i|, of equal ones the first\n"
               "decode g_i for i in S, else 0; |decoded - g|^2 <= (1 - k/n) |g|^2\n"
               "Zeros never travel: where fewer than k elements are not zero, those are sent.\n"
               "share=leader: S is that of one worker, chosen by the step's number, which sends it first; then all\n"
               "send g_i for i in S: payloads add.\n"
               "share=sketch: of a matrix G all first send G V, V of 4 random columns; then the rows of largest\n"
               "norm in the sum of G V, k = max(1, floor(ratio rows + 1/2)). Vectors travel as floats. A row has\n"
               "little of a gradient's energy: its authors send 0.08 to 0.2 of the rows.",
    .paper = "Aji, Heafield: Sparse Communication for Distributed Gradient Descent, EMNLP 2017;\n"
             "Stich, Cordonnier, Jaggi: Sparsified SGD with Memory, NeurIPS 2018;\n"
             "leader: Chen et al.: ScaleCom, NeurIPS 2020; sketch: ARC-Top-K, arXiv 2510.26709",
    .look = {HUE_SPARSE, 2, 0},
    .params = schema,
    .promises = EXACT_BYTES,
    .traits = traits,
    .rounds = rounds,
    .bound = bound,
    .encode = encode,
    .decode = decode,
    .merge = merge,
    .numbers = numbers,
};
