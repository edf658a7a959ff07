/* fuzz_descriptor.c -- fuzzes the messages in which the reader process lists the tensors of an HDF5 file. A
 * listing must be accepted as valid or refused, without a crash.
 *
 * Input: the size that the file claims to have (2 bytes, in units of 64 bytes), then messages. A message is its
 * length (u16) and this many bytes. */
#include "dump/tensor_stream.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Reads all fields of a listing, so that AddressSanitizer detects invalid pointers and sizes. */
static size_t walk(const Listing *l)
{
    size_t sum = 0;
    for (size_t i = 0; i < l->tensors; i++) {
        const TensorInfo *t = &l->tensor[i].info;
        if (l->tensor[i].number >= l->tensors || t->shape.n > elements_limit(l->file_size) ||
            !path_valid(t->path) || t->name < t->path || t->display < t->name)
            abort();
        if (l->tensor[i].at != NOWHERE && l->tensor[i].at + t->shape.n * sizeof(float) > l->file_size)
            abort();
        sum += strlen(t->display) + (t->step_group ? strlen(t->step_group) : 0) + strlen(kind_names[t->kind]);
        for (size_t k = 0; k < t->attrs.count; k++)
            sum += strlen(t->attrs.item[k].name) +
                   (t->attrs.item[k].type == ATTR_TEXT ? strlen(t->attrs.item[k].text) : 0);
    }
    for (size_t i = 1; i < l->tensors; i++)
        if (l->tensor[i].info.step_group && l->tensor[i - 1].info.step_group &&
            l->tensor[i].info.step < l->tensor[i - 1].info.step)
            abort();
    return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Reader r = reader_open((Bytes){data, size});
    const uint8_t *claim = take_bytes(&r, 2);
    Arena *a = arena_open((size_t)1 << 24);
    Error err = {0};
    Listing l = {.arena = a, .file_size = claim ? 64 * (uint64_t)load_u16(claim) : 0};
    Status status = OK;
    while (status == OK && reader_left(&r) >= 2) {
        const size_t length = load_u16(take_bytes(&r, 2));
        const uint8_t *from = take_bytes(&r, length);
        /* copied to a block of its exact size, so that AddressSanitizer detects reads past the end */
        uint8_t *exact = malloc(length + 1);
        if (from && length)
            memcpy(exact, from, length);
        status = from ? listing_take(&l, (Bytes){exact, length}, &err) : ERR_CORRUPT;
        if (status != OK && from && !*err.text)
            abort();
        free(exact);
    }
    if (status == OK && listing_finish(&l, &err) == OK && walk(&l) == SIZE_MAX)
        abort();
    arena_close(a);
    return 0;
}
