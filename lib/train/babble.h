/* babble.h -- a text drawn by the program from a Markov chain (babble.c), and its entropy rate. */
#ifndef ATOMO_BABBLE_H
#define ATOMO_BABBLE_H

#include "train/dataset.h"

enum {
    BABBLE_LETTERS = 16,
    BABBLE_PAIRS = BABBLE_LETTERS * BABBLE_LETTERS,
    BABBLE_TRAIN = 1 << 20,
    BABBLE_TEST = 1 << 16,
};

/* Fills `letters` (count) with letters below BABBLE_LETTERS, as determined by (seed, split). */
void babble_draw(uint64_t seed, DataSplit split, size_t count, uint8_t *letters);

/* Returns the entropy rate of the source, in nats per letter. */
double babble_entropy(uint64_t seed);

#endif
