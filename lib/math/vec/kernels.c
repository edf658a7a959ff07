/* kernels.c -- picks the table of kernels for the widest instruction set that this CPU has, at most number
 * KERNELS_MOST: 0 base, 1 AVX2, 2 AVX-512. Builds with a smaller KERNELS_MOST need not link the wider
 * tables. */
#include "math/vec/kernels.h"

#ifndef KERNELS_MOST
#ifdef __x86_64__
#define KERNELS_MOST 2
#else
#define KERNELS_MOST 0
#endif
#endif

extern const Kernels kernels_base, kernels_avx2, kernels_avx512;
static const Kernels *const tables[ISA_COUNT] = {
    &kernels_base,
#if KERNELS_MOST >= 1
    &kernels_avx2,
#endif
#if KERNELS_MOST >= 2
    &kernels_avx512,
#endif
};

/* Asks for features of x86-64-v3 and x86-64-v4 by name, since clang 14 does not know these two levels, nor F16C, which every CPU
 * with AVX2 has. */
Isa isa_of_cpu(void)
{
#ifdef __x86_64__
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("bmi2") || !__builtin_cpu_supports("fma"))
        return ISA_BASE;
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                   __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")
               ? ISA_AVX512
               : ISA_AVX2;
#else
    return ISA_BASE;
#endif
}

const Kernels *kernels_of(Isa isa)
{
    return isa <= isa_of_cpu() ? tables[isa] : NULL;
}

const Kernels *kernels(void)
{
    Isa isa = isa_of_cpu();
    while (!tables[isa])
        isa--;
    return tables[isa];
}
