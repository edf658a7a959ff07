/* tensor_hdf5_reason.c -- the HDF5 library's error stack as a few words for one line. */
#include "dump/tensor_hdf5.h"

#include <stdio.h>
#include <stdlib.h>

static herr_t innermost(unsigned n, const H5E_error2_t *error, void *data)
{
    if (n == 0 && error->desc)
        snprintf(data, HDF5_REASON, "%.*s", HDF5_REASON - 1, error->desc);
    return 0;
}

const char *hdf5_reason(char out[HDF5_REASON])
{
    snprintf(out, HDF5_REASON, "no reason given");
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, innermost, out);
    const char *number = strstr(out, "errno = ");
    const int cause = number ? atoi(number + strlen("errno = ")) : 0;
    if (cause) /* the rest is times and addresses */
        snprintf(out, HDF5_REASON, "%s%s", strstr(out, "lock file") ? "unable to lock file: " : "",
                 strerror(cause));
    out[strcspn(out, "\n")] = 0;
    return out;
}
