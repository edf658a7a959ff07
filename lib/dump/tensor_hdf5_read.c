/* tensor_hdf5_read.c -- the reader process. Only in this process does the HDF5 library open existing files.
 * It also parses files in other formats (array_file.h).
 *
 * The process cannot open other files, and its memory and processor time are limited. So a damaged or
 * hostile file can harm only this process. */
#include "base/confine.h"
#include "dump/tensor_hdf5.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

enum { SOCKET_FD = CONFINE_FD, MEMORY_FD };

static const uint64_t MIB = 1 << 20;

/* ---- answers ---- */

static void send_error(int socket, const Error *err)
{
    uint8_t room[4 + 16 + sizeof err->text + sizeof err->hint];
    Buf b = {room, 0, sizeof room};
    Error ignored;
    message_begin(&b, 'E');
    buf_u8(&b, (uint8_t)err->status);
    put_text(&b, err->text);
    put_text(&b, err->hint);
    (void)message_send(socket, &b, &ignored);
}

static void send_done(int socket)
{
    uint8_t room[5];
    Buf b = {room, 0, sizeof room};
    Error ignored;
    (void)message_send(socket, message_begin(&b, 'D'), &ignored);
}

/* ---- reading ---- */

/* Converts bfloat16 numbers to floats in place, the last number first, because a float overwrites two
 * bfloat16 numbers. A bfloat16 number is the upper half of a float's bits. */
static void widen_bfloat16(float *x, size_t n)
{
    const uint8_t *halves = (const uint8_t *)x;
    for (size_t i = n; i-- > 0;) {
        uint16_t half;
        memcpy(&half, halves + 2 * i, sizeof half);
        x[i] = bits_float((uint32_t)half << 16);
    }
}

/* Reads the elements of a tensor that walk_file has found, as floats. HDF5 refuses it if their number is no longer f->n. */
static Status found_read(const Source *s, const Found *f, float *x, Error *err)
{
    char reason[HDF5_REASON];
    const hid_t dataset = h5.Dopen2(s->id, f->path, H5P_DEFAULT);
    const hid_t space = h5.Screate_simple(1, &(hsize_t){f->n}, NULL);
    const hid_t type = f->bfloat16 ? *h5.T_NATIVE_UINT16 : *h5.T_NATIVE_FLOAT;
    Status status = OK;
    if (h5.Dread(dataset, type, space, H5S_ALL, H5P_DEFAULT, x) < 0)
        status = FAIL(err, ERR_CORRUPT, "cannot be read (%s)", hdf5_reason(reason));
    else if (f->bfloat16)
        widen_bfloat16(x, f->n);
    h5.Sclose(space);
    h5.Dclose(dataset);
    return status;
}

static hsize_t user_block(hid_t file)
{
    hsize_t size = 1;
    const hid_t creation = h5.Fget_create_plist(file);
    h5.Pget_userblock(creation, &size);
    h5.Pclose(creation);
    return size;
}

static Status open_hdf5(Source *s, Error *err)
{
    h5.PLset_loading_state(0);
    s->id = h5.Fopen(s->file, H5F_ACC_RDONLY, H5P_DEFAULT);
    /* `user_block` is called only if the file is open: a failing call would overwrite HDF5's reason why the
     * file did not open. */
    s->has_user_block = s->id >= 0 && user_block(s->id) != 0;
    confine_calls(false); /* so that the file cannot make the library open another file */
    if (s->id >= 0)
        return OK;
    char reason[HDF5_REASON];
    FAIL(err, ERR_CORRUPT, "not a readable HDF5 file (%s)", hdf5_reason(reason));
    if (strstr(reason, "lock file"))
        error_hint(
            err,
            "another program may be writing it; where locks do not work set HDF5_USE_FILE_LOCKING=FALSE");
    if (strstr(reason, "already open for write"))
        error_hint(err, "its writer may have died: h5clear -s FILE clears the mark");
    return err->status;
}

static Status list_hdf5(Source *s, Error *err)
{
    TRY(open_hdf5(s, err));
    return walk_file(s, err);
}

static Status list_arrays(Source *s, Error *err)
{
    const int fd = open(s->file, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return FAIL(err, ERR_IO, "cannot be opened: %s", strerror(errno));
    confine_calls(false);
    s->arrays = (ArrayFile){.fd = fd, .file = s->file, .size = s->file_size, .arena = s->arena};
    TRY(arrays_list(&s->arrays, s->kind, err));
    return arrays_send(s->socket, &s->arrays, err);
}

static bool take_request(uint8_t request[REQUEST_SIZE])
{
    for (size_t got = 0; got < REQUEST_SIZE;) {
        const ssize_t part = recv(SOCKET_FD, request + got, REQUEST_SIZE - got, 0);
        if (part == 0 || (part < 0 && errno != EINTR))
            return false;
        got += part > 0 ? (size_t)part : 0;
    }
    return true;
}

static Status serve(const Source *s, const uint8_t request[REQUEST_SIZE], float **x, size_t *room, Error *err)
{
    const uint64_t i = load_u64(request), bytes = load_u64(request + 8);
    const bool hdf5 = s->kind == FILE_HDF5;
    if (!*x) {
        /* taking all pages at once is faster, but they would stay in memory while smaller tensors are read */
        const int populate = bytes <= SHARED_KEEP ? MAP_POPULATE : 0;
        void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | populate, MEMORY_FD, 0);
        if (memory == MAP_FAILED)
            return FAIL(err, ERR_MEMORY, "out of memory: %zu bytes were asked for", (size_t)bytes);
        *x = memory;
        *room = bytes;
    }
    if (i >= (hdf5 ? s->count : s->arrays.count) ||
        (hdf5 ? s->found[i].n : s->arrays.array[i].shape.n) > *room / sizeof **x)
        return FAIL(err, ERR_CORRUPT, "a request for what is not there");
    return hdf5 ? found_read(s, &s->found[i], *x, err) : array_read(&s->arrays, i, *x, err);
}

_Noreturn void reader_run(int socket, int memory, const char *file, FileKind kind, uint64_t file_size,
                          bool integers)
{
    Source s = {.socket = SOCKET_FD,
                .file = file,
                .file_size = file_size,
                .integers = integers,
                .kind = kind,
                .arena = arena_open(0)};
    Error err = {0};
    float *x = NULL;
    size_t room = 0;
    uint8_t request[REQUEST_SIZE];
    confine_keep((int[]){socket, memory}, 2);
    confine_start();
    /* loading the library and `confine_space` open files, so they come before the limits */
    const Status loaded = kind == FILE_HDF5 ? hdf5_ready(&err) : OK;
    const uint64_t used = confine_space();
    confine_memory(used, 1024 * MIB + (integers ? 8 * file_size : 0)); /* bytes become floats */
    confine_seconds(8 + file_size / (16 * MIB));
    confine_files(1);
    confine_calls(true);
    if (loaded != OK || (kind == FILE_HDF5 ? list_hdf5 : list_arrays)(&s, &err) != OK) {
        send_error(SOCKET_FD, &err);
        _exit(1);
    }
    while (take_request(request)) {
        err = (Error){0};
        if (serve(&s, request, &x, &room, &err) == OK)
            send_done(SOCKET_FD);
        else
            send_error(SOCKET_FD, &err);
    }
    _exit(0);
}
