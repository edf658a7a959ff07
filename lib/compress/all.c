/* all.c -- the registry: add a line, get a codec. `list` shows them in this order. */
#include "../compressor.h"

/* clang-format off */
#define CODECS(X)  \
    X(none)        \
    X(fp16)        \
    X(bf16)        \
    X(entry)       \
    X(svd)         \
    X(fourier)     \
    X(dct)         \
    X(wavelet)     \
    X(hadamard)    \
    X(lq)          \
    X(gspar)       \
    X(randk)       \
    X(joint)       \
    X(qsgd)        \
    X(terngrad)    \
    X(sign)        \
    X(scaledsign)  \
    X(onebit)      \
    X(stc)         \
    X(adaq)        \
    X(strom)       \
    X(topk)        \
    X(threshold)   \
    X(gaussiank)   \
    X(sidco)       \
    X(dgc)         \
    X(nuqsgd)      \
    X(natural)     \
    X(minmax)      \
    X(intsgd)      \
    X(powersgd)    \
    X(rotated)     \
    X(thc)         \
    X(drive)       \
    X(eden)        \
    X(ef)          \
    X(ef21)        \
    X(diana)       \
    X(induced)
    X(countsketch) \
    X(countmin)    \
    X(cas)         \
    X(ef)
/* clang-format on */

#define DECLARE(name) extern const Compressor compressor_##name;
CODECS(DECLARE)

#define ADDRESS(name) &compressor_##name,
const Compressor *const compressors[] = {CODECS(ADDRESS) NULL};
