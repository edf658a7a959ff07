/* kernels_vec.c -- the table of kernels for the instruction set for which this file is compiled. */
#include "vec/vec.h"

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
