/* groups.c -- selects tensors and joins them to vectors, the inputs of a codec (groups.h). */
#include "dump/groups.h"
#include "math/blockwise.h"

#include <string.h>

const char *const grouping_names[] = {"tensor", "kind", "all", NULL};

/* True if tensor t is a vector of its own, not joined with other tensors. */
static bool alone(const GroupSpec *spec, const TensorInfo *t)
{
    return spec->grouping == GROUP_TENSOR || t->shape.n < spec->min_elements;
}

/* Returns the name of the vector (the input of one call of a codec) to which tensor t belongs. */
static const char *group_name(const GroupSpec *spec, const TensorInfo *t)
{
    if (alone(spec, t))
        return t->name;
    if (spec->grouping == GROUP_ALL)
        return "all";
    return t->kind == KIND_CONV || t->kind == KIND_FC ? kind_names[t->kind] : kind_names[KIND_OTHER];
}

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && !strcmp(a, b));
}

/* ---- leaving out tensors with NaN or Inf ---- */

/* Removes tensors with NaN or Inf from the list `index` of *count tensors, and sets *count to the number
 * left. */
static Status drop_nonfinite(Dump *d, size_t *index, size_t *count, Arena *a, Error *err)
{
    const ArenaMark mark = arena_mark(a);
    size_t largest = 0, kept = 0;
    for (size_t i = 0; i < *count; i++)
        largest = dump_tensor(d, index[i])->shape.n > largest ? dump_tensor(d, index[i])->shape.n : largest;
    float *x = NEW(a, float, largest);
    TRY(arena_check(x, a, err));
    for (size_t i = 0; i < *count; i++) {
        const size_t n = dump_tensor(d, index[i])->shape.n;
        TRY(dump_read(d, index[i], x, err));
        if (first_nonfinite(x, n, NULL) == n)
            index[kept++] = index[i];
    }
    arena_rewind(a, mark);
    *count = kept;
    return OK;
}

/* ---- making vectors (the inputs of a codec) from tensors ---- */

typedef struct {
    const GroupSpec *spec;
    VectorList *list;
    size_t *owner; /* for each selected tensor: index of its vector */
    size_t from;   /* index of the first vector of the present step and worker */
} Grouper;

/* Returns the index of the vector to which tensor t belongs, after appending the vector if the list does not
 * have it yet for t's step and worker. */
static size_t vector_for(Grouper *g, const TensorInfo *t)
{
    VectorList *l = g->list;
    const char *name = group_name(g->spec, t);
    if (l->count && !(same_text(l->item[l->count - 1].step_group, t->step_group) &&
                      same_text(l->item[l->count - 1].worker_group, t->worker_group)))
        g->from = l->count;
    if (!alone(g->spec, t))
        for (size_t v = g->from; v < l->count; v++)
            if (!l->item[v].raw && !strcmp(l->item[v].name, name))
                return v;
    l->item[l->count] = (Vector){
        .name = name,
        .step_group = t->step_group,
        .worker_group = t->worker_group,
        .step = t->step,
        .worker = t->worker,
        .step_address = t->step_address,
        .worker_address = t->worker_address,
        .kind = t->kind,
        .raw = t->shape.n < g->spec->min_elements,
        .joined = !alone(g->spec, t),
        .shape = alone(g->spec, t) ? t->shape : shape_vector(0),
    };
    return l->count++;
}

static void add_member(Grouper *g, size_t v, const TensorInfo *t)
{
    Vector *vector = &g->list->item[v];
    if (!alone(g->spec, t))
        vector->shape = shape_vector(vector->shape.n + t->shape.n);
    if (vector->kind != t->kind)
        vector->kind = KIND_OTHER;
    vector->whole += t->whole;
    vector->members++;
}

/* Gives each vector the list of its tensors, a part of the array `member`. */
static void deal(const Grouper *g, const size_t *index, size_t count, size_t *member)
{
    VectorList *l = g->list;
    size_t start = 0;
    for (size_t v = 0; v < l->count; v++) {
        l->item[v].member = member + start;
        start += l->item[v].members;
        l->item[v].members = 0;
    }
    for (size_t i = 0; i < count; i++) {
        Vector *v = &l->item[g->owner[i]];
        member[(size_t)(v->member - member) + v->members++] = index[i];
    }
}

static void sum_up(VectorList *l)
{
    for (size_t v = 0; v < l->count; v++) {
        l->largest = l->item[v].shape.n > l->largest ? l->item[v].shape.n : l->largest;
        l->tensors += l->item[v].members;
        l->elements += l->item[v].shape.n;
    }
}

Status groups_make(VectorList *out, Dump *d, const GroupSpec *spec, Arena *a, Error *err)
{
    size_t *index, selected;
    TRY(dump_select(d, &spec->selection, a, &index, &selected, err));
    size_t count = selected;
    if (spec->skip_nonfinite)
        TRY(drop_nonfinite(d, index, &count, a, err));
    if (count == 0)
        return FAIL(err, ERR_NUMERIC, "%s: all %zu selected tensor%s hold NaN or Inf", dump_file(d), selected,
                    text_s(selected));
    *out = (VectorList){.item = NEW_ZERO(a, Vector, count), .skipped = selected - count};
    Grouper g = {.spec = spec, .list = out, .owner = NEW(a, size_t, count)};
    size_t *member = NEW(a, size_t, count);
    TRY(arena_check(out->item && g.owner && member, a, err));
    for (size_t i = 0; i < count; i++) {
        const TensorInfo *t = dump_tensor(d, index[i]);
        g.owner[i] = vector_for(&g, t);
        add_member(&g, g.owner[i], t);
    }
    deal(&g, index, count, member);
    sum_up(out);
    return OK;
}

/* ---- loading ---- */

static Status check_finite(const Dump *d, const TensorInfo *t, const float *x, Error *err)
{
    size_t bad;
    const size_t first = first_nonfinite(x, t->shape.n, &bad);
    if (!bad)
        return OK;
    FAIL(err, ERR_NUMERIC,
         "%.200s: %.200s: %zu of %zu elements are NaN or Inf as float32, the first is element %zu",
         dump_file(d), t->path, bad, t->shape.n, first);
    return error_hint(err, "--skip-nonfinite leaves such tensors out");
}

Status vector_load(Dump *d, const Vector *v, float *x, Error *err)
{
    for (size_t m = 0; m < v->members; m++) {
        const TensorInfo *t = dump_tensor(d, v->member[m]);
        TRY(dump_read(d, v->member[m], x, err));
        TRY(check_finite(d, t, x, err));
        x += t->shape.n;
    }
    return OK;
}

/* ---- random numbers: their generator depends on step, worker and name of a vector ---- */

void vector_rng(const Vector *v, uint64_t seed, uint64_t repeat, Rng *own, Rng *shared)
{
    *own = rng_open(seed, repeat, v->worker_address, v->step_address, rng_hash(v->name));
    *shared = rng_open(seed, repeat, RNG_EVERYONE, v->step_address, rng_hash(v->name));
}
