/* sketch.c -- countsketch and countmin: tables of sums over hash buckets.
 *
 *     kind:8 = 1  { cell:f32 } x rows x tables x cols     merged: kind:8 = 2  workers:varint  { cell:f32 } ...
 *
 * Row j puts element i into bucket floor(word_i c / 2^32) of its slice (slices.h), which has c buckets; word_i is a
 * random word that depends on i and j and is the same for all workers, so the workers' cells can be added. If there
 * would be at least as many cells as elements, the elements are sent as raw floats, which can be added too. */
#include "compress/compressor.h"
#include "math/vec/kernels.h"
#include "compress/lowrank/addends.h"
#include "compress/sketch/slices.h"
#include "compress/sparse/sparse.h"

#include <float.h>
#include <math.h>

/* What a cell (a hash bucket of a row) sums, and how an element is estimated from its cells, one in each
 * row. */
typedef enum {
    /* sums elements times random signs; estimate: median over rows of the cell times the element's sign */
    SKETCH_SIGNED,
    /* One table sums the positive elements, another the magnitudes of the negative elements. Estimate: the
     * element's least cell in the first table, minus its least cell in the second. */
    SKETCH_SPLIT,
    SKETCH_PLAIN, /* a cell sums elements; estimate: median over rows of the cell */
} SketchKind;

typedef struct {
    int64_t rows, cols, topk;
    double bits;
    int estimate; /* index into the codec's array of SketchKind */
} SketchParams;

enum { SKETCH_ROWS = MEDIAN_MOST };

/* The parameters that countsketch and countmin share. */
#define SKETCH_KEYS                                                                                          \
    PARAM(SketchParams, rows, "5", 1, SKETCH_ROWS, "rows of buckets, each with a hash of its own"),          \
        PARAM(SketchParams, bits, "1", 0, 32, "payload bits an element", .above = true, .rate = true,        \
              .group = 1),                                                                                   \
        PARAM(SketchParams, cols, NULL, 1, 2147483647, "buckets in a row", .group = 1),                      \
        PARAM(SketchParams, topk, "0", 0, 1e15, "decode only the topk largest estimates; 0: all")

enum { RUN = 512 }; /* elements processed at a time, so that buffers fit on the stack */

typedef struct {
    const Call *c;
    SketchKind kind;
    /* rows; cols: buckets of a row in one table; width: number of sums in a row, in all tables together;
     * slices: number of slices of each row */
    size_t n, rows, cols, width, slices;
} Sketch;

/* ---- sizes ---- */

static size_t cols_of(const SketchParams *p, size_t n, size_t tables)
{
    if (p->cols != PARAM_NONE)
        return (size_t)p->cols;
    const double bytes = floor(p->bits * (double)n / 8) - 1;
    const double cols = floor(bytes / (4.0 * (double)p->rows * (double)tables));
    return cols < 1 ? 1 : cols > INT32_MAX ? INT32_MAX : (size_t)cols;
}

static Sketch sketch_of(const Call *c)
{
    const SketchParams *p = c->self->params;
    const SketchKind kind = ((const SketchKind *)c->self->ops->family)[p->estimate];
    const size_t n = c->shape->n, tables = kind == SKETCH_SPLIT ? 2 : 1, cols = cols_of(p, n, tables);
    return (Sketch){c, kind, n, (size_t)p->rows, cols, tables * cols, slices_of(cols, n)};
}

static bool goes_raw(const Sketch *s)
{
    return s->rows * s->width >= s->n;
}

static size_t cells_of(const Sketch *s)
{
    return goes_raw(s) ? s->n : s->rows * s->width;
}

/* The hooks of a Compressor whose `family` is an array of SketchKind, one for each value of the key
 * `estimate`. */
static size_t sketch_bound(const Call *c)
{
    const Sketch s = sketch_of(c);
    return 1 + 4 * cells_of(&s);
}

/* ---- hashing ---- */

/* The hashes of one row for one block of elements. */
typedef struct {
    RngKey bucket, sign;
    Slice slice;
} RowHash;

