/* chunktopk.c -- sends the k elements of largest magnitude of each chunk of the tensor, or the k largest cosine
 * coefficients: what DeMo (Peng, Quesnelle, Kingma 2024) and SparseLoCo (Sarfi et al. 2025) send. The wrapper
 * ef keeps DeMo's momentum or SparseLoCo's residual.
 *
 * The tensor is a matrix of its first axis by all others. Each side is cut into pieces of equal length, the largest
 * divisor of the side up to `chunk`. Chunks are ordered row by row, and so are the elements in a chunk. Index i of the
 * payload is the i-th element in this order.
 *
 * Payload: that of sparse.h, with these values:
 *     f32     { x:f32 } x count
 *     bf16    { x:16 } x count
 *     2bit    { mean:f32 } x 4, two bit planes of codes (planes.h) */
#include "compress/sparse/sparse.h"

#include "base/parallel.h"
#include "coder/planes.h"
#include "math/rotation.h"
#include "math/stats.h"
#include "math/vec/kernels.h"

#include <float.h>
#include <math.h>

typedef struct {
    int64_t k, chunk;
    int transform, values;
} ChunkTopk;

enum { PLAIN, COSINE };
static const char *const transforms[] = {"none", "dct", NULL};
enum { FLOATS, HALVES, BINS };
static const char *const value_forms[] = {"f32", "bf16", "2bit", NULL};
enum { BIN_COUNT = 4 };
static const ValueForm forms[] = {{.bits = 32}, {.bits = 16}, {.head = 4 * BIN_COUNT, .bits = 2}};

static const Param schema[] = {
    PARAM(ChunkTopk, k, "32", 1, 1 << 18, "elements sent of each chunk", .rate = true),
    PARAM(ChunkTopk, chunk, "64", 1, SHORT_COSINE_MOST, "longest side of a chunk"),
    PARAM_OF(ChunkTopk, transform, "none", transforms, "what is sent: elements, or cosine coefficients"),
    PARAM_OF(ChunkTopk, values, "f32", value_forms,
             "how a value is sent; 2bit: as the mean of one of four bins"),
    {0},
};

static const ChunkTopk *params_of(const Call *c)
{
    return c->self->params;
}

/* ---- the chunks of a tensor ---- */

typedef struct {
    size_t cols, high, wide;    /* columns of the matrix; sides of a chunk */
    size_t size, count, across; /* elements of a chunk, number of chunks, number of chunks side by side */
    size_t most;                /* largest number of elements sent of a chunk */
} Grid;

static size_t piece_of(size_t side, size_t most)
{
    size_t d = side < most ? side : most;
    while (d > 1 && side % d)
        d--;
    return d;
}

static Grid grid_of(const Call *c)
{
    const ChunkTopk *p = params_of(c);
    size_t rows, cols;
    matrix_view(c->shape, RESHAPE_ROWS, &rows, &cols);
    if (!c->shape->n)
        return (Grid){.size = 1};
    Grid g = {
        .cols = cols, .high = piece_of(rows, (size_t)p->chunk), .wide = piece_of(cols, (size_t)p->chunk)};
    g.size = g.high * g.wide;
    g.count = c->shape->n / g.size;
    g.across = cols / g.wide;
    g.most = (size_t)p->k < g.size ? (size_t)p->k : g.size;
    return g;
}

/* Returns the index in the tensor of the first element in a row of a chunk. */
static size_t row_start(const Grid *g, size_t chunk, size_t row)
{
    return (chunk / g->across * g->high + row) * g->cols + chunk % g->across * g->wide;
}

/* ---- the cosine transform of a chunk ---- */

/* Matrices of the transform along both sides, and their transposes. */
typedef struct {
    const double *down, *down_back;   /* (high, high) */
    const double *along, *along_back; /* (wide, wide) */
} Cosines;

/* Sets *c to the matrix of the cosine transform of n elements, and *back to its transpose. */
static bool cosines_of(size_t n, Arena *a, const double **c, const double **back)
{
    double *matrix = NEW(a, double, n *n), *t = NEW(a, double, n *n);
    if (!matrix || !t)
        return false;
    short_cosine_matrix(matrix, n);
    for (size_t i = 0; i < n * n; i++)
        t[i % n * n + i / n] = matrix[i];
    *c = matrix;
    *back = t;
    return true;
}

/* Sets `to` to the product of the row vector `from` (n) and the matrix b (n, cols). Skips the zeros of
 * `from`. */
static void row_times(const double *from, const double *b, size_t n, size_t cols, double *to)
{
    memset(to, 0, cols * sizeof *to);
    for (size_t k = 0; k < n; k++) {
        const double v = from[k];
        if (v == 0)
            continue;
        for (size_t j = 0; j < cols; j++)
            to[j] += v * b[k * cols + j];
    }
}

