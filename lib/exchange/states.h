/* states.h -- the codec states of a run: one for each worker and tensor, zeroed at first use.
 *
 * A state is flat memory of `codec_state_size` bytes. Of the functions of codec.h only `codec_train` and
 * `codec_settle` write it. It does not move until `codec_states_forget`. */
#ifndef ATOMO_STATES_H
#define ATOMO_STATES_H

#include "compress/codec.h"

typedef struct {
    int64_t worker;
    const char *name; /* name of the tensor */
    uint64_t tensor;  /* rng_hash(name) */
    Shape shape;
    size_t size; /* bytes */
    void *state; /* 64-byte aligned */
} CodecState;

typedef struct {
    uint64_t elements_max; /* limit on the elements of all tensors that have a state, summed; 0: no limit */
    /* True: refuse a tensor whose number of elements changes. False: each shape of a tensor has its own
     * state. */
    bool one_shape;

    Arena *arena; /* private, like all members below; NULL and 0 at first */
    CodecState *item;
    size_t count, room;
    size_t last; /* index of the state that was found last */
    uint64_t elements;
} CodecStates;

/* Finds or makes the state of c's codec for this worker and tensor; NULL if the codec keeps no state.
 * ERR_CORRUPT: there would be more than `elements_max` elements. With `one_shape`, ERR_CORRUPT also if the
 * tensor's number of elements has changed. */
Status codec_states_find(CodecStates *s, const Call *c, int64_t worker, const char *name, void **state);

/* Sets all states to zero, as before the first step. */
void codec_states_zero(CodecStates *s);

/* Frees all states; later states begin at zero. */
void codec_states_forget(CodecStates *s);

#endif
