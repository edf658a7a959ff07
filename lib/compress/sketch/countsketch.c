/* countsketch.c -- the Count Sketch of Charikar, Chen, Farach-Colton 2002, as in FetchSGD and Sketched-SGD.
 * Each row of the sketch hashes the elements to buckets and sums them with random signs. An element's
 * estimate is the median over the rows. The payload has the format of sketch.h. */
#include "compress/sketch/sketch.h"

static const Param schema[] = {SKETCH_KEYS, {0}};

static const SketchKind kinds[] = {SKETCH_SIGNED};

const Compressor compressor_countsketch = {
    .name = "countsketch",
    .brief = "signed sums over hashed buckets, the median of the rows",
    .plain = "Adds each element, with a random sign, to one bucket in each of several rows. An element "
             "decodes to the median of its buckets. Sketches of workers add up.",
    .use_when = "payloads must add on their way, and a few heavy elements hold most of the gradient.",
    .example = "atomo-bench synth -o g.h5 --law sparse --workers 4\n"
               "atomo-bench merge g.h5 -c countsketch:bits=4,topk=1000 --workers 4",
    .formula =
        "Row j of `rows` hashes element i to a bucket h_j(i) < cols and a sign s_j(i); its cells are\n"
        "  T_j[b] = sum of s_j(i) g_i over h_j(i) = b;  decoded_i = median over j of s_j(i) T_j[h_j(i)],\n"
        "for an even number of rows the mean of the two in the middle. topk: all but the k largest\n"
        "|decoded_i| become 0 (heavy hitters; of equal ones the first are kept).\n"
        "cols = floor((bits n / 8 - 1) / (4 rows)), at least 1. All workers have the same hashes, from the\n"
        "seed: cells add, and the merged payload is the sketch of the sum. The median does not add.\n"
        "A row of 16384 buckets or more is cut into slices of about 8192, each for a stretch of consecutive\n"
        "elements, so that its sums stay in the cache. With |g|^2 and cols those of element i's slice,\n"
        "a row's error has the variance (|g|^2 - g_i^2) / cols; the median of 5 rows of normal errors has\n"
        "0.287 of it, so |decoded - g|^2 / |g|^2 is about 0.287 n / cols: 46 at 1 bit, worse than sending\n"
        "zeros. Made for few heavy elements: topk, and ef+. Raw if there are at least as many cells as elements.",
    .paper = "Charikar, Chen, Farach-Colton: Finding Frequent Items in Data Streams, ICALP 2002;\n"
             "Rothchild, Panda, Ullah, Ivkin, Stoica, Braverman, Gonzalez, Arora: FetchSGD:\n"
             "Communication-Efficient Federated Learning with Sketching, ICML 2020",
    .look = {HUE_SKETCH, 1, 1},
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