/* y = down y along, for the matrices of the transform or of its inverse. `all`: scratch memory (g->size). */
static void turn(const Grid *g, float *y, const double *down, const double *along, double *all)
{
    double row[SHORT_COSINE_MOST], out[SHORT_COSINE_MOST];
    for (size_t i = 0; i < g->high; i++) {
        for (size_t j = 0; j < g->wide; j++)
            row[j] = (double)y[i * g->wide + j];
        row_times(row, along, g->wide, g->wide, all + i * g->wide);
    }
    for (size_t i = 0; i < g->high; i++) {
        row_times(down + i * g->high, all, g->high, g->wide, out);
        for (size_t j = 0; j < g->wide; j++)
            y[i * g->wide + j] = (float)out[j];
    }
}

/* ---- choosing what is sent ---- */

typedef struct {
    Grid g;
    bool cosine;
    Cosines cosines;
    double *turned; /* (slots x g.size) */
    const float *x; /* the tensor to encode */
    float *y;       /* (n) elements or coefficients in the order of chunks */
    float *decoded; /* the estimate */
    size_t *place;  /* (chunks x g.most) the sent indices of each chunk */
    size_t *sent;   /* (chunks) number of sent indices */
    _Atomic bool beyond; /* elements of the estimate may be beyond float32 */
} Chunks;

static Chunks chunks_of(const Call *c)
{
    return (Chunks){.g = grid_of(c), .cosine = params_of(c)->transform == COSINE};
}

/* Makes the matrices of the transform, if there is one, and scratch memory for the threads. */
static Status prepare(const Call *call, Chunks *s)
{
    Arena *a = call->scratch;
    const Grid *g = &s->g;
    Cosines *c = &s->cosines;
    if (!s->cosine)
        return OK;
    s->turned = NEW(a, double, parallel_slots(call->threads, g->count) * g->size);
    return arena_check(s->turned && cosines_of(g->high, a, &c->down, &c->down_back) &&
                           cosines_of(g->wide, a, &c->along_back, &c->along),
                       a, call->err);
}

/* Returns the bits of the k-th largest magnitude of y (n), and sets *equal to how many of the elements with this magnitude
 * are among the k. */
static uint32_t kth_largest(const float *y, size_t n, size_t k, size_t *equal)
{
    uint32_t found = 0, mask = 0;
    for (int shift = 24; shift >= 0; shift -= 8) {
        size_t count[256] = {0};
        for (size_t i = 0; i < n; i++) {
            const uint32_t bits = float_bits(fabsf(y[i]));
            count[bits >> shift & 255] += (bits & mask) == found;
        }
        uint32_t digit = 255;
        while (count[digit] < k)
            k -= count[digit--];
        found |= digit << shift;
        mask |= UINT32_C(255) << shift;
    }
    *equal = k;
    return found;
}

static void load_chunk(void *data, size_t chunk, size_t slot)
{
    const Chunks *s = data;
    const Grid *g = &s->g;
    float *y = s->y + chunk * g->size;
    for (size_t i = 0; i < g->high; i++)
        memcpy(y + i * g->wide, s->x + row_start(g, chunk, i), g->wide * sizeof *y);
    if (s->cosine)
        turn(g, y, s->cosines.down, s->cosines.along, s->turned + slot * g->size);
}

static void choose_chunk(void *data, size_t chunk, size_t slot)
{
    Chunks *s = data;
    const Grid *g = &s->g;
    const float *y = s->y + chunk * g->size;
    load_chunk(data, chunk, slot);
    size_t equal, count = 0;
    const uint32_t least = kth_largest(y, g->size, g->most, &equal);
    double sum = 0;
    for (size_t i = 0; i < g->size; i++) {
        const uint32_t bits = float_bits(fabsf(y[i]));
        const bool last = bits == least && equal > 0;
        equal -= last;
        if (bits == 0 || !(bits > least || last))
            continue;
        sum += fabs((double)y[i]);
        s->place[chunk * g->most + count++] = chunk * g->size + i;
    }
    s->sent[chunk] = count;
    /* an estimate's element is a sum of coefficients times factors of at most 1 */
    if (s->cosine && sum > FLT_MAX / 2)
        s->beyond = true;
}

/* Moves the indices of all chunks together, and returns their number. */
static size_t gather(const Chunks *s)
{
    size_t count = 0;
    for (size_t chunk = 0; chunk < s->g.count; chunk++)
        for (size_t k = 0; k < s->sent[chunk]; k++)
            s->place[count++] = s->place[chunk * s->g.most + k];
    return count;
}

/* ---- values ---- */

