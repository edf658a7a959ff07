/* product.c -- cuts a product into panels of B, which are packed first, and blocks of rows of the result. */
#include "nn/product.h"

#include "base/parallel.h"
#include "nn/loops.h"

enum { ROOM = PRODUCT_ROWS * PRODUCT_TERMS + PRODUCT_BEHIND };

typedef struct {
    const Product *p;
    const ProductLoops *loops;
    float *packed; /* (panels, k, PRODUCT_COLUMNS) */
    float *room;   /* (slots, ROOM) */
} Work;

static size_t panels(size_t n)
{
    return (n + PRODUCT_COLUMNS - 1) / PRODUCT_COLUMNS;
}

static size_t packed_floats(size_t n, size_t k)
{
    return panels(n) * k * PRODUCT_COLUMNS;
}

size_t product_room(size_t n, size_t k)
{
    return packed_floats(n, k) + ROOM;
}

static size_t blocks(const Product *p)
{
    return (p->m + PRODUCT_ROWS - 1) / PRODUCT_ROWS;
}

static void pack_panel(void *data, size_t panel)
{
    const Work *w = data;
    w->loops->pack(w->p, panel, w->packed + panel * w->p->k * PRODUCT_COLUMNS);
}

static void rows_block(void *data, size_t block, size_t slot)
{
    const Work *w = data;
    const size_t from = block * PRODUCT_ROWS, left = w->p->m - from;
    w->loops->rows(w->p, from, left < PRODUCT_ROWS ? left : PRODUCT_ROWS, w->packed, w->room + slot * ROOM);
}

static void run(const Work *w, int threads)
{
    if (!w->loops->rows || !w->p->k) {
        linalg_multiply(w->p, threads);
        return;
    }
    parallel_for(threads, panels(w->p->n), pack_panel, (void *)(uintptr_t)w);
    parallel_for_slots(threads, blocks(w->p), rows_block, (void *)(uintptr_t)w);
}

Status product(const Product *p, int threads, Arena *scratch, Error *err)
{
    Work w = {.p = p, .loops = loops()->product};
    if (w.loops->rows) {
        w.packed = NEW(scratch, float, packed_floats(p->n, p->k));
        w.room = NEW(scratch, float, parallel_slots(threads, blocks(p)) * ROOM);
        TRY(arena_check(w.packed && w.room, scratch, err));
    }
    run(&w, threads);
    return OK;
}

void product_alone(const Product *p, float *room)
{
    const Work w = {
        .p = p, .loops = loops()->product, .packed = room, .room = room + packed_floats(p->n, p->k)};
    run(&w, 1);
}
