/* svhn.c -- reads SVHN's cropped digits: MATLAB 5 files with two arrays of bytes, X (32 x 32 x 3 x images) and
 * y (images x 1). The first axis is contiguous.
 *
 * libmatio can crash on a damaged file, so it runs in a confined child process. The child copies X and y
 * unchanged into shared memory. The parent reads the copies after the child has ended, and checks the number of
 * images and every label. libmatio does not notice all damage, so the parent checks the file's lengths and
 * checksums before it starts the child.
 *
 *     shared memory = Answer (HEAD bytes), X, y */
#include "base/confine.h"
#include "base/dynamic.h"
#include "base/text.h"
#include "data/files.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <matio.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    SIDE = 32,
    PLANE = SIDE * SIDE,
    PIXELS = 3 * PLANE,
    HEAD = 4096,
    COUNT_MOST = INT_MAX / PIXELS, /* the most images in a file, since libmatio counts elements in an int */
    TEN = 10,                      /* the label that SVHN uses for the digit 0 */
};

static const uint64_t MIB = 1 << 20;

typedef struct {
    uint64_t count;
    Error err; /* why the child failed; set if count is 0 */
} Answer;

typedef struct {
    int file, memory; /* file: descriptor of the file's bytes; memory: descriptor of the child's output */
    size_t file_size;
    size_t most; /* upper bound on the images: deflate compresses by a factor of at most 1032 */
    Answer *answer;
} Shared;

/* ---- the parent's checks before it starts the child ---- */

/* Checks the layout and the checksums of a MATLAB 5 file:
 *     file = text:124 version:16 order:16 { type:32 size:32 bytes } ... */
Status mat_check(Bytes file, Error *err)
{
    enum { HEADER = 128, TAG = 8, MATRIX = 14, PACKED = 15, VERSION = 0x0100, ORDER = 'I' | 'M' << 8 };
    if (file.size < HEADER + TAG)
        return FAIL(err, ERR_CORRUPT, "%zu bytes: want a MATLAB 5 file", file.size);
    const unsigned version = load_u16(file.data + 124), order = load_u16(file.data + 126);
    if (version != VERSION || order != ORDER)
        return FAIL(err, ERR_CORRUPT,
                    "not a MATLAB 5 file: version 0x%04x and byte order 0x%04x, want 0x%04x and 0x%04x",
                    version, order, VERSION, ORDER);
    for (size_t at = HEADER; at < file.size;) {
        const size_t left = file.size - at;
        const uint32_t type = left < TAG ? 0 : load_u32(file.data + at);
        const uint32_t size = left < TAG ? 0 : load_u32(file.data + at + 4);
        if (left < TAG || size > left - TAG)
            return FAIL(err, ERR_CORRUPT, "ends at byte %zu, within the variable at byte %zu", file.size, at);
        if (type != MATRIX && type != PACKED)
            return FAIL(err, ERR_CORRUPT, "type %u at byte %zu: want %d or %d", type, at, MATRIX, PACKED);
        if (type == PACKED && zlib_whole((Bytes){file.data + at + TAG, size}, err) != OK)
            return error_at(err, "the variable at byte %zu", at);
        at += TAG + size;
    }
    return OK;
}

/* ---- libmatio, which the child process loads ---- */

static struct {
#define FUNCTION(name) __typeof__(name) *name;
#define FUNCTIONS(X)   X(Mat_Open) X(Mat_VarReadInfo) X(Mat_VarReadDataLinear) X(Mat_GetLibraryVersion)
    FUNCTIONS(FUNCTION)
#undef FUNCTION
} matio;

#define FUNCTION(name) {#name, &matio.name},
static const LibrarySymbol symbols[] = {FUNCTIONS(FUNCTION)};
#undef FUNCTION
static const SharedLibrary library = {
    .title = "libmatio",
    .file = MATIO_FILE,
    .package = MATIO_PACKAGE,
    .symbol = symbols,
    .count = countof(symbols),
};

