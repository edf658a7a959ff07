/* tensor_hdf5_lzf.c -- unpacks LZF, the filter that h5py writes for compression="lzf" and that HDF5 does not have.
 *
 * Packed data are a sequence of
 *
 *     0 0 0 n:5                   byte x (n + 1)     these bytes
 *     n:3 far:5      far:8                           n + 2 bytes, which begin far + 1 bytes before the end of what is unpacked
 *     1 1 1 far:5    n:8 far:8                       likewise n + 9 bytes */
#include "dump/tensor_hdf5.h"

#include <stdlib.h>

/* Returns true if `in` unpacks to exactly `room` bytes. */
static bool unpack(Bytes in, uint8_t *out, size_t room)
{
    Reader r = reader_open(in);
    size_t at = 0;
    while (reader_left(&r)) {
        const unsigned head = take_u8(&r);
        size_t n = head < 32 ? head + 1 : (head >> 5) + 2, far = 0;
        const uint8_t *literal = head < 32 ? take_bytes(&r, n) : NULL;
        n += head >> 5 == 7 ? take_u8(&r) : 0;
        if (head >= 32)
            far = ((head & 31) << 8 | take_u8(&r)) + 1;
        if (r.bad || n > room - at || far > at)
            return false;
        if (literal)
            memcpy(out + at, literal, n);
        for (size_t i = 0; !literal && i < n; i++) /* what is copied may overlap its copy */
            out[at + i] = out[at + i - far];
        at += n;
    }
    return at == room;
}

/* H5Z_func_t: returns the number of bytes in *data, 0 on failure. The third value of the filter is a chunk's size. */
static size_t lzf(unsigned flags, size_t values, const unsigned *value, size_t size, size_t *room, void **data)
{
    enum { MOST = 88 }; /* three bytes unpack to at most 264 */
    const size_t chunk = flags & H5Z_FLAG_REVERSE && values >= 3 ? value[2] : 0;
    uint8_t *out = chunk && chunk / MOST <= size ? malloc(chunk) : NULL;
    if (!out || !unpack((Bytes){*data, size}, out, chunk)) {
        free(out);
        return 0;
    }
    free(*data);
    *data = out;
    *room = chunk;
    return chunk;
}

const H5Z_class2_t hdf5_lzf = {
    .version = H5Z_CLASS_T_VERS, .id = 32000, .encoder_present = 0, .decoder_present = 1, .name = "lzf", .filter = lzf};
