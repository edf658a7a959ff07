/* test_chunktopk.c -- the codec chunktopk against a slow version of its rule.
 * test/python/test_chunks.py compares it with the methods of the papers. */
#include "rig/try.h"

enum { ROWS = 96, COLS = 320, SIDE = 32 };

static Try *open_matrix(const char *spec)
{
    Try *t = try_open(spec, ROWS * COLS);
    const size_t dim[] = {ROWS, COLS};
    check(shape_make(&t->shape, 2, dim));
    try_normal(t, 3);
    return t;
}

/* Every element that is sent has a magnitude of at least that of every element of its chunk that is not. The elements are
 * rounded, so that many magnitudes are equal. */
TEST(each_chunk_sends_its_k_largest_elements)
{
    Try *t = open_matrix("chunktopk:k=7,chunk=32");
    for (size_t i = 0; i < ROWS * COLS; i++)
        t->x[i] = rintf(4 * t->x[i]);
    try_any_threads(t);
    for (size_t row = 0; row < ROWS; row += SIDE)
        for (size_t col = 0; col < COLS; col += SIDE) {
            size_t sent = 0;
            float least = INFINITY, most = 0;
            for (size_t i = row; i < row + SIDE; i++)
                for (size_t j = col; j < col + SIDE; j++) {
                    const float x = t->x[i * COLS + j], y = t->y[i * COLS + j];
                    check(y == 0 || y == x);
                    sent += y != 0;
                    least = y != 0 ? fminf(least, fabsf(x)) : least;
                    most = y == 0 ? fmaxf(most, fabsf(x)) : most;
                }
            check(sent == 7 && least >= most);
        }
    try_close(t);
}

CHECK_ALL(NULL, NULL)
