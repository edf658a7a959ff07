/* atomo.h -- libatomo: gradient compressors for other programs.
 *
 * Every other header in this folder is private and changes without notice; this one does not. docs/library.md has
 * a tutorial and an example; docs/FORMAT.md describes the payloads.
 *
 * A codec is a compressor with its parameters, opened from a spec such as "qsgd:bits=4" (`atomo-bench list` shows
 * all). It encodes a tensor, float32 in row-major order, to a payload, the bytes that travel, and decodes a
 * payload to an estimate of the tensor. Random numbers are a function of an address (seed, worker, step, name of
 * the tensor), so the same address gives the same payload on any number of threads; the receiver needs the
 * sender's address.
 *
 * Errors. Functions that can fail return ATOMO_OK or a code, and describe the failure in `err`, which may be NULL.
 * Outputs are undefined after a failure, except that objects are never left half open. Memory. The library keeps
 * no pointer that it is given after a function returns, except where the function's comment says so. Threads. An
 * atomo_codec never changes and serves any number of threads. An atomo_tensor serves one thread at a time;
 * different tensors share nothing. The library prints nothing, never ends the process and leaves its environment
 * and its signals alone. */
#ifndef ATOMO_H
#define ATOMO_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* ---- versions and errors ---- */

/* The version of this header's interface. New functions may be added under the same version; an existing function
 * changes only with a new version. */
#define ATOMO_INTERFACE 0

/* Returns the interface version of the loaded library; a program compares it with ATOMO_INTERFACE. */
int atomo_interface(void);

/* Returns the library's version, such as "0.1.0". */
const char *atomo_version(void);

