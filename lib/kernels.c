/* kernels.c -- picks the table for this CPU. */
#include "kernels.h"

extern const Kernels kernels_base;
#if defined(__x86_64__) && !defined(FUZZ_BASE_ONLY)
extern const Kernels kernels_avx2, kernels_avx512;
#endif

const Kernels *kernels_of(Isa isa)
{
#if defined(__x86_64__) && !defined(FUZZ_BASE_ONLY)
    if (isa == ISA_AVX512)
        return __builtin_cpu_supports("x86-64-v4") ? &kernels_avx512 : NULL;
    if (isa == ISA_AVX2)
        return __builtin_cpu_supports("x86-64-v3") ? &kernels_avx2 : NULL;
#endif
    return isa == ISA_BASE ? &kernels_base : NULL;
}

const Kernels *kernels(void)
{
    for (int isa = ISA_COUNT - 1; isa > ISA_BASE; isa--)
        if (kernels_of((Isa)isa))
            return kernels_of((Isa)isa);
    return &kernels_base;
}
