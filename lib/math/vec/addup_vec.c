/* addup_vec.c -- adds the floats in the payloads of all workers, element by element. The payloads may be
 * unaligned. */
#include "math/vec/vec.h"
#include "base/bytes.h"

/* elements per pass; their sums stay in the first-level cache */
enum { RUN = 512 };

/* Adds elements at .. at + n - 1 of `some` payloads to `sum`. Returns whether all their magnitudes are at
 * most `part_most`. Every caller passes a constant `some`, which unrolls the inner loop. */
INLINE bool add_run(const uint8_t *const *in, size_t some, size_t at, size_t n, float part_most, double *sum)
{
    int beyond = 0;
    for (size_t i = 0; i < n; i++) {
        double s = sum[i];
        for (size_t w = 0; w < some; w++) {
            const float v = load_f32(in[w] + 4 * (at + i));
            s += (double)v;
            beyond |= !(__builtin_fabsf(v) <= part_most);
        }
        sum[i] = s;
    }
    return !beyond;
}

bool ISA_NAME(add_up)(const uint8_t *const *in, size_t count, size_t from, size_t to, float part_most,
                      double most, uint8_t *out)
{
    bool good = true;
    for (size_t at = from; at < to; at += RUN) {
        const size_t some = to - at < RUN ? to - at : RUN;
        double sum[RUN] = {0};
        int beyond = 0;
        size_t w = 0;
        for (; w + 4 <= count; w += 4)
            good &= add_run(in + w, 4, at, some, part_most, sum);
        for (; w < count; w++)
            good &= add_run(in + w, 1, at, some, part_most, sum);
        for (size_t i = 0; i < some; i++) {
            const float s = (float)sum[i];
            beyond |= !(__builtin_fabs(sum[i]) <= most);
            store_f32(out + 4 * (at + i), s);
        }
        good &= !beyond;
    }
    return good;
}
