/* all.c -- the list of all compressors, in the order in which `list` shows them. A line is a codec, or a family: neighbours in the
 * list whose file exports an array of them. */
#include "compress/spec.h"

/* The codec of a library that a build may lack. */
#ifdef ATOMO_ZFP
#define ZFP(ONE) ONE(zfp)
#else
#define ZFP(ONE)
#endif

/* clang-format off */
#define CODECS(ONE, FAMILY)                                      \
    FAMILY(plain)    /* none fp16 bf16 */                        \
    ONE(entry)                                                   \
    ONE(svd)                                                     \
    ONE(fourier)                                                 \
    FAMILY(bases)    /* dct wavelet hadamard lq gspar */         \
    ONE(randk)                                                   \
    ONE(joint)                                                   \
    FAMILY(norms)    /* qsgd terngrad nuqsgd */                  \
    ONE(natural)                                                 \
    ONE(minmax)                                                  \
    ONE(zipml)                                                   \
    FAMILY(floats)   /* float fp8 mxfp8 mxfp6 mxfp4 nvfp4 */     \
    FAMILY(sums)     /* intsgd thc */                            \
    FAMILY(signs)    /* sign scaledsign onebit */                \
    ONE(topk)                                                    \
    ONE(chunktopk)                                               \
    ONE(threshold)                                               \
    ONE(dgc)                                                     \
    FAMILY(tails)    /* gaussiank sidco */                       \
    FAMILY(signed)   /* stc adaq strom */                        \
    FAMILY(lowrank)  /* powersgd lowrank */                      \
    FAMILY(rotated)  /* rotated drive eden */                    \
    FAMILY(sketches) /* countsketch countmin */                  \
    ONE(sketchml)                                                \
    ONE(cas)                                                     \
    ZFP(ONE)                                                     \
    ONE(ef)                                                      \
    FAMILY(shifts)   /* ef21 diana */                            \
    ONE(induced)                                                 \
    FAMILY(packed)   /* zstd blosc */
/* clang-format on */

#define DECLARE_ONE(name) extern const Compressor compressor_##name;
#define DECLARE_FAMILY(name) extern const Compressor *const compressors_##name[]; /* ends in NULL */
CODECS(DECLARE_ONE, DECLARE_FAMILY)

#define LIST_ONE(name) (const Compressor *const[]){&compressor_##name, NULL},
#define LIST_FAMILY(name) compressors_##name,
static const Compressor *const *const families[] = {CODECS(LIST_ONE, LIST_FAMILY)};

const Compressor *compressor_number(size_t i)
{
    for (size_t f = 0; f < countof(families); f++)
        for (const Compressor *const *c = families[f]; *c; c++)
            if (i-- == 0)
                return *c;
    return NULL;
}
