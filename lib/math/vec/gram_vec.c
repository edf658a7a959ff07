/* gram_vec.c -- the Gram matrix a' a of a matrix with at most FEW_COLS columns.
 *
 * Each entry (i, j) is summed in 8 lanes. Lane l adds the products of rows l, l + 8, ... in order, and then
 * the lanes are added in a fixed order. Products of floats are exact in double, so a fused multiply-add equals
 * a multiplication and an addition, and every instruction set gives the same bytes. The matrix is read in
 * panels of PANEL rows, transposed to columns of doubles. */
#include "math/vec/turn.h"

enum { EIGHT = 8, PANEL = 64, SIDE = 3, SIDES = (FEW_COLS + SIDE - 1) / SIDE };

typedef double Column[PANEL];
typedef double Tile[SIDE][SIDE][EIGHT];

/* Functions with a `Three` have no loops, so that compilers keep the three SIMD vectors in registers. */
typedef struct {
    VecD v[SIDE];
} Three;

INLINE Three load_sums(double sum[SIDE][EIGHT], size_t lane)
{
    return (Three){{load_doubles(sum[0] + lane), load_doubles(sum[1] + lane), load_doubles(sum[2] + lane)}};
}

INLINE void store_sums(double sum[SIDE][EIGHT], size_t lane, Three t)
{
    memcpy(sum[0] + lane, &t.v[0], sizeof t.v[0]);
    memcpy(sum[1] + lane, &t.v[1], sizeof t.v[1]);
    memcpy(sum[2] + lane, &t.v[2], sizeof t.v[2]);
}

INLINE Three load_columns(const Column *p, size_t r)
{
    Three t = {{load_doubles(p[0] + r), load_doubles(p[1] + r), load_doubles(p[2] + r)}};
/* stops compilers from loading the vectors again for each product */
#ifdef __x86_64__
    __asm__("" : "+x"(t.v[0]), "+x"(t.v[1]), "+x"(t.v[2]));
#endif
    return t;
}

INLINE Three add_products(Three sum, VecD x, Three y)
{
    return (Three){{add_product(sum.v[0], x, y.v[0]), add_product(sum.v[1], x, y.v[1]),
                    add_product(sum.v[2], x, y.v[2])}};
}

/* Adds the dot product of column i of `pi` and column j of `pj` to sum[i][j], for i, j < 3, with one sum per
 * lane. */
static void add_square(const Column *pi, const Column *pj, size_t rows, Tile sum)
{
    for (size_t lane = 0; lane < EIGHT; lane += DLANES) {
        Three s0 = load_sums(sum[0], lane), s1 = load_sums(sum[1], lane), s2 = load_sums(sum[2], lane);
        for (size_t r = lane; r < rows; r += EIGHT) {
            const Three x = load_columns(pi, r), y = load_columns(pj, r);
            s0 = add_products(s0, x.v[0], y);
            s1 = add_products(s1, x.v[1], y);
            s2 = add_products(s2, x.v[2], y);
        }
        store_sums(sum[0], lane, s0);
        store_sums(sum[1], lane, s1);
        store_sums(sum[2], lane, s2);
    }
}

/* Adds the dot product of columns i and j of `p` to sum[i][j], for i <= j < 3 only, since the matrix is
 * symmetric. */
static void add_triangle(const Column *p, size_t rows, Tile sum)
{
    for (size_t lane = 0; lane < EIGHT; lane += DLANES) {
        Three s0 = load_sums(sum[0], lane), s1 = load_sums(sum[1], lane), s2 = load_sums(sum[2], lane);
        for (size_t r = lane; r < rows; r += EIGHT) {
            const Three x = load_columns(p, r);
            s0 = add_products(s0, x.v[0], x);
            s1.v[1] = add_product(s1.v[1], x.v[1], x.v[1]);
            s1.v[2] = add_product(s1.v[2], x.v[1], x.v[2]);
            s2.v[2] = add_product(s2.v[2], x.v[2], x.v[2]);
        }
        store_sums(sum[0], lane, s0);
        store_sums(sum[1], lane, s1);
        store_sums(sum[2], lane, s2);
    }
}

