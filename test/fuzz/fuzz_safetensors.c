/* fuzz_safetensors.c -- fuzzes the reader of safetensors files. It must refuse the file with a reason, or list
 * arrays that lie within the file and can be read. */
#include "rig/array_fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_arrays(data, size, FILE_SAFETENSORS);
    return 0;
}
