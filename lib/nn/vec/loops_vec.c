/* loops_vec.c -- this instruction set's table of a network's loops. */
#include "nn/vec/wide.h"

extern const Loops ISA_NAME(loops);
const Loops ISA_NAME(loops) = {
    .widest = WIDEST,
    .direct = ISA_NAME(direct),
    .direct_weights = ISA_NAME(direct_weights),
    .windows_max = ISA_NAME(windows_max),
    .windows_max_back = ISA_NAME(windows_max_back),
};
