/* fuzz_indices.c -- fuzzes the reader of coded index sets. It must refuse the input or return increasing
 * indices below n. If it accepts a set, writing and reading the set must give the same indices.
 *
 * Input: n (four bytes), then the coded set. */
#include "coder/indices.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const size_t *list_of(const Places *set, size_t n, Arena *a)
{
    size_t *index = NEW(a, size_t, set->count), found = 0;
    if (set->before[blocks_of(n)] != set->count)
        abort();
    for (size_t b = 0; b < blocks_of(n); b++)
        for (; found < set->before[b + 1]; found++) {
            index[found] = b * BLOCK + set->at[found];
            if (index[found] >= n || (found && index[found] <= index[found - 1]))
                abort();
        }
    return index;
}

static void same_again(const Places *set, size_t n, Arena *a)
{
    Places back;
    Buf out = {NEW(a, uint8_t, indices_bound(n)), 0, indices_bound(n)};
    const size_t *index = list_of(set, n, a);
    const Indices list = indices_list(index, set->count);
    indices_put(&list, n, &out);
    Reader in = reader_open(buf_bytes(&out));
    if (!indices_get(&in, n, a, &back) || !reader_done(&in) || back.count != set->count ||
        memcmp(index, list_of(&back, n, a), set->count * sizeof *index))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 4)
        return 0;
    Arena *a = arena_open(0);
    const size_t n = load_u32(data) % 1000003;
    /* copied to a block of the exact size, so that AddressSanitizer detects reads past the end */
    uint8_t *exact = malloc(size - 4 + 1);
    Places set;
    memcpy(exact, data + 4, size - 4);
    Reader in = reader_open((Bytes){exact, size - 4});
    if (indices_get(&in, n, a, &set))
        same_again(&set, n, a);
    free(exact);
    arena_close(a);
    return 0;
}
