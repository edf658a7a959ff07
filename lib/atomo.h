/* atomo.h -- libatomo: gradient compressors for other programs.
 *
 * Every other header in this folder is private and changes without notice; this header does not.
 * docs/library.md has a tutorial and an example; docs/FORMAT.md describes the payloads.
 *
 * A codec is a compressor with its parameters, opened from a spec such as "qsgd:bits=4" (`atomo-bench list`
 * shows all). It encodes a tensor (float32 in row-major order) to a payload, the bytes that are sent. It
 * decodes a payload to an estimate of the tensor. Random numbers are a function of an address: seed, worker,
 * step and name of the tensor. So the payload does not depend on the number of threads. The receiver must
 * know the sender's address.
 *
 * Errors: functions that can fail return ATOMO_OK or an error code, and describe the failure in `err`, which
 * may be NULL. After a failure the outputs are undefined; a function that opens an object has then opened
 * nothing.
 * Outputs: a function that writes bytes to `out` takes the bytes that `out` has room for, and writes none
 * beyond them. Where the room is too small it returns ATOMO_USAGE, and *size and err->text say how many bytes it wants.
 * Memory: a function keeps no pointer from its caller after it returns, unless its comment says so. The arrays of
 * one call share no memory, unless its comment says that they may.
 * Threads: an atomo_codec never changes, and any number of threads may use it. Only one thread at a time may
 * use an atomo_tensor or an atomo_dump; a second call that meets one on the same atomo_tensor returns
 * ATOMO_USAGE. Different ones share no memory. A thread needs 256 KiB of stack.
 * The host: results depend on nothing that a program sets for its process or thread (docs/library.md has a table:
 * locale, rounding, traps, signals, fork and more), and a function changes none of it. The library prints nothing,
 * never ends the process, and does not change environment variables or signal handlers. */
#ifndef ATOMO_H
#define ATOMO_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* ---- versions and errors ---- */

/* The version of the interface that this header declares. A change to an existing function increases it; a
 * new function does not. */
#define ATOMO_INTERFACE 1

/* Returns the interface version of the loaded library; a program compares it with ATOMO_INTERFACE. */
int atomo_interface(void);

/* Returns the library's version, such as "2.0.0". */
const char *atomo_version(void);

typedef enum {
    ATOMO_OK,
    ATOMO_USAGE,   /* the caller asked for something impossible: a wrong spec, or calls in the wrong order */
    ATOMO_IO,      /* a file cannot be read or written, or a library cannot be loaded */
    ATOMO_CORRUPT, /* a payload or a saved state is damaged, or no encoder can have written it */
    /* a tensor holds NaN or infinity, a result exceeds float32's range, or an iteration does not converge */
    ATOMO_NUMERIC,
    ATOMO_MEMORY,
    ATOMO_STOPPED /* a callback asked to stop */
} atomo_status;

typedef struct {
    atomo_status status;
    char text[600]; /* one line, lower case, no full stop */
    char hint[300]; /* advice to the user; may be empty */
} atomo_error;

/* ---- codecs ---- */

typedef struct atomo_codec atomo_codec;

/* Opens a codec. ATOMO_USAGE: the spec is wrong, and err->text says where. */
atomo_status atomo_codec_open(atomo_codec **codec, const char *spec, atomo_error *err);
void atomo_codec_close(atomo_codec *codec); /* `codec` may be NULL */

/* Returns the codec's spec as it was given to atomo_codec_open. The text is valid until the codec is closed. */
const char *atomo_codec_spec(const atomo_codec *codec);
/* Returns the spec with all parameters, in one spelling: equal codecs have equal texts, and the text means the same after
 * defaults have changed. The text is valid until the codec is closed. */
const char *atomo_codec_complete(const atomo_codec *codec);

/* The properties of a codec, as bits of atomo_codec_traits. A random number depends only on its address:
 * seed, worker, step, name of the tensor. */
#define ATOMO_UNBIASED 1u /* the mean of the estimate over random addresses equals the tensor */
/* the codec is linear: a merged payload decodes to the sum of the merged payloads' estimates, up to rounding */
#define ATOMO_LINEAR    2u
#define ATOMO_MERGEABLE 4u /* payloads merge without being decoded */
#define ATOMO_RANDOM    8u /* payloads depend on the address */
/* the codec keeps a state from step to step, such as the residual of error feedback */
#define ATOMO_STATEFUL    16u
#define ATOMO_TRAINS      32u  /* the codec learns from a gradient before a step (atomo_train) */
#define ATOMO_EXACT_BYTES 64u  /* payloads have the same bytes on every machine */
#define ATOMO_READS_STATE 128u /* decoding needs the sender's state */
unsigned atomo_codec_traits(const atomo_codec *codec);

