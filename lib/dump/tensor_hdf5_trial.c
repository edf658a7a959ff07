/* tensor_hdf5_trial.c -- tries the HDF5 library in a child process, which writes a small dump to memory and reads it back. */
#include "dump/tensor_hdf5.h"

#include <pthread.h>
#include <sys/socket.h>

static const float written[] = {1, -2, 0.5f, 3e38f, -1e-40f, 0};

static Status write_dump(DumpWriter *w, Error *err)
{
    Attr attr[] = {{"step", .type = ATTR_INT, .whole = 7},
                   {"rate", .type = ATTR_REAL, .real = 0.5},
                   {"kind", .type = ATTR_TEXT, .text = "conv"}};
    const AttrList attrs = {attr, countof(attr)};
    const Shape shape = {2, {2, 3}, countof(written)};
    TRY(dump_write(w, "step_1/x", &shape, written, &attrs, err));
    return dump_write_attrs(w, "step_1", &attrs, err);
}

/* Reads the file as the reader process does, which sends messages to a socket. */
static Status read_back(hid_t file, int socket, Arena *a, Error *err)
{
    Source s = {.socket = socket, .file = "memory", .file_size = 1 << 16, .id = file, .arena = a};
    float read[countof(written)] = {0};
    if (h5.Fflush(file, H5F_SCOPE_GLOBAL) < 0)
        return FAIL(err, ERR_IO, "cannot write to memory");
    TRY(walk_file(&s, err));
    if (s.count != 1 || strcmp(s.found[0].path, "step_1/x"))
        return FAIL(err, ERR_IO, "does not list a tensor that it has written");
    TRY(found_read(&s, s.found, read, err));
    return memcmp(read, written, sizeof read) ? FAIL(err, ERR_IO, "reads other numbers than it has written")
                                              : OK;
}

static Status round_trip(Error *err)
{
    DumpWriter *w;
    hid_t file;
    int ends[2]; /* nobody reads the messages, which are few */
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
        return OK; /* no more files may be open */
    TRY(writer_create(&w, NULL, &file, err));
    Arena *a = arena_open(0);
    Status status = write_dump(w, err);
    if (status == OK)
        status = read_back(file, ends[0], a, err);
    arena_close(a);
    dump_abandon(w);
    return status;
}

static Status trial(Error *err)
{
    Error cause;
    TRY(hdf5_ready(err));
    if (round_trip(&cause) == OK)
        return OK;
    return library_unusable(&hdf5_shared_library, err, "%s: %s", hdf5_shared_library.file, cause.text);
}

static pthread_once_t tried = PTHREAD_ONCE_INIT;
static Error failure; /* why the child process could not use the library; status OK: it could */

static void try_once(void)
{
    SharedLibrary l = hdf5_shared_library;
    l.trial = trial;
    library_try(&l, &failure);
}

Status hdf5_try(Error *err)
{
    pthread_once(&tried, try_once);
    if (failure.status != OK)
        *err = failure;
    return failure.status;
}

Status hdf5_library(const char **version, Error *err)
{
    TRY(hdf5_try(err));
    return hdf5_find(version, err);
}
