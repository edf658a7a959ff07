/* symbols_coders.c -- tables and streams of rANS for the blocks of symbols.h (symbols_parts.h); tables are
 * padded to whole bytes. */
#include "coder/symbols_parts.h"

/* Converts symbols to the bytes that a rANS stream codes. If every symbol of the alphabet fits in a byte, these
 * are the symbols themselves. Otherwise (rans_ranks) a symbol becomes its index in the list of the symbols that
 * occur. */
static void symbols_to_bytes(const Table *t, const uint16_t *symbol, size_t n, uint8_t *byte)
{
    uint8_t rank[RANS_ALPHABET];
    for (uint32_t k = 0; k < t->rans.present; k++)
        rank[t->rans.symbol[k]] = (uint8_t)rans_byte(&t->rans, k);
    for (size_t i = 0; i < n; i++)
        byte[i] = rank[symbol[i]];
}

size_t symbols_stream_put(const Table *t, unsigned lanes, const uint16_t *symbol, size_t n, uint8_t *end)
{
    uint8_t byte[BLOCK];
    RansWriter w;
    rans_writer(&w, &t->rans);
    symbols_to_bytes(t, symbol, n, byte);
    return rans_put(&w, lanes, byte, n, end);
}

size_t bytes_put(const Table *t, unsigned lanes, const uint8_t *symbol, size_t n, uint8_t *end)
{
    RansWriter w;
    rans_writer(&w, &t->rans);
    return rans_put(&w, lanes, symbol, n, end);
}

void several_put(const Table *const t[RANS_SEVERAL], const uint8_t *const symbol[RANS_SEVERAL],
                             size_t n, uint8_t *const end[RANS_SEVERAL], size_t size[RANS_SEVERAL])
{
    RansWriter own[RANS_SEVERAL];
    const RansWriter *w[RANS_SEVERAL];
    for (int k = 0; k < RANS_SEVERAL; k++) {
        w[k] = k && t[k] == t[0] ? own : &own[k];
        if (w[k] == &own[k])
            rans_writer(&own[k], &t[k]->rans);
    }
    rans_put_several(w, symbol, n, end, size);
}

bool table_ready(Table *t, Arena *scratch)
{
    t->reader = arena_take(scratch, 1, rans_reader_size(&t->rans));
    if (t->reader)
        rans_reader(t->reader, &t->rans);
    return t->reader;
}

bool symbols_stream_open(Stream *s, const Table *t, unsigned lanes, Bytes in)
{
    *s = (Stream){.table = t, .words = reader_open(in)};
    return rans_open(t->reader, &s->lanes, lanes, &s->words);
}

bool symbols_stream_bytes(Stream *s, size_t n, uint8_t *symbol)
{
    return rans_pull(s->table->reader, &s->lanes, &s->words, n, symbol);
}

void several_bytes(Stream *const s[RANS_SEVERAL], size_t n, uint8_t *const symbol[RANS_SEVERAL],
                               bool good[RANS_SEVERAL])
{
    const RansReader *r[RANS_SEVERAL];
    RansLanes *lanes[RANS_SEVERAL];
    Reader *words[RANS_SEVERAL];
    for (int k = 0; k < RANS_SEVERAL; k++) {
        r[k] = s[k]->table->reader;
        lanes[k] = &s[k]->lanes;
        words[k] = &s[k]->words;
    }
    rans_pull_several(r, lanes, words, n, symbol, good);
}

bool symbols_stream_get(Stream *s, size_t n, uint16_t *symbol)
{
    const Rans *rans = &s->table->rans;
    uint8_t byte[STRETCH];
    if (!symbols_stream_bytes(s, n, byte))
        return false;
    for (size_t i = 0; i < n; i++)
        symbol[i] = rans_ranks(rans) ? rans->symbol[byte[i]] : byte[i];
    return true;
}

bool symbols_stream_end(const Stream *s)
{
    return rans_ended(s->table->reader, &s->lanes, &s->words);
}

size_t table_size(const Table *t)
{
    return (size_t)((rans_table_bits(&t->rans) + 7) / 8);
}

uint64_t table_cost(uint32_t alphabet, const uint64_t *count, Table *t)
{
    return rans_build(&t->rans, alphabet, count) ? rans_bits(&t->rans, count, 0) + 8 * (uint64_t)table_size(t)
                                                 : UINT64_MAX;
}

void table_put(const Table *t, uint8_t *to)
{
    BitWriter w = bits_writer(to, table_size(t));
    rans_table_put(&t->rans, &w);
    bits_close(&w);
    assert(!w.full);
}

bool table_get(uint32_t alphabet, Table *t, Bytes *in)
{
    BitReader r = bits_reader(*in);
    if (!rans_table_get(&t->rans, alphabet, &r))
        return false;
    if (bits_get(&r, (unsigned)(-r.at & 7)) != 0 || r.bad)
        return false;
    in->data += r.at / 8;
    in->size -= (size_t)(r.at / 8);
    return true;
}
