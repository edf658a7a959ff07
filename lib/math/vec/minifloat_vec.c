/* minifloat_vec.c -- rounds floats with a scale for each block to floats of a few bits (minifloat.h), and back. */
#include "math/vec/lane.h"

INLINE VecU minifloat_round_lanes(VecF v, const Minifloat *f, bool random, VecU word)
{
    const int cut = 23 - f->fraction, guard = 30 - f->fraction;
    const VecF least = set_f(minifloat_least(f));
    const VecU bits = (VecU)v, unbias = set_u((uint32_t)(127 - f->bias) << f->fraction);
    VecU normal, small;
    if (random) {
        const VecI fixed = whole(min_f(v, least) / (minifloat_least(f) * 0x1p-30f));
        normal = ((bits + (~word >> (32 - cut))) >> cut) - unbias;
        small = ((VecU)fixed + (~word >> (32 - guard))) >> guard;
    } else {
        normal = ((bits + ((1u << (cut - 1)) - 1) + (bits >> cut & 1)) >> cut) - unbias;
        small = (VecU)(v + minifloat_shift(f)) - float_bits(minifloat_shift(f));
    }
    return pick(v < least, small, normal);
}

/* random: 0, to the nearest; 1, at random; 2, correlated between workers. */
INLINE VecU minify_lanes(const float *x, VecF scale, bool divide, const Minifloat *f, int random, RngKey key, uint32_t i)
{
    const VecF v = load_f(x), scaled = divide ? abs_f(v) / scale : abs_f(v) * scale;
    const VecU sign = (VecU)v >> 31, word = random ? round_lanes(key, i, 0 - sign, random == 2) : (VecU){0};
    const VecU magnitude = minifloat_round_lanes(min_f(scaled, set_f(f->most)), f, random, word);
    return f->twos ? ((magnitude ^ (0 - sign)) + sign) & 0xff : magnitude | sign << (f->width - 1);
}

/* The format is copied, since a byte that is stored may be one of *format. */
INLINE void minify_all(bool divide, int random, const float *x, size_t n, const ScaledBlocks *b, const Minifloat *format,
                       RngKey key, uint32_t first, uint8_t *code)
{
    const Minifloat own = *format, *f = &own;
    size_t i = 0;
    for (size_t block = 0, end; i < n; block++) {
        const VecF scale = set_f(b->scale[block]);
        end = n - i < b->size ? n : i + b->size;
        for (; i + LANES <= end; i += LANES)
            store_bytes(code + i, minify_lanes(x + i, scale, divide, f, random, key, first + (uint32_t)i));
        if (i < end) {
            float last[LANES] = {0};
            uint8_t to[LANES];
            memcpy(last, x + i, (end - i) * sizeof *x);
            store_bytes(to, minify_lanes(last, scale, divide, f, random, key, first + (uint32_t)i));
            memcpy(code + i, to, end - i);
            i = end;
        }
    }
}

void ISA_NAME(minify)(const float *x, size_t n, const ScaledBlocks *b, const Minifloat *f, const RngKey *key, uint32_t first,
                      uint8_t *code)
{
    const RngKey own = key ? *key : (RngKey){0};
    switch (3 * b->divide + (key != NULL) + (own.mask != 0)) {
#define CASE(divide, random) case 3 * (divide) + (random): minify_all(divide, random, x, n, b, f, own, first, code); break;
        CASE(0, 0) CASE(0, 1) CASE(0, 2) CASE(1, 0) CASE(1, 1) CASE(1, 2)
#undef CASE
    }
}

/* Sets x, and returns -1 in the lanes whose codes no encoder writes. */
INLINE VecI minifloat_lanes(const uint8_t *code, VecF scale, bool divide, const Minifloat *f, float *x)
{
    const VecU c = load_bytes(code), sign = c >> (f->width - 1);
    const VecU magnitude = f->twos ? ((c ^ (0 - sign)) + sign) & 0xff : c & ((1u << (f->width - 1)) - 1);
    const VecU normal = (magnitude << (23 - f->fraction)) + ((uint32_t)(127 - f->bias) << 23);
    const VecF small = real((VecI)magnitude) * (minifloat_least(f) / (float)(1 << f->fraction));
    const VecF v = (VecF)pick(magnitude < 1u << f->fraction, (VecU)small, normal);
    store_f(x, (VecF)((VecU)(divide ? v / scale : v * scale) | sign << 31));
    return magnitude > f->top;
}

INLINE VecI unminify_all(bool divide, const uint8_t *code, size_t n, const ScaledBlocks *b, const Minifloat *format,
                         float *x)
{
    const Minifloat own = *format, *f = &own;
    VecI bad = {0};
    size_t i = 0;
    for (size_t block = 0, end; i < n; block++) {
        const VecF scale = set_f(b->scale[block]);
        end = n - i < b->size ? n : i + b->size;
        for (; i + LANES <= end; i += LANES)
            bad |= minifloat_lanes(code + i, scale, divide, f, x + i);
        if (i < end) {
            uint8_t last[LANES] = {0};
            float to[LANES];
            memcpy(last, code + i, end - i);
            bad |= minifloat_lanes(last, scale, divide, f, to);
            memcpy(x + i, to, (end - i) * sizeof *x);
            i = end;
        }
    }
    return bad;
}

bool ISA_NAME(unminify)(const uint8_t *code, size_t n, const ScaledBlocks *b, const Minifloat *f, float *x)
{
    return !any(b->divide ? unminify_all(true, code, n, b, f, x) : unminify_all(false, code, n, b, f, x));
}

/* Sets peak[k] to the largest magnitude of block k. */
void ISA_NAME(peaks)(const float *x, size_t n, size_t size, float *peak)
{
    size_t i = 0;
    for (size_t block = 0, end; i < n; block++) {
        VecF most = {0};
        float last = 0;
        end = n - i < size ? n : i + size;
        for (; i + LANES <= end; i += LANES)
            most = max_f(most, abs_f(load_f(x + i)));
        for (; i < end; i++)
            last = fabsf(x[i]) > last ? fabsf(x[i]) : last;
        for (uint32_t half = LANES / 2; half > 0; half /= 2)
            most = max_f(most, pick_lanes(most, (VecI)(lane_numbers() ^ half)));
        peak[block] = most[0] > last ? most[0] : last;
    }
}
