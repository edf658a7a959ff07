/* signs.c -- writes and reads sign bits. The vector kernels handle whole groups of 64 signs, and this file
 * handles the shorter last group. */
#include "coder/signs.h"
#include "math/vec/kernels.h"

enum { GROUP = 64 };

void signs_put(const float *x, size_t n, uint8_t *out)
{
    const size_t groups = n / GROUP, whole = groups * GROUP;
    kernels()->sign_bits(x, groups, out);
    if (whole == n)
        return;
    float last[GROUP] = {0};
    uint8_t word[8];
    memcpy(last, x + whole, (n - whole) * sizeof *x);
    kernels()->sign_bits(last, 1, word);
    memcpy(out + 8 * groups, word, signs_size(n - whole));
}

void signs_flush(SignPen *p)
{
    if (p->word == 0) /* the array has zeros */
        return;
    const size_t start = (p->k - 1) / GROUP * GROUP;
    uint8_t *const to = p->out + start / 8;
    if (p->from <= start && p->k == start + GROUP)
        store_u64(to, p->word);
    else
        for (size_t i = 0; p->word >> 8 * i % 64 && i < 8; i++)
            __atomic_fetch_or(to + i, (uint8_t)(p->word >> 8 * i), __ATOMIC_RELAXED);
    p->word = 0;
}

void signs_get(const uint8_t *in, size_t n, float plus, float minus, float *x)
{
    const size_t groups = n / GROUP, whole = groups * GROUP;
    kernels()->sign_values(in, groups, plus, minus, x);
    for (size_t i = whole; i < n; i++)
        x[i] = signs_bit(in, i) ? minus : plus;
}

bool signs_clean(const uint8_t *in, size_t n)
{
    return n % 8 == 0 || in[n / 8] >> n % 8 == 0;
}

size_t signs_count(const uint8_t *in, size_t n)
{
    size_t count = 0, i = 0;
    for (; i + GROUP <= n; i += GROUP)
        count += (size_t)__builtin_popcountll(load_u64(in + i / 8));
    for (; i < n; i++)
        count += signs_bit(in, i);
    return count;
}
