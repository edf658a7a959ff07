/* symbols_stream.c -- a table and a block's stream, by either coder. */
#include "symbols_parts.h"

static size_t table_bytes(uint64_t bits)
{
    return (size_t)((bits + 7) / 8);
}

uint64_t table_cost(const Symbols *s, uint32_t alphabet, const uint64_t *count, Table *t)
{
    if (s->coder == CODER_RANS)
        return rans_build(&t->rans, alphabet, count)
                   ? 8 * table_bytes(rans_table_bits(&t->rans)) + rans_bits(&t->rans, count, 0)
                   : UINT64_MAX;
    t->huffman.alphabet = alphabet;
    if (huffman_build(&t->huffman, count))
        return 8 * table_bytes(huffman_table_bits(&t->huffman)) + huffman_bits(&t->huffman, count);
    t->starved = true;
    return UINT64_MAX;
}

size_t table_size(const Symbols *s, const Table *t)
{
    return table_bytes(s->coder == CODER_HUFFMAN ? huffman_table_bits(&t->huffman)
                                                 : rans_table_bits(&t->rans));
}

size_t table_put(const Symbols *s, const Table *t, uint8_t *to, size_t most)
{
    BitWriter w = bits_writer(to, most);
    if (s->coder == CODER_HUFFMAN)
        huffman_table_put(&t->huffman, &w);
    else
        rans_table_put(&t->rans, &w);
    bits_close(&w);
    assert(!w.full);
    return (size_t)(w.at - to);
}

static size_t put_huffman(const Huffman *h, const uint16_t *symbol, size_t n, uint8_t *end)
{
    uint64_t bits = 0;
    for (size_t i = 0; i < n; i++)
        bits += h->length[symbol[i]];
    const size_t size = (size_t)((bits + 7) / 8);
    BitWriter w = bits_writer(end - size, size);
    huffman_put(h, symbol, n, &w);
    bits_close(&w);
    return size;
}

static size_t put_rans(const Rans *r, unsigned lanes, const uint16_t *symbol, size_t n, uint8_t *end)
{
    uint8_t byte[BLOCK], rank[RANS_ALPHABET];
    RansWriter w;
    rans_writer(&w, r);
    for (uint32_t k = 0; k < r->present; k++)
        rank[r->symbol[k]] = (uint8_t)rans_byte(r, k);
    for (size_t i = 0; i < n; i++)
        byte[i] = rank[symbol[i]];
    return rans_put(&w, lanes, byte, n, end - rans_most(n, lanes));
}

size_t stream_put(const Symbols *s, const Form *f, const Table *t, const uint16_t *symbol, size_t n,
                  uint8_t *end)
{
    return s->coder == CODER_HUFFMAN ? put_huffman(&t->huffman, symbol, n, end)
                                     : put_rans(&t->rans, form_lanes(f), symbol, n, end);
}
