/* kernels_vec.c -- every kernel, and the table of them, for the instruction set for which this file is compiled. One
 * translation unit, so that the table is all that others see. */
#include "vec/vec.h"

/* The loops, which may call each other. */
#define LOOP(result, name, parameters) static result ISA_NAME(name) parameters;
#include "vec/kernels_list.h"
#undef LOOP

#include "vec/adder_vec.c"
#include "vec/addup_vec.c"
#include "vec/census_vec.c"
#include "vec/classes_vec.c"
#include "vec/clusters_vec.c"
#include "vec/entries_vec.c"
#include "vec/grades_vec.c"
#include "vec/gram_vec.c"
#include "vec/hadamard_vec.c"
#include "vec/half_vec.c"
#include "vec/knots_vec.c"
#include "vec/ladder_vec.c"
#include "vec/mark_vec.c"
#include "vec/measure_vec.c"
#include "vec/picks_vec.c"
#include "vec/planes_vec.c"
#include "vec/powers_vec.c"
#include "vec/quantise_vec.c"
#include "vec/rans_vec.c"
#include "vec/rotate_vec.c"
#include "vec/scaled_vec.c"
#include "vec/sift_vec.c"
#include "vec/signs_vec.c"
#include "vec/sketch_vec.c"
#include "vec/sort_vec.c"
#include "vec/spectral_vec.c"
#include "vec/sums_vec.c"
#include "vec/thin_vec.c"
#include "vec/trits_vec.c"
#include "vec/wavelet_vec.c"

extern const Kernels ISA_NAME(kernels);
const Kernels ISA_NAME(kernels) = {
#if VEC_BYTES == 64
    .name = "avx512",
#elif VEC_BYTES == 32
    .name = "avx2",
#elif defined(__SSE2__)
    .name = "sse2",
#elif defined(__ARM_NEON)
    .name = "neon",
#else
    .name = "base",
#endif
#define LOOP(result, name, parameters) .name = ISA_NAME(name),
#include "vec/kernels_list.h"
#undef LOOP
};
