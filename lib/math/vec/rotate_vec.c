/* rotate_vec.c -- flips signs at random, 32 elements with each random word, adds waves, and finds the nearest levels of a
 * symmetric quantiser. */
#include "math/vec/lane.h"

enum { WORD_BITS = 32 };

/* ---- signs ---- */

INLINE void flip_word(const float *x, uint32_t word, float scale, float *y)
{
    for (int v = 0; v < WORD_BITS / LANES; v++) {
        const VecU bit = set_u(word >> (v * LANES)) & (1u << lane_numbers());
        const VecU sign = (VecU)(bit != 0) & 0x80000000u;
        store_f(y + v * LANES, (VecF)((VecU)(load_f(x + v * LANES) * scale) ^ sign));
    }
}

static void flip_some(const float *x, size_t n, uint32_t word, float scale, float *y)
{
    float last[WORD_BITS] = {0};
    memcpy(last, x, n * sizeof *x);
    flip_word(last, word, scale, last);
    memcpy(y, last, n * sizeof *y);
}

void ISA_NAME(flip_signs)(const float *x, size_t n, float scale, RngKey key, uint32_t first, float *y)
{
    uint32_t word[LANES];
    for (size_t i = 0, w = 0; i < n; i += WORD_BITS, w++) {
        if (w % LANES == 0)
            store_u(word, mix_lanes(counter_lanes(key, first + (uint32_t)w), key.b));
        if (i + WORD_BITS <= n)
            flip_word(x + i, word[w % LANES], scale, y + i);
        else
            flip_some(x + i, n - i, word[w % LANES], scale, y + i);
    }
}

/* ---- waves ---- */

/* Two values of a wave at a time, which change places with those before them. */
void ISA_NAME(add_waves)(const double *in, size_t count, size_t n, double *restrict now, double *restrict before, const double *restrict twice,
                         double *restrict out)
{
    memset(out, 0, n * sizeof *out);
    for (size_t t = 0; t + 1 < count; t += 2)
        for (size_t l = 0; l < n; l++) {
            const double first = now[l], next = twice[l] * first - before[l];
            out[l] = out[l] + in[t] * first + in[t + 1] * next;
            before[l] = next;
            now[l] = twice[l] * next - first;
        }
    for (size_t l = 0; l < n && count % 2; l++)
        out[l] += in[count - 1] * now[l];
}

/* ---- levels ---- */

INLINE void level_lanes(const float *x, const LevelScale *s, uint8_t *code, float *product)
{
    const VecF v = load_f(x), a = abs_f(v);
    VecF value = set_f(s->level[0]);
    VecU index = {0};
    for (int k = 1; k < s->count; k++) {
        const VecI above = a > set_f(s->above[k]);
        index -= (VecU)above;
        value += (VecF)((VecI)set_f(s->step[k]) & above);
    }
    store_f(product, a * value);
    store_bytes(code, index | (VecU)v >> 31 << s->bits);
}

INLINE void level_row(const float *x, const LevelScale *s, uint8_t *code, VecD sum[DPARTS])
{
    float product[ROW];
    for (int v = 0; v < PARTS; v++)
        level_lanes(x + v * LANES, s, code + v * LANES, product + v * LANES);
    for (int v = 0; v < DPARTS; v++)
        sum[v] += load_d(product + v * (LANES / 2));
}

double ISA_NAME(nearest_levels)(const float *x, size_t n, const LevelScale *s, uint8_t *code)
{
    VecD sum[DPARTS];
    size_t i = 0;
    for (int v = 0; v < DPARTS; v++)
        sum[v] = (VecD){0};
    for (; i + ROW <= n; i += ROW)
        level_row(x + i, s, code + i, sum);
    if (i < n) {
        float last[ROW] = {0};
        uint8_t last_code[ROW];
        memcpy(last, x + i, (n - i) * sizeof *x);
        level_row(last, s, last_code, sum);
        memcpy(code + i, last_code, n - i);
    }
    return fold(sum);
}
