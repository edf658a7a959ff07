/* tensor_hdf5_write.c -- writes dumps in HDF5's file format 1.10, whose metadata have checksums. Tensors are
 * contiguous float32. Links keep their order of creation and no times are stored, so the same calls give the
 * same bytes.
 *
 * On a full disk a call of the HDF5 library may fail and later calls succeed. So every call that writes a
 * tensor, group or attribute is checked, and a file is not committed if one of them has failed. */
#include "base/file.h"
#include "base/outfile.h"
#include "dump/tensor_hdf5.h"

#include <stdlib.h>

struct DumpWriter {
    Arena *arena;
    OutFile out;
    hid_t file, group_creation, dataset_creation;
    bool failed;
};

/* ---- HDF5 handles and reporting failures ---- */

/* Sets the error "PATH: cannot write WHAT: WHY". WHY is the system's error if HDF5 reports one, else HDF5's
 * message. */
static Status cannot_write(DumpWriter *w, const char *what, Error *err)
{
    char reason[HDF5_REASON];
    hdf5_reason(reason);
    w->failed = true;
    return FAIL(err, ERR_IO, "%s: cannot write %.200s: %s", w->out.path, *what ? what : "/", reason);
}

/* Returns a creation property list that keeps links and attributes in order of creation and stores no times. */
static hid_t creation_list(hid_t class)
{
    const unsigned order = H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED;
    const hid_t list = h5.Pcreate(class);
    const bool links = class != *h5.P_CLS_DATASET_CREATE_ID;
    if (list < 0 || h5.Pset_obj_track_times(list, false) < 0 ||
        h5.Pset_attr_creation_order(list, H5P_CRT_ORDER_TRACKED) < 0 ||
        (links && h5.Pset_link_creation_order(list, order) < 0) ||
        (!links && h5.Pset_fill_time(list, H5D_FILL_TIME_NEVER) < 0))
        return H5I_INVALID_HID;
    return list;
}

static Status create(DumpWriter *w, Error *err)
{
    const hid_t access = h5.Pcreate(*h5.P_CLS_FILE_ACCESS_ID),
                creation = creation_list(*h5.P_CLS_FILE_CREATE_ID);
    w->group_creation = creation_list(*h5.P_CLS_GROUP_CREATE_ID);
    w->dataset_creation = creation_list(*h5.P_CLS_DATASET_CREATE_ID);
    if (access >= 0 && creation >= 0 && w->group_creation >= 0 && w->dataset_creation >= 0 &&
        h5.Pset_libver_bounds(access, H5F_LIBVER_V110, H5F_LIBVER_V110) >= 0)
        w->file = h5.Fcreate(w->out.temporary, H5F_ACC_TRUNC, creation, access);
    const Status status = w->file >= 0 ? OK : cannot_write(w, "it", err);
    h5.Pclose(access);
    h5.Pclose(creation);
    return status;
}

/* ---- opening and closing the file ---- */

static bool close_file(DumpWriter *w)
{
    const bool closed = h5.Fclose(w->file) >= 0;
    h5.Pclose(w->group_creation);
    h5.Pclose(w->dataset_creation);
    return closed;
}

static Status open_writer(DumpWriter *w, const char *path, Error *err)
{
    TRY(outfile_open_named(&w->out, path, w->arena, err));
    if (!w->out.temporary)
        return FAIL(err, ERR_USAGE, "%s: not a regular file, which HDF5 needs", w->out.path);
    return create(w, err);
}

static Status check_ending(const char *path, Error *err)
{
    static const char *const others[] = {".npz", ".npy", ".safetensors", ".pt", ".pth"};
    const char *dot = strrchr(path, '.');
    for (size_t i = 0; dot && i < countof(others); i++)
        if (!strcmp(dot, others[i])) {
            FAIL(err, ERR_USAGE, "%s: a dump is written as HDF5; want a name that ends in .h5", path);
            return error_hint(err, "atomo-bench convert FILE OUT.npz (or .safetensors) writes it anew");
        }
    return OK;
}

Status dump_create(DumpWriter **out, const char *path, Error *err)
{
    TRY(check_ending(path, err));
    if (hdf5_ready(err) != OK)
        return error_at(err, "%s", path);
    Arena *a = arena_open(0);
    DumpWriter *w = NEW_ZERO(a, DumpWriter, 1);
    Status status = w ? OK : arena_fail(a, err);
    if (!w) {
        arena_close(a);
        return status;
    }
    w->arena = a;
    w->file = w->group_creation = w->dataset_creation = H5I_INVALID_HID;
    status = open_writer(w, path, err);
    if (status != OK)
        return dump_finish(w, status, err);
    *out = w;
    return OK;
}

Status dump_finish(DumpWriter *w, Status written, Error *err)
{
    if (written == OK && w->failed)
        written = FAIL(err, ERR_IO, "%s: not finished, as writing failed", w->out.path);
    else if (written == OK && h5.Fflush(w->file, H5F_SCOPE_GLOBAL) < 0)
        written = cannot_write(w, "it", err);
    if (!close_file(w) && written == OK)
        written = cannot_write(w, "it", err);
    if (written == OK)
        written = outfile_commit(&w->out, err);
    outfile_abandon(&w->out);
    arena_close(w->arena);
    return written;
}