static Status put_bins(const Call *c, const float *value, size_t count, uint8_t *out)
{
    uint8_t *code = NEW(c->scratch, uint8_t, count);
    float mean[BIN_COUNT];
    EqualBins bins;
    TRY(arena_check(code, c->scratch, c->err));
    if (!count)
        return OK;
    bins_open(&bins, value, count, BIN_COUNT); /* a bin is 1.5 standard deviations wide, and the third is centred at the mean */
    for (size_t k = 0; k < count; k++)
        code[k] = (uint8_t)bins_find(&bins, value[k]);
    for (size_t i = 0; i < BIN_COUNT; i++)
        mean[i] = bins.members[i] > 0 ? (float)(bins.total[i] / bins.members[i]) : 0;
    floats_store(out, mean, BIN_COUNT);
    planes_put(code, false, count, 2, out + sizeof mean);
    return OK;
}

static Status put_values(const Call *c, const Chunks *s, size_t count, uint8_t *out)
{
    const int form = params_of(c)->values;
    float *value = NEW(c->scratch, float, count);
    TRY(arena_check(value, c->scratch, c->err));
    for (size_t k = 0; k < count; k++)
        value[k] = s->y[s->place[k]];
    if (form == BINS)
        return put_bins(c, value, count, out);
    if (form == FLOATS)
        floats_store(out, value, count);
    else
        kernels()->bf16_nearest(value, count, out);
    return OK;
}

static Status get_bins(const Call *c, const uint8_t *in, size_t count, float *value)
{
    float mean[BIN_COUNT];
    uint8_t *code = NEW(c->scratch, uint8_t, count);
    TRY(arena_check(code, c->scratch, c->err));
    if (!count)
        return OK;
    floats_load(mean, in, BIN_COUNT);
    if (!planes_get(in + sizeof mean, count, 2, code, false))
        return payload_bad(c, "bits behind the last code are not 0");
    for (size_t k = 0; k < count; k++)
        value[k] = mean[code[k]];
    return OK;
}

static Status get_values(const Call *c, const uint8_t *in, size_t count, float *value)
{
    const int form = params_of(c)->values;
    if (form == BINS)
        TRY(get_bins(c, in, count, value));
    else if (form == FLOATS)
        floats_load(value, in, count);
    else
        kernels()->bf16_floats(in, count, value);
    for (size_t k = 0; k < count; k++)
        if (!isfinite(value[k]) || (form == FLOATS && value[k] == 0))
            return payload_bad(c, "value %zu is %g", k, (double)value[k]);
    return OK;
}

/* ---- encoding and decoding ---- */

static size_t bound(const Call *c)
{
    return sparse_bound(c, forms[params_of(c)->values]);
}

static Status encode(const Call *c, const float *x, Buf *out)
{
    uint8_t *values;
    Chunks s = chunks_of(c);
    s.x = x;
    s.y = NEW(c->scratch, float, c->shape->n);
    s.place = NEW(c->scratch, size_t, s.g.count * s.g.most);
    s.sent = NEW(c->scratch, size_t, s.g.count);
    TRY(arena_check(s.y && s.place && s.sent, c->scratch, c->err));
    TRY(prepare(c, &s));
    parallel_for_slots(c->threads, s.g.count, choose_chunk, &s);
    if (s.beyond)
        return FAIL(c->err, ERR_NUMERIC, "chunktopk: cosine coefficients are beyond float32");
    const size_t count = gather(&s);
    const Indices set = indices_list(s.place, count);
    TRY(sparse_put(c, &set, forms[params_of(c)->values], x, out, &values));
    return values ? put_values(c, &s, count, values) : OK;
}

static void spread_chunk(void *data, size_t chunk, size_t slot)
{
    Chunks *s = data;
    const Grid *g = &s->g;
    float *y = s->y + chunk * g->size;
    if (s->cosine) {
        turn(g, y, s->cosines.down_back, s->cosines.along_back, s->turned + slot * g->size);
        if (first_nonfinite(y, g->size, NULL) < g->size)
            s->beyond = true;
    }
    for (size_t i = 0; i < g->high; i++)
        memcpy(s->decoded + row_start(g, chunk, i), y + i * g->wide, g->wide * sizeof *y);
}

/* Transforms s->y back, and writes it to s->decoded in the tensor's order. */
static Status spread(const Call *c, Chunks *s)
{
    TRY(prepare(c, s));
    parallel_for_slots(c->threads, s->g.count, spread_chunk, s);
    return OK;
}

/* Puts the values at their places, and refuses a chunk of more than g.most values. */
static Status place_values(const Call *c, const Chunks *s, const Places *set, const float *value)
{
    size_t chunk = 0, count = 0;
    for (size_t block = 0; block < blocks_of(c->shape->n); block++)
        for (size_t k = set->before[block]; k < set->before[block + 1]; k++) {
            const size_t index = block * BLOCK + set->at[k];
            count = index / s->g.size == chunk ? count + 1 : 1;
            chunk = index / s->g.size;
            if (count > s->g.most)
                return payload_bad(c, "more than %zu elements of a chunk", s->g.most);
            s->y[index] = value[k];
        }
    return OK;
}

