/* states.h -- the codec states of a run: one for each worker and tensor, zeroed at first use.
 *
 * A state is flat memory of codec_state_size bytes, which only codec_train and codec_settle write (compressor.h). It
 * stays where it is until codec_states_forget or codec_states_close. */
#ifndef ATOMO_STATES_H
#define ATOMO_STATES_H

#include "codec/codec.h"

typedef struct {
    int64_t worker;
    const char *name; /* of the tensor */
    uint64_t tensor;  /* rng_hash(name) */
    Shape shape;
    size_t size; /* bytes */
    void *state; /* 64-byte aligned */
} CodecState;

typedef struct {
    uint64_t elements_max; /* of all tensors with a state together; 0: any number */
    bool one_shape; /* refuse a tensor that changes its shape; without it each shape has its own state */

    Arena *arena; /* this and all below: NULL and 0 at first */
    CodecState *item;
    size_t count, room;
    size_t *slot; /* (2 room) by hash: 1 + index of an item, 0: none */
    uint64_t elements;
} CodecStates;

/* The state of c's codec for this worker and tensor; NULL where the codec keeps none. ERR_CORRUPT beyond elements_max
 * or, with one_shape, where the tensor had another number of elements before. */
Status codec_states_find(CodecStates *s, const Call *c, int64_t worker, const char *name, void **state);

/* All states back to zero, as before the first step. */
void codec_states_zero(CodecStates *s);

/* Frees all states; the next ones begin at zero. */
void codec_states_forget(CodecStates *s);

/* To save and load: item[0 .. count - 1] are the states in the order of their first use. */

#endif