/* Returns the number of rounds in a step, at least 1. A worker sends one payload in each round. */
int atomo_codec_rounds(const atomo_codec *codec);

/* Returns a warning for users of this spec; NULL: there is none. */
const char *atomo_codec_caution(const atomo_codec *codec);

/* Returns the name of compressor number `index`; NULL if there are no more compressors. Sets *brief to a
 * description in one line, unless `brief` is NULL. */
const char *atomo_compressor(size_t index, const char **brief);

/* A key of a compressor's spec. The texts are valid for ever. */
typedef struct {
    const char *key, *type; /* whole, real, switch, choice, text, or spec: the rest of the spec is that of another codec */
    const char *fallback;   /* the default; NULL: there is none */
    const char *meaning;
    int rate;       /* 1: this key trades size for error */
    char range[96]; /* "1 to 16", "l2|linf" */
} atomo_key;

/* Describes key number `key` of compressor number `index`. Returns 0 if there is no such key, else 1. */
int atomo_compressor_key(size_t index, size_t key, atomo_key *out);

/* ---- a codec on a tensor ---- */

/* One worker's tensor, with the codec's state for this tensor. */
typedef struct atomo_tensor atomo_tensor;

#define ATOMO_RANK_MAX 8

typedef struct {
    const char *name;  /* the tensor's name, the same on all workers; random numbers depend on it */
    int rank;          /* 0 .. ATOMO_RANK_MAX */
    const size_t *dim; /* (rank), row-major: the last axis is contiguous */
    uint64_t seed;     /* the same on all workers */
    int worker;        /* this worker's number, 0 .. workers - 1 */
    int workers;       /* 1 .. 1048576 */
    int threads;       /* most threads that a call may use; 0: one for each core */
    /* 1: the library does not check that tensors are finite, which saves one pass over the data; the payload
     * of a tensor with NaN or infinity is then undefined, or refused. 0: functions fail for such a tensor with
     * ATOMO_NUMERIC. */
    int unchecked;
} atomo_layout;

/* Opens a tensor with an empty state. The codec must stay open until the tensor is closed; `layout` is
 * copied. */
atomo_status atomo_tensor_open(atomo_tensor **tensor, const atomo_codec *codec, const atomo_layout *layout,
                               atomo_error *err);
void atomo_tensor_close(atomo_tensor *tensor); /* `tensor` may be NULL */

/* Returns the most bytes that atomo_encode wants. */
size_t atomo_encode_bound(const atomo_tensor *tensor);

/* Encodes the tensor x, which must be finite, and sets *size to the number of bytes written to `out`, which has
 * room for `room` bytes. With atomo_encode_bound bytes the payload always fits, and is made without a copy.
 * Does not change the codec's state. A codec of several rounds runs all of them with this worker alone. `out`
 * then holds the payloads of all rounds in order, and a size in LEB128 precedes each payload but the last. */
atomo_status atomo_encode(atomo_tensor *tensor, int64_t step, const float *x, void *out, size_t room,
                          size_t *size, atomo_error *err);

/* Decodes what atomo_encode wrote at this step on worker number `worker`; x receives the estimate. A payload
 * from atomo_merge decodes to the sum of the merged payloads' estimates. `in` may hold any bytes: a damaged
 * payload is an error and does no harm. */
atomo_status atomo_decode(atomo_tensor *tensor, int64_t step, int worker, const void *in, size_t size,
                          float *x, atomo_error *err);

/* For a step of this worker alone, in which atomo_encode encoded x to `in`: computes the codec's state for
 * the next step. Does nothing for a codec without state. In a step of several workers atomo_step_finish
 * computes this state, so this function returns ATOMO_USAGE between atomo_step_begin and atomo_step_finish. */
atomo_status atomo_advance(atomo_tensor *tensor, int64_t step, const float *x, const void *in, size_t size,
                           atomo_error *err);

/* Merges `count` payloads of one step without decoding them. The result decodes to the sum of their
 * estimates. The codec must have ATOMO_LINEAR or ATOMO_MERGEABLE, and one round. `out` has room for `room`
 * bytes, of which atomo_merge_bound are always enough, and may be one of the payloads. */
size_t atomo_merge_bound(const atomo_tensor *tensor, size_t count);
atomo_status atomo_merge(atomo_tensor *tensor, int64_t step, const void *const *in, const size_t *in_size,
                         size_t count, void *out, size_t room, size_t *size, atomo_error *err);

