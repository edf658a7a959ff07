/* atomo.h -- libatomo: gradient compressors for other programs.
 *
 * Every other header in this folder is private and changes without notice; this one does not. docs/library.md has a tutorial and
 * an example, docs/FORMAT.md the payloads.
 *
 * A codec is a compressor with its parameters, opened from a spec such as "qsgd:bits=4" (`atomo-bench list` shows all). It
 * encodes a tensor, float32 in row-major order, to a payload, the bytes that travel, and decodes a payload to an estimate of the
 * tensor. Random numbers are a function of an address (seed, worker, step, name of the tensor), so the same address gives the
 * same payload on any number of threads; the receiver needs the sender's address.
 *
 * Errors. Functions that can fail return ATOMO_OK or a code, and describe the failure in `err`, which may be NULL. Outputs are
 * undefined after a failure, except that objects are never left half open.
 * Memory. The library keeps no pointer that it is given after a function returns, except where the function's comment says so.
 * Threads. An atomo_codec never changes and serves any number of threads. An atomo_tensor serves one thread at a time; different
 * ones never share anything.
 * The library prints nothing, never ends the process and leaves its environment and its signals alone. */
#ifndef ATOMO_H
#define ATOMO_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* ---- versions and errors ---- */

/* The interface of this header: functions are added under the same number, and changed under the next one only. */
#define ATOMO_INTERFACE 0

/* The number that the loaded library was built with, to be compared with ATOMO_INTERFACE. */
int atomo_interface(void);

/* The library's version, such as "0.1.0". */
const char *atomo_version(void);

typedef enum {
    ATOMO_OK,
    ATOMO_USAGE,   /* the caller asked for something impossible: a wrong spec, calls out of order */
    ATOMO_IO,      /* files, or a library that cannot be loaded */
    ATOMO_CORRUPT, /* a payload or a state that no encoder produces */
    ATOMO_NUMERIC, /* NaN or infinity in a tensor, a result beyond float32, no convergence */
    ATOMO_MEMORY,
    ATOMO_STOPPED, /* a callback asked to stop */
} atomo_status;

typedef struct {
    atomo_status status;
    char text[600]; /* one line, lower case, no full stop */
    char hint[300]; /* what helps; may be empty */
} atomo_error;

/* ---- codecs ---- */

typedef struct atomo_codec atomo_codec;

/* Opens a codec. ATOMO_USAGE: the spec is wrong, and the text says where. */
atomo_status atomo_codec_open(atomo_codec **codec, const char *spec, atomo_error *err);
void atomo_codec_close(atomo_codec *codec); /* NULL is fine */

/* The spec with every parameter that is not at its default, in a fixed order; lives as long as the codec. */
const char *atomo_codec_spec(const atomo_codec *codec);

/* What a codec promises. */
#define ATOMO_UNBIASED    1u  /* the mean of the estimate over random addresses is the tensor */
#define ATOMO_LINEAR      2u  /* the estimate of merged payloads is the sum of their estimates, to rounding */
#define ATOMO_MERGEABLE   4u  /* payloads merge without being decoded */
#define ATOMO_RANDOM      8u  /* payloads depend on the address */
#define ATOMO_STATEFUL    16u /* keeps a state from step to step, such as the residual of error feedback */
#define ATOMO_TRAINS      32u /* atomo_train has something to learn */
#define ATOMO_EXACT_BYTES 64u /* payloads have the same bytes on every machine */
#define ATOMO_READS_STATE 128u /* decoding needs the sender's state */
unsigned atomo_codec_traits(const atomo_codec *codec);

/* How many payloads a worker sends in a step, one after another: 1 or more. */
int atomo_codec_rounds(const atomo_codec *codec);

/* A warning for users of this spec; NULL: none. */
const char *atomo_codec_caution(const atomo_codec *codec);

/* The name of compressor `index` and one line about it (brief may be NULL); NULL after the last one. */
const char *atomo_compressor(size_t index, const char **brief);

/* ---- a codec on a tensor ---- */

/* One tensor as one worker sees it, with the codec's state for it. */
typedef struct atomo_tensor atomo_tensor;

#define ATOMO_RANK_MAX 8

typedef struct {
    const char *name;  /* part of the random address; the same on all workers */
    int rank;          /* 0 .. ATOMO_RANK_MAX */
    const size_t *dim; /* (rank), row-major: the last axis is contiguous */
    uint64_t seed;     /* the same on all workers */
    int worker;        /* this worker's number, 0 .. workers - 1 */
    int workers;       /* 1 .. 1048576 */
    int threads;       /* most threads that a call may use; 0: one for each core */
    /* 1: the caller promises that its tensors are finite, which saves a pass over them; a payload of NaN or infinities
     * is undefined. 0: calls refuse such tensors with ATOMO_NUMERIC. */
    int unchecked;
} atomo_layout;

/* Opens a tensor with an empty state. The codec must stay open until the tensor is closed; `layout` is copied. */
atomo_status atomo_tensor_open(atomo_tensor **tensor, const atomo_codec *codec, const atomo_layout *layout,
                               atomo_error *err);
void atomo_tensor_close(atomo_tensor *tensor); /* NULL is fine */

/* Most bytes that atomo_encode writes. */
size_t atomo_encode_bound(const atomo_tensor *tensor);

