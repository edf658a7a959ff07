/* tensor_stream.h -- the messages in which the reader process sends the contents of a dump, and the
 * functions that check them.
 *
 * The reader process runs the HDF5 library, or a parser, on an untrusted file, so its messages may contain
 * anything. A message has this layout:
 *
 *     size:u32  type:u8  body                 size counts type and body; all fields little-endian
 *
 *     'G' group     path:text attrs           in the order of listing; the root has the path ""
 *     'T' tensor    path:text type:u8 rank:u8 dim:u64 x rank at:u64 attrs      at: the file offset of its elements if
 *                   they are plain: of the type `type`, little-endian and contiguous; else NOWHERE
 *     'C' checksum  at:u64 before:u32 sum:u32   the elements of the last tensor are float32, little-endian and contiguous at the
 *                   file offset `at`; their CRC-32, continued from `before`, is `sum`
 *     'S' skipped   path:text type:text n:u64 a dataset of n elements that is left out; type: "" for integers, texts and the like,
 *                   else as in LeftOut
 *     'Z' end       count:u64                 the number of tensors; ends the listing
 *     'D' done      (empty)                   the requested floats are in the shared memory
 *     'E' error     status:u8 text:text hint:text
 *
 *     text = size:u32 bytes
 *     attrs = count:u32 { name:text type:u8 (whole:u64 | real:f64 | text:text) } x count
 *
 * A request to the reader process asks for a tensor's floats and has REQUEST_SIZE bytes: tensor:u64 (its
 * number in the order of the 'T' messages), room:u64 (bytes of the shared memory). */
#ifndef ATOMO_TENSOR_STREAM_H
#define ATOMO_TENSOR_STREAM_H

#include "dump/tensor_wire.h"

enum {
    MESSAGE_MAX = 1 << 20, /* of type and body, in bytes */
    REQUEST_SIZE = 16,
    TYPE_LIMIT = 64,       /* bytes of the name of a type */
    DEPTH_LIMIT = 64,      /* groups in groups */
    OBJECTS_MAX = 1 << 20, /* the most groups, tensors and skipped datasets in one file */
};

typedef struct {
    TensorInfo info;
    size_t number; /* the tensor's number in the order in which the reader sent them */
    uint64_t at;   /* file offset of the tensor's elements if they are plain; else NOWHERE */
    uint64_t summed_at;   /* file offset of elements that have a checksum (message 'C'); 0: none */
    uint32_t before, sum;
    size_t whole, slice; /* elements of the tensor in the file, and which part of it this is: 0, 1, ..., each of shape.n elements */
    size_t part, place; /* of a dump of several files: the file, and the tensor's place in it (tensor_files.h) */
} Listed;

typedef struct {
    const char *path;
    AttrList attrs;
} ListedGroup;

typedef struct {
    Arena *arena;
    DumpHints hints;
    uint64_t file_size;
    uint64_t heard; /* bytes of the reader's messages received so far */
    Listed *tensor;
    size_t tensors, tensor_room;
    ListedGroup *group;
    size_t groups, group_room;
    const ListedGroup **by_path; /* pointers to the groups sorted by path, set by listing_finish */
    size_t skipped;
    LeftOut left_out;
    bool ended;
} Listing;

/* Returns an upper bound on the elements of a tensor in a file of this size: deflate compresses by a factor of
 * at most 1032. */
static inline uint64_t elements_limit(uint64_t file_size)
{
    return ((uint64_t)1 << 20) + 1032 * (file_size < (uint64_t)1 << 50 ? file_size : (uint64_t)1 << 50);
}

/* Parses one message of the listing (type and body) and adds its contents to `l`. An 'E' message: returns
 * the error that the message contains. */
Status listing_take(Listing *l, Bytes message, Error *err);

/* Completes the listing after message 'Z': derives names, steps, workers, layer kinds and the layouts of kernels.
 * Sorts the tensors by step, then by worker, then by the order in which the reader sent them. */
Status listing_finish(Listing *l, Error *err);

/* Completes a listing whose tensors have names, steps, workers, kinds and layouts already: sorts them likewise. */
Status listing_join(Listing *l, Error *err);

/* Returns the error that an 'E' message contains; ERR_CORRUPT: the message is not valid. */
Status message_error(Bytes message, Error *err);

/* In the reader process. `message_begin` begins a message in the Buf, which is returned, and `message_send` completes and
 * sends it. The Buf's first 4 bytes become the message's size. `message_tensor` begins a message 'T'; only the attributes
 * are missing. `message_skipped` makes a message 'S'; longer paths than PATH_LIMIT are cut. */
Buf *message_begin(Buf *b, char type);
Buf *message_tensor(Buf *b, const char *path, ArrayType type, const Shape *shape, uint64_t at);
Buf *message_skipped(Buf *b, const char *path, const char *type, uint64_t n);
Status message_send(int socket, Buf *b, Error *err);

/* Returns the array `items` of *room items of `size` bytes with room for one more item than `count`. A full array is first
 * copied to one of twice its length. NULL: out of memory. */
void *items_more(void *items, size_t count, size_t *room, size_t size, Arena *a);

/* Writes a part of a kernel that is stored as [h, w, in, out] to its places in x, which is [out, in, h, w]: the n
 * elements from element `at` on. `shape` is the shape of x. */
void layout_transpose(const Shape *shape, const float *part, size_t at, size_t n, float *x);

/* Returns the attributes of the group at `path`; NULL: no such group. Works only after `listing_finish`. */
const AttrList *listing_attrs(const Listing *l, const char *path);

#endif