Status svhn_library(char version[SVHN_VERSION], Error *err)
{
    void *handle;
    int number[3];
    TRY(library_load(&library, &handle, err));
    matio.Mat_GetLibraryVersion(&number[0], &number[1], &number[2]);
    snprintf(version, SVHN_VERSION, "%d.%d.%d", number[0], number[1], number[2]);
    return OK;
}

/* ---- the work of the child process ---- */

static bool is_bytes(const matvar_t *v)
{
    return v->class_type == MAT_C_UINT8 && !v->isComplex;
}

/* Writes the lengths of the axes as text, for example "32x32x3x12". */
static const char *axes(const matvar_t *v, char out[100])
{
    size_t used = 0;
    for (int i = 0; i < v->rank && used < 70; i++)
        used += (size_t)snprintf(out + used, 100 - used, "%s%zu", i ? "x" : "", v->dims[i]);
    return v->rank > 0 ? out : "nothing";
}

/* Checks the shape of X and sets *count to the number of images. MATLAB drops a last axis of length 1, so X has
 * three axes if there is one image. */
static Status check_pixels(const matvar_t *x, size_t most, size_t *count, Error *err)
{
    char sides[100];
    if (!is_bytes(x))
        return FAIL(err, ERR_CORRUPT, "X is of MATLAB's class %d%s: want %d, uint8", (int)x->class_type,
                    x->isComplex ? ", complex" : "", MAT_C_UINT8);
    if ((x->rank != 3 && x->rank != 4) || x->dims[0] != SIDE || x->dims[1] != SIDE || x->dims[2] != 3)
        return FAIL(err, ERR_CORRUPT, "X is %s: want 32x32x3 by the number of images", axes(x, sides));
    *count = x->rank == 4 ? x->dims[3] : 1;
    if (!*count || *count > most)
        return FAIL(err, ERR_CORRUPT, "X has %zu images: want 1 to %zu in a file of this size", *count, most);
    return OK;
}

static Status check_labels(const matvar_t *y, size_t count, Error *err)
{
    char sides[100];
    if (!is_bytes(y))
        return FAIL(err, ERR_CORRUPT, "y is of MATLAB's class %d%s: want %d, uint8", (int)y->class_type,
                    y->isComplex ? ", complex" : "", MAT_C_UINT8);
    if (y->rank != 2 || (y->dims[0] != 1 && y->dims[1] != 1))
        return FAIL(err, ERR_CORRUPT, "y is %s: want the number of images by 1", axes(y, sides));
    const size_t labels = y->dims[0] == 1 ? y->dims[1] : y->dims[0];
    if (labels != count)
        return FAIL(err, ERR_CORRUPT, "y has %zu label%s: want one for each of the %zu images", labels,
                    text_s(labels), count);
    return OK;
}

/* Reads a variable's bytes. If the data end too soon, libmatio reports success but does not write the last
 * byte. So the last byte is set to a mark before reading. If the mark is still there, the byte may be equal to
 * the mark, so another mark is tried. */
static Status read_bytes(mat_t *mat, matvar_t *v, uint8_t *out, size_t size, Error *err)
{
    static const uint8_t mark[] = {0xa5, 0x5a};
    for (size_t i = 0; i < countof(mark); i++) {
        out[size - 1] = mark[i];
        if (matio.Mat_VarReadDataLinear(mat, v, out, 0, 1, (int)size))
            break;
        if (out[size - 1] != mark[i])
            return OK;
    }
    return FAIL(err, ERR_CORRUPT, "%s cannot be read, or ends before its %zu bytes", v->name, size);
}

