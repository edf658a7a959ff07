/* kernel.h -- this instruction set's functions, as the table lists them (kernels.h says what each does). */
#ifndef ATOMO_VEC_KERNEL_H
#define ATOMO_VEC_KERNEL_H

#include "vec/vec.h"

float ISA_NAME(abs_max)(const float *x, size_t n);
void ISA_NAME(moments)(const float *x, size_t n, double *sum, double *squares);
void ISA_NAME(quantise8)(const float *x, size_t n, Quantiser q, RngKey key, uint32_t first, uint8_t *code);
void ISA_NAME(quantise32)(const float *x, size_t n, Quantiser q, RngKey key, uint32_t first, uint32_t *code);
void ISA_NAME(toss8)(const float *x, size_t n, Coin coin, RngKey key, uint32_t first, uint8_t *code);
bool ISA_NAME(dequantise8)(const uint8_t *code, size_t n, Dequantiser d, float *x);
bool ISA_NAME(dequantise32)(const uint32_t *code, size_t n, Dequantiser d, float *x);
void ISA_NAME(pack8)(const uint8_t *code, size_t groups, int width, uint8_t *plane);
void ISA_NAME(pack32)(const uint32_t *code, size_t groups, int width, uint8_t *plane);
void ISA_NAME(unpack8)(const uint8_t *plane, size_t groups, int width, uint8_t *code);
void ISA_NAME(unpack32)(const uint8_t *plane, size_t groups, int width, uint32_t *code);
void ISA_NAME(pack_trits)(const uint8_t *code, size_t groups, uint8_t *byte);
bool ISA_NAME(unpack_trits)(const uint8_t *byte, size_t groups, uint8_t *code);
void ISA_NAME(fp16_nearest)(const float *x, size_t n, uint8_t *out);
void ISA_NAME(fp16_random)(const float *x, size_t n, RngKey key, uint32_t first, uint8_t *out);
bool ISA_NAME(fp16_floats)(const uint8_t *in, size_t n, float *x);
void ISA_NAME(bf16_nearest)(const float *x, size_t n, uint8_t *out);
void ISA_NAME(bf16_random)(const float *x, size_t n, RngKey key, uint32_t first, uint8_t *out);
bool ISA_NAME(bf16_floats)(const uint8_t *in, size_t n, float *x);
bool ISA_NAME(powers)(const float *x, size_t n, RngKey key, uint8_t *power, uint8_t *sign);
bool ISA_NAME(power_floats)(const uint8_t *power, const uint8_t *sign, size_t n, float *x);
void ISA_NAME(range)(const float *x, size_t n, float *low, float *high);
void ISA_NAME(grade8)(const float *x, size_t n, float low, Quantiser q, const RngKey *key, uint32_t first,
                      uint8_t *code);
void ISA_NAME(grade32)(const float *x, size_t n, float low, Quantiser q, const RngKey *key, uint32_t first,
                       uint32_t *code);
void ISA_NAME(graded8)(const uint8_t *code, size_t n, float low, float high, Dequantiser d, float *x);
void ISA_NAME(graded32)(const uint32_t *code, size_t n, float low, float high, Dequantiser d, float *x);
void ISA_NAME(climb)(const float *x, size_t n, Ladder l, RngKey key, uint32_t first, uint8_t *code);
bool ISA_NAME(descend)(const uint8_t *code, size_t n, Ladder l, float *x);
size_t ISA_NAME(places32)(const uint32_t *code, size_t n, uint16_t *at);
size_t ISA_NAME(entries8)(const uint8_t *code, size_t n, uint32_t *entry);
size_t ISA_NAME(put_entries)(const uint32_t *entry, size_t count, int bits, BitWriter *writer);
void ISA_NAME(census8)(const uint8_t *code, size_t n, int bits, Census *census);
void ISA_NAME(census32)(const uint32_t *code, size_t n, int bits, Census *census);
void ISA_NAME(hash_buckets)(RngKey key, uint32_t first, size_t n, uint32_t buckets, uint32_t *bucket);
void ISA_NAME(hash_places)(RngKey key, const uint32_t *at, size_t n, uint32_t buckets, uint32_t *bucket);
void ISA_NAME(medians)(const float *x, size_t stride, size_t rows, size_t n, float *median);
void ISA_NAME(stretches)(const float *x, size_t n, const float *above, size_t count, uint8_t *code);
void ISA_NAME(cluster_slots)(RngKey key, uint32_t first, size_t n, const uint8_t *code, size_t clusters,
                             const uint32_t *from, const uint32_t *size, uint32_t *slot);
void ISA_NAME(knot_layer)(const double *x, const double *b, const double *a, size_t low, size_t high,
                          size_t from, size_t to, double *next, uint16_t *back);
uint8_t *ISA_NAME(rans_put)(const uint32_t *slice, int precision, const uint8_t *byte, size_t rows,
                            uint32_t state[16], uint8_t *at);
size_t ISA_NAME(rans_get)(const uint32_t *slot, int precision, uint8_t *byte, size_t rows, uint32_t state[16],
                          const uint8_t **at, const uint8_t *end);
size_t ISA_NAME(rans_get_fine)(const uint8_t *slot, const uint32_t *slice, int precision, uint8_t *byte,
                               size_t rows, uint32_t state[16], const uint8_t **at, const uint8_t *end);

#endif