static Status decode(const Call *c, Bytes in, float *x)
{
    const size_t n = c->shape->n;
    const uint8_t *values;
    Places set;
    Chunks s = chunks_of(c);
    s.decoded = x;
    TRY(sparse_get(c, in, forms[params_of(c)->values], &set, &values));
    float *value = NEW(c->scratch, float, set.count);
    s.y = NEW_ZERO(c->scratch, float, n);
    TRY(arena_check(value && s.y, c->scratch, c->err));
    TRY(get_values(c, values, set.count, value));
    TRY(place_values(c, &s, &set, value));
    if (c->terms && s.cosine) {
        memcpy(x, s.y, n * sizeof *x);
        return OK;
    }
    TRY(spread(c, &s));
    return s.beyond ? payload_bad(c, "coefficients of elements beyond float32") : OK;
}

/* ---- means over senders: coefficients instead of elements ---- */

static Status to_terms(const Call *c, float *x)
{
    const size_t n = c->shape->n;
    Chunks s = chunks_of(c);
    if (!s.cosine)
        return OK;
    s.x = x;
    s.y = NEW(c->scratch, float, n);
    TRY(arena_check(s.y, c->scratch, c->err));
    TRY(prepare(c, &s));
    parallel_for_slots(c->threads, s.g.count, load_chunk, &s);
    memcpy(x, s.y, n * sizeof *x);
    return OK;
}

static Status from_terms(const Call *c, float *x)
{
    const size_t n = c->shape->n;
    Chunks s = chunks_of(c);
    if (!s.cosine)
        return OK;
    s.decoded = x;
    s.y = NEW(c->scratch, float, n);
    TRY(arena_check(s.y, c->scratch, c->err));
    memcpy(s.y, x, n * sizeof *x);
    TRY(spread(c, &s));
    return s.beyond ? FAIL(c->err, ERR_NUMERIC, "chunktopk: the mean is beyond float32") : OK;
}

const Compressor compressor_chunktopk = {
    .name = "chunktopk",
    .brief = "the k largest of each chunk, elements or cosine coefficients: DeMo, SparseLoCo",
    .plain =
        "Cuts a matrix into chunks of up to 64 x 64 and sends the k largest elements of each, or the k largest "
        "coefficients of its cosine transform. Every part of the tensor gets its share.",
    .use_when = "language models train over slow links: ef:decay=0.999+chunktopk:transform=dct is DeMo, "
                "ef:decay=0.95+chunktopk:k=64,values=2bit with --local-steps is SparseLoCo.",
    .example = "atomo-bench synth -o g.h5 --force --steps 4 --shape 256x128\n"
               "atomo-bench compare g.h5 -c ef:decay=0.999+chunktopk:transform=dct "
               "-c ef:decay=0.95+chunktopk:k=64,values=2bit",
    .formula =
        "The matrix [first axis, others] is cut into chunks; a side of a chunk is the largest divisor of the\n"
        "matrix's side up to `chunk`. transform=dct: y = orthonormal DCT-II of a chunk along both sides;\n"
        "none: y = the chunk. S = its k largest |y_i|, of equal ones the first; zeros never travel.\n"
        "decode y_i for i in S, else 0; then the inverse transform. f32: |decoded - g|^2 <= (1 - k/size) |g|^2\n"
        "values=2bit, over all values sent: mu, sigma = mean and standard deviation (n - 1);\n"
        "bin = min(max(round((y - mu) / (1.5 sigma) + 2), 0), 3), decoded as the mean of its values.\n"
        "ef:decay=b+ keeps m = b m + g - decoded: DeMo's momentum (b = 0.999), SparseLoCo's residual (0.95).\n"
        "Receivers divide the sum of an element or coefficient by the number of workers that sent it, as both\n"
        "papers do; --average all divides by the number of all workers.\n"
        "A side that is a prime above `chunk` has chunks of length 1, so all of it travels.",
    .paper = "Peng, Quesnelle, Kingma: DeMo: Decoupled Momentum Optimization, arXiv 2411.19870, 2024;\n"
             "Sarfi, Thérien, Lidin, Belilovsky: Communication Efficient LLM Pre-training with SparseLoCo,\n"
             "arXiv 2508.15706, 2025",
    .look = {HUE_SPARSE, 1, 0},
    .params = schema,
    .promises = EXACT_BYTES | WHOLE | LEAVES_OUT | SENDERS_MEAN,
    .bound = bound,
    .encode = encode,
    .decode = decode,
    .to_terms = to_terms,
    .from_terms = from_terms,
};
