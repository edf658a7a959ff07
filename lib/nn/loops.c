/* loops.c -- picks the table of loops for this CPU. */
#include "nn/loops.h"

extern const Loops loops_base, loops_avx2, loops_avx512;
static const Loops *const tables[ISA_COUNT] = {
    &loops_base,
#if defined(__x86_64__) && !defined(KERNELS_MOST)
    &loops_avx2,
    &loops_avx512,
#endif
};

const Loops *loops_of(Isa isa)
{
    return isa <= isa_of_cpu() ? tables[isa] : NULL;
}

const Loops *loops(void)
{
    Isa isa = isa_of_cpu();
    while (!tables[isa])
        isa--;
    return tables[isa];
}
