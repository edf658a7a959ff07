/* knots.c -- see knots.h: sorting, and the greedy levels by merging; knots_best.c has the best ones. */
#include "num/knots_parts.h"

#include "base/bytes.h"

#include <math.h>

enum { DIGIT = 8, VALUES = 1 << DIGIT, FEW = 32 };

/* ---- room ---- */

size_t knots_size(size_t n, size_t count)
{
    const size_t wide = n + ROOM_BEHIND;
    return wide * (3 * sizeof(uint32_t) + 4 * sizeof(double) + count * sizeof(uint16_t));
}

bool knots_open(KnotsRoom *room, size_t n, size_t count, Arena *scratch)
{
    const size_t wide = n + ROOM_BEHIND;
    *room = (KnotsRoom){.most = n, .count = count};
    room->key = NEW(scratch, uint32_t, wide);
    room->spare = NEW(scratch, uint32_t, wide);
    room->rank = NEW(scratch, uint32_t, wide);
    room->x = NEW_ZERO(scratch, double, wide);
    room->b = NEW_ZERO(scratch, double, wide);
    room->cost[0] = NEW_ZERO(scratch, double, wide);
    room->cost[1] = NEW_ZERO(scratch, double, wide);
    room->back = NEW(scratch, uint16_t, count * wide);
    return room->key && room->spare && room->rank && room->x && room->b && room->cost[0] && room->cost[1] &&
           room->back;
}

/* ---- different numbers, in order ---- */

/* As in radix.h; no zero has a sign. */
static inline uint32_t key_of(float x)
{
    const uint32_t u = float_bits(x + 0.0f);
    return u ^ ((0u - (u >> 31)) | 0x80000000u);
}

static inline float float_of(uint32_t key)
{
    return bits_float(key ^ (((key >> 31) - 1u) | 0x80000000u));
}

static void insert_all(uint32_t *key, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        const uint32_t one = key[i];
        size_t at = i;
        for (; at && key[at - 1] > one; at--)
            key[at] = key[at - 1];
        key[at] = one;
    }
}

/* Least significant digit first; a digit that all share moves nothing. */
static void sort(KnotsRoom *room, const float *x, size_t n)
{
    uint32_t count[4][VALUES] = {{0}};
    for (size_t i = 0; i < n; i++) {
        const uint32_t key = room->key[i] = key_of(x[i]);
        for (int d = 0; d < 4 && n > FEW; d++)
            count[d][key >> DIGIT * d & (VALUES - 1)]++;
    }
    if (n <= FEW) {
        insert_all(room->key, n);
        return;
    }
    for (int d = 0; d < 4; d++) {
        uint32_t at = 0;
        if (count[d][room->key[0] >> DIGIT * d & (VALUES - 1)] == n)
            continue;
        for (size_t v = 0; v < VALUES; v++) {
            const uint32_t these = count[d][v];
            count[d][v] = at;
            at += these;
        }
        for (size_t i = 0; i < n; i++)
            room->spare[count[d][room->key[i] >> DIGIT * d & (VALUES - 1)]++] = room->key[i];
        uint32_t *const sorted = room->spare;
        room->spare = room->key;
        room->key = sorted;
    }
}

/* Sorted keys that differ, and how many numbers are no larger than each; returns how many they are. */
size_t knots_sort(KnotsRoom *room, const float *x, size_t n)
{
    size_t differ = 0;
    sort(room, x, n);
    for (size_t i = 0; i < n; i++) {
        differ += i == 0 || room->key[i] != room->key[differ - 1];
        room->key[differ - 1] = room->key[i];
        room->rank[differ - 1] = (uint32_t)i + 1;
    }
    return differ;
}

/* x from the median on, and b: its slope between neighbours is the numbers below, less those at the median. */
void knots_measure(KnotsRoom *room, size_t n, size_t differ)
{
    size_t mid = 0;
    while (2 * (size_t)room->rank[mid] < n)
        mid++;
    const double middle = (double)float_of(room->key[mid]), below = room->rank[mid];
    for (size_t i = 0; i < differ; i++)
        room->x[i] = (double)float_of(room->key[i]) - middle;
    room->b[mid] = 0;
    for (size_t i = mid; i + 1 < differ; i++)
        room->b[i + 1] = room->b[i] + ((double)room->rank[i] - below) * (room->x[i + 1] - room->x[i]);
    for (size_t i = mid; i > 0; i--)
        room->b[i - 1] = room->b[i] - ((double)room->rank[i - 1] - below) * (room->x[i] - room->x[i - 1]);
}

