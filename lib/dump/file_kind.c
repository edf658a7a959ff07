/* file_kind.c -- finds the kind of a file from its first bytes (file_kind.h). */
#include "dump/file_kind.h"

#include "base/bytes.h"
#include "dump/extent.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HEAD = 512 }; /* the first bytes of a file, by which it is judged */

static const char hdf5_signature[] = "\x89HDF\r\n\x1a\n";

static size_t head_size(uint64_t size)
{
    return size < HEAD ? (size_t)size : HEAD;
}

/* Looks for HDF5's signature at offsets 0, 512, 1024, 2048, ... and sets *found. */
static Status find_hdf5(int fd, uint64_t size, bool *found, Error *err)
{
    char bytes[sizeof hdf5_signature - 1];
    *found = false;
    for (uint64_t at = 0; !*found && at + sizeof bytes <= size; at = at ? 2 * at : 512) {
        TRY(file_take(fd, at, bytes, sizeof bytes, err));
        *found = !memcmp(bytes, hdf5_signature, sizeof bytes);
    }
    return OK;
}

/* True if the file begins with a length of 8 bytes and a JSON object. Eight bytes that would be a length of
 * 2^48 or more are more likely text. */
static bool is_safetensors(const uint8_t *head, size_t size)
{
    return size > 8 && load_u64(head) >> 48 == 0 && head[8] == '{';
}

/* True for a pickle or a zip archive with a pickle. torch.save before version 1.6 wrote a plain pickle; later
 * versions write a zip archive whose first member is NAME/data.pkl. */
static bool is_pickle(const uint8_t *head, size_t size)
{
    enum { NAME = 30, PROTOCOL_MOST = 5 };
    static const char member[] = "/data.pkl";
    const size_t length = sizeof member - 1;
    if (size >= 2 && head[0] == 0x80 && head[1] >= 2 && head[1] <= PROTOCOL_MOST)
        return true;
    if (size < NAME || memcmp(head, "PK\3\4", 4) != 0)
        return false;
    const size_t name = load_u16(head + 26);
    return name >= length && NAME + name <= size && !memcmp(head + NAME + name - length, member, length);
}

static FileKind kind_of(const uint8_t *head, size_t size)
{
    if (is_safetensors(head, size))
        return FILE_SAFETENSORS;
    if (size >= 6 && !memcmp(head, "\x93NUMPY", 6))
        return FILE_NPY;
    if (is_pickle(head, size))
        return FILE_PICKLE;
    return size >= 4 && (!memcmp(head, "PK\3\4", 4) || !memcmp(head, "PK\5\6", 4)) ? FILE_ZIP : FILE_UNKNOWN;
}

FileKind file_kind_in(const void *data, size_t size)
{
    const bool hdf5 = size >= 8 && !memcmp(data, hdf5_signature, 8);
    return hdf5 ? FILE_HDF5 : kind_of(data, size);
}

Status file_kind(int fd, uint64_t size, FileKind *kind, Error *err)
{
    uint8_t head[HEAD];
    bool hdf5;
    TRY(find_hdf5(fd, size, &hdf5, err));
    TRY(file_take(fd, 0, head, head_size(size), err));
    *kind = hdf5 ? FILE_HDF5 : kind_of(head, head_size(size));
    return OK;
}

FileKind file_kind_at(const char *path)
{
    struct stat info;
    FileKind kind = FILE_UNKNOWN;
    Error ignored;
    /* the writer of a pipe would die if its reader came and went */
    if (stat(path, &info) != 0 || !S_ISREG(info.st_mode))
        return FILE_UNKNOWN;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return FILE_UNKNOWN;
    if (file_kind(fd, (uint64_t)info.st_size, &kind, &ignored) != OK)
        kind = FILE_UNKNOWN;
    close(fd);
    return kind;
}

Status refuse_pickle(const char *path, Error *err)
{
    enum { SHORT = 30 }; /* a longer path would not fit into the hint */
    const char *file = strlen(path) <= SHORT ? path : "FILE.pt";
    const char *slash = strrchr(file, '/'), *dot = strrchr(slash ? slash : file, '.');
    const int stem = dot ? (int)(dot - file) : (int)strlen(file);
    FAIL(
        err, ERR_USAGE,
        "a Python pickle, which can run any program when it is opened; want HDF5, safetensors, .npz or .npy");
    /* nanoGPT's checkpoints hold their tensors in "model"; safetensors refuses tied tensors, which share memory */
    return error_hint(
        err,
        "python3 -c 'import torch, safetensors.torch as s; d = torch.load(\"%s\", weights_only=True); "
        "s.save_file({k: v.contiguous().clone() for k, v in d.get(\"model\", d).items()}, "
        "\"%.*s.safetensors\")' saves the same as safetensors",
        file, stem, file);
}

static bool is_text(const uint8_t *head, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (!head[i] || head[i] == 0x7f || (head[i] < ' ' && !strchr("\t\n\r", head[i])))
            return false;
    return size > 0;
}

Status refuse_unknown_kind(int fd, uint64_t size, const char *path, Error *err)
{
    uint8_t head[HEAD];
    TRY(file_take(fd, 0, head, head_size(size), err));
    FAIL(err, ERR_CORRUPT, "%s: %snot an HDF5, safetensors, .npz or .npy file", path, size ? "" : "empty, so ");
    if (size > 19 && !memcmp(head, "version https://git", 19))
        return error_hint(err, "it is a pointer of Git LFS; git lfs pull fetches the file");
    if (is_text(head, head_size(size)))
        return error_hint(err, "it is text; report and plot read results, which are CSV or JSON");
    return err->status;
}
