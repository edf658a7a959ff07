/* export_digits.c -- writes the data set `digits` to standard output, for NumPy: TRAIN + TEST images of 28 x
 * 28 bytes, then their labels as bytes.
 *
 *     export_digits TRAIN TEST */
#include "data/digits.h"

#include "base/parallel.h"

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    const size_t train = argc == 3 ? strtoul(argv[1], NULL, 10) : 0,
                 test = argc == 3 ? strtoul(argv[2], NULL, 10) : 0;
    const size_t count = train + test;
    uint8_t *pixels = malloc(count * DIGIT_PIXELS + 1), *labels = malloc(count + 1);
    if (!train || !test || !pixels || !labels)
        return fputs("usage: export_digits TRAIN TEST\n", stderr), 2;
    digits_draw(1, SPLIT_TRAIN, train, parallel_cores(), NULL, pixels, labels);
    digits_draw(1, SPLIT_TEST, test, parallel_cores(), NULL, pixels + train * DIGIT_PIXELS, labels + train);
    const bool written =
        fwrite(pixels, DIGIT_PIXELS, count, stdout) == count && fwrite(labels, 1, count, stdout) == count;
    free(pixels);
    free(labels);
    return written && fclose(stdout) == 0 ? 0 : 1;
}
