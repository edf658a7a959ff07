/* hdf5_make.h -- writes valid and invalid HDF5 files for tests of the code that reads HDF5. */
#ifndef ATOMO_HDF5_MAKE_H
#define ATOMO_HDF5_MAKE_H

#define H5_USE_110_API
#include <hdf5.h>

#include "rig/scratch_dir.h"

/* Creates an HDF5 file: in the format of HDF5 1.10 if `latest`, else in the library's oldest format, whose
 * metadata has no checksums. */
static inline hid_t make_file(const char *path, bool latest)
{
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    if (latest)
        H5Pset_libver_bounds(access, H5F_LIBVER_V110, H5F_LIBVER_V110);
    const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, access);
    H5Pclose(access);
    check(file >= 0);
    return file;
}

static inline void make_group(hid_t file, const char *path)
{
    const hid_t group = H5Gcreate2(file, path, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    check(group >= 0);
    H5Gclose(group);
}

/* Writes the n numbers 0.5 (i mod 2048), stored as `type`. `creation` may be H5P_DEFAULT. */
static inline void make_floats(hid_t file, const char *path, hid_t type, size_t n, hid_t creation)
{
    const hsize_t dim = n;
    double *x = calloc(n + 1, sizeof *x);
    for (size_t i = 0; i < n; i++)
        x[i] = 0.5 * (double)(i % 2048);
    const hid_t space = H5Screate_simple(1, &dim, NULL);
    const hid_t dataset = H5Dcreate2(file, path, type, space, H5P_DEFAULT, creation, H5P_DEFAULT);
    check(dataset >= 0);
    check(H5Dwrite(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, x) >= 0);
    H5Dclose(dataset);
    H5Sclose(space);
    free(x);
}

static inline void make_text_attr(hid_t file, const char *path, const char *name, const char *value)
{
    const hid_t object = H5Oopen(file, path, H5P_DEFAULT), space = H5Screate(H5S_SCALAR),
                type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, strlen(value) + 1);
    const hid_t attr = H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    check(H5Awrite(attr, type, value) >= 0);
    H5Aclose(attr);
    H5Tclose(type);
    H5Sclose(space);
    H5Oclose(object);
}

static inline void make_int_attr(hid_t file, const char *path, const char *name, int value)
{
    const hid_t object = H5Oopen(file, path, H5P_DEFAULT), space = H5Screate(H5S_SCALAR);
    const hid_t attr = H5Acreate2(object, name, H5T_STD_I16BE, space, H5P_DEFAULT, H5P_DEFAULT);
    check(H5Awrite(attr, H5T_NATIVE_INT, &value) >= 0);
    H5Aclose(attr);
    H5Sclose(space);
    H5Oclose(object);
}

/* Returns the type of IEEE half precision, big- or little-endian. */
static inline hid_t half_type(bool big)
{
    const hid_t type = H5Tcopy(big ? H5T_IEEE_F32BE : H5T_IEEE_F32LE);
    check(H5Tset_fields(type, 15, 10, 5, 0, 10) >= 0 && H5Tset_size(type, 2) >= 0 &&
          H5Tset_ebias(type, 15) >= 0);
    return type;
}

#endif
