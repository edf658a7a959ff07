/* fuzz_indices.c -- the reader of index sets: whatever comes in is refused or is an increasing set under n,
 * and what was accepted is written and read back the same. Input: n (four bytes), then the set. */
#include "indices.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void same_again(const size_t *index, size_t count, size_t n, Arena *a)
{
    size_t *back, found;
    Buf out = {NEW(a, uint8_t, indices_bound(n)), 0, indices_bound(n)};
    indices_put(index, count, n, &out);
    Reader in = reader_open(buf_bytes(&out));
    if (!indices_get(&in, n, a, &back, &found) || !reader_done(&in) || found != count)
        abort();
    for (size_t i = 0; i < count; i++)
        if (back[i] != index[i])
            abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 4)
        return 0;
    Arena *a = arena_open(0);
    const size_t n = load_u32(data) % 1000003;
    uint8_t *exact = malloc(size - 4 + 1); /* its own block: a read past the end is seen */
    size_t *index, count;
    memcpy(exact, data + 4, size - 4);
    Reader in = reader_open((Bytes){exact, size - 4});
    if (indices_get(&in, n, a, &index, &count)) {
        for (size_t i = 0; i < count; i++)
            if (index[i] >= n || (i && index[i] <= index[i - 1]))
                abort();
        same_again(index, count, n, a);
    }
    free(exact);
    arena_close(a);
    return 0;
}
