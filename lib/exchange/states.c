/* states.c -- keeps codec states in a growing list (states.h). */
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

/* Returns the index of a state; `count`: there is none. The search begins behind the state that was found last, where the next one
 * is in most cases. */
static size_t find(CodecStates *s, int64_t worker, uint64_t tensor, const char *name, const Shape *shape)
{
    for (size_t i = 0; i < s->count; i++) {
        const size_t at = (s->last + 1 + i) % s->count;
        if (s->item[at].tensor == tensor && is_state_of(s, &s->item[at], worker, name, shape))
            return s->last = at;
    }
    return s->count;
}

static Status grow(CodecStates *s, Error *err)
{
    const size_t room = s->room ? 2 * s->room : 64;
    CodecState *wider = NEW(s->arena, CodecState, room);
    TRY(arena_check(wider, s->arena, err));
    if (s->count)
        memcpy(wider, s->item, s->count * sizeof *wider);
    s->item = wider;
    s->room = room;
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
    s->last = s->count;
    s->item[s->count++] = added;
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
    if (find(s, worker, tensor, name, c->shape) == s->count)
        TRY(add(s, c, worker, tensor, name));
    const CodecState *found = &s->item[s->last];
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
