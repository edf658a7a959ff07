/* bits.c -- writes and reads the last bytes of bit streams, where a load or store of eight bytes would pass the
 * end of the memory. */
#include "base/bits.h"

BitWriter bits_spill(BitWriter w)
{
    for (; w.count >= 8; w.count -= 8, w.held <<= 8) {
        if (w.at == w.end)
            w.full = true;
        else
            *w.at++ = (uint8_t)(w.held >> 56);
    }
    return w;
}

void bits_close(BitWriter *w)
{
    if (w->count)
        w->count = 8;
    *w = bits_spill(*w);
}

uint64_t bits_tail(const BitReader *r, uint64_t from)
{
    uint64_t v = 0;
    for (unsigned i = 0; i < 8; i++)
        v = v << 8 | (from + i < r->size ? r->data[from + i] : 0u);
    return v;
}

bool bits_finish(const BitReader *r)
{
    const uint64_t left = 8 * (uint64_t)r->size - r->at;
    return !r->bad && left < 8 && bits_peek(r) == 0;
}
