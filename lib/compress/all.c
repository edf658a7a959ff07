/* all.c -- the registry: add a line, get a codec. `list` shows them in this order. */
#include "../compressor.h"

extern const Compressor compressor_bf16, compressor_ef, compressor_entry, compressor_fp16, compressor_joint,
    compressor_lq, compressor_none, compressor_qsgd, compressor_svd, compressor_terngrad;

/* clang-format off */
const Compressor *const compressors[] = {
    &compressor_none,
    &compressor_fp16,
    &compressor_bf16,
    &compressor_entry,
    &compressor_svd,
    &compressor_lq,
    &compressor_qsgd,
    &compressor_terngrad,
    &compressor_joint,
    &compressor_ef,
    NULL,
};
