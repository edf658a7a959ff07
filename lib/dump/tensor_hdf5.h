/* tensor_hdf5.h -- declarations that the reader process, its parent and the writer of dumps share. Only
 * tensor_hdf5*.c include it. */
#ifndef ATOMO_TENSOR_HDF5_H
#define ATOMO_TENSOR_HDF5_H

#define H5_USE_110_API
#include <hdf5.h>

/* HDF5's own constants, such as H5F_ACC_RDONLY, then call no function. */
#undef H5CHECK
#undef H5OPEN
#define H5CHECK
#define H5OPEN

#include "base/dynamic.h"
#include "dump/array_file.h"
#include "dump/tensor_stream.h"

enum { HDF5_REASON = 256 };

/* If the shared memory has more bytes than this, its pages are freed as soon as they have been copied. */
enum { SHARED_KEEP = 1 << 26 };

/* ---- the library, which tensor_hdf5_load.c loads ---- */

/* The functions that the programs call, without the H5 of their names. */
/* clang-format off */
#define HDF5_FUNCTIONS(X)                                                                                    \
    X(Aclose) X(Acreate2) X(Aexists) X(Aget_space) X(Aget_type) X(Aiterate2) X(Aopen) X(Aread) X(Awrite)     \
    X(Dclose) X(Dcreate2) X(Dget_create_plist) X(Dget_offset) X(Dget_space) X(Dget_storage_size)             \
    X(Dget_type) X(Dopen2) X(Dread) X(Dwrite) X(Eset_auto2) X(Ewalk2) X(Fclose) X(Fcreate) X(Fflush)         \
    X(Fopen) X(Gclose) X(Gcreate2) X(Gget_create_plist) X(Gopen2) X(Lexists)            \
    X(Literate) X(Oclose) X(Oget_info2) X(Oopen) X(Oset_comment) X(PLset_loading_state) X(Pclose)            \
    X(Pcreate) X(Pget_attr_creation_order) X(Pget_external_count) X(Pget_filter2) X(Pget_layout)             \
    X(Pget_link_creation_order) X(Pget_nfilters) X(Pset_attr_creation_order)               \
    X(Pset_fill_time) X(Pset_libver_bounds) X(Pset_link_creation_order) X(Pset_obj_track_times) X(Sclose)    \
    X(Screate) X(Screate_simple) X(Sget_simple_extent_dims) X(Sget_simple_extent_ndims)                      \
    X(Sget_simple_extent_npoints) X(Sget_simple_extent_type) X(Tclose) X(Tconvert) X(Tcopy)        \
    X(Tget_class) X(Tget_ebias) X(Tget_fields) X(Tget_native_type) X(Tget_order) X(Tget_precision) X(Tget_size) X(Tget_strpad) X(Tget_super)                \
    X(Tis_variable_str) X(Tset_cset) X(Tset_size) X(Zfilter_avail) X(Zregister) X(dont_atexit) X(free_memory) X(open)
/* clang-format on */

/* Its variables: the types and classes whose macros in hdf5.h, such as H5T_NATIVE_FLOAT, read them; without H5 and _g. */
/* clang-format off */
#define HDF5_VARIABLES(X)                                                                                    \
    X(T_NATIVE_FLOAT) X(T_NATIVE_DOUBLE) X(T_NATIVE_INT64) X(T_IEEE_F32LE)                \
    X(T_IEEE_F64LE) X(T_STD_I64LE) X(T_C_S1) X(P_CLS_FILE_ACCESS_ID) X(P_CLS_FILE_CREATE_ID)                 \
    X(P_CLS_GROUP_CREATE_ID) X(P_CLS_DATASET_CREATE_ID)
/* clang-format on */

typedef struct {
#define FUNCTION(name) __typeof__(H5##name) *name;
    HDF5_FUNCTIONS(FUNCTION)
#undef FUNCTION
#define VARIABLE(name) const hid_t *name;
    HDF5_VARIABLES(VARIABLE)
#undef VARIABLE
    const char *lib_vers_info; /* "HDF5 library version: 1.10.8" */
} Hdf5;

/* h5.Dread is HDF5's H5Dread, and *h5.T_C_S1 its H5T_C_S1. Usable after hdf5_ready. */
extern Hdf5 h5;

/* Loads and starts the HDF5 library unless it has been started. Fails if it cannot be loaded. */
Status hdf5_ready(Error *err);

extern const H5Z_class2_t hdf5_lzf; /* tensor_hdf5_lzf.c */

/* Returns why the HDF5 library's last call failed: the system's error if there is one, else the library's
 * innermost message. */
const char *hdf5_reason(char out[HDF5_REASON]);

/* Runs the reader process; never returns. `socket` and `memory` (shared memory) are the reader's only
 * connections to the parent process. */
_Noreturn void reader_run(int socket, int memory, const char *file, FileKind kind, uint64_t file_size,
                          const DumpHints *hints);

#endif
