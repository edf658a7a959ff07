/* symbols_huffman.c -- Huffman as a coder of symbols. */
#include "coder/symbols_parts.h"

enum { LOOK_FROM = 2048 }; /* symbols that pay for a table of looks */

static bool open_table(Table *t, uint32_t alphabet, Arena *scratch)
{
    return huffman_open(&t->huffman, alphabet, scratch);
}

static uint64_t build(Table *t, uint32_t alphabet, const uint64_t *count)
{
    t->huffman.alphabet = alphabet;
    if (huffman_build(&t->huffman, count))
        return huffman_bits(&t->huffman, count);
    t->starved = true;
    return UINT64_MAX;
}

static uint64_t table_bits(const Table *t)
{
    return huffman_table_bits(&t->huffman);
}

static void put_table(const Table *t, BitWriter *w)
{
    huffman_table_put(&t->huffman, w);
}

static bool get_table(Table *t, uint32_t alphabet, BitReader *r)
{
    t->huffman.alphabet = alphabet;
    return huffman_table_get(&t->huffman, r);
}

static size_t stream_most(const Table *t, size_t n)
{
    return (huffman_longest(&t->huffman) * n + 7) / 8;
}

static size_t stream_put(const Table *t, unsigned lanes, const uint16_t *symbol, size_t n, uint8_t *end)
{
    (void)lanes;
    uint64_t bits = 0;
    for (size_t i = 0; i < n; i++)
        bits += t->huffman.length[symbol[i]];
    const size_t size = (size_t)((bits + 7) / 8);
    BitWriter w = bits_writer(end - size, size);
    huffman_put(&t->huffman, symbol, n, &w);
    bits_close(&w);
    return size;
}

static bool ready(Table *t, size_t n, Arena *scratch)
{
    (void)scratch; /* the table has its own */
    return n < LOOK_FROM || huffman_ready(&t->huffman);
}

static bool stream_open(Stream *s, const Table *t, unsigned lanes, Bytes in)
{
    (void)lanes;
    *s = (Stream){.table = t, .bits = bits_reader(in)};
    return true;
}

static bool stream_get(Stream *s, size_t n, uint16_t *symbol)
{
    return huffman_get(&s->table->huffman, &s->bits, n, symbol);
}

static bool stream_end(const Stream *s)
{
    return bits_finish(&s->bits);
}

const Coder symbols_huffman = {
    .open = open_table,
    .build = build,
    .table_bits = table_bits,
    .table_put = put_table,
    .table_get = get_table,
    .stream_most = stream_most,
    .stream_put = stream_put,
    .ready = ready,
    .stream_open = stream_open,
    .stream_get = stream_get,
    .stream_end = stream_end,
};
