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
extern const Compressor compressor_qsgd;

const Compressor *const compressors[] = {
    &compressor_none,
    &compressor_qsgd,
    NULL,
};
