/* compare_layout.c -- which vectors make a cell, who inherits whose state, and where the percentiles stand. */
#include "measure/compare_parts.h"

#include "num/radix.h"

#include <stdlib.h>
#include <string.h>

bool compare_same_cell(const Vector *a, const Vector *b)
{
    return a->step == b->step && a->worker == b->worker && !a->step_group == !b->step_group &&
           !a->worker_group == !b->worker_group;
}

static size_t count_cells(const VectorList *v)
{
    size_t cells = v->count > 0;
    for (size_t i = 1; i < v->count; i++)
        cells += !compare_same_cell(&v->item[i - 1], &v->item[i]);
    return cells;
}

size_t compare_places(const VectorList *vectors)
{
    const size_t cells = count_cells(vectors);
    return vectors->count + cells + (cells > 1);
}

static void find_cells(Layout *l, const VectorList *v)
{
    for (size_t i = 0; i < v->count; i++) {
        if (i == 0 || !compare_same_cell(&v->item[i - 1], &v->item[i]))
            l->cell[l->cells++] = (Cell){.from = i, .above = NAN};
        Cell *cell = &l->cell[l->cells - 1];
        cell->to = i + 1;
        cell->elements += v->item[i].shape.n;
        if (cell->elements > l->largest)
            l->largest = cell->elements;
    }
}

/* By worker, then by place: an insertion sort, as cells come by step and there are few workers in a step. */
static void order_cells(Layout *l, const VectorList *v)
{
    for (size_t i = 0; i < l->cells; i++) {
        const int64_t worker = v->item[l->cell[i].from].worker;
        size_t at = i;
        for (; at && v->item[l->cell[l->order[at - 1]].from].worker > worker; at--)
            l->order[at] = l->order[at - 1];
        l->order[at] = i;
    }
}

static bool same_vector(const Vector *a, const Vector *b)
{
    return a->shape.rank == b->shape.rank && !memcmp(a->shape.dim, b->shape.dim, sizeof a->shape.dim) &&
           !strcmp(a->name, b->name);
}

/* The state of the vector of this name and shape in an earlier step of the worker, or the next free one. As a
 * rule that vector had the same place in the cell before. */
static size_t find_state(const Layout *l, const VectorList *v, const Cell *before, size_t place, size_t i,
                         const size_t *owner, size_t states)
{
    if (before && before->from + place < before->to &&
        same_vector(&v->item[before->from + place], &v->item[i]))
        return l->state[before->from + place];
    size_t s = 0;
    while (s < states && !same_vector(&v->item[owner[s]], &v->item[i]))
        s++;
    return s;
}

static void assign_states(Layout *l, const VectorList *v, size_t *owner)
{
    size_t states = 0;
    const Cell *before = NULL;
    for (size_t k = 0; k < l->cells; k++) {
        const Cell *cell = &l->cell[l->order[k]];
        if (before && v->item[before->from].worker != v->item[cell->from].worker) {
            before = NULL;
            states = 0;
        }
        for (size_t i = cell->from; i < cell->to; i++) {
            l->state[i] = find_state(l, v, before, i - cell->from, i, owner, states);
            if (l->state[i] == states)
                owner[states++] = i;
        }
        before = cell;
    }
}

Status state_find(void **state, void **own, const Comparison *c, const Codec *codec, const Vector *v,
                  Arena *states, Arena *scratch, Error *err)
{
    *state = NULL;
    if (!codec_keeps_state(codec))
        return OK;
    if (!*own) {
        const Call call = trial_call(c, codec, v, NULL, scratch, err);
        *own = NEW_ZERO(states, uint8_t, codec_state_size(&call));
    }
    *state = *own;
    return *own ? OK : arena_fail(states, err);
}

Level compare_reach(const VectorList *vectors, uint64_t memory)
{
    const uint64_t held = memory / POOLED_BYTES;
    size_t largest = 0, elements = 0;
    for (size_t i = 0; i < vectors->count; i++) {
        elements = i && compare_same_cell(&vectors->item[i - 1], &vectors->item[i]) ? elements : 0;
        elements += vectors->item[i].shape.n;
        largest = elements > largest ? elements : largest;
    }
    return vectors->elements <= held ? LEVEL_RUN : largest <= held ? LEVEL_CELL : LEVEL_VECTOR;
}

Status layout_make(Layout *l, const VectorList *vectors, uint64_t memory, Arena *a, Error *err)
{
    const size_t cells = count_cells(vectors), n = vectors->count;
    *l = (Layout){.cell = NEW(a, Cell, cells),
                  .order = NEW(a, size_t, cells),
                  .state = NEW(a, size_t, n),
                  .above = NEW(a, double, n),
                  .above_run = NAN,
                  .reach = compare_reach(vectors, memory)};
    size_t *owner = NEW(a, size_t, n);
    if (!l->cell || !l->order || !l->state || !l->above || !owner)
        return arena_fail(a, err);
    find_cells(l, vectors);
    order_cells(l, vectors);
    assign_states(l, vectors, owner);
    return OK;
}
