/* tensor_hdf5_check.c -- in the reader process: checks whether a dataset is a tensor that may be read.
 *
 * Three checks protect the user: datasets stored outside the file are refused, because external storage and
 * virtual datasets can present any of the user's files as a tensor; so are datasets that need a plug-in, and
 * datasets that claim more elements than the file can hold. */
#include "dump/tensor_hdf5.h"

/* ---- checks of type, filters, size, shape and storage ---- */

static Status refuse(Error *err, const char *what)
{
    return FAIL(err, ERR_CORRUPT, "%s", what);
}

static Status check_number(hid_t type, Error *err)
{
    if (h5.Tget_size(type) > 8)
        return refuse(err, "numbers of more than 64 bits; want 16, 32 or 64");
    const H5T_order_t order = h5.Tget_order(type);
    if (h5.Tget_size(type) > 1 && order != H5T_ORDER_LE && order != H5T_ORDER_BE)
        return refuse(err, "numbers in neither little- nor big-endian order");
    return OK;
}

/* Returns true for uint16 with the attribute dtype = "bfloat16". */
static bool is_bfloat16(hid_t dataset, hid_t type)
{
    return h5.Tget_class(type) == H5T_INTEGER && h5.Tget_size(type) == 2 &&
           attr_says(dataset, "dtype", "bfloat16");
}

static Status check_filters(hid_t creation, Error *err)
{
    const int count = h5.Pget_nfilters(creation);
    for (int i = 0; i < count; i++) {
        unsigned flags, config;
        size_t values = 0;
        char name[64] = "";
        const H5Z_filter_t id =
            h5.Pget_filter2(creation, (unsigned)i, &flags, &values, NULL, sizeof name, name, &config);
        if (id < 0 || id >= H5Z_FILTER_RESERVED || h5.Zfilter_avail(id) <= 0) {
            FAIL(err, ERR_USAGE, "packed with filter %d%s%.40s, which needs a plug-in", (int)id,
                 *name ? " " : "", name);
            return error_hint(err, "h5repack -f GZIP=1 FILE NEW packs it with a filter that every HDF5 has");
        }
    }
    return OK;
}

/* Fails if the shape has more elements than the file can hold. Deflate, which may compress a chunked
 * dataset, shrinks it by a factor of at most 1032. */
static Status check_extent(hid_t dataset, hid_t creation, uint64_t file_size, const Shape *shape,
                           size_t bytes, Error *err)
{
    const uint64_t stored = h5.Dget_storage_size(dataset);
    const bool chunked = h5.Pget_layout(creation) == H5D_CHUNKED;
    /* 1 MB is allowed for HDF5's fill values, which take no bytes in the file */
    const uint64_t small = (uint64_t)1 << 20;
    uint64_t most = stored <= file_size ? (chunked ? 1032 * stored : stored) : 0;
    most = most > small ? most : small;
    if (shape->n > most / bytes)
        return FAIL(err, ERR_CORRUPT, "claims %zu elements, more than this file of %llu bytes holds",
                    shape->n, (unsigned long long)file_size);
    return OK;
}

static Status check_shape(hid_t space, Shape *shape, Error *err)
{
    hsize_t extent[H5S_MAX_RANK];
    size_t dim[RANK_MAX];
    const int rank = h5.Sget_simple_extent_ndims(space);
    if (rank > RANK_MAX)
        return FAIL(err, ERR_USAGE, "rank %d, want at most %d", rank, RANK_MAX);
    if (rank < 0 || h5.Sget_simple_extent_dims(space, extent, NULL) < 0)
        return refuse(err, "its shape cannot be read");
    for (int i = 0; i < rank; i++)
        dim[i] = extent[i];
    if (!shape_make(shape, rank, dim))
        return refuse(err, "claims more elements than there can be");
    return OK;
}

static Status check_storage(hid_t dataset, hid_t creation, uint64_t file_size, const Shape *shape,
                            size_t bytes, Error *err)
{
    const H5D_layout_t layout = h5.Pget_layout(creation);
    if (layout == H5D_VIRTUAL)
        return refuse(err, "a virtual dataset, whose data stand in other files; refused");
    if (layout < 0 || h5.Pget_external_count(creation) != 0)
        return refuse(err, "external storage: its data stand in another file; refused");
    TRY(check_filters(creation, err));
    return check_extent(dataset, creation, file_size, shape, bytes, err);
}

/* Does the checks of `dataset_check`, which opens and closes these handles. */
static Status check_parts(hid_t dataset, hid_t type, hid_t space, hid_t creation, const Source *s,
                          Content *content, Shape *shape, size_t *bytes, Error *err)
{
    char reason[HDF5_REASON];
    if (type < 0 || space < 0 || creation < 0)
        return FAIL(err, ERR_CORRUPT, "cannot be read (%s)", hdf5_reason(reason));
    *content = NOT_FLOATS;
    if (h5.Sget_simple_extent_type(space) == H5S_NULL)
        return OK;
    const Content kind = h5.Tget_class(type) == H5T_FLOAT                    ? FLOATS
                         : is_bfloat16(dataset, type)                        ? BFLOATS
                         : s->integers && h5.Tget_class(type) == H5T_INTEGER ? INTEGERS
                                                                             : NOT_FLOATS;
    if (kind == NOT_FLOATS)
        return OK;
    if (kind != BFLOATS)
        TRY(check_number(type, err));
    *bytes = h5.Tget_size(type);
    if (*bytes == 0)
        return refuse(err, "elements of no bytes");
    TRY(check_shape(space, shape, err));
    TRY(check_storage(dataset, creation, s->file_size, shape, *bytes, err));
    *content = kind;
    return OK;
}

uint64_t dataset_plain_at(hid_t dataset)
{
    const hid_t type = h5.Dget_type(dataset), creation = h5.Dget_create_plist(dataset);
    const bool plain = h5.Tequal(type, h5.T_NATIVE_FLOAT) > 0 && h5.Pget_layout(creation) == H5D_CONTIGUOUS;
    const haddr_t at = plain ? h5.Dget_offset(dataset) : HADDR_UNDEF;
    h5.Tclose(type);
    h5.Pclose(creation);
    return at == HADDR_UNDEF ? NOWHERE : at;
}

Status dataset_check(hid_t dataset, const Source *s, Content *content, Shape *shape, size_t *bytes,
                     Error *err)
{
    const hid_t type = h5.Dget_type(dataset), space = h5.Dget_space(dataset),
                creation = h5.Dget_create_plist(dataset);
    const Status status = check_parts(dataset, type, space, creation, s, content, shape, bytes, err);
    h5.Tclose(type);
    h5.Sclose(space);
    h5.Pclose(creation);
    return status;
}
