/* symbols_rans.c -- rANS as a coder of symbols. */
#include "coder/symbols_parts.h"

static bool open_table(Table *t, uint32_t alphabet, Arena *scratch)
{
    (void)t, (void)alphabet, (void)scratch;
    return true;
}

static uint64_t build(Table *t, uint32_t alphabet, const uint64_t *count)
{
    return rans_build(&t->rans, alphabet, count) ? rans_bits(&t->rans, count, 0) : UINT64_MAX;
}

static uint64_t table_bits(const Table *t)
{
    return rans_table_bits(&t->rans);
}

static void put_table(const Table *t, BitWriter *w)
{
    rans_table_put(&t->rans, w);
}

static bool get_table(Table *t, uint32_t alphabet, BitReader *r)
{
    return rans_table_get(&t->rans, alphabet, r);
}

static size_t stream_most(const Table *t, size_t n)
{
    (void)t;
    return rans_most(n, RANS_LANES);
}

void symbols_ranks(const Table *t, const uint16_t *symbol, size_t n, uint8_t *byte)
{
    uint8_t rank[RANS_ALPHABET];
    for (uint32_t k = 0; k < t->rans.present; k++)
        rank[t->rans.symbol[k]] = (uint8_t)rans_byte(&t->rans, k);
    for (size_t i = 0; i < n; i++)
        byte[i] = rank[symbol[i]];
}

static size_t stream_put(const Table *t, unsigned lanes, const uint16_t *symbol, size_t n, uint8_t *end)
{
    uint8_t byte[BLOCK];
    RansWriter w;
    rans_writer(&w, &t->rans);
    symbols_ranks(t, symbol, n, byte);
    return rans_put(&w, lanes, byte, n, end);
}

static bool ready(Table *t, size_t n, Arena *scratch)
{
    (void)n;
    t->reader = arena_take(scratch, 1, rans_reader_size(&t->rans));
    if (t->reader)
        rans_reader(t->reader, &t->rans);
    return t->reader;
}

static bool stream_open(Stream *s, const Table *t, unsigned lanes, Bytes in)
{
    *s = (Stream){.table = t, .words = reader_open(in)};
    return rans_open(t->reader, &s->lanes, lanes, &s->words);
}

static bool stream_bytes(Stream *s, size_t n, uint8_t *symbol)
{
    return rans_pull(s->table->reader, &s->lanes, &s->words, n, symbol);
}

static bool stream_get(Stream *s, size_t n, uint16_t *symbol)
{
    const Rans *rans = &s->table->rans;
    uint8_t byte[STRETCH];
    if (!stream_bytes(s, n, byte))
        return false;
    for (size_t i = 0; i < n; i++)
        symbol[i] = rans_ranks(rans) ? rans->symbol[byte[i]] : byte[i];
    return true;
}

static bool stream_end(const Stream *s)
{
    return rans_ended(s->table->reader, &s->lanes, &s->words);
}

const Coder symbols_rans = {
    .many = true,
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
    .stream_bytes = stream_bytes,
    .stream_end = stream_end,
};
