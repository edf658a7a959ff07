/* states.c -- keeps codec states in a growing list, and finds them by a hash table (states.h). */
#include "exchange/states.h"
#include "base/text.h"
#include "compress/wrapper.h"

#include <string.h>

static bool is_state_of(const CodecStates *s, const CodecState *i, int64_t worker, const char *name,
                        const Shape *shape)
{
    return i->worker == worker && !strcmp(i->name, name) &&
           (s->one_shape ||
            (i->shape.rank == shape->rank && !memcmp(i->shape.dim, shape->dim, sizeof shape->dim)));
}

/* Returns the slot of a state in the hash table or, if it is not there, the empty slot where it belongs. At
 * most half of the slots are taken, so the search ends. */
static size_t *find_slot(const CodecStates *s, int64_t worker, uint64_t tensor, const char *name,
                         const Shape *shape)
{
    const size_t last = 2 * s->room - 1; /* number of slots - 1; the number of slots is a power of two */
    size_t at = (size_t)((tensor ^ (uint64_t)worker * UINT64_C(0x9e3779b97f4a7c15)) >> 7) & last;
    for (; s->slot[at]; at = (at + 1) & last) {
        const CodecState *i = &s->item[s->slot[at] - 1];
        if (i->tensor == tensor && is_state_of(s, i, worker, name, shape))
            break;
    }
    return &s->slot[at];
}

static Status grow(CodecStates *s, Error *err)
{
    const size_t room = s->room ? 2 * s->room : 64;
    CodecState *wider = NEW(s->arena, CodecState, room);
    s->slot = NEW_ZERO(s->arena, size_t, 2 * room);
    TRY(arena_check(wider && s->slot, s->arena, err));
    if (s->count)
        memcpy(wider, s->item, s->count * sizeof *wider);
    s->item = wider;
    s->room = room;
    for (size_t i = 0; i < s->count; i++)
        *find_slot(s, wider[i].worker, wider[i].tensor, wider[i].name, &wider[i].shape) = i + 1;
    return OK;
}

static Status add(CodecStates *s, const Call *c, int64_t worker, uint64_t tensor, const char *name)
{
    s->elements += c->shape->n;
    if (s->elements_max && s->elements > s->elements_max)
        return FAIL(c->err, ERR_CORRUPT, "%s: more state than a file of this size can justify", name);
    if (s->count == s->room)
        TRY(grow(s, c->err));
    CodecState added = {worker, text_copy(s->arena, name), tensor, *c->shape, codec_state_size(c), NULL};
    added.state = NEW_ZERO(s->arena, uint8_t, state_round(added.size));
    TRY(arena_check(added.name && added.state, s->arena, c->err));
    s->item[s->count] = added;
    *find_slot(s, worker, tensor, name, c->shape) = ++s->count;
    return OK;
}

Status codec_states_find(CodecStates *s, const Call *c, int64_t worker, const char *name, void **state)
{
    const uint64_t tensor = rng_hash(name);
    *state = NULL;
    if (!codec_keeps_state(c->self))
        return OK;
    if (!s->arena)
        s->arena = arena_open(0);
    if (!s->count || !*find_slot(s, worker, tensor, name, c->shape))
        TRY(add(s, c, worker, tensor, name));
    const CodecState *found = &s->item[*find_slot(s, worker, tensor, name, c->shape) - 1];
    if (found->shape.n != c->shape->n)
        return FAIL(c->err, ERR_CORRUPT, "%s has %zu elements where it had %zu before; %s keeps a state",
                    name, c->shape->n, found->shape.n, c->self->ops->name);
    *state = found->state;
    return OK;
}

void codec_states_zero(CodecStates *s)
{
    for (size_t i = 0; i < s->count; i++)
        memset(s->item[i].state, 0, s->item[i].size);
}

void codec_states_forget(CodecStates *s)
{
    arena_close(s->arena);
    *s = (CodecStates){.elements_max = s->elements_max, .one_shape = s->one_shape};
}
