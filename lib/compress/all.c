/* all.c -- the list of all compressors, one line for each, in the order in which `list` shows them. */
#include "compress/spec.h"

/* The codec of a library that a build may lack. */
#ifdef ATOMO_ZFP
#define ZFP(X) X(zfp)
#else
#define ZFP(X)
#endif

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
    X(nuqsgd)      \
    X(natural)     \
    X(minmax)      \
    X(zipml)       \
    X(float)       \
    X(fp8)         \
    X(mxfp8)       \
    X(mxfp6)       \
    X(mxfp4)       \
    X(nvfp4)       \
    X(intsgd)      \
    X(thc)         \
    X(sign)        \
    X(scaledsign)  \
    X(onebit)      \
    X(topk)        \
    X(chunktopk)   \
    X(threshold)   \
    X(dgc)         \
    X(gaussiank)   \
    X(sidco)       \
    X(stc)         \
    X(adaq)        \
    X(strom)       \
    X(powersgd)    \
    X(lowrank)     \
    X(rotated)     \
    X(drive)       \
    X(eden)        \
    X(countsketch) \
    X(countmin)    \
    X(sketchml)    \
    X(cas)         \
    ZFP(X)         \
    X(ef)          \
    X(ef21)        \
    X(diana)       \
    X(induced)     \
    X(zstd)        \
    X(blosc)
/* clang-format on */

#define DECLARE(name) extern const Compressor compressor_##name;
CODECS(DECLARE)

#define ADDRESS(name) &compressor_##name,
const Compressor *const compressors[] = {CODECS(ADDRESS) NULL};