void dump_sign(DumpWriter *w, const char *command)
{
    (void)h5.Oset_comment(w->file, command);
}

/* ---- attributes ---- */

/* Returns the type of variable-length UTF-8 text, which Python reads as str. */
static hid_t text_type(void)
{
    const hid_t type = h5.Tcopy(*h5.T_C_S1);
    if (h5.Tset_size(type, H5T_VARIABLE) < 0 || h5.Tset_cset(type, H5T_CSET_UTF8) < 0)
        return H5I_INVALID_HID;
    return type;
}

static bool write_attr(hid_t object, const Attr *a)
{
    const hid_t text = text_type(), space = h5.Screate(H5S_SCALAR);
    const hid_t stored[] = {[ATTR_INT] = *h5.T_STD_I64LE, [ATTR_REAL] = *h5.T_IEEE_F64LE, [ATTR_TEXT] = text};
    const hid_t memory[] = {
        [ATTR_INT] = *h5.T_NATIVE_INT64, [ATTR_REAL] = *h5.T_NATIVE_DOUBLE, [ATTR_TEXT] = text};
    const void *const value[] = {[ATTR_INT] = &a->whole, [ATTR_REAL] = &a->real, [ATTR_TEXT] = &a->text};
    const hid_t attr = h5.Acreate2(object, a->name, stored[a->type], space, H5P_DEFAULT, H5P_DEFAULT);
    const bool done = attr >= 0 && h5.Awrite(attr, memory[a->type], value[a->type]) >= 0;
    const bool closed = attr >= 0 && h5.Aclose(attr) >= 0;
    h5.Sclose(space);
    h5.Tclose(text);
    return done && closed;
}

static Status write_attrs(DumpWriter *w, hid_t object, const char *path, const AttrList *attrs, Error *err)
{
    for (size_t i = 0; attrs && i < attrs->count; i++)
        if (!write_attr(object, &attrs->item[i])) {
            cannot_write(w, path, err);
            return error_at(err, "attribute %.100s", attrs->item[i].name);
        }
    return OK;
}

/* ---- writing groups and datasets ---- */

/* Creates the groups in the first `length` characters of the path that do not exist yet. */
static Status make_groups(DumpWriter *w, const char *path, size_t length, Error *err)
{
    for (size_t end = 0; end <= length; end++) {
        if (end == 0 || (end < length && path[end] != '/'))
            continue;
        const ArenaMark mark = arena_mark(w->arena);
        const char *group = text_slice(w->arena, path, end);
        TRY(arena_check(group, w->arena, err));
        const htri_t exists = h5.Lexists(w->file, group, H5P_DEFAULT);
        const hid_t made =
            exists == 0 ? h5.Gcreate2(w->file, group, H5P_DEFAULT, w->group_creation, H5P_DEFAULT) : 0;
        const bool good = exists >= 0 && made >= 0 && (exists || h5.Gclose(made) >= 0);
        arena_rewind(w->arena, mark);
        if (!good)
            return cannot_write(w, path, err);
    }
    return OK;
}

static hid_t make_dataset(DumpWriter *w, const char *path, const Shape *shape)
{
    hsize_t dim[RANK_MAX];
    for (int i = 0; i < shape->rank; i++)
        dim[i] = shape->dim[i];
    const hid_t space = shape->rank ? h5.Screate_simple(shape->rank, dim, NULL) : h5.Screate(H5S_SCALAR);
    const hid_t dataset =
        h5.Dcreate2(w->file, path, *h5.T_IEEE_F32LE, space, H5P_DEFAULT, w->dataset_creation, H5P_DEFAULT);
    h5.Sclose(space);
    return dataset;
}

Status dump_write(DumpWriter *w, const char *path, const Shape *shape, const float *x, const AttrList *attrs,
                  Error *err)
{
    const char *slash = strrchr(path, '/');
    if (slash)
        TRY(make_groups(w, path, (size_t)(slash - path), err));
    const hid_t dataset = make_dataset(w, path, shape);
    if (dataset < 0)
        return cannot_write(w, path, err);
    Status status = OK;
    if (shape->n && h5.Dwrite(dataset, *h5.T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, x) < 0)
        status = cannot_write(w, path, err);
    if (status == OK)
        status = write_attrs(w, dataset, path, attrs, err);
    if (h5.Dclose(dataset) < 0 && status == OK)
        status = cannot_write(w, path, err);
    return status;
}

Status dump_write_attrs(DumpWriter *w, const char *group, const AttrList *attrs, Error *err)
{
    TRY(make_groups(w, group, strlen(group), err));
    const hid_t object = h5.Gopen2(w->file, *group ? group : "/", H5P_DEFAULT);
    if (object < 0)
        return cannot_write(w, group, err);
    const Status status = write_attrs(w, object, group, attrs, err);
    if (h5.Gclose(object) < 0 && status == OK)
        return cannot_write(w, group, err);
    return status;
}