/* Encodes x (elements of the layout, finite) to `out`, which has room for atomo_encode_bound bytes; *size becomes the number of
 * bytes written. A codec of several rounds hears nobody but itself, and its payloads stand one after another, each but the last
 * behind its size (LEB128). The state is read and stays as it is. */
atomo_status atomo_encode(atomo_tensor *tensor, int64_t step, const float *x, void *out, size_t *size,
                          atomo_error *err);

/* Decodes what atomo_encode wrote for worker `worker` at this step to x (elements of the layout); any bytes are safe to give.
 * A payload of atomo_merge decodes to the sum. */
atomo_status atomo_decode(atomo_tensor *tensor, int64_t step, int worker, const void *in, size_t size,
                          float *x, atomo_error *err);

/* Moves the state on after a step that this worker took alone: x was encoded to `in`. Does nothing for a codec without
 * state. ATOMO_USAGE between atomo_step_begin and atomo_step_finish, which moves the state on itself; atomo_encode,
 * atomo_decode and atomo_merge are allowed there, and leave the step as it is. */
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
 * All workers that take the same payloads in the same order end with the same bytes. This is the same code that atomo-train
 * runs. */

/* Learns from this worker's x what all workers must begin the step with, for a codec with ATOMO_TRAINS; before
 * atomo_step_begin, on one worker. That worker's atomo_learned is then given to atomo_learn on all others. */
atomo_status atomo_train(atomo_tensor *tensor, int64_t step, const float *x, atomo_error *err);
const void *atomo_learned(atomo_tensor *tensor, size_t *size); /* valid until the tensor's next call */
atomo_status atomo_learn(atomo_tensor *tensor, const void *learned, size_t size, atomo_error *err);

/* Begins a step in which `senders` (1 .. workers) send. `mean` (elements of the layout) is kept until atomo_step_finish, which
 * leaves the mean there; until then it is scratch. A step that was not finished is forgotten. */
atomo_status atomo_step_begin(atomo_tensor *tensor, int64_t step, int senders, float *mean, atomo_error *err);

/* Encodes x for this round. *payload is good until atomo_step_finish. A worker that does not send leaves this call out. */
atomo_status atomo_step_send(atomo_tensor *tensor, const float *x, const void **payload, size_t *size,
                             atomo_error *err);

/* Takes a worker's payload, which the caller keeps until atomo_step_end_round, or until atomo_step_finish for a codec with
 * ATOMO_READS_STATE. */
atomo_status atomo_step_take(atomo_tensor *tensor, int worker, const void *payload, size_t size,
                             atomo_error *err);

/* Instead of taking every payload: a program that merges payloads on their way, as an all-reduce does, gives the merge of all
 * senders' payloads alone. atomo_step_merge merges payloads of this round, merged ones among them; `out` has room for
 * atomo_merge_bound bytes. Needs ATOMO_LINEAR or ATOMO_MERGEABLE. */
atomo_status atomo_step_merge(atomo_tensor *tensor, const void *const *in, const size_t *in_size,
                              size_t count, void *out, size_t *size, atomo_error *err);
atomo_status atomo_step_take_merged(atomo_tensor *tensor, const void *payload, size_t size, atomo_error *err);

/* *more becomes 1 when another round follows, else 0. */
atomo_status atomo_step_end_round(atomo_tensor *tensor, int *more, atomo_error *err);

/* Writes the mean of the senders' estimates to `mean` and moves the state on. x: this worker's tensor, as it was given to
 * atomo_step_send, or would have been. */
atomo_status atomo_step_finish(atomo_tensor *tensor, const float *x, atomo_error *err);

/* ---- states, for checkpoints ---- */

/* The bytes that atomo_state_save writes; they name the codec and the shape, and end with a checksum. */
size_t atomo_state_size(const atomo_tensor *tensor);
void atomo_state_save(const atomo_tensor *tensor, void *out);

/* ATOMO_CORRUPT: bytes of another codec, shape, name, seed, worker or number of workers, or damaged ones. */
atomo_status atomo_state_load(atomo_tensor *tensor, const void *in, size_t size, atomo_error *err);

/* ---- measurements ---- */

/* Metrics have the names and the meaning of docs/metrics.md. NULL after the last one. */
const char *atomo_metric(size_t index);

/* Compares an estimate y with x (n elements each): writes to `value` one number for each metric; NaN: it does not follow from two
 * vectors. `bytes`: the payload's size. */
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
    /* (specs) such as "qsgd:bits=4"; alternatives ("bits=2/4") stand for one spec each */
    const char *const *spec;
    size_t specs;
    size_t repeats; /* 1 or more */
    uint64_t seed;
    int threads; /* 0: one for each core */
    int timed;   /* 1: measure encode and decode times, 0: leave them out, which is faster */
    /* The comparison calls it now and then; 1 ends the comparison with ATOMO_STOPPED. May be NULL. */
    int (*stopped)(void *data);
    void *data;
} atomo_comparison;

/* Runs the comparison of `atomo-bench compare` on `count` tensors in memory, in order of steps, then workers. *json becomes the
 * same document that `atomo-bench compare --format json` writes, to be freed with atomo_free. */
atomo_status atomo_compare(const atomo_comparison *c, const atomo_gradient *gradient, size_t count,
                           char **json, atomo_error *err);

/* The same for a gradient dump (HDF5), which a separate process reads. */
atomo_status atomo_compare_file(const atomo_comparison *c, const char *path, char **json, atomo_error *err);
void atomo_free(void *json); /* NULL is fine */

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
