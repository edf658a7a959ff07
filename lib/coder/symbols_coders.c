/* symbols_coders.c -- tables of either coder, on whole bytes. */
#include "coder/symbols_parts.h"

const Coder *symbols_coder(const Symbols *s)
{
    static const Coder *const coders[] = {[CODER_HUFFMAN] = &symbols_huffman, [CODER_RANS] = &symbols_rans};
    return coders[s->coder];
}

size_t table_size(const Symbols *s, const Table *t)
{
    return (size_t)((symbols_coder(s)->table_bits(t) + 7) / 8);
}

uint64_t table_cost(const Symbols *s, uint32_t alphabet, const uint64_t *count, Table *t)
{
    const uint64_t bits = symbols_coder(s)->build(t, alphabet, count);
    return bits == UINT64_MAX ? bits : bits + 8 * (uint64_t)table_size(s, t);
}

void table_put(const Symbols *s, const Table *t, uint8_t *to)
{
    BitWriter w = bits_writer(to, table_size(s, t));
    symbols_coder(s)->table_put(t, &w);
    bits_close(&w);
    assert(!w.full);
}

bool table_get(const Symbols *s, uint32_t alphabet, Table *t, Bytes *in)
{
    BitReader r = bits_reader(*in);
    if (!symbols_coder(s)->table_get(t, alphabet, &r))
        return false;
    if (bits_get(&r, (unsigned)(-r.at & 7)) != 0 || r.bad)
        return false;
    in->data += r.at / 8;
    in->size -= (size_t)(r.at / 8);
    return true;
}
