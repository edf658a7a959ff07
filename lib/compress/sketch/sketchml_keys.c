/* sketchml_keys.c -- which elements are in a group: distances of one to four whole bytes, or in the Golomb code that
 * suits them best. */
#include "compress/sketch/sketchml.h"

#include "coder/indices.h"
#include "coder/planes.h"

/* The bytes that a distance from 1 on fills. */
static unsigned bytes_of(uint32_t delta)
{
    return (39 - (unsigned)__builtin_clz(delta)) / 8;
}

static void put_deltas(const uint32_t *key, size_t count, uint8_t *bytes, Buf *out)
{
    uint32_t previous = UINT32_MAX;
    size_t total = 0;
    for (size_t i = 0; i < count; i++) {
        bytes[i] = (uint8_t)(bytes_of(key[i] - previous) - 1);
        total += bytes[i] + 1u;
        previous = key[i];
    }
    planes_put8(bytes, count, 2, buf_room(out, planes_size(count, 2)));
    uint8_t *at = buf_room(out, total), *const end = at + total;
    previous = UINT32_MAX;
    for (size_t i = 0; i < count; i++) {
        uint8_t delta[4];
        store_u32(delta, key[i] - previous);
        if (end - at >= 4)
            memcpy(at, delta, 4);
        else
            memcpy(at, delta, bytes[i] + 1u);
        at += bytes[i] + 1u;
        previous = key[i];
    }
}

enum { RUN = 4096 };

typedef struct {
    const uint32_t *key;
    size_t count;
    size_t *run; /* (RUN) */
} Keys;

static const size_t *keys_run(const Indices *set, size_t run, size_t *count)
{
    const Keys *k = set->data;
    *count = k->count - run * RUN < RUN ? k->count - run * RUN : RUN;
    for (size_t i = 0; i < *count; i++)
        k->run[i] = k->key[run * RUN + i];
    return k->run;
}

void keys_put(int form, const uint32_t *key, size_t count, size_t n, uint8_t *bytes, Buf *out)
{
    if (form == DELTA_ADAPTIVE) {
        size_t run[RUN];
        const Keys keys = {key, count, run};
        const Indices set = {
            .count = count, .runs = count / RUN + (count % RUN != 0), .data = &keys, .run = keys_run};
        indices_put(&set, n, out);
        return;
    }
    buf_varint(out, count);
    put_deltas(key, count, bytes, out);
}

/* ---- reading ---- */

static bool get_deltas(const Call *c, const uint8_t *bytes, size_t count, Reader *in, uint32_t *key)
{
    size_t next = 0;
    for (size_t i = 0; i < count; i++) {
        const unsigned size = bytes[i] + 1u;
        const uint8_t *at = take_bytes(in, size);
        uint32_t delta = 0;
        for (unsigned k = 0; at && k < size; k++)
            delta |= (uint32_t)at[k] << 8 * k;
        if (delta == 0 || bytes_of(delta) != size || delta > c->shape->n - next)
            return false;
        next += delta;
        key[i] = (uint32_t)(next - 1);
    }
    return true;
}

static Status get_binary(const Call *c, Reader *in, uint32_t **key, size_t *count)
{
    const uint64_t k = take_varint(in);
    if (in->bad || k > c->shape->n)
        return payload_bad(c, "a group of %llu keys out of %zu", (unsigned long long)k, c->shape->n);
    const uint8_t *planes = take_bytes(in, planes_size(k, 2));
    if (!planes)
        return payload_bad(c, "%zu keys that end early", (size_t)k);
    uint8_t *bytes = NEW(c->scratch, uint8_t, k);
    *key = NEW(c->scratch, uint32_t, k);
    *count = k;
    if (!bytes || !*key)
        return arena_fail(c->scratch, c->err);
    if (!planes_get8(planes, k, 2, bytes) || !get_deltas(c, bytes, k, in, *key))
        return payload_bad(c, "keys that no encoder writes");
    return OK;
}

Status keys_get(int form, const Call *c, Reader *in, uint32_t **key, size_t *count)
{
    Places set;
    if (form == DELTA_BINARY)
        return get_binary(c, in, key, count);
    if (!indices_get(in, c->shape->n, c->scratch, &set))
        return in->bad ? payload_bad(c, "keys that no encoder writes") : arena_fail(c->scratch, c->err);
    *key = NEW(c->scratch, uint32_t, set.count);
    *count = set.count;
    if (!*key)
        return arena_fail(c->scratch, c->err);
    for (size_t b = 0; b < blocks_of(c->shape->n); b++)
        for (size_t i = set.before[b]; i < set.before[b + 1]; i++)
            (*key)[i] = (uint32_t)(b * BLOCK + set.at[i]);
    return OK;
}
