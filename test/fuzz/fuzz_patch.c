/* fuzz_patch.c -- fuzzes the decoder of patches of 16-bit floats against a base of a few exponents: it must refuse the bytes, or
 * give words that patch_put codes again. */
#include "coder/patch.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { MOST = 300 };
    uint8_t old[2 * MOST];
    if (size < 10)
        return 0;
    Arena *a = arena_open(0);
    Error err = {0};
    const PatchBase base = {old, 1 + (size_t)data[0] % (MOST - 1), data[1] & 1 ? 7 : 10, 1};
    for (size_t i = 0; i < base.n; i++)
        store_u16(old + 2 * i, (uint16_t)(0x3c00 + (i * 37 % 5 << base.fraction) + (i & 1) * 0x8000 + i % 7));
    uint8_t *new = malloc(2 * base.n);
    Reader r = reader_open((Bytes){data + 2, size - 2});
    const Status status = patch_get(&base, &r, new, a, &err);
    Buf out = {.cap = patch_most(base.n)};
    out.data = malloc(out.cap);
    if ((status != OK && status != ERR_CORRUPT) || (status == OK && patch_put(&base, new, &out, a, &err) != OK))
        abort();
    free(out.data);
    free(new);
    arena_close(a);
    return 0;
}
