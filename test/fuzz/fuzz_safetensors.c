/* fuzz_safetensors.c -- fuzzes the reader of safetensors: it must refuse the file with a reason, or list arrays that
 * are within the file and read each array. */
#include "rig/array_fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_arrays(data, size, FILE_SAFETENSORS);
    return 0;
}