/* ---- one step of several workers ----
 *
 *     atomo_step_begin
 *     do
 *         atomo_step_send       this worker's payload of the round
 *         ...                   the program exchanges payloads with the other workers
 *         atomo_step_take       every worker's payload, its own included, in the same order everywhere
 *         atomo_step_end_round
 *     while there are more rounds
 *     atomo_step_finish         computes the mean of all estimates and the next step's state
 *
 * If all workers take the same payloads in the same order, their means are equal bit for bit. atomo-train
 * runs the same code. */

/* For a codec with ATOMO_TRAINS: learns from x, this worker's tensor, the state with which all workers must
 * start the step. Call atomo_train on one worker, before atomo_step_begin. Then send the bytes that
 * atomo_learned returns to all other workers, and pass them to atomo_learn there. Both discard a step that was
 * not finished. */
atomo_status atomo_train(atomo_tensor *tensor, int64_t step, const float *x, atomo_error *err);
/* the learned bytes stay valid until the next call with this tensor */
const void *atomo_learned(atomo_tensor *tensor, size_t *size);
atomo_status atomo_learn(atomo_tensor *tensor, const void *learned, size_t size, atomo_error *err);

/* Begins a step in which `senders` workers (1 .. workers) send. Discards an earlier step that was not
 * finished. Until atomo_step_finish the library keeps the pointer `mean` and uses the array as scratch
 * memory; then the array holds the mean of the estimates. It must not be x. The mean of an element is over the senders; for codecs whose
 * papers divide so (chunktopk), over the senders that sent the element. With topk:share=leader the step's number draws the worker
 * that leads from workers 0 .. senders - 1; if it does not send, the second round returns ATOMO_CORRUPT. */
atomo_status atomo_step_begin(atomo_tensor *tensor, int64_t step, int senders, float *mean, atomo_error *err);

/* Encodes x for this round, once; x is the same in every round of a step. *payload is the tensor's memory, valid
 * until atomo_step_finish, or the next atomo_step_begin or atomo_tensor_close if one comes before. A worker that
 * does not send in this step skips this call. */
atomo_status atomo_step_send(atomo_tensor *tensor, const float *x, const void **payload, size_t *size,
                             atomo_error *err);

/* Takes the payload that worker number `worker` sent in this round; the caller need not keep it. A payload that is
 * refused does not count: the step is as before, and the right one may be taken. */
atomo_status atomo_step_take(atomo_tensor *tensor, int worker, const void *payload, size_t size,
                             atomo_error *err);

/* For programs that merge payloads before every worker has them, as an all-reduce does. Both functions need
 * ATOMO_LINEAR or ATOMO_MERGEABLE. atomo_step_merge merges payloads of this round, which may themselves be
 * merged; `out` and `room` are those of atomo_merge. atomo_step_take_merged takes one payload, merged from
 * the payloads of all senders, and replaces all calls of atomo_step_take. */
atomo_status atomo_step_merge(atomo_tensor *tensor, const void *const *in, const size_t *in_size,
                              size_t count, void *out, size_t room, size_t *size, atomo_error *err);
atomo_status atomo_step_take_merged(atomo_tensor *tensor, const void *payload, size_t size, atomo_error *err);

/* Ends the round; *more becomes 1 when another round follows, else 0. ATOMO_USAGE: a sender's payload is still to
 * be taken. After another error, as of payloads that do not merge, the step is over: begin it again. */
atomo_status atomo_step_end_round(atomo_tensor *tensor, int *more, atomo_error *err);

/* Writes the mean of the senders' estimates to `mean`, and computes the state of the next step. `x` is this
 * worker's tensor, the one passed to atomo_step_send. A worker that did not send must pass its tensor too. An
 * error other than ATOMO_USAGE may leave half of a state: the tensor then takes no call that reads the state, until
 * atomo_state_load. */
atomo_status atomo_step_finish(atomo_tensor *tensor, const float *x, atomo_error *err);

/* ---- two shots, for payloads that do not merge: each worker owns a shard of the vector, and quantises its mean again ----
 *
 * Every worker opens a tensor for each shard. With the name "NAME[S]" for shard S of the tensor NAME, or NAME for a shard that is
 * the whole tensor, the means are those of atomo-train --topology twoshot. A step of a shard:
 *
 *     atomo_step_begin, atomo_step_send       on every worker; the payload goes to the owner
 *     atomo_step_take, atomo_step_end_round   on the owner, as above
 *     atomo_step_again                        on the owner; the payload of the mean goes to all
 *     atomo_step_hear                         on every worker, the owner included
 *     atomo_step_finish */

/* Returns the first element of a shard, 0 <= shard <= workers, of a vector of n elements; `shard` = workers gives n. Some shards
 * may be empty. Codecs that take a tensor as a matrix have one shard, number 0, whose owner may be any worker. */
size_t atomo_shard(const atomo_codec *codec, size_t n, int workers, int shard);

