/* knots_best.c -- the best levels of knots.h: the cheapest way from the smallest number to the largest in a given number
 * of steps.
 *
 * Where each step also costs a toll, the cheapest way in whatever number of steps takes one pass over the numbers. It is a cheapest
 * one in as many steps as it has; and where p_0 .. p_k is one in k steps, some cheapest way r in s steps has
 *
 *     p_(q - s + k) <= r_q <= p_q  for s >= k,      p_q <= r_q <= p_(q + k - s)  for s <= k,
 *
 * since V has the quadrangle inequality: where two ways cross, exchanging what is behind costs no more (Aggarwal,
 * Schieber, Tokuyama 1994). So a toll that makes about s steps leaves little to search: layers of the dynamic program
 * within these windows. The levels are best whatever the toll. A good one follows from the density of levels that is best
 * where there are many of them, in proportion to the cube root of that of the numbers (Panter, Dite 1951). */
#include "num/knots_parts.h"

enum { BATCH = ROOM_BEHIND, NEAR = 1, TRIES = 3 };

/* ---- under a toll ---- */

static inline double cost_of(const KnotsRoom *room, const double *cost, size_t i, size_t j)
{
    return cost[i] + (room->b[i] * room->x[j] - room->x[i] * room->b[j]);
}

/* The least costs of row j from columns from .. j - 1 on, where these are less. True: they are. */
static bool lower(const KnotsRoom *room, double toll, size_t from, size_t j, double *cost, uint16_t *back)
{
    const double was = cost[j];
    for (size_t i = from; i < j; i++) {
        const double here = cost_of(room, cost, i, j) + toll;
        if (here < cost[j]) {
            cost[j] = here;
            back[j] = (uint16_t)i;
        }
    }
    return cost[j] < was;
}

/* The cheapest way to the last number, into room->spare; returns its steps. Rows go batch by batch: first from the columns
 * before the batch, then, where that lowers even its last row, from those inside. */
static size_t way_under(const KnotsRoom *room, size_t differ, double toll)
{
    double *cost = room->cost[0];
    uint16_t *back = room->back;
    size_t low = 0, steps = 0;
    cost[0] = 0;
    for (size_t j = 1; j < differ; j += BATCH) {
        const size_t end = differ - j < BATCH ? differ : j + BATCH;
        kernels()->knot_layer(room->x, room->b, cost, low, j - 1, j, end, cost, back);
        for (size_t r = j; r < end; r++)
            cost[r] += toll;
        if (lower(room, toll, j, end - 1, cost, back))
            for (size_t r = j + 1; r < end; r++)
                lower(room, toll, j, r, cost, back);
        low = back[end - 1];
    }
    for (size_t j = differ - 1; j; j = back[j])
        room->spare[steps++] = (uint32_t)j;
    room->spare[steps] = 0;
    for (size_t q = 0; 2 * q < steps; q++) { /* the way was walked backwards */
        const uint32_t one = room->spare[q];
        room->spare[q] = room->spare[steps - q];
        room->spare[steps - q] = one;
    }
    return steps;
}

/* ---- a good toll ---- */

/* The cube root of v, within 6 %, from a third of its exponent and fraction; the same on every machine. */
static double rough_cube_root(double v)
{
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    bits = bits / 3 + UINT64_C(0x2a9f8a8000000000);
    memcpy(&v, &bits, sizeof v);
    return v;
}

/* A step of width w over m numbers leaves m w^2 / 6. Where all of `steps` leave the same, the cube root of m w^2 adds up over them,
 * as it does over any pieces of even density; what one more step saves is about twice what one leaves. */
static double good_toll(const KnotsRoom *room, size_t differ, size_t steps)
{
    const size_t piece = differ / (2 * steps) + 1;
    double sum = 0;
    for (size_t i = 0, j; i + 1 < differ; i = j) {
        j = differ - 1 - i < piece ? differ - 1 : i + piece;
        const double width = room->x[j] - room->x[i];
        sum += rough_cube_root((double)(room->rank[j] - room->rank[i]) * width * width);
    }
    const double one = sum / (double)steps;
    return one * one * one / 3;
}

/* All steps together leave about 1 / k^2, one more saves about 1 / k^3. */
static size_t way_in_about(const KnotsRoom *room, size_t differ, size_t steps)
{
    double toll = good_toll(room, differ, steps);
    size_t k = way_under(room, differ, toll);
    for (int tries = 1; tries < TRIES && (k > steps + NEAR || k + NEAR < steps); tries++) {
        const double off = (double)k / (double)steps;
        toll *= off * off * off;
        k = way_under(room, differ, toll);
    }
    return k;
}

/* ---- in a number of steps ---- */

typedef struct {
    size_t low[KNOTS_MOST], high[KNOTS_MOST]; /* of each step's end */
} Windows;

/* From the way of k steps in room->spare. */
static void windows_open(Windows *w, const KnotsRoom *room, size_t k, size_t steps, size_t last)
{
    const uint32_t *way = room->spare;
    const size_t fewer = steps > k ? steps - k : 0, more = k > steps ? k - steps : 0;
    for (size_t q = 0; q <= steps; q++) {
        const size_t low = q > fewer ? way[q - fewer] : 0, high = q + more < k ? way[q + more] : last;
        w->low[q] = low > q ? low : q;
        w->high[q] = high < last - (steps - q) ? high : last - (steps - q);
    }
    w->high[0] = 0; /* both ends are known */
    w->low[steps] = last;
}

/* Layer by layer, from the smallest number, which is 0 from itself. */
static void cheapest_within(KnotsRoom *room, const Windows *w, size_t steps, uint16_t *place)
{
    const size_t wide = room->most + ROOM_BEHIND;
    room->cost[0][0] = 0;
    for (size_t q = 1; q <= steps; q++)
        kernels()->knot_layer(room->x, room->b, room->cost[(q + 1) % 2], w->low[q - 1], w->high[q - 1],
                              w->low[q], w->high[q] + 1, room->cost[q % 2], room->back + (q - 1) * wide);
    place[steps] = (uint16_t)w->low[steps];
    for (size_t q = steps; q > 0; q--)
        place[q - 1] = room->back[(q - 1) * wide + place[q]];
}

size_t knots_best(KnotsRoom *room, const float *x, size_t n, float *level)
{
    uint16_t place[KNOTS_MOST];
    Windows w;
    const size_t differ = knots_sort(room, x, n), steps = room->count - 1;
    if (differ <= room->count)
        return knots_fill_all(room, differ, level);
    knots_measure(room, n, differ);
    windows_open(&w, room, way_in_about(room, differ, steps), steps, differ - 1);
    cheapest_within(room, &w, steps, place);
    return knots_fill(room, place, steps + 1, level);
}
