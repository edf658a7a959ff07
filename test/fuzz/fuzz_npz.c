/* fuzz_npz.c -- fuzzes the readers of .npz and .npy files: they must refuse the file with a reason, or list arrays
 * that lie within the file and can be read. */
#include "rig/array_fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_arrays(data, size, FILE_ZIP);
    fuzz_arrays(data, size, FILE_NPY);
    return 0;
}
