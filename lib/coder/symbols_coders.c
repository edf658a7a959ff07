/* symbols_coders.c -- implements the interface Coder (symbols_parts.h) with Huffman and with rANS; tables are
 * padded to whole bytes. */
#include "coder/symbols_parts.h"

/* ---- Huffman ---- */

enum { LOOK_FROM = 2048 }; /* for fewer symbols, making a look-up table takes more time than it saves */

static bool open_huffman(Table *t, uint32_t alphabet, Arena *scratch)
{
    return huffman_open(&t->huffman, alphabet, scratch);
}

static uint64_t build_huffman(Table *t, uint32_t alphabet, const uint64_t *count)
{
    t->huffman.alphabet = alphabet;
    if (huffman_build(&t->huffman, count))
        return huffman_bits(&t->huffman, count);
    t->starved = true;
    return UINT64_MAX;
}

static uint64_t table_bits_huffman(const Table *t)
{
    return huffman_table_bits(&t->huffman);
}

static void table_put_huffman(const Table *t, BitWriter *w)
{
    huffman_table_put(&t->huffman, w);
}

static bool table_get_huffman(Table *t, uint32_t alphabet, BitReader *r)
{
    t->huffman.alphabet = alphabet;
    return huffman_table_get(&t->huffman, r);
}

static size_t stream_most_huffman(const Table *t, size_t n)
{
    return (huffman_longest(&t->huffman) * n + 7) / 8;
}

static size_t stream_put_huffman(const Table *t, unsigned lanes, const uint16_t *symbol, size_t n,
                                 uint8_t *end)
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

static bool ready_huffman(Table *t, size_t n, Arena *scratch)
{
    (void)scratch; /* not used: huffman_ready takes memory from the arena that huffman_open was given */
    return n < LOOK_FROM || huffman_ready(&t->huffman);
}

static bool stream_open_huffman(Stream *s, const Table *t, unsigned lanes, Bytes in)
{
    (void)lanes;
    *s = (Stream){.table = t, .bits = bits_reader(in)};
    return true;
}

static bool stream_get_huffman(Stream *s, size_t n, uint16_t *symbol)
{
    return huffman_get(&s->table->huffman, &s->bits, n, symbol);
}

static bool stream_end_huffman(const Stream *s)
{
    return bits_finish(&s->bits);
}

static const Coder huffman_coder = {
    .open = open_huffman,
    .build = build_huffman,
    .table_bits = table_bits_huffman,
    .table_put = table_put_huffman,
    .table_get = table_get_huffman,
    .stream_most = stream_most_huffman,
    .stream_put = stream_put_huffman,
    .ready = ready_huffman,
    .stream_open = stream_open_huffman,
    .stream_get = stream_get_huffman,
    .stream_end = stream_end_huffman,
};

/* ---- rANS ---- */

static bool open_rans(Table *t, uint32_t alphabet, Arena *scratch)
{
    (void)t, (void)alphabet, (void)scratch;
    return true;
}

static uint64_t build_rans(Table *t, uint32_t alphabet, const uint64_t *count)
{
    return rans_build(&t->rans, alphabet, count) ? rans_bits(&t->rans, count, 0) : UINT64_MAX;
}

static uint64_t table_bits_rans(const Table *t)
{
    return rans_table_bits(&t->rans);
}

static void table_put_rans(const Table *t, BitWriter *w)
{
    rans_table_put(&t->rans, w);
}

static bool table_get_rans(Table *t, uint32_t alphabet, BitReader *r)
{
    return rans_table_get(&t->rans, alphabet, r);
}

static size_t stream_most_rans(const Table *t, size_t n)
{
    (void)t;
    return rans_most(n, RANS_LANES);
}

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

static size_t stream_put_rans(const Table *t, unsigned lanes, const uint16_t *symbol, size_t n, uint8_t *end)
{
    uint8_t byte[BLOCK];
    RansWriter w;
    rans_writer(&w, &t->rans);
    symbols_to_bytes(t, symbol, n, byte);
    return rans_put(&w, lanes, byte, n, end);
}

static size_t bytes_put_rans(const Table *t, unsigned lanes, const uint8_t *symbol, size_t n, uint8_t *end)
{
    RansWriter w;
    rans_writer(&w, &t->rans);
    return rans_put(&w, lanes, symbol, n, end);
}

static void several_put_rans(const Table *const t[RANS_SEVERAL], const uint8_t *const symbol[RANS_SEVERAL],
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

static bool ready_rans(Table *t, size_t n, Arena *scratch)
{
    (void)n;
    t->reader = arena_take(scratch, 1, rans_reader_size(&t->rans));
    if (t->reader)
        rans_reader(t->reader, &t->rans);
    return t->reader;
}

static bool stream_open_rans(Stream *s, const Table *t, unsigned lanes, Bytes in)
{
    *s = (Stream){.table = t, .words = reader_open(in)};
    return rans_open(t->reader, &s->lanes, lanes, &s->words);
}

static bool stream_bytes_rans(Stream *s, size_t n, uint8_t *symbol)
{
    return rans_pull(s->table->reader, &s->lanes, &s->words, n, symbol);
}

static void several_bytes_rans(Stream *const s[RANS_SEVERAL], size_t n, uint8_t *const symbol[RANS_SEVERAL],
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

static bool stream_get_rans(Stream *s, size_t n, uint16_t *symbol)
{
    const Rans *rans = &s->table->rans;
    uint8_t byte[STRETCH];
    if (!stream_bytes_rans(s, n, byte))
        return false;
    for (size_t i = 0; i < n; i++)
        symbol[i] = rans_ranks(rans) ? rans->symbol[byte[i]] : byte[i];
    return true;
}

static bool stream_end_rans(const Stream *s)
{
    return rans_ended(s->table->reader, &s->lanes, &s->words);
}

static const Coder rans_coder = {
    .is_rans = true,
    .open = open_rans,
    .build = build_rans,
    .table_bits = table_bits_rans,
    .table_put = table_put_rans,
    .table_get = table_get_rans,
    .stream_most = stream_most_rans,
    .stream_put = stream_put_rans,
    .bytes_put = bytes_put_rans,
    .several_put = several_put_rans,
    .ready = ready_rans,
    .stream_open = stream_open_rans,
    .stream_get = stream_get_rans,
    .stream_bytes = stream_bytes_rans,
    .several_bytes = several_bytes_rans,
    .stream_end = stream_end_rans,
};

/* ---- choosing between Huffman and rANS ---- */

const Coder *symbols_coder(const Symbols *s)
{
    static const Coder *const coders[] = {[CODER_HUFFMAN] = &huffman_coder, [CODER_RANS] = &rans_coder};
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
