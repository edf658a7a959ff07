/* fuzz_npz.c -- fuzzes the readers of .npz and .npy files. A reader must refuse the file with a reason.
 * Otherwise all arrays that it lists must lie within the file and be readable. */
#include "rig/array_fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_arrays(data, size, FILE_ZIP);
    fuzz_arrays(data, size, FILE_NPY);
    return 0;
}
