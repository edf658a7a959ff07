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
    const uint64_t n = c->vectors->largest;
    const uint64_t sums =
        !c->workers || merges_lean(c)
            ? 0
            : 2 * sizeof(double) + sizeof(float); /* of gradients and estimates, and a gradient */
    return (2 * sizeof(float) + sums) * n + (merges_lean(c) ? c->parts_room : 0);
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

/* Returns the number of elements whose senders are counted at a time. */
static size_t senders_of(const Comparison *c)
{
    const size_t n = c->vectors->largest;
    return merges_lean(c) ? merge_window(room_of(c), n, 0) : n;
}

CompareMemory compare_memory(const Comparison *c, const Codec *codec)
{
    Arena *a = arena_open(0);
    Error ignored;
    Layout l;
    const size_t n = c->vectors->largest;
    CompareMemory m = {.vectors = compare_least(c)};
    if (c->workers && average_over_senders(c->average, codec))
        m.vectors += sizeof(uint32_t) * (uint64_t)senders_of(c); /* Exchange.sent */
    m.spread = 2 * sizeof(float) * (uint64_t)window_of(c);
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