static RowHash hash_of(const Sketch *s, size_t row, size_t block)
{
    const Rng rng = rng_below(&s->c->rng_shared, row);
    return (RowHash){rng_key(&rng, USE_BUCKET, block), rng_key(&rng, USE_SIGN, block),
                     slice_of(s->cols, s->n, block)};
}

/* Sets y (n) to x (n) times the random signs of the block's elements `at`, `at` + 1, ...; `at` is a multiple of
 * 32. y may be x. */
static void flip(const RowHash *h, size_t at, const float *x, size_t n, float *y)
{
    kernels()->flip_signs(x, n, 1, h->sign, (uint32_t)(at / 32), y);
}

/* ---- summing ---- */

typedef struct {
    Sketch s;
    const float *x;
    double *cell; /* (rows, width) bucket sums */
} SketchSums;

static void add_run(const Sketch *s, const RowHash *h, size_t at, const float *x, size_t n, double *cell)
{
    uint32_t bucket[RUN];
    float y[RUN];
    kernels()->hash_buckets(h->bucket, (uint32_t)at, n, h->slice.count, bucket);
    cell += h->slice.first;
    if (s->kind == SKETCH_SPLIT) {
        for (size_t i = 0; i < n; i++)
            cell[bucket[i] + (float_bits(x[i]) >> 31) * s->cols] += fabs((double)x[i]);
        return;
    }
    if (s->kind == SKETCH_SIGNED)
        flip(h, at, x, n, y);
    const float *const v = s->kind == SKETCH_SIGNED ? y : x;
    for (size_t i = 0; i < n; i++)
        cell[bucket[i]] += (double)v[i];
}

/* Adds the elements of one slice to one row. */
static void add_slice(void *data, size_t piece)
{
    const SketchSums *sums = data;
    const Sketch *s = &sums->s;
    const size_t row = piece / s->slices;
    const Stretch part = stretch_of(s->n, s->slices, piece % s->slices);
    for (size_t b = part.from / BLOCK; b < blocks_of(part.to); b++) {
        const RowHash hash = hash_of(s, row, b);
        const size_t size = block_size(part.to, b);
        for (size_t at = 0; at < size; at += RUN)
            add_run(s, &hash, at, sums->x + b * BLOCK + at, size - at < RUN ? size - at : RUN,
                    sums->cell + row * s->width);
    }
}

static Status sketch_encode(const Call *c, const float *x, Buf *out)
{
    SketchSums sums = {.s = sketch_of(c), .x = x};
    const Sketch *s = &sums.s;
    const size_t cells = s->rows * s->width;
    if (goes_raw(s))
        return raw_put(c, x, out);
    sums.cell = NEW_ZERO(c->scratch, double, cells);
    TRY(arena_check(sums.cell, c->scratch, c->err));
    parallel_for(c->threads, s->rows * s->slices, add_slice, &sums);
    buf_u8(out, PAYLOAD_METHOD);
    uint8_t *to = buf_room(out, 4 * cells);
    for (size_t k = 0; k < cells; k++) {
        if (!(fabs(sums.cell[k]) <= (double)FLT_MAX))
            return FAIL(c->err, ERR_NUMERIC, "%s: the sum of bucket %zu is beyond float32",
                        c->self->ops->name, k);
        store_f32(to + 4 * k, (float)sums.cell[k]);
    }
    streams_floats(c->streams, cells);
    return OK;
}

/* ---- estimating ---- */

typedef struct {
    Sketch s;
    const uint8_t *cell;
    float *x;
} SketchEstimate;

/* Sets v (n) to the bucket sums of one row to which elements `at` .. `at` + n - 1 of the block hash. For
 * SKETCH_SIGNED the sums are multiplied by the elements' random signs. If w is not NULL, sets w (n) to the
 * elements' bucket sums in the second table. */
