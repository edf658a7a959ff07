/* classes_vec.c -- splits codes into classes of magnitudes and the bits that a class leaves open (symbols.h, kind 3). */
#include "math/vec/pen.h"

size_t ISA_NAME(split_classes)(const uint32_t *code, size_t n, int width, int lead, uint16_t *symbol,
                               BitWriter *writer)
{
    size_t i = 0;
#if VEC_BYTES > 16
    const uint32_t magnitudes = (UINT32_C(1) << (width - 1)) - 1;
    Pen pen = pen_open(writer);
    for (; i + LANES <= n && writer->end - pen.at >= PEN_ROOM; i += LANES) {
        const VecU c = load_u(code + i), m = c & magnitudes;
        /* the exponent of m as a float is floor(log2 m), as m < 2^24 */
        const VecI above = (VecI)((VecU)real((VecI)m) >> 23) - (127 + lead);
        const VecU open = (VecU)(above & (VecI)(above > 0)), class = (open << lead) + (m >> open);
        if (!put_lanes(&pen, (WordsU){m & ((set_u(1) << open) - 1), open}))
            break;
        store_halves((uint8_t *)(symbol + i), 2 * class + (c >> (width - 1)));
    }
    pen_close(pen, writer);
#else
    (void)code, (void)n, (void)width, (void)lead, (void)symbol, (void)writer;
#endif
    return i;
}
