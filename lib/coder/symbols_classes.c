/* symbols_classes.c -- wide codes as classes that share their leading bits, and the bits that those leave open.
 *
 * A shift cuts all codes alike; where most are small and some very large, that drowns the small ones in low
 * bits. Classes grow with what is in them: within a class the law is flat to a part in 2^lead. */
#include "coder/symbols_parts.h"

void classes_count(const Symbols *s, const uint32_t *code, size_t n, uint32_t *count)
{
    memset(count, 0, class_alphabet(s, CLASS_MOST) * sizeof *count);
    for (size_t i = 0; i < n; i++)
        count[class_symbol(s, code[i], CLASS_MOST)]++;
}

uint64_t classes_merge(const Symbols *s, const uint64_t *finest, int lead, uint64_t *count)
{
    uint64_t open = 0;
    memset(count, 0, class_alphabet(s, lead) * sizeof *count);
    for (uint32_t symbol = 0; symbol < class_alphabet(s, CLASS_MOST); symbol++) {
        const uint32_t least = class_least(symbol / 2, CLASS_MOST);
        count[2 * class_of(least, lead) + (symbol & 1)] += finest[symbol];
        open += finest[symbol] * class_open(least, lead);
    }
    return open;
}

void classes_split(const Symbols *s, int lead, const uint32_t *code, size_t n, uint16_t *symbol,
                   BitWriter *open)
{
    const uint32_t magnitudes = (UINT32_C(1) << (s->width - 1)) - 1;
    BitWriter w = *open;
    for (size_t i = 0; i < n; i++) {
        const unsigned bits = class_open(code[i] & magnitudes, lead);
        symbol[i] = (uint16_t)class_symbol(s, code[i], lead);
        bits_put(&w, code[i] & ((UINT32_C(1) << bits) - 1), bits);
    }
    *open = w;
}

void classes_join(const Symbols *s, int lead, const uint16_t *symbol, size_t n, BitReader *open,
                  uint32_t *code)
{
    BitReader r = *open;
    for (size_t i = 0; i < n; i++) {
        const uint32_t least = class_least(symbol[i] / 2u, lead);
        code[i] = least | (symbol[i] & 1u) << (s->width - 1);
        code[i] |= (uint32_t)bits_get(&r, class_open(least, lead));
    }
    *open = r;
}
