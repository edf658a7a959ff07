/* rans_coarse.c -- the weights of a coarse table: not those nearest to the counts, but those with which the table
 * and the symbols are shortest together, found by going through the symbols once. */
#include "coder/code_table.h"
#include "coder/elias.h"
#include "coder/rans.h"

/* log2 v in units of 2^-16, cut off: by squaring, in whole numbers, so that every machine decides alike. */
uint32_t rans_log2(uint32_t v)
{
    const unsigned whole = log2_floor(v);
    uint32_t log = whole << RANS_LOG_BITS;
    uint64_t m = (uint64_t)v << (31 - whole); /* in [1, 2), 31 bits behind the point */
    for (unsigned bit = RANS_LOG_BITS; bit-- > 0;) {
        m = m * m >> 31;
        if (m >> 32) {
            m >>= 1;
            log |= 1u << bit;
        }
    }
    return log;
}

enum { AROUND = 3, DETAIL_MOST = RANS_COARSE - 1, LOG2_E = 94548 }; /* log2 e in units of 2^-16 */

/* A way to the symbol that ends in one of the classes around its share's. */
typedef struct {
    uint64_t cost; /* of all symbols so far, in units of 2^-16 bits */
    unsigned class;
    uint16_t weight;
    uint8_t from; /* the way that it goes on */
} Way;

/* What all ways share. */
typedef struct {
    const Rans *r;
    uint64_t total;
    uint32_t log[1 << DETAIL_MOST]; /* log2 of 1, 1 1/8, 1 2/8 ... in units of 2^-16 */
} Ladder;

/* What a symbol takes at a weight w of `class` with these bits behind its highest: its own bits, and those by which w
 * takes from all others' shares. */
static uint64_t weight_cost(const Ladder *l, uint64_t count, uint32_t w, unsigned class, uint32_t behind)
{
    const uint64_t own =
        count * (((uint64_t)(l->r->precision - (int)class) << RANS_LOG_BITS) - l->log[behind]);
    return own + (l->total * w >> l->r->precision) * LOG2_E;
}

/* The best weight of a class. */
static Way best_of_class(const Ladder *l, uint64_t count, unsigned class)
{
    const unsigned detail = l->r->coarse - 1, sent = class < detail ? class : detail;
    Way best = {.cost = UINT64_MAX, .class = class};
    for (uint32_t v = 0; v < 1u << sent; v++) {
        const uint32_t w = (1u << sent | v) << (class - sent);
        const uint64_t cost = weight_cost(l, count, w, class, v << (DETAIL_MOST - sent));
        if (cost < best.cost) {
            best.cost = cost;
            best.weight = (uint16_t)w;
        }
    }
    best.cost += (uint64_t)sent << RANS_LOG_BITS;
    return best;
}

/* The way goes on from the one of those before that makes it shortest. */
static void go_on(Way *way, const Way before[AROUND])
{
    uint64_t least = UINT64_MAX;
    for (uint8_t i = 0; i < AROUND; i++) {
        const uint64_t cost =
            before[i].cost + ((uint64_t)step_bits(way->class, before[i].class) << RANS_LOG_BITS);
        if (cost < least) {
            least = cost;
            way->from = i;
        }
    }
    way->cost += least;
}

static Ladder open_ladder(const Rans *r, const uint64_t *count)
{
    Ladder l = {.r = r};
    for (uint32_t k = 0; k < r->present; k++)
        l.total += count[k];
    for (uint32_t v = 0; v < countof(l.log); v++)
        l.log[v] = rans_log2((1u << DETAIL_MOST) + v) - ((uint32_t)DETAIL_MOST << RANS_LOG_BITS);
    return l;
}

void rans_coarsen(Rans *r, const uint64_t *count)
{
    Way way[RANS_BYTES + 1][AROUND];
    uint64_t weight[RANS_BYTES];
    const Ladder l = open_ladder(r, count);
    for (int i = 0; i < AROUND; i++)
        way[0][i] = (Way){.class = RANS_FIRST_CLASS};
    for (uint32_t k = 0; k < r->present; k++) {
        const uint64_t share = (count[k] << r->precision) / l.total;
        const unsigned class = share ? log2_floor(share) : 0, first = class ? class - 1 : 0;
        for (unsigned i = 0; i < AROUND; i++) {
            way[k + 1][i] = best_of_class(&l, count[k], first + i);
            go_on(&way[k + 1][i], way[k]);
        }
    }
    const Way *last = way[r->present];
    unsigned at = 0;
    for (unsigned i = 1; i < AROUND; i++)
        at = last[i].cost < last[at].cost ? i : at;
    for (uint32_t k = r->present; k-- > 0; at = way[k + 1][at].from)
        weight[k] = r->weight[k] = way[k + 1][at].weight;
    rans_share(r, weight);
}
