/* windows_vec.c -- maxima of windows that do not overlap, a vector of images or channels at a time. */
#include "nn/vec/wide.h"

typedef uint8_t VecB __attribute__((vector_size(LANES)));

INLINE VecI either(VecI mask, VecI yes, VecI no)
{
    return (mask & yes) | (~mask & no);
}

INLINE void window_max(const Windows *w, const float *x, float *y, uint8_t *place, const size_t size)
{
    VecF most = load_f(x);
    VecI best = {0};
    for (size_t row = 0; row < size; row++)
        for (size_t column = 0; column < size; column++) {
            const VecF v = load_f(x + (row * w->x_columns + column) * w->wide);
            const VecI mask = (v > most) | (v != v), i = (int32_t)(row * size + column) - (VecI){0};
            best = either(mask, i, best);
            most = (VecF)either(mask, (VecI)v, (VecI)most);
        }
    store_f(y, most);
    const VecB bytes = __builtin_convertvector(best, VecB);
    memcpy(place, &bytes, sizeof bytes);
}

INLINE void window_back(const Windows *w, const float *dy, const uint8_t *place, bool add, float *dx,
                        const size_t size)
{
    VecB bytes;
    memcpy(&bytes, place, sizeof bytes);
    const VecI best = __builtin_convertvector(bytes, VecI), d = (VecI)load_f(dy);
    for (size_t row = 0; row < size; row++)
        for (size_t column = 0; column < size; column++) {
            float *to = dx + (row * w->x_columns + column) * w->wide;
            const VecF v = (VecF)((best == (int32_t)(row * size + column)) & d);
            store_f(to, add ? load_f(to) + v : v);
        }
}

INLINE size_t first_of(const Windows *w, size_t row, size_t column)
{
    return (row * w->x_columns + column) * w->size * w->wide;
}

void ISA_NAME(windows_max)(const Windows *w, const float *x, float *y, uint8_t *place)
{
    for (size_t row = 0; row < w->rows; row++)
        for (size_t column = 0; column < w->columns; column++)
            for (size_t k = 0; k < w->wide; k += LANES, y += LANES, place += LANES) {
                const float *from = x + first_of(w, row, column) + k;
                if (w->size == 2)
                    window_max(w, from, y, place, 2);
                else
                    window_max(w, from, y, place, w->size);
            }
}

void ISA_NAME(windows_max_back)(const Windows *w, const float *dy, const uint8_t *place, bool add, float *dx)
{
    if (!add && (w->rows * w->size != w->x_rows || w->columns * w->size != w->x_columns))
        memset(dx, 0, w->x_rows * w->x_columns * w->wide * sizeof *dx);
    for (size_t row = 0; row < w->rows; row++)
        for (size_t column = 0; column < w->columns; column++)
            for (size_t k = 0; k < w->wide; k += LANES, dy += LANES, place += LANES) {
                float *to = dx + first_of(w, row, column) + k;
                if (w->size == 2)
                    window_back(w, dy, place, add, to, 2);
                else
                    window_back(w, dy, place, add, to, w->size);
            }
}
