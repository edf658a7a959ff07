/* export_digits.c -- writes the data set `digits` to standard output, for NumPy: TRAIN + TEST images of 28 x
 * 28 bytes, then their labels as bytes.
 *
 *     export_digits TRAIN TEST */
#include "rig/draw_all.h"

#include <stdio.h>
#include <stdlib.h>

static Status load(Dataset *d, DataSplit split, size_t count, Arena *a, Error *err)
{
    TRY(dataset_load(d, "digits", NULL, split, 1, a, err));
    d->count = count < d->count ? count : d->count;
    draw_all(d, parallel_cores());
    return OK;
}

int main(int argc, char **argv)
{
    Error err;
    Dataset set[2];
    Arena *a = arena_open(0);
    const size_t train = argc == 3 ? strtoul(argv[1], NULL, 10) : 0,
                 test = argc == 3 ? strtoul(argv[2], NULL, 10) : 0;
    if (!train || !test)
        return fputs("usage: export_digits TRAIN TEST\n", stderr), 2;
    if (load(&set[0], SPLIT_TRAIN, train, a, &err) || load(&set[1], SPLIT_TEST, test, a, &err))
        return fprintf(stderr, "export_digits: %s\n", err.text), 1;
    for (int i = 0; i < 2; i++)
        fwrite(set[i].pixels, DIGIT_PIXELS, set[i].count, stdout);
    for (int i = 0; i < 2; i++)
        for (size_t k = 0; k < set[i].count; k++)
            putchar((int)set[i].labels[k]);
    arena_close(a);
    return ferror(stdout) || fclose(stdout) ? 1 : 0;
}
