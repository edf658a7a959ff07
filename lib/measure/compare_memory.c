/* compare_memory.c -- computes the memory of a comparison beforehand. */
#include "measure/compare_parts.h"

/* Adds up the states of the vectors of the first step and worker. Later steps use the same states. */
static void add_states(CompareMemory *m, const Comparison *c, const Codec *codec, Arena *a)
{
    Error ignored;
    const Vector *v = c->vectors->item;
    for (size_t i = 0; i < c->vectors->count && compare_same_cell(v, v + i); i++) {
        const Call call = trial_call(c, codec, v + i, NULL, a, &ignored);
        m->states += v[i].raw ? 0 : codec_state_size(&call);
    }
}

uint64_t compare_least(const Comparison *c)
{
    const uint64_t deviations = 2 * sizeof(float), merge = c->workers ? sizeof(float) + sizeof(double) : 0;
    return (2 * sizeof(float) + deviations + merge) * (uint64_t)c->vectors->largest;
}

/* Returns how many payloads are in memory at a time. In a merge they wait for their batch, and two more hold what
 * batches were merged to. */
static uint64_t payloads_held(const Comparison *c, const Codec *codec)
{
    const uint64_t room = EXCHANGE_BATCH + 1;
    if (!c->workers || !(codec_adds(codec) || codec_rounds(codec) > 1))
        return 1;
    return (c->workers < room ? c->workers : room) + 2;
}

CompareMemory compare_memory(const Comparison *c, const Codec *codec)
{
    Arena *a = arena_open(0);
    Error ignored;
    Layout l;
    const size_t n = c->vectors->largest;
    CompareMemory m = {.vectors = compare_least(c)};
    if (c->workers && average_over_senders(c->average, codec))
        m.vectors += sizeof(uint32_t) * (uint64_t)n; /* Exchange.sent */
    if (layout_make(&l, c, c->memory, a, &ignored) == OK)
        m.pools = compare_pooled(measures_distances(c)) * (uint64_t)layout_held(&l, c->vectors);
    add_states(&m, c, codec, a);
    for (size_t i = 0; i < c->vectors->count; i++) {
        const Call call = trial_call(c, codec, &c->vectors->item[i], NULL, a, &ignored);
        const uint64_t bound =
            c->vectors->item[i].shape.n == n ? payloads_held(c, codec) * codec_message_bound(&call) : 0;
        m.payload = bound > m.payload ? bound : m.payload;
    }
    arena_close(a);
    return m;
}