static void cells_of_row(const SketchEstimate *e, size_t row, const RowHash *h, size_t at, size_t n, float *v,
                         float *w)
{
    const Sketch *s = &e->s;
    const uint8_t *const cell = e->cell + 4 * (row * s->width + h->slice.first);
    uint32_t bucket[RUN];
    kernels()->hash_buckets(h->bucket, (uint32_t)at, n, h->slice.count, bucket);
    for (size_t i = 0; i < n; i++)
        v[i] = load_f32(cell + 4 * (size_t)bucket[i]);
    if (s->kind == SKETCH_SIGNED)
        flip(h, at, v, n, v);
    for (size_t i = 0; w && i < n; i++)
        w[i] = load_f32(cell + 4 * (s->cols + bucket[i]));
}

static void take_least(float *least, const float *v, size_t n)
{
    for (size_t i = 0; i < n; i++)
        least[i] = v[i] < least[i] ? v[i] : least[i];
}

/* An element's estimate is the least of its bucket sums in the table of positive parts, minus the least in the
 * table of negative parts. */
static void split_run(const SketchEstimate *e, const RowHash *hash, size_t at, size_t n, float *x)
{
    float v[RUN], w[RUN], minus[RUN];
    cells_of_row(e, 0, &hash[0], at, n, x, minus);
    for (size_t row = 1; row < e->s.rows; row++) {
        cells_of_row(e, row, &hash[row], at, n, v, w);
        take_least(x, v, n);
        take_least(minus, w, n);
    }
    for (size_t i = 0; i < n; i++)
        x[i] -= minus[i];
}

static void median_run(const SketchEstimate *e, const RowHash *hash, size_t at, size_t n, float *x)
{
    float v[SKETCH_ROWS * RUN];
    for (size_t row = 0; row < e->s.rows; row++) {
        cells_of_row(e, row, &hash[row], at, n, v + row * RUN, NULL);
        /* the kernel `medians` may read up to 15 values behind the n values */
        memset(v + row * RUN + n, 0, (RUN - n) * sizeof *v);
    }
    kernels()->medians(v, RUN, e->s.rows, n, x);
}

static void estimate_block(void *data, size_t block)
{
    const SketchEstimate *e = data;
    RowHash hash[SKETCH_ROWS];
    const size_t size = block_size(e->s.n, block);
    float *const x = e->x + block * BLOCK;
    for (size_t row = 0; row < e->s.rows; row++)
        hash[row] = hash_of(&e->s, row, block);
    for (size_t at = 0; at < size; at += RUN)
        (e->s.kind == SKETCH_SPLIT ? split_run : median_run)(e, hash, at, size - at < RUN ? size - at : RUN,
                                                             x + at);
}

static Status keep_largest(const Sketch *s, size_t k, float *x)
{
    const Call *c = s->c;
    Picks kept;
    TRY(picks_open(c, x, &kept));
    TRY(arena_check(select_top(&kept, k) && select_values(&kept), c->scratch, c->err));
    const Indices set = picks_indices(&kept);
    memset(x, 0, s->n * sizeof *x);
    for (size_t r = 0; r < set.runs; r++) {
        size_t room[INDEX_RUN], count;
        const size_t *index = set.run(&set, r, room, &count);
        for (size_t i = 0; i < count; i++)
            x[index[i]] = *kept.value++;
    }
    return OK;
}

/* ---- reading ---- */

/* Returns `cell`, the bucket sums of a payload, or NULL if one has a value that no sum has. SKETCH_SPLIT sums
 * magnitudes, so its sums are never negative. No sum is -0, but raw floats may be -0. */
static const uint8_t *check_cells(const Sketch *s, const uint8_t *cell, size_t cells)
{
    /* the bits of the values that are refused: from infinity up to `last`, and from -infinity up */
    const uint32_t plus = 0x7f800000, minus = 0xff800000;
    const uint32_t last = goes_raw(s) ? 0x7fffffff : s->kind == SKETCH_SPLIT ? UINT32_MAX : 0x80000000;
    unsigned bad = 0;
    size_t k = 0;
    for (size_t i = 0; i < cells; i++) { /* without a branch: a loop of vectors */
        const uint32_t v = load_u32(cell + 4 * i);
        bad |= (v - plus <= last - plus) | (v >= minus);
    }
    if (!bad)
        return cell;
    while (load_u32(cell + 4 * k) - plus > last - plus && load_u32(cell + 4 * k) < minus)
        k++;
    payload_bad(s->c, "bucket %zu holds %g, which is no sum", k, (double)load_f32(cell + 4 * k));
    return NULL;
}

