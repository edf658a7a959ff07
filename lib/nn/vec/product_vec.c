/* product_vec.c -- the loops of a matrix product, compiled for one instruction set; see product.h. Only AVX2 has
 * them: OpenBLAS has good kernels for AVX-512, and nothing is fast without AVX2.
 *
 * A tile of the result, TILE_ROWS x PRODUCT_COLUMNS, stays in 12 registers while the products of a step are added.
 * Rows of A and columns of B are packed in the order in which a tile reads them (Goto & van de Geijn 2008). */
#include "nn/product.h"
#include "vec/vec.h"

extern const ProductLoops ISA_NAME(product_loops);

#if VEC_BYTES != 32
const ProductLoops ISA_NAME(product_loops) = {0};
#else

enum { TILE_ROWS = 6 };

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Returns the number of terms in a step: the terms are divided evenly among the fewest possible steps. */
static size_t step_of(size_t k)
{
    const size_t steps = (k + PRODUCT_TERMS - 1) / PRODUCT_TERMS;
    return ((k + steps - 1) / steps + LANES - 1) / LANES * LANES;
}

/* Transposes an 8x8 matrix. */
INLINE void transpose(const VecF r[LANES], VecF out[LANES])
{
    VecF t[LANES], u[LANES];
    for (int i = 0; i < LANES; i += 2) {
        t[i] = _mm256_unpacklo_ps(r[i], r[i + 1]);
        t[i + 1] = _mm256_unpackhi_ps(r[i], r[i + 1]);
    }
    for (int i = 0; i < LANES; i += 4)
        for (int k = 0; k < 2; k++) {
            u[i + 2 * k] = _mm256_shuffle_ps(t[i + k], t[i + k + 2], 0x44);
            u[i + 2 * k + 1] = _mm256_shuffle_ps(t[i + k], t[i + k + 2], 0xee);
        }
    for (int i = 0; i < LANES / 2; i++) {
        out[i] = _mm256_permute2f128_ps(u[i], u[i + 4], 0x20);
        out[i + 4] = _mm256_permute2f128_ps(u[i], u[i + 4], 0x31);
    }
}

/* Copies `count` rows of k floats, `step` apart, to packed[i * wide + row]. Writes LANES floats for each i; the
 * floats beyond `count` have no meaning. */
INLINE void turn_rows(const float *x, size_t step, size_t count, size_t k, size_t wide, float *packed)
{
    VecF r[LANES] = {{0}}, out[LANES];
    size_t i = 0;
    for (; i + LANES <= k; i += LANES) {
        for (size_t row = 0; row < count; row++)
            r[row] = load_f(x + row * step + i);
        transpose(r, out);
        for (size_t j = 0; j < LANES; j++)
            store_f(packed + (i + j) * wide, out[j]);
    }
    for (; i < k; i++)
        for (size_t row = 0; row < count; row++)
            packed[i * wide + row] = x[row * step + i];
}

static void pack_whole(const Product *p, const float *b, float *packed)
{
    enum { AHEAD = 24 }; /* rows of B, each in another page of memory */
    const size_t n = p->n, k = p->k;
    for (size_t i = 0; i < k; i++, b += n, packed += PRODUCT_COLUMNS) {
        const VecF first = load_f(b), second = load_f(b + LANES);
        __builtin_prefetch(b + AHEAD * n);
        store_f(packed, first);
        store_f(packed + LANES, second);
    }
}

static void pack_whole_turned(const Product *p, const float *b, float *packed)
{
    const size_t k = p->k;
    for (size_t i = 0; i < k; i += LANES)
        for (size_t half = 0; half < PRODUCT_COLUMNS; half += LANES)
            turn_rows(b + half * k + i, k, LANES, smaller(LANES, k - i), PRODUCT_COLUMNS,
                      packed + i * PRODUCT_COLUMNS + half);
}

/* Missing columns of the last panel become 0. */
static void pack(const Product *p, size_t panel, float *packed)
{
    const size_t from = panel * PRODUCT_COLUMNS, count = smaller(PRODUCT_COLUMNS, p->n - from), k = p->k;
    const float *b = p->b + (p->b_turned ? from * k : from);
    if (count == PRODUCT_COLUMNS) {
        (p->b_turned ? pack_whole_turned : pack_whole)(p, b, packed);
        return;
    }
    memset(packed, 0, k * PRODUCT_COLUMNS * sizeof *packed);
    for (size_t j = 0; j < count; j++)
        for (size_t i = 0; i < k; i++)
            packed[i * PRODUCT_COLUMNS + j] = b[p->b_turned ? j * k + i : i * p->n + j];
}

