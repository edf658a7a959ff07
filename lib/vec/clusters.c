/* clusters.c -- which stretch of the line each float is in, and the random words of a run of elements. */
#include "kernel.h"
#include "lane.h"

INLINE void stretch_row(const float *x, const float *above, size_t count, uint8_t *code)
{
    for (int v = 0; v < PARTS; v++) {
        const VecF value = load_f(x + v * LANES);
        VecI at = {0};
        for (size_t j = 0; j < count; j++)
            at -= value > set_f(above[j]);
        store_bytes(code + v * LANES, (VecU)at);
    }
}

void ISA_NAME(stretches)(const float *x, size_t n, const float *above, size_t count, uint8_t *code)
{
    size_t i = 0;
    for (; i + ROW <= n; i += ROW)
        stretch_row(x + i, above, count, code + i);
    if (i == n)
        return;
    float last[ROW] = {0};
    uint8_t last_code[ROW];
    memcpy(last, x + i, (n - i) * sizeof *x);
    stretch_row(last, above, count, last_code);
    memcpy(code + i, last_code, n - i);
}

void ISA_NAME(words)(RngKey key, uint32_t first, size_t n, uint32_t *word)
{
    size_t i = 0;
    for (; i + LANES <= n; i += LANES)
        store_u(word + i, mix_lanes(stride_lanes(first + (uint32_t)i) + key.a, key.b));
    for (; i < n; i++)
        word[i] = rng_word(&key, first + (uint32_t)i);
}
