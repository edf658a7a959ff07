/* countmin.c -- the Count-Min Sketch (Cormode and Muthukrishnan 2005), extended to negative elements in one of
 * two ways. With `min-split`, one table sums the positive elements, and one the magnitudes of the negative
 * elements. An element's estimate is the difference of the two tables' minima over rows. With `median`, one
 * table holds sums of elements, and the estimate is a median over rows. The payload has the format of
 * sketch.h. */
#include "compress/sketch/sketch.h"

static const char *const estimates[] = {"min-split", "median", NULL};

static const Param schema[] = {
    SKETCH_KEYS,
    PARAM_OF(SketchParams, estimate, "min-split", estimates,
             "the least cell in the table of each sign, or the median of the cells of one table"),
    {0},
};

static const SketchKind kinds[] = {SKETCH_SPLIT, SKETCH_PLAIN}; /* in the order of `estimates` */

const Compressor compressor_countmin = {
    .name = "countmin",
    .brief = "sums over hashed buckets, the least of the rows for each sign",
    .plain = "Adds positive and negative parts to one bucket each in each of several rows. A part decodes "
             "to the least of its buckets, which is never too small. Sketches of workers add up.",
    .use_when = "you compare sketches on sparse gradients.",
    .example = "atomo-bench synth -o g.h5 --law sparse --workers 4\n"
               "atomo-bench merge g.h5 -c countmin:bits=4 --workers 4",
    .formula =
        "Row j of `rows` hashes element i to a bucket h_j(i) < cols, in rows of 16384 buckets or more to a\n"
        "bucket of its slice, as countsketch does.\n"
        "min-split: P_j[b] and N_j[b] = sums of max(g_i, 0) and max(-g_i, 0) over h_j(i) = b;\n"
        "  decoded_i = min over j of P_j[h_j(i)] - min over j of N_j[h_j(i)]; neither minimum is too small.\n"
        "median: T_j[b] = sum of g_i;  decoded_i = median over j of T_j[h_j(i)], which is biased unless the\n"
        "  elements' mean is 0.\n"
        "topk: all but the k largest |decoded_i| become 0. cols = floor((bits n / 8 - 1) / (4 rows t)), at\n"
        "least 1, with t = 2 tables for min-split and 1 for median. All workers have the same hashes, from the\n"
        "seed, so cells add. A merged table of median is that of the sum. Tables of min-split add positive\n"
        "and negative parts separately, so only P - N is that of the sum. Neither estimate adds.\n"
        "Raw if there are at least as many cells as elements.",
    .paper = "Cormode, Muthukrishnan: An Improved Data Stream Summary: The Count-Min Sketch and its\n"
             "Applications, Journal of Algorithms 2005",
    .look = {HUE_SKETCH, 2, 2},
    .params = schema,
    .params_size = sizeof(SketchParams),
    .promises = MERGEABLE | RANDOM | EXACT_BYTES | SHARED_DRAWS | FIXED_SIZE,
    .family = kinds,
    .bound = sketch_bound,
    .encode = sketch_encode,
    .decode = sketch_decode,
    .merge = sketch_merge,
    .numbers = sketch_numbers,
};