/* Copies TILE_ROWS rows of A, or the last `count`, and terms first, ..., first + k - 1, to packed (k, TILE_ROWS).
 * Up to two floats behind the end of `packed` are overwritten. */
static void pack_rows(const Product *p, size_t from, size_t count, size_t first, size_t k, float *packed)
{
    if (!p->a_turned && count == TILE_ROWS)
        turn_rows(p->a + from * p->k + first, p->k, TILE_ROWS, k, TILE_ROWS, packed);
    else if (!p->a_turned)
        for (size_t row = 0; row < count; row++)
            for (size_t i = 0; i < k; i++)
                packed[i * TILE_ROWS + row] = p->a[(from + row) * p->k + first + i];
    else if (from + LANES <= p->m)
        for (size_t i = 0; i < k; i++)
            store_f(packed + i * TILE_ROWS, load_f(p->a + (first + i) * p->m + from));
    else
        for (size_t i = 0; i < k; i++)
            memcpy(packed + i * TILE_ROWS, p->a + (first + i) * p->m + from, count * sizeof *packed);
}

/* One tile of the result, and the packed rows and columns whose k products it adds. */
typedef struct {
    const float *a, *b;
    size_t k;
    float *c;
    size_t step; /* floats between two rows of c */
    float scale;
    bool add;
} Tile;

INLINE void put(float *c, VecF x, bool add)
{
    store_f(c, add ? load_f(c) + x : x);
}

INLINE void tile(const Tile *t, size_t rows)
{
    const float *a = t->a, *b = t->b;
    VecF sum[TILE_ROWS][2];
#pragma GCC unroll 6
    for (size_t i = 0; i < rows; i++) {
        sum[i][0] = sum[i][1] = (VecF){0};
        __builtin_prefetch(t->c + i * t->step, 1);
    }
#pragma GCC unroll 4
    for (size_t k = 0, end = t->k; k < end; k++, a += TILE_ROWS, b += PRODUCT_COLUMNS) {
        const VecF first = load_f(b), second = load_f(b + LANES);
#pragma GCC unroll 6
        for (size_t i = 0; i < rows; i++) {
            sum[i][0] += a[i] * first;
            sum[i][1] += a[i] * second;
        }
    }
#pragma GCC unroll 6
    for (size_t i = 0; i < rows; i++) {
        put(t->c + i * t->step, t->scale * sum[i][0], t->add);
        put(t->c + i * t->step + LANES, t->scale * sum[i][1], t->add);
    }
}

#define TILE(rows)                                                                                           \
    static void tile_##rows(const Tile *t)                                                                   \
    {                                                                                                        \
        tile(t, rows);                                                                                       \
    }
TILE(1)
TILE(2)
TILE(3)
TILE(4)
TILE(5)
TILE(6)

static void whole_tile(const Tile *t, size_t rows)
{
    static void (*const tile_of[])(const Tile *t) = {NULL, tile_1, tile_2, tile_3, tile_4, tile_5, tile_6};
    tile_of[rows](t);
}

/* A tile of which only the first `columns` columns belong to the result. */
static void part_tile(const Tile *t, size_t rows, size_t columns)
{
    float edge[TILE_ROWS * PRODUCT_COLUMNS];
    Tile part = *t;
    part.c = edge;
    part.step = PRODUCT_COLUMNS;
    part.add = false;
    whole_tile(&part, rows);
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < columns; j++) {
            float *c = t->c + i * t->step + j;
            *c = (t->add ? *c : 0) + edge[i * PRODUCT_COLUMNS + j];
        }
}

static void rows(const Product *p, size_t from, size_t count, const float *packed, float *room)
{
    const size_t step = step_of(p->k);
    for (size_t first = 0; first < p->k; first += step) {
        const size_t k = smaller(step, p->k - first);
        for (size_t row = 0; row < count; row += TILE_ROWS)
            pack_rows(p, from + row, smaller(TILE_ROWS, count - row), first, k, room + row * k);
        for (size_t column = 0; column < p->n; column += PRODUCT_COLUMNS)
            for (size_t row = 0; row < count; row += TILE_ROWS) {
                const Tile t = {.a = room + row * k,
                                .b = packed + column * p->k + first * PRODUCT_COLUMNS,
                                .k = k,
                                .c = p->c + (from + row) * p->n + column,
                                .step = p->n,
                                .scale = p->scale,
                                .add = p->add || first > 0};
                if (column + PRODUCT_COLUMNS <= p->n)
                    whole_tile(&t, smaller(TILE_ROWS, count - row));
                else
                    part_tile(&t, smaller(TILE_ROWS, count - row), p->n - column);
            }
    }
}

const ProductLoops ISA_NAME(product_loops) = {.pack = pack, .rows = rows};

#endif