/* The levels whose places are given, the last one as often as is left. */
size_t knots_fill(const KnotsRoom *room, const uint16_t *place, size_t levels, float *level)
{
    for (size_t k = 0; k < room->count; k++)
        level[k] = float_of(room->key[place[k < levels ? k : levels - 1]]);
    return levels;
}

size_t knots_fill_all(const KnotsRoom *room, size_t differ, float *level)
{
    uint16_t place[KNOTS_MOST];
    for (size_t i = 0; i < differ; i++)
        place[i] = (uint16_t)i;
    return knots_fill(room, place, differ, level);
}

/* ---- the greedy ones ---- */

/* f of knots.h, so that V between neighbours is 0. */
static void find_offsets(KnotsRoom *room, size_t differ)
{
    const double *x = room->x, *b = room->b;
    double *f = room->cost[0];
    f[0] = 0;
    for (size_t i = 0; i + 1 < differ; i++)
        f[i + 1] = f[i] - (b[i] * x[i + 1] - x[i] * b[i + 1]);
}

static double between(const KnotsRoom *room, size_t i, size_t j)
{
    const double *x = room->x, *b = room->b, *f = room->cost[0];
    return fmax(b[i] * x[j] - x[i] * b[j] + (f[j] - f[i]), 0);
}

typedef struct {
    double error;
    size_t pair;
} Split;

/* Puts a pair among the `most` of largest error, earlier ones first where they are equal. */
static void keep_largest(Split *kept, size_t *count, size_t most, Split one)
{
    size_t at = *count;
    if (at == most && (most == 0 || one.error <= kept[most - 1].error))
        return;
    *count += at < most;
    at = *count - 1;
    for (; at && kept[at - 1].error < one.error; at--)
        kept[at] = kept[at - 1];
    kept[at] = one;
}

/* Merges neighbours two and two, but for the `apart` pairs that this would cost most; end (s + 1) are the ends of s
 * intervals. Returns how many are left. */
static size_t merge_pairs(const KnotsRoom *room, uint16_t *end, size_t s, size_t apart)
{
    Split kept[KNOTS_MOST];
    uint8_t *stays = (uint8_t *)room->spare;
    size_t count = 0, left = 0;
    memset(stays, 0, s / 2);
    for (size_t p = 0; p < s / 2; p++)
        keep_largest(kept, &count, apart, (Split){between(room, end[2 * p], end[2 * p + 2]), p});
    for (size_t k = 0; k < count; k++)
        stays[kept[k].pair] = 1;
    for (size_t p = 0; p < s / 2; p++) {
        end[left++] = end[2 * p];
        if (stays[p])
            end[left++] = end[2 * p + 1];
    }
    if (s % 2)
        end[left++] = end[s - 1];
    end[left] = end[s];
    return left;
}

size_t knots_greedy(KnotsRoom *room, const float *x, size_t n, float *level)
{
    uint16_t *end = room->back;
    const size_t differ = knots_sort(room, x, n), most = room->count - 1;
    if (differ <= room->count)
        return knots_fill_all(room, differ, level);
    knots_measure(room, n, differ);
    find_offsets(room, differ);
    size_t s = differ - 1;
    for (size_t i = 0; i < differ; i++)
        end[i] = (uint16_t)i;
    while (s > most)
        s = merge_pairs(room, end, s, (most - 1) / 2);
    assert(s == most); /* from s > most on, ceil(s / 2) + floor((most - 1) / 2) is most or more */
    return knots_fill(room, end, s + 1, level);
}

/* ---- what levels leave ---- */

double knots_variance(const float *x, size_t n, const float *level, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        size_t up = 1, last = count - 1;
        while (up < last) {
            const size_t half = (up + last) / 2;
            if (level[half] < x[i])
                up = half + 1;
            else
                last = half;
        }
        if (count > 1)
            sum += ((double)level[up] - (double)x[i]) * ((double)x[i] - (double)level[up - 1]);
    }
    return sum;
}
