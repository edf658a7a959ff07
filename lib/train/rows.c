/* rows.c -- picks the table of loops for this CPU. */
#include "train/rows.h"

extern const RowLoops row_loops_base, row_loops_avx2, row_loops_avx512;
static const RowLoops *const tables[ISA_COUNT] = {
    &row_loops_base,
#if defined(__x86_64__) && !defined(KERNELS_MOST)
    &row_loops_avx2,
    &row_loops_avx512,
#endif
};

const RowLoops *row_loops_of(Isa isa)
{
    return isa <= isa_of_cpu() ? tables[isa] : NULL;
}

const RowLoops *row_loops(void)
{
    Isa isa = isa_of_cpu();
    while (!tables[isa])
        isa--;
    return tables[isa];
}
