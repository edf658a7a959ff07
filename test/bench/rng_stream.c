/* rng_stream.c -- writes the random words of consecutive blocks to stdout, for test suites such as dieharder (make
 * rng-quality). */
#include "base/rng.h"

#include <stdio.h>

int main(void)
{
    static uint32_t word[BLOCK];
    const Rng rng = rng_open(1, 0, 0, 0, rng_hash("stream"));
    for (uint64_t block = 0;; block++) {
        const RngKey key = rng_key(&rng, USE_COIN, block);
        for (uint32_t i = 0; i < BLOCK; i++)
            word[i] = rng_word(&key, i);
        if (fwrite(word, sizeof word, 1, stdout) != 1)
            return 0; /* the reader closed the pipe */
    }
}
