/* radix_in_place.c -- sorts floats by their bits without a second array of their length.
 *
 * The array's floats are replaced by their sort keys (radix.h). Keys are then permuted within the array until each
 * one is in the bucket of its top 11 bits ("American flag sort": McIlroy, Bostic and McIlroy, Computing Systems
 * 6 (1993) 5). Threads then sort the buckets. A long bucket is divided in the same way by the next 7 bits, a
 * short one is copied and sorted by `radix_sort_bucket`. */
#include "num/radix.h"

#include "base/parallel.h"

#include <string.h>

enum {
    TOP = 11,
    BUCKETS = 1 << TOP,
    LOW = 32 - TOP, /* bits of a key below the top 11 */
    DIGIT = 7,
    VALUES = 1 << DIGIT,
    SHORT = 4096, /* the most keys of a bucket that is copied to be sorted */
    PIECES_MAX = 64,
};

/* The array holds keys while it is being sorted. They are copied as bytes because it is an array of floats. */
static inline uint32_t key_at(const float *x, size_t i)
{
    uint32_t key;
    memcpy(&key, x + i, sizeof key);
    return key;
}
static inline void put_key(float *x, size_t i, uint32_t key)
{
    memcpy(x + i, &key, sizeof key);
}

/* Permutes keys until they are ordered by the digit (key >> shift) % values. `values` is a power of two. The keys
 * with digit v belong to the indices next[v] .. end[v] - 1. Ends with next[v] == end[v]. */
static void permute(float *x, int shift, size_t values, size_t *next, const size_t *end)
{
    for (size_t v = 0; v < values; v++)
        while (next[v] < end[v]) {
            uint32_t key = key_at(x, next[v]);
            for (size_t d; (d = key >> shift & (values - 1)) != v; next[d]++) {
                const uint32_t other = key_at(x, next[d]);
                put_key(x, next[d], key);
                key = other;
            }
            put_key(x, next[v]++, key);
        }
}

static void sort_short(float *x, size_t n)
{
    uint32_t key[SHORT];
    memcpy(key, x, n * sizeof *x);
    radix_sort_bucket(key, n, x);
}

/* Sorts n keys that agree in all bits above the lowest `bits`, and replaces them by floats. */
static void sort_keys(float *x, size_t n, int bits)
{
    size_t count[VALUES] = {0}, next[VALUES], end[VALUES], at = 0;
    if (n <= SHORT) {
        sort_short(x, n);
        return;
    }
    if (bits == 0) { /* all keys are equal */
        for (size_t i = 0; i < n; i++)
            x[i] = radix_float(key_at(x, i));
        return;
    }
    const int shift = bits - DIGIT;
    for (size_t i = 0; i < n; i++)
        count[key_at(x, i) >> shift & (VALUES - 1)]++;
    for (size_t v = 0; v < VALUES; v++) {
        next[v] = at;
        end[v] = at += count[v];
    }
    permute(x, shift, VALUES, next, end);
    for (size_t v = 0; v < VALUES; v++)
        sort_keys(x + end[v] - count[v], count[v], shift);
}

typedef struct {
    float *x;
    size_t n, pieces;
    size_t (*count)[BUCKETS]; /* for each piece of the array: number of keys in each bucket */
    size_t next[BUCKETS], end[BUCKETS];
} Job;

/* Replaces the floats of a piece by their keys, and counts them. */
static void count_piece(void *data, size_t p)
{
    Job *j = data;
    const Stretch s = stretch_of(j->n, j->pieces, p);
    memset(j->count[p], 0, sizeof j->count[p]);
    for (size_t i = s.from; i < s.to; i++) {
        const uint32_t key = radix_key(j->x[i]);
        j->count[p][key >> LOW]++;
        put_key(j->x, i, key);
    }
}

static void sort_bucket(void *data, size_t b)
{
    Job *j = data;
    const size_t from = b ? j->end[b - 1] : 0;
    sort_keys(j->x + from, j->end[b] - from, LOW);
}

Status radix_sort_in_place(float *x, size_t n, int threads, Arena *scratch, Error *err)
{
    const ArenaMark mark = arena_mark(scratch);
    const size_t blocks = blocks_of(n), pieces = blocks < PIECES_MAX ? blocks : PIECES_MAX;
    Job j = {.x = x, .n = n, .pieces = pieces, .count = arena_take(scratch, pieces, sizeof *j.count)};
    size_t at = 0;
    TRY(arena_check(j.count, scratch, err));
    parallel_for(threads, pieces, count_piece, &j);
    for (size_t b = 0; b < BUCKETS; b++) {
        j.next[b] = at;
        for (size_t p = 0; p < pieces; p++)
            at += j.count[p][b];
        j.end[b] = at;
    }
    permute(x, LOW, BUCKETS, j.next, j.end);
    parallel_for(threads, BUCKETS, sort_bucket, &j);
    arena_rewind(scratch, mark);
    return OK;
}