/* Encodes the mean of the payloads that the owner has taken, when its round has ended. *payload is valid as that of
 * atomo_step_send. ATOMO_USAGE: the codec has several rounds, or decodes with the senders' states. */
atomo_status atomo_step_again(atomo_tensor *tensor, const void **payload, size_t *size, atomo_error *err);

/* Takes the payload of the mean. One that is refused does not count. */
atomo_status atomo_step_hear(atomo_tensor *tensor, const void *payload, size_t size, atomo_error *err);

/* ---- saving and loading states, for checkpoints ---- */

/* `atomo_state_size` returns the number of bytes that `atomo_state_save` writes to `out`, which has room for
 * `room` bytes. The bytes name the codec and the tensor's layout, so that `atomo_state_load` can check them,
 * and end with a checksum. */
size_t atomo_state_size(const atomo_tensor *tensor);
atomo_status atomo_state_save(atomo_tensor *tensor, void *out, size_t room, atomo_error *err);

/* Loads a saved state. ATOMO_CORRUPT: the bytes are damaged. ATOMO_USAGE: they were saved with another codec, shape,
 * name or seed, or by another worker or one of another number of workers; where all workers have the same state, as with
 * powersgd, any of them takes it. */
atomo_status atomo_state_load(atomo_tensor *tensor, const void *in, size_t size, atomo_error *err);

/* ---- gradients, and files of gradients ---- */

typedef struct {
    const char *name; /* of the tensor */
    int rank;
    const size_t *dim;
    const float *x;
    int64_t step, worker;
} atomo_gradient;

/* A file of gradients: HDF5 as atomo-bench reads it, .npz, .npy or .safetensors, told apart by content. */
typedef struct atomo_dump atomo_dump;

/* Opens and lists a file. A separate process parses the file, under limits, until atomo_dump_close ends that
 * process. ATOMO_IO: the file cannot be read. ATOMO_CORRUPT: the file is damaged, or is no file of gradients. */
atomo_status atomo_dump_open(atomo_dump **dump, const char *path, atomo_error *err);
void atomo_dump_close(atomo_dump *dump); /* `dump` may be NULL */

/* Returns the number of tensors, of all steps and workers. */
size_t atomo_dump_count(const atomo_dump *dump);

/* Describes tensor number `index` < count; tensors are ordered by step, then by worker. Step and worker are 0
 * where the file does not name them. `x` is NULL. Name and dimensions are valid until the file is closed. */
atomo_gradient atomo_dump_gradient(const atomo_dump *dump, size_t index);

/* Reads tensor number `index` to x, which has room for the product of its dimensions. Elements may be NaN or
 * infinite: they are in the file, or are float64 beyond float32's range. */
atomo_status atomo_dump_read(atomo_dump *dump, size_t index, float *x, atomo_error *err);

/* ---- measurements ---- */

/* Returns the name of metric number `index`; NULL if there are no more metrics. docs/generated/metrics.md explains
 * each metric. */
const char *atomo_metric(size_t index);

/* Compares an estimate y with the tensor x (n elements each), and writes one number for each metric to `value`,
 * which has room for `values` numbers; fewer than there are metrics are ATOMO_USAGE. The number is NaN for a
 * metric that needs more than x and y. `bytes`: the size of the payload. */
atomo_status atomo_measure(const float *x, const float *y, size_t n, size_t bytes, int threads, double *value,
                           size_t values, atomo_error *err);

typedef struct {
    /* (specs) specs of codecs, such as "qsgd:bits=4"; "qsgd:bits=2/4" stands for two codecs, with bits=2 and
     * bits=4 */
    const char *const *spec;
    size_t specs;
    size_t repeats; /* 1 or more */
    uint64_t seed;
    int threads; /* 0: one for each core */
    int timed;   /* 1: measure encode and decode times, 0: leave them out, which is faster */
    /* The comparison calls this function before each repeat, maybe on another thread, with the host's settings; if
     * it returns 1, the comparison ends with ATOMO_STOPPED. May be NULL. */
    int (*stopped)(void *data);
    void *data;
} atomo_comparison;

/* Compares codecs as `atomo-bench compare` does, on `count` tensors in memory, ordered by step, then by
 * worker. Tensors must be finite. *json becomes the text that `atomo-bench compare --format json` prints; the
 * caller frees it with atomo_free. */
atomo_status atomo_compare(const atomo_comparison *c, const atomo_gradient *gradient, size_t count,
                           char **json, atomo_error *err);

/* Like atomo_compare, for a file of gradients (atomo_dump_open). */
atomo_status atomo_compare_file(const atomo_comparison *c, const char *path, char **json, atomo_error *err);
void atomo_free(void *json); /* `json` may be NULL */

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
