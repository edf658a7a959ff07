/* kernels.c -- picks the table for this CPU. */
#include "kernels.h"

extern const Kernels kernels_base;
#if defined(__x86_64__) && !defined(FUZZ_BASE_ONLY)
extern const Kernels kernels_avx2, kernels_avx512;
static const Kernels *const tables[ISA_COUNT] = {&kernels_base, &kernels_avx2, &kernels_avx512};
#else
static const Kernels *const tables[ISA_COUNT] = {&kernels_base};
#endif

/* x86-64-v3 and -v4, feature by feature: clang 14 does not know the levels by name. */
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