static Status read_variables(const Shared *s, size_t *count, Error *err)
{
    mat_t *mat = matio.Mat_Open("/proc/self/fd/3", MAT_ACC_RDONLY);
    confine_calls(false);
    if (!mat)
        return FAIL(err, ERR_CORRUPT, "libmatio cannot open it");
    matvar_t *x = matio.Mat_VarReadInfo(mat, "X"), *y = matio.Mat_VarReadInfo(mat, "y");
    if (!x || !y)
        return FAIL(err, ERR_CORRUPT, "no variable %s in it", x ? "y" : "X");
    TRY(check_pixels(x, s->most, count, err));
    TRY(check_labels(y, *count, err));
    const size_t bytes = HEAD + *count * (PIXELS + 1);
    uint8_t *out = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, CONFINE_FD + 1, 0);
    if (out == MAP_FAILED)
        return FAIL(err, ERR_MEMORY, "out of memory: %zu bytes were asked for", bytes);
    TRY(read_bytes(mat, x, out + HEAD, *count * PIXELS, err));
    return read_bytes(mat, y, out + HEAD + *count * PIXELS, *count, err);
}

static _Noreturn void child_run(const Shared *s)
{
    size_t count = 0;
    Error err = {0};
    void *handle;
    confine_keep((int[]){s->file, s->memory}, 2);
    confine_start();
    /* loading the library and `confine_space` open files, so they come before the limits */
    const Status loaded = library_load(&library, &handle, &err);
    const uint64_t used = confine_space();
    confine_memory(used, HEAD + s->most * (PIXELS + 1) + 256 * MIB);
    const uint64_t seconds = 8 + (s->file_size + s->most * PIXELS) / (32 * MIB);
    confine_seconds(seconds);
    /* alarm() limits elapsed time: a waiting child uses no processor time, so confine_seconds would not end
     * it */
    alarm((unsigned)(60 + 8 * seconds));
    confine_files(2);
    confine_calls(true);
    const Status status = loaded == OK ? read_variables(s, &count, &err) : loaded;
    if (status == OK)
        s->answer->count = count;
    else
        s->answer->err = err;
    _exit(status == OK ? 0 : 1);
}

/* ---- the parent's work after the child has ended ---- */

static Status child_wait(const Shared *s, pid_t child, Error *err)
{
    int state = 0;
    while (waitpid(child, &state, 0) < 0 && errno == EINTR)
        ;
    if (WIFSIGNALED(state) && (WTERMSIG(state) == SIGXCPU || WTERMSIG(state) == SIGALRM))
        return FAIL(err, ERR_CORRUPT, "libmatio took too long over this file");
    if (WIFSIGNALED(state))
        return FAIL(err, ERR_CORRUPT, "libmatio failed on this file (signal %d)", WTERMSIG(state));
    if (WEXITSTATUS(state) == CONFINE_NO_FILES)
        return FAIL(err, ERR_IO, "no process to read it: %s", strerror(EMFILE));
    Answer answer = *s->answer;
    const Status status = answer.err.status;
    answer.err.text[sizeof answer.err.text - 1] = 0;
    answer.err.hint[sizeof answer.err.hint - 1] = 0;
    if (WEXITSTATUS(state) && *answer.err.text) {
        FAIL(err, status == ERR_MEMORY || status == ERR_IO ? status : ERR_CORRUPT, "%s", answer.err.text);
        return error_hint(err, "%s", answer.err.hint);
    }
    if (WEXITSTATUS(state) || !answer.count || answer.count > s->most)
        return FAIL(err, ERR_CORRUPT, "libmatio failed on this file (exit %d)", WEXITSTATUS(state));
    return OK;
}

/* Transposes each image plane from column-major to row-major. */
static void transpose_planes(const uint8_t *from, size_t planes, uint8_t *to)
{
    for (size_t p = 0; p < planes; p++, from += PLANE, to += PLANE)
        for (size_t column = 0; column < SIDE; column++)
            for (size_t row = 0; row < SIDE; row++)
                to[row * SIDE + column] = from[column * SIDE + row];
}

