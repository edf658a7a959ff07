/* packed.h -- lossless wrappers: a general-purpose compressor packs the inner codec's payload.
 *
 *     payload = form:8 = 0, inner codec's payload     or     form:8 = 1, packed bytes (if shorter)
 *
 * If a codec has several rounds, only the payload of the last round is packed, so that payloads of earlier
 * rounds can merge. Packed payloads do not merge. Packed bytes depend on the version of the compression
 * library. Decoded values do not. */
#ifndef ATOMO_PACKED_H
#define ATOMO_PACKED_H

#include "compress/wrapper.h"

/* The functions of a compression library; Compressor.family points to them. */
typedef struct Packer {
    /* Packs `in` to `out`, and sets *size to the number of bytes written, at most `cap`. Sets *size to 0 if the
     * packed bytes do not fit. ERR_MEMORY: the library is out of memory. */
    Status (*pack)(const Call *c, Bytes in, uint8_t *out, size_t cap, size_t *size);
    /* Returns the unpacked size that the packed bytes state, or 0 if `pack` cannot have written the bytes. */
    size_t (*claims)(Bytes in);
    /* Unpacks `in` to `size` bytes. Returns false if `in` is damaged or has another unpacked size. */
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
