/* all.c -- the registry: add a line, get a codec. */
#include "../compressor.h"

extern const Compressor compressor_ef, compressor_none, compressor_svd;

const Compressor *const compressors[] = {
    &compressor_none,
    &compressor_svd,
extern const Compressor compressor_ef, compressor_entry, compressor_lq, compressor_none;

const Compressor *const compressors[] = {
    &compressor_none,
    &compressor_entry,
    &compressor_lq,
    &compressor_ef,
extern const Compressor compressor_none;
extern const Compressor compressor_fp16;
extern const Compressor compressor_bf16;
extern const Compressor compressor_qsgd;
extern const Compressor compressor_terngrad;

const Compressor *const compressors[] = {
    &compressor_none, &compressor_fp16, &compressor_bf16, &compressor_qsgd, &compressor_terngrad, NULL,
};