/* The memory that is still to be prefetched, `step` bytes in each call of `fetch`. */
typedef struct {
    const char *at, *end;
    size_t step;
} Ahead;

static size_t tiles_of(size_t sides)
{
    return sides * (sides + 1) / 2;
}

static Ahead look_ahead(const float *from, const float *to, size_t sides)
{
    const size_t lines = (size_t)(to - from) / ROW, tiles = tiles_of(sides);
    return (Ahead){(const char *)from, (const char *)to, (lines + tiles - 1) / tiles * 64};
}

static void fetch(Ahead *a)
{
    const size_t left = (size_t)(a->end - a->at), step = a->step < left ? a->step : left;
    for (size_t i = 0; i < step; i += 64)
        __builtin_prefetch(a->at + i);
    a->at += step;
}

/* Adds the products of a panel's columns to the upper triangle of the Gram matrix, in tiles of 3 x 3 entries.
 * Meanwhile prefetches the next panel. */
static void add_panel(const Column *p, size_t rows, size_t sides, Tile *sum, Ahead ahead)
{
    for (size_t j = 0; j < sides; j++) {
        for (size_t i = 0; i < j; i++, sum++, fetch(&ahead))
            add_square(p + SIDE * i, p + SIDE * j, rows, *sum);
        add_triangle(p + SIDE * j, rows, *sum++);
        fetch(&ahead);
    }
}

/* Transposes the rows of a panel in blocks of TURNED rows and four columns. The last four columns may overlap
 * with the four before them. Returns the number of transposed rows; fewer than TURNED remain. */
static size_t turn_panel(const float *a, size_t rows, size_t cols, Column *p)
{
    size_t r = 0;
    for (; cols >= 4 && r + TURNED <= rows; r += TURNED)
        for (size_t c = 0; c < cols; c += 4) {
            const size_t from = c + 4 <= cols ? c : cols - 4;
            Turned column[4];
            turn_rows(a + r * cols + from, cols, column);
            for (size_t q = 0; q < 4; q++)
                for (int part = 0; part < PER_TURN; part++) {
                    const VecD d = widen_part(column[q], part);
                    memcpy(&p[from + q][r + (size_t)part * DLANES], &d, sizeof d);
                }
        }
    return r;
}

/* Converts rows to columns of doubles, with rows of zeros up to a multiple of eight rows. Returns the number
 * of rows with the zeros. */
static size_t load_panel(const float *a, size_t rows, size_t cols, Column *p)
{
    const size_t whole = (rows + EIGHT - 1) / EIGHT * EIGHT;
    for (size_t r = turn_panel(a, rows, cols, p); r < whole; r++)
        for (size_t c = 0; c < cols; c++)
            p[c][r] = r < rows ? (double)a[r * cols + c] : 0;
    return whole;
}

static double tree8(const double l[EIGHT])
{
    return ((l[0] + l[4]) + (l[2] + l[6])) + ((l[1] + l[5]) + (l[3] + l[7]));
}

static size_t panel_end(size_t from, size_t rows)
{
    return rows - from < PANEL ? rows : from + PANEL;
}

void ISA_NAME(gram_rows)(const float *a, size_t rows, size_t cols, double *g)
{
    _Alignas(64) Column panel[SIDES * SIDE];
    _Alignas(64) Tile sum[SIDES * (SIDES + 1) / 2];
    const size_t sides = (cols + SIDE - 1) / SIDE;
    memset(sum, 0, tiles_of(sides) * sizeof *sum);
    memset(panel + cols, 0, (sides * SIDE - cols) * sizeof *panel);
    for (size_t from = 0, to; from < rows; from = to) {
        to = panel_end(from, rows);
        const size_t some = load_panel(a + from * cols, to - from, cols, panel);
        const Ahead ahead = look_ahead(a + to * cols, a + panel_end(to, rows) * cols, sides);
        add_panel((const Column *)panel, some, sides, sum, ahead);
    }
    for (size_t j = 0; j < cols; j++)
        for (size_t i = 0; i <= j; i++) {
            const size_t tile = tiles_of(j / SIDE) + i / SIDE;
            g[i * cols + j] = g[j * cols + i] = tree8(sum[tile][i % SIDE][j % SIDE]);
        }
}