static Status sketch_decode(const Call *c, Bytes in, float *x)
{
    const size_t topk = (size_t)((const SketchParams *)c->self->params)->topk;
    uint64_t workers;
    SketchEstimate e = {.s = sketch_of(c), .x = x};
    e.cell = addends_open(c, in, own_kind(c), true, cells_of(&e.s), "cell", &workers);
    if (!e.cell || !check_cells(&e.s, e.cell, cells_of(&e.s)))
        return ERR_CORRUPT;
    if (goes_raw(&e.s)) {
        floats_load(x, e.cell, e.s.n);
        return OK;
    }
    parallel_for(c->threads, blocks_of(e.s.n), estimate_block, &e);
    return topk && topk < e.s.n ? keep_largest(&e.s, topk, x) : OK;
}

static Status sketch_merge(const Call *c, const Bytes *in, size_t count, Buf *out)
{
    const Sketch s = sketch_of(c);
    const uint8_t **cell;
    TRY(addends_open_all(c, in, count, own_kind(c), cells_of(&s), "cell", &cell, out));
    for (size_t w = 0; w < count; w++)
        if (!check_cells(&s, cell[w], cells_of(&s)))
            return ERR_CORRUPT;
    return addends_sum(c, cell, count, cells_of(&s), 1, (double)FLT_MAX, "bucket",
                       buf_room(out, 4 * cells_of(&s)));
}

static Numbers sketch_numbers(const Call *c)
{
    const Sketch s = sketch_of(c);
    return addends_numbers(cells_of(&s), 1, (double)FLT_MAX);
}

#define SKETCH                                                                                                   \
    .promises = MERGEABLE | RANDOM | EXACT_BYTES | SHARED_DRAWS | FIXED_SIZE, .bound = sketch_bound,             \
    .encode = sketch_encode, .decode = sketch_decode, .merge = sketch_merge, .numbers = sketch_numbers

/* ---- the Count Sketch of Charikar, Chen, Farach-Colton 2002, as in FetchSGD and Sketched-SGD. Each row of the sketch
 * hashes the elements to buckets and sums them with random signs. An element's estimate is the median over the
 * rows. ---- */

static const Param countsketch_schema[] = {SKETCH_KEYS, {0}};

static const SketchKind countsketch_kinds[] = {SKETCH_SIGNED};

static const Compressor compressor_countsketch = {
    .name = "countsketch",
    .brief = "signed sums over hashed buckets, the median of the rows",
    .plain = "Adds each element, with a random sign, to one bucket in each of several rows. An element "
             "decodes to the median of its buckets. Sketches of workers add up.",
    .use_when = "payloads must add on their way, and a few heavy elements hold most of the gradient.",
    .example = "atomo-bench synth -o g.h5 --force --law sparse --workers 4\n"
               "atomo-bench merge g.h5 -c countsketch:bits=4,topk=1000 --workers 4",
    .formula =
        "Row j of `rows` hashes element i to a bucket h_j(i) < cols and a sign s_j(i); its cells are\n"
        "  T_j[b] = sum of s_j(i) g_i over h_j(i) = b;  decoded_i = median over j of s_j(i) T_j[h_j(i)],\n"
        "for an even number of rows the mean of the two in the middle. topk: all but the k largest\n"
        "|decoded_i| become 0 (heavy hitters; of equal ones the first are kept).\n"
        "cols = floor((bits n / 8 - 1) / (4 rows)), at least 1. All workers have the same hashes, from the\n"
        "seed: cells add, and the merged payload is the sketch of the sum. The median does not add.\n"
        "A row of 16384 buckets or more is cut into slices of about 8192, each for a stretch of consecutive\n"
        "elements, so that its sums stay in the cache. With |g|^2 and cols those of element i's slice,\n"
        "a row's error has the variance (|g|^2 - g_i^2) / cols; the median of 5 rows of normal errors has\n"
        "0.287 of it, so |decoded - g|^2 / |g|^2 is about 0.287 n / cols: 46 at 1 bit, worse than sending\n"
        "zeros. Made for few heavy elements: topk, and ef+. Raw if there are at least as many cells as elements.",
    .paper = "Charikar, Chen, Farach-Colton: Finding Frequent Items in Data Streams, ICALP 2002;\n"
             "Rothchild, Panda, Ullah, Ivkin, Stoica, Braverman, Gonzalez, Arora: FetchSGD:\n"
             "Communication-Efficient Federated Learning with Sketching, ICML 2020",
    .look = {HUE_SKETCH, 1, 1},
    .params = countsketch_schema,
    .family = countsketch_kinds,
    SKETCH,
};

