/* rotation.c -- the rounds of a random rotation (random signs, then a transform), and their inverse. */
#include "math/rotation.h"
#include "math/dyadic_transform.h"
#include "math/vec/kernels.h"

#include <assert.h>
#include <math.h>

/* ---- short cosine transforms ---- */

/* The DCT-II of a short vector, and its inverse. Cosines of equally spaced angles come from
 * the recurrence cos(a + b) = 2 cos(b) cos(a) - cos(a - b), for all coefficients at once; its rounding errors
 * grow with n^2, to 1e-10 at most. */

/* ---- cosines ---- */

/* Returns the Taylor series of cos x (from = 0) or sin x (from = 1), summed from its smallest term. */
static double series(double x, int from)
{
    double sum = 0;
    for (int k = from + 20; k > from; k -= 2)
        sum = (1 + sum) * (-x * x / (k * (k - 1)));
    return (1 + sum) * (from ? x : 1);
}

/* Returns c with c[j] = cos(pi j / (2 n)) for j <= 2 n. The tensors of a dump often have one length, so the thread keeps it. */
static const double *cosines_of(size_t n)
{
    static _Thread_local double c[2 * SHORT_COSINE_MOST + 1];
    static _Thread_local size_t made;
    const double step = M_PI / (2 * (double)n);
    if (made == n)
        return c;
    made = n;
    for (size_t i = 0; i <= n / 2; i++)
        c[i] = series((double)i * step, 0);
    for (size_t i = 0; i < n - n / 2; i++)
        c[n - i] = series((double)i * step, 1);
    for (size_t i = 0; i < n; i++)
        c[2 * n - i] = -c[i];
    return c;
}

/* ---- sums of cosines ---- */

static double weight(size_t k, size_t n)
{
    return sqrt((k ? 2 : 1) / (double)n);
}

void short_cosine_matrix(double *c, size_t n)
{
    const double *cosines = cosines_of(n);
    for (size_t k = 0; k < n; k++)
        for (size_t i = 0; i < n; i++) {
            const size_t j = (2 * i + 1) * k % (4 * n);
            c[k * n + i] = weight(k, n) * cosines[j > 2 * n ? 4 * n - j : j];
        }
}

typedef enum { FORTH, BACK } Way;

enum { HALF_MOST = (SHORT_COSINE_MOST + 1) / 2 };

/* Returns the sum of elements t and n - 1 - t, or their difference; the middle of an odd number stands alone. */
static double fold_at(const float *x, size_t n, size_t t, size_t odd)
{
    const size_t other = n - 1 - t;
    return t == other ? (double)x[t] : odd ? (double)x[t] - (double)x[other] : (double)x[t] + (double)x[other];
}

static double unfold_at(double (*out)[HALF_MOST], size_t n, size_t i)
{
    return i < n - i ? out[0][i] + out[1][i] : out[0][n - 1 - i] - out[1][n - 1 - i];
}

/* Works in place; n <= SHORT_COSINE_MOST. Values of a wave follow each other from element to element, on the way back from
 * coefficient to coefficient. Even coefficients see the sums of elements i and n - 1 - i, odd ones the differences: half the work. */
static void short_cosine(float *x, size_t n, Way way)
{
    double in[HALF_MOST], now[HALF_MOST], before[HALF_MOST], twice[HALF_MOST], out[2][HALF_MOST];
    assert(n > 0 && n <= SHORT_COSINE_MOST);
    const double *c = cosines_of(n);
    for (size_t odd = 0; odd < 2; odd++) {
        const size_t half = (n + 1 - odd) / 2, waves = way == BACK ? (n + 1) / 2 : half;
        for (size_t t = 0; t < half; t++)
            in[t] = way == BACK ? weight(2 * t + odd, n) * (double)x[2 * t + odd] : fold_at(x, n, t, odd);
        for (size_t l = 0; l < waves; l++) {
            const size_t angle = way == BACK ? 2 * l + 1 : 2 * l + odd;
            twice[l] = 2 * c[2 * angle];
            now[l] = way == BACK && !odd ? 1 : c[angle];
            before[l] = way == BACK && !odd ? c[2 * angle] : c[angle];
        }
        kernels()->add_waves(in, half, waves, now, before, twice, out[odd]);
    }
    for (size_t i = 0; i < n; i++)
        x[i] = (float)(way == BACK ? unfold_at(out, n, i) : weight(i, n) * out[i % 2][i / 2]);
}

/* ---- the rounds ---- */

/* random words reserved for the signs of one round, more than any piece of the vector needs */
enum { ROUND_WORDS = 4096 };

size_t rotation_pieces(size_t n)
{
    const size_t whole = n / BLOCK, rest = n % BLOCK;
    return whole + (rest > 0 && (whole == 0 || rest >= ROTATION_LEAST));
}

size_t rotation_piece(size_t n, size_t piece)
{
    return piece + 1 < rotation_pieces(n) ? BLOCK : n - piece * BLOCK;
}

static bool is_power(size_t n)
{
    return (n & (n - 1)) == 0;
}

size_t rotation_block(size_t left)
{
    if (is_power(left))
        return left;
    size_t n = ROTATION_LONGEST;
    while (n > left || (n < left && left - n < ROTATION_LEAST && n >= ROTATION_LEAST))
        n /= 2;
    return n < ROTATION_LEAST ? left : n;
}

static uint32_t first_word(const Rotation *r, int round)
{
    return (uint32_t)(r->at / 32) + (uint32_t)round * ROUND_WORDS;
}

static int rounds_of(const Rotation *r, size_t n)
{
    return r->rounds + (r->rounds > 1 && is_power(n) && n < ROTATION_ENOUGH);
}

void rotation_turn(const Rotation *r, const float *x, size_t n, float scale, float *y)
{
    const int rounds = rounds_of(r, n);
    for (int i = 0; i < rounds; i++) {
        kernels()->flip_signs(i ? y : x, n, i ? 1 : scale, r->key, first_word(r, i), y);
        if (is_power(n))
            hadamard(y, n, 1);
        else
            short_cosine(y, n, FORTH);
    }
}

void rotation_turn_back(const Rotation *r, float *x, size_t n)
{
    for (int i = rounds_of(r, n) - 1; i >= 0; i--) {
        if (is_power(n))
            hadamard(x, n, 1);
        else
            short_cosine(x, n, BACK);
        kernels()->flip_signs(x, n, 1, r->key, first_word(r, i), x);
    }
}
