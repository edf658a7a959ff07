/* packed.h -- lossless back ends: what a codec sends, once more through a general compressor.
 *
 * Payload:  form:8 = 0 | the inner codec's payload          or          form:8 = 1 | it, packed (shorter than that)
 *
 * Rounds before the last are passed on as they are, so that what is agreed in them can be. Packed bytes are never
 * merged undecoded. They depend on the library's version, what they unpack to does not. */
#ifndef ATOMO_PACKED_H
#define ATOMO_PACKED_H

#include "codec/wrapper.h"

/* A library's part; each wrapper has one. */
typedef struct Packer {
    /* Bytes written, at most `cap`; 0: it would not fit. ERR_MEMORY where the library has none. */
    Status (*pack)(const Call *c, Bytes in, uint8_t *out, size_t cap, size_t *size);
    /* What the bytes claim to unpack to; 0: they are nothing that pack writes. */
    size_t (*claims)(Bytes in);
    /* Unpacks exactly `size` bytes, or says false. */
    bool (*unpack)(Bytes in, uint8_t *out, size_t size);
} Packer;

unsigned packed_traits(const Codec *codec);
size_t packed_bound(const Call *c);
Status packed_encode(const Call *c, const float *x, Buf *out);
Status packed_decode(const Call *c, Bytes in, float *x);
Status packed_merge(const Call *c, const Bytes *in, size_t count, Buf *out);
Status packed_settle(const Call *c, const float *x, const Bytes *sent, const float *agreed, void *state);
Status packed_check(const Codec *codec, Error *err);
double packed_variance(const Call *c, const float *x);
ErrorLaw packed_moments(const Call *c, const float *x, AtomMoments *m);

#define PACKED                                                                                               \
    .wraps = true, .marks = true, .promises = LIBRARY_BYTES, .traits = packed_traits, .bound = packed_bound, \
    .encode = packed_encode, .decode = packed_decode, .merge = packed_merge, .settle = packed_settle,        \
    .check = packed_check, .variance = packed_variance, .moments = packed_moments

#endif
