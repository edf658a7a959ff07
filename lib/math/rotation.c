/* rotation.c -- the rounds of a random rotation (random signs, then a transform), and their inverse. */
#include "math/rotation.h"

#include "math/hadamard_transform.h"
#include "math/vec/kernels.h"
#include "math/short_cosine.h"

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

Rotation rotation_open(const Rng *rng, size_t piece, size_t at, int rounds)
{
    return (Rotation){rng_key(rng, USE_SIGN, piece), at, rounds};
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
            short_cosine(y, n);
    }
}

void rotation_turn_back(const Rotation *r, float *x, size_t n)
{
    for (int i = rounds_of(r, n) - 1; i >= 0; i--) {
        if (is_power(n))
            hadamard(x, n, 1);
        else
            short_cosine_back(x, n);
        kernels()->flip_signs(x, n, 1, r->key, first_word(r, i), x);
    }
}
