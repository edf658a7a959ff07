/* rng_stream.c -- writes random words to stdout for test suites such as dieharder (make rng-quality). Without
 * an argument, all words come from one generator. With the argument `addresses`, the words come in turn from
 * generators that differ in step, worker, tensor, repeat or use, as the generators of codecs do. */
#include "base/rng.h"

#include <stdio.h>
#include <string.h>

static void fill_block(uint32_t word[BLOCK], uint64_t block)
{
    const Rng rng = rng_open(1, 0, 0, 0, rng_hash("stream"));
    const RngKey key = rng_key(&rng, USE_COIN, block);
    for (uint32_t i = 0; i < BLOCK; i++)
        word[i] = rng_word(&key, i);
}

/* Fills `word` with word number `round` of each of BLOCK generators: all combinations of 64 steps, 16 repeats,
 * 4 workers, 4 tensors and 4 uses. */
static void fill_addresses(uint32_t word[BLOCK], uint64_t round)
{
    static const char *const tensors[] = {"conv1.weight", "conv1.bias", "conv2.weight", "fc.weight"};
    static const uint64_t uses[] = {USE_COIN, USE_ATOM, USE_SAMPLE, USE_SIGN};
    for (uint32_t i = 0; i < BLOCK; i += 4) {
        const Rng rng =
            rng_open(1, i >> 6 & 15, (int64_t)(i >> 4 & 3) - 1, i >> 10, rng_hash(tensors[i >> 2 & 3]));
        for (uint32_t u = 0; u < 4; u++) {
            const RngKey key = rng_key(&rng, uses[u], round / BLOCK);
            word[i + u] = rng_word(&key, (uint32_t)(round % BLOCK));
        }
    }
}

int main(int argc, char **argv)
{
    static uint32_t word[BLOCK];
    const bool addresses = argc == 2 && !strcmp(argv[1], "addresses");
    if (argc > 1 && !addresses) {
        fprintf(stderr, "rng_stream: \"%s\" is no stream; want addresses, or nothing for blocks\n", argv[1]);
        return 2;
    }
    for (uint64_t n = 0;; n++) {
        if (addresses)
            fill_addresses(word, n);
        else
            fill_block(word, n);
        if (fwrite(word, sizeof word, 1, stdout) != 1)
            return 0; /* the reader has closed the pipe */
    }
}
