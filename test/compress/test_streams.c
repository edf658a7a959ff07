/* test_streams.c -- the functions with which encoders report the entropy of the numbers that they code. The
 * reported entropy must be exact. */
#include "compress/compressor.h"
#include "rig/check.h"

#include <math.h>

/* Returns `count` times the order-0 entropy of the gaps between indices, in bits. */
static double entropy_of_gaps(const size_t *index, size_t count)
{
    double bits = 0;
    for (size_t i = 0; i < count; i++) {
        const size_t gap = index[i] - (i ? index[i - 1] + 1 : 0);
        size_t same = 0;
        for (size_t j = 0; j < count; j++)
            same += index[j] - (j ? index[j - 1] + 1 : 0) == gap;
        bits += log2((double)count / (double)same);
    }
    return bits;
}

/* Some gaps are 4096 or more, which `streams_gaps` does not count in its table; of these, 5000 occurs more than
 * once. */
TEST(index_sets_count_the_entropy_of_their_gaps)
{
    static const size_t gap[] = {0, 3, 0, 3, 5000, 1, 5000, 4095, 4096, 9000, 3, 0, 70000, 5000, 2};
    size_t index[4 * countof(gap)], next = 0, count = 0;
    Streams s = {0};
    const Shape shape = shape_vector(500000);
    const Call c = {.shape = &shape, .streams = &s, .scratch = arena_open(0)};
    for (size_t i = 0; i < countof(index); i++) {
        index[count++] = next += gap[(i * i + i / 7) % countof(gap)];
        next++;
    }
    check(next <= shape.n);
    for (size_t some = 0; some <= count; some += 6) {
        const Indices set = indices_list(index, some);
        s = (Streams){0};
        streams_gaps(&c, &set);
        check(s.reported);
        check_near(s.entropy_bits, entropy_of_gaps(index, some), 1e-9);
    }
    const Call unasked = {.shape = &shape, .scratch = c.scratch};
    const Indices set = indices_list(index, count);
    streams_gaps(&unasked, &set); /* without `streams`, the call does nothing */
    arena_close(c.scratch);
}

TEST(symbols_count_their_order_0_entropy)
{
    Streams s = {0};
    /* 16 symbols with an entropy of 1.75 bits each */
    streams_symbols(&s, (const uint64_t[]){8, 4, 2, 0, 2}, 5);
    check_near(s.entropy_bits, 28, 1e-12);
    streams_symbols(&s, (const uint64_t[]){5, 0}, 2); /* equal symbols have entropy 0 */
    check_near(s.entropy_bits, 28, 1e-12);
}

TEST(streams_add_up)
{
    Streams s = {0};
    check(!s.reported);
    streams_floats(&s, 3);
    streams_bits(&s, 2.5);
    check_near(s.entropy_bits, 98.5, 1e-12);
    check(s.reported && !s.raw);
    streams_floats(NULL, 3); /* without `Streams`, the call does nothing */
}

CHECK_ALL(NULL, NULL)