typedef enum {
    ATOMO_OK,
    ATOMO_USAGE,   /* the caller asked for something impossible: a wrong spec, or calls in the wrong order */
    ATOMO_IO,      /* a file cannot be read or written, or a library cannot be loaded */
    ATOMO_CORRUPT, /* the bytes of a payload or a state are not what an encoder produces */
    /* a tensor holds NaN or infinity, a result exceeds float32's range, or an iteration does not converge */
    ATOMO_NUMERIC,
    ATOMO_MEMORY,
    ATOMO_STOPPED, /* a callback asked to stop */
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

/* Returns the codec's spec with every parameter that differs from its default, in a fixed order. The text lives as
 * long as the codec. */
const char *atomo_codec_spec(const atomo_codec *codec);

/* The properties of a codec, as bits of atomo_codec_traits. An address is what random numbers are drawn from:
 * (seed, worker, step, name of the tensor). */
#define ATOMO_UNBIASED    1u  /* the mean of the estimate over random addresses equals the tensor */
/* the estimate of a merged payload is the sum of the estimates of the payloads in it, to rounding */
#define ATOMO_LINEAR      2u
#define ATOMO_MERGEABLE   4u  /* payloads merge without being decoded */
#define ATOMO_RANDOM      8u  /* payloads depend on the address */
/* the codec keeps a state from step to step, such as the residual of error feedback */
#define ATOMO_STATEFUL    16u
#define ATOMO_TRAINS      32u /* the codec learns from a gradient before a step (atomo_train) */
#define ATOMO_EXACT_BYTES 64u /* payloads have the same bytes on every machine */
#define ATOMO_READS_STATE 128u /* decoding needs the sender's state */
unsigned atomo_codec_traits(const atomo_codec *codec);

/* Returns how many payloads a worker sends in a step, one after another: at least 1. */
int atomo_codec_rounds(const atomo_codec *codec);

/* Returns a warning for users of this spec; NULL: there is none. */
const char *atomo_codec_caution(const atomo_codec *codec);

/* Returns the name of compressor number `index`, and sets *brief to one line about it unless `brief` is NULL. NULL
 * after the last compressor. */
const char *atomo_compressor(size_t index, const char **brief);

/* ---- a codec on a tensor ---- */

/* One worker's tensor, with the codec's state for this tensor. */
typedef struct atomo_tensor atomo_tensor;

#define ATOMO_RANK_MAX 8

typedef struct {
    const char *name;  /* the tensor's name, the same on all workers; random numbers are drawn from it */
    int rank;          /* 0 .. ATOMO_RANK_MAX */
    const size_t *dim; /* (rank), row-major: the last axis is contiguous */
    uint64_t seed;     /* the same on all workers */
    int worker;        /* this worker's number, 0 .. workers - 1 */
    int workers;       /* 1 .. 1048576 */
    int threads;       /* most threads that a call may use; 0: one for each core */
    /* 1: the caller promises that its tensors are finite, which saves a pass over them; a payload of NaN or
     * infinities is undefined. 0: calls refuse such tensors with ATOMO_NUMERIC. */
    int unchecked;
} atomo_layout;

/* Opens a tensor with an empty state. The codec must stay open until the tensor is closed; `layout` is copied. */
atomo_status atomo_tensor_open(atomo_tensor **tensor, const atomo_codec *codec, const atomo_layout *layout,
                               atomo_error *err);
void atomo_tensor_close(atomo_tensor *tensor); /* `tensor` may be NULL */

/* Returns the most bytes that atomo_encode writes. */
size_t atomo_encode_bound(const atomo_tensor *tensor);

/* Encodes x (elements of the layout, finite) to `out`, which has room for atomo_encode_bound bytes; *size becomes
 * the number of bytes written. With a codec of several rounds, each round continues from this worker's own
 * payloads alone, and the payloads of all rounds follow one another, every payload but the last behind its size
 * (LEB128). The codec's state is read but not changed. */
atomo_status atomo_encode(atomo_tensor *tensor, int64_t step, const float *x, void *out, size_t *size,
                          atomo_error *err);

/* Decodes to x (elements of the layout) what atomo_encode wrote for worker number `worker` at this step. `in` may
 * hold any bytes: a damaged payload is an error and does no harm. A payload from atomo_merge decodes to the sum of
 * the merged payloads' estimates. */
atomo_status atomo_decode(atomo_tensor *tensor, int64_t step, int worker, const void *in, size_t size,
                          float *x, atomo_error *err);

/* Computes the state of the next step after a step that this worker took alone, in which x was encoded to `in`.
 * Does nothing for a codec without state. Returns ATOMO_USAGE between atomo_step_begin and atomo_step_finish,
 * because atomo_step_finish computes the next state. atomo_encode, atomo_decode and atomo_merge are allowed during
 * a step and do not change the step. */
atomo_status atomo_advance(atomo_tensor *tensor, int64_t step, const float *x, const void *in, size_t size,
                           atomo_error *err);

/* Merges `count` payloads of one step into the payload of their sum, without decoding them. Needs ATOMO_LINEAR or
 * ATOMO_MERGEABLE and a codec of one round; `out` has room for atomo_merge_bound bytes. */
size_t atomo_merge_bound(const atomo_tensor *tensor, size_t count);
atomo_status atomo_merge(atomo_tensor *tensor, int64_t step, const void *const *in, const size_t *in_size,
                         size_t count, void *out, size_t *size, atomo_error *err);

/* ---- one step of several workers ----
 *
 *     atomo_step_begin
 *     do
 *         atomo_step_send       this worker's payload of the round
 *         ...                   the program exchanges payloads with the other workers
 *         atomo_step_take       every worker's payload, its own included, in the same order everywhere
 *         atomo_step_end_round
 *     while there are more rounds
 *     atomo_step_finish         the mean of all estimates; the state moves on
 *
 * All workers that take the same payloads in the same order end with the same bytes. This is the same code that
 * atomo-train runs. */

/* Learns from this worker's x the state that all workers must start the step with, for a codec with ATOMO_TRAINS.
 * Call atomo_train before atomo_step_begin, on one worker; then give the bytes of this worker's atomo_learned to
 * atomo_learn on all other workers. */
atomo_status atomo_train(atomo_tensor *tensor, int64_t step, const float *x, atomo_error *err);
/* the bytes are valid until the next call with this tensor */
const void *atomo_learned(atomo_tensor *tensor, size_t *size);
atomo_status atomo_learn(atomo_tensor *tensor, const void *learned, size_t size, atomo_error *err);

/* Begins a step in which `senders` workers (1 .. workers) send. The library keeps the pointer `mean` (elements of
 * the layout) until atomo_step_finish, uses the array as scratch, and finally leaves the mean of the estimates in
 * it. Discards an earlier step that was not finished. */
atomo_status atomo_step_begin(atomo_tensor *tensor, int64_t step, int senders, float *mean, atomo_error *err);

/* Encodes x for this round. *payload is valid until atomo_step_finish. A worker that does not send in this step
 * skips this call. */
atomo_status atomo_step_send(atomo_tensor *tensor, const float *x, const void **payload, size_t *size,
                             atomo_error *err);

/* Takes a worker's payload of this round. The caller must keep the payload's bytes until atomo_step_end_round, or
 * until atomo_step_finish for a codec with ATOMO_READS_STATE. */
atomo_status atomo_step_take(atomo_tensor *tensor, int worker, const void *payload, size_t size,
                             atomo_error *err);

/* For programs that merge payloads on their way, as an all-reduce does. atomo_step_merge merges payloads of this
 * round, which may be merged payloads themselves; `out` has room for atomo_merge_bound bytes.
 * atomo_step_take_merged takes the merge of all senders' payloads, in place of one atomo_step_take for each
 * payload. Both functions need ATOMO_LINEAR or ATOMO_MERGEABLE. */
atomo_status atomo_step_merge(atomo_tensor *tensor, const void *const *in, const size_t *in_size,
                              size_t count, void *out, size_t *size, atomo_error *err);
atomo_status atomo_step_take_merged(atomo_tensor *tensor, const void *payload, size_t size, atomo_error *err);

/* Ends the round; *more becomes 1 when another round follows, else 0. */
atomo_status atomo_step_end_round(atomo_tensor *tensor, int *more, atomo_error *err);

/* Writes the mean of the senders' estimates to `mean` and computes the state of the next step. x: this worker's
 * tensor, the same as in atomo_step_send; needed also if this worker did not send. */
atomo_status atomo_step_finish(atomo_tensor *tensor, const float *x, atomo_error *err);

/* ---- saving and loading states, for checkpoints ---- */

/* atomo_state_size returns the number of bytes that atomo_state_save writes. The bytes identify the codec and the
 * shape, and end with a checksum. */
size_t atomo_state_size(const atomo_tensor *tensor);
void atomo_state_save(const atomo_tensor *tensor, void *out);

/* Loads a saved state. ATOMO_CORRUPT: the bytes are damaged, or were saved with another codec, shape, name, seed,
 * worker or number of workers. */
atomo_status atomo_state_load(atomo_tensor *tensor, const void *in, size_t size, atomo_error *err);

/* ---- measurements ---- */

/* Returns the name of metric number `index`; docs/metrics.md explains each metric. NULL after the last metric. */
const char *atomo_metric(size_t index);

/* Compares an estimate y with x (n elements each): writes one number for each metric to `value`; NaN: the metric
 * cannot be computed from two vectors alone. `bytes`: the payload's size. */
atomo_status atomo_measure(const float *x, const float *y, size_t n, size_t bytes, int threads, double *value,
                           atomo_error *err);

typedef struct {
    const char *name; /* of the tensor */
    int rank;
    const size_t *dim;
    const float *x; /* finite */
    int64_t step, worker;
} atomo_gradient;

typedef struct {
    /* (specs) the codecs, such as "qsgd:bits=4"; a spec with alternatives, "bits=2/4", gives one codec for each */
    const char *const *spec;
    size_t specs;
    size_t repeats; /* 1 or more */
    uint64_t seed;
    int threads; /* 0: one for each core */
    int timed;   /* 1: measure encode and decode times, 0: leave them out, which is faster */
    /* The comparison calls this function from time to time; if it returns 1, the comparison ends with
     * ATOMO_STOPPED. May be NULL. */
    int (*stopped)(void *data);
    void *data;
} atomo_comparison;

/* Runs the comparison of `atomo-bench compare` on `count` tensors in memory, ordered by step, then by worker.
 * *json becomes the document that `atomo-bench compare --format json` writes; the caller frees it with atomo_free. */
atomo_status atomo_compare(const atomo_comparison *c, const atomo_gradient *gradient, size_t count,
                           char **json, atomo_error *err);

/* Like atomo_compare, for a gradient dump (HDF5), which a separate process reads. */
atomo_status atomo_compare_file(const atomo_comparison *c, const char *path, char **json, atomo_error *err);
void atomo_free(void *json); /* `json` may be NULL */

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