/* ---- the Count-Min Sketch (Cormode and Muthukrishnan 2005), extended to negative elements in one of two ways. With
 * `min-split`, one table sums the positive elements, and one the magnitudes of the negative elements. An element's
 * estimate is the difference of the two tables' minima over rows. With `median`, one table holds sums of elements, and
 * the estimate is a median over rows. ---- */

static const char *const countmin_estimates[] = {"min-split", "median", NULL};

static const Param countmin_schema[] = {
    SKETCH_KEYS,
    PARAM_OF(SketchParams, estimate, "min-split", countmin_estimates,
             "the least cell in the table of each sign, or the median of the cells of one table"),
    {0},
};

static const SketchKind countmin_kinds[] = {SKETCH_SPLIT, SKETCH_PLAIN}; /* in the order of `countmin_estimates` */

static const Compressor compressor_countmin = {
    .name = "countmin",
    .brief = "sums over hashed buckets, the least of the rows for each sign",
    .plain = "Adds positive and negative parts to one bucket each in each of several rows. A part decodes "
             "to the least of its buckets, which is never too small. Sketches of workers add up.",
    .use_when = "you compare sketches on sparse gradients.",
    .example = "atomo-bench synth -o g.h5 --force --law sparse --workers 4\n"
               "atomo-bench merge g.h5 -c countmin:bits=4 --workers 4",
    .formula =
        "Row j of `rows` hashes element i to a bucket h_j(i) < cols, in rows of 16384 buckets or more to a\n"
        "bucket of its slice, as countsketch does.\n"
        "min-split: P_j[b] and N_j[b] = sums of max(g_i, 0) and max(-g_i, 0) over h_j(i) = b;\n"
        "  decoded_i = min over j of P_j[h_j(i)] - min over j of N_j[h_j(i)]; neither minimum is too small.\n"
        "median: T_j[b] = sum of g_i;  decoded_i = median over j of T_j[h_j(i)], which is biased unless the\n"
        "  elements' mean is 0.\n"
        "topk: all but the k largest |decoded_i| become 0. cols = floor((bits n / 8 - 1) / (4 rows t)), at\n"
        "least 1, with t = 2 tables for min-split and 1 for median. All workers have the same hashes, from the\n"
        "seed, so cells add. A merged table of median is that of the sum. Tables of min-split add positive\n"
        "and negative parts separately, so only P - N is that of the sum. Neither estimate adds.\n"
        "Raw if there are at least as many cells as elements.",
    .paper = "Cormode, Muthukrishnan: An Improved Data Stream Summary: The Count-Min Sketch and its\n"
             "Applications, Journal of Algorithms 2005",
    .look = {HUE_SKETCH, 2, 2},
    .params = countmin_schema,
    .family = countmin_kinds,
    SKETCH,
};

const Compressor *const compressors_sketches[] = {&compressor_countsketch, &compressor_countmin, NULL};
