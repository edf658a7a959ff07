/* fuzz_npz.c -- fuzzes the readers of .npz and .npy: each must refuse the file with a reason, or list arrays that are
 * within the file and read each array. */
#include "rig/array_fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_arrays(data, size, FILE_ZIP);
    fuzz_arrays(data, size, FILE_NPY);
    return 0;
}
