/* kernels_vec.c -- every kernel, and the table of them, for the instruction set for which this file is compiled. One
 * translation unit, so that the table is all that others see. */
#include "math/vec/vec.h"

/* The loops, which may call each other. */
#define LOOP(result, name, parameters) static result ISA_NAME(name) parameters;
#include "math/vec/kernels_list.h"
#undef LOOP

#include "math/vec/adder_vec.c"
#include "math/vec/census_vec.c"
#include "math/vec/entries_vec.c"
#include "math/vec/grades_vec.c"
#include "math/vec/gram_vec.c"
#include "math/vec/hadamard_vec.c"
#include "math/vec/half_vec.c"
#include "math/vec/knots_vec.c"
#include "math/vec/measure_vec.c"
#include "math/vec/minifloat_vec.c"
#include "math/vec/planes_vec.c"
#include "math/vec/powers_vec.c"
#include "math/vec/quantise_vec.c"
#include "math/vec/rans_vec.c"
#include "math/vec/rotate_vec.c"
#include "math/vec/sift_vec.c"
#include "math/vec/signs_vec.c"
#include "math/vec/sketch_vec.c"
#include "math/vec/sort_vec.c"
#include "math/vec/spectral_vec.c"
#include "math/vec/sums_vec.c"
#include "math/vec/thin_vec.c"
#include "math/vec/wavelet_vec.c"

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
#include "math/vec/kernels_list.h"
#undef LOOP
};
