/* table.c -- this instruction set's table. */
#include "vec.h"

double ISA_NAME(sum_squares)(const float *x, size_t n);


extern const Kernels ISA_NAME(kernels);
const Kernels ISA_NAME(kernels) = {
#if VEC_BYTES == 64
    .name = "avx512",
#elif VEC_BYTES == 32
    .name = "avx2",
#else
    .name = "base",
#endif
    .sum_squares = ISA_NAME(sum_squares),
};