static Status take(const Shared *s, Dataset *d, Arena *a, Error *err)
{
    const size_t count = s->answer->count, bytes = HEAD + count * (PIXELS + 1);
    uint8_t *pixels = NEW(a, uint8_t, count * PIXELS), *labels = NEW(a, uint8_t, count);
    TRY(arena_check(pixels && labels, a, err));
    const uint8_t *in = mmap(NULL, bytes, PROT_READ, MAP_SHARED, s->memory, 0);
    if (in == MAP_FAILED)
        return FAIL(err, ERR_MEMORY, "no %zu bytes of shared memory: %s", bytes, strerror(errno));
    transpose_planes(in + HEAD, 3 * count, pixels);
    memcpy(labels, in + HEAD + count * PIXELS, count);
    munmap((void *)(uintptr_t)in, bytes);
    for (size_t i = 0; i < count; i++) {
        if (!labels[i] || labels[i] > TEN)
            return FAIL(err, ERR_CORRUPT, "label %u of image %zu: want 1 to %d, which stands for 0",
                        labels[i], i, TEN);
        labels[i] %= TEN;
    }
    d->pixels = pixels;
    return labels_set(d, labels, count, a, err);
}

/* ---- starting the child and loading the file ---- */

static Status put_file(int fd, Bytes file, Error *err)
{
    for (size_t done = 0; done < file.size;) {
        const ssize_t part = write(fd, file.data + done, file.size - done);
        if (part < 0 && errno != EINTR)
            return FAIL(err, ERR_MEMORY, "no %zu bytes of shared memory: %s", file.size, strerror(errno));
        done += part > 0 ? (size_t)part : 0;
    }
    return OK;
}

/* Copies the file to shared memory, so that the child reads the bytes that were checked, and reserves shared
 * memory for the child's output. */
static Status share(Shared *s, Bytes file, Error *err)
{
    const uint64_t packed = 1032 * (uint64_t)file.size / PIXELS + 1;
    s->file_size = file.size;
    s->most = packed < COUNT_MOST ? packed : COUNT_MOST;
    s->file = memfd_create("mat", MFD_CLOEXEC);
    s->memory = memfd_create("images", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (s->file < 0 || s->memory < 0 || ftruncate(s->memory, (off_t)(HEAD + s->most * (PIXELS + 1))) ||
        fcntl(s->memory, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0)
        return FAIL(err, ERR_IO, "no shared memory: %s", strerror(errno));
    s->answer = mmap(NULL, HEAD, PROT_READ | PROT_WRITE, MAP_SHARED, s->memory, 0);
    if (s->answer == MAP_FAILED)
        return FAIL(err, ERR_MEMORY, "no %d bytes of shared memory: %s", HEAD, strerror(errno));
    return put_file(s->file, file, err);
}

static Status unpack(const Shared *s, Error *err)
{
    const pid_t child = fork();
    if (child == 0)
        child_run(s);
    if (child < 0)
        return FAIL(err, ERR_IO, "no process to read it in: %s", strerror(errno));
    return child_wait(s, child, err);
}

static void unshare(Shared *s)
{
    if (s->answer != MAP_FAILED)
        munmap(s->answer, HEAD);
    if (s->file >= 0)
        close(s->file);
    if (s->memory >= 0)
        close(s->memory);
}

static Status load_file(Dataset *d, Bytes file, Arena *a, Error *err)
{
    Shared s = {.file = -1, .memory = -1, .answer = MAP_FAILED};
    Status status = share(&s, file, err);
    if (status == OK)
        status = unpack(&s, err);
    if (status == OK)
        status = take(&s, d, a, err);
    unshare(&s);
    return status;
}

Status svhn_load(Dataset *d, const char *dir, uint64_t seed, Arena *a, Error *err)
{
    (void)seed;
    const char *name = d->split == SPLIT_TRAIN ? "train_32x32.mat" : "test_32x32.mat", *path;
    Arena *own = arena_open(0); /* for the file's bytes */
    Bytes file;
    Status status = data_file(d->info, dir, name, &file, &path, own, err);
    if (status == OK) {
        status = mat_check(file, err);
        if (status == OK)
            status = load_file(d, file, a, err);
        if (status == ERR_CORRUPT)
            data_damaged(d->info, path, err);
        else if (status != OK)
            error_at(err, "%s", path);
    }
    arena_close(own);
    return status;
}
