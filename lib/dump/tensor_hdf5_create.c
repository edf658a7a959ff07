/* tensor_hdf5_create.c -- creates a dump, after a child process has tried the HDF5 library. */
#include "dump/tensor_hdf5.h"

static Status check_ending(const char *path, Error *err)
{
    static const char *const others[] = {".npz", ".npy", ".safetensors", ".pt", ".pth"};
    const char *dot = strrchr(path, '.');
    for (size_t i = 0; dot && i < countof(others); i++)
        if (!strcmp(dot, others[i])) {
            FAIL(err, ERR_USAGE, "%s: a dump is written as HDF5; want a name that ends in .h5", path);
            return error_hint(err, "atomo-bench convert FILE.h5 OUT.npz (or .safetensors) writes it anew");
        }
    return OK;
}

Status dump_create(DumpWriter **out, const char *path, Error *err)
{
    const char *version;
    hid_t file;
    TRY(check_ending(path, err));
    if (hdf5_library(&version, err) != OK || hdf5_ready(err) != OK)
        return error_at(err, "%s", path);
    return writer_create(out, path, &file, err);
}
