/* parcels.c -- implements parcels.h. */
#include "exchange/parcels.h"

#include <string.h>

static bool is_small(const ParcelList *l, size_t tensor)
{
    return l->tensor[tensor].shape.n < l->min_elements;
}

static bool holds(const ParcelList *l, const Parcel *p, size_t tensor)
{
    return p->count == 1 || !is_small(l, tensor);
}

static void add(ParcelList *l, size_t first, size_t count, bool raw)
{
    const GradientTensor *t = &l->tensor[first];
    Parcel *p = &l->item[l->count++];
    *p = (Parcel){.name = t->name, .shape = t->shape, .raw = raw, .first = first, .count = count};
    if (count > 1) {
        size_t n = 0;
        for (size_t i = first; i < first + count; i++)
            n += is_small(l, i) ? 0 : l->tensor[i].shape.n;
        p->name = "all";
        p->shape = shape_vector(n);
    }
    if (p->shape.n > l->largest)
        l->largest = p->shape.n;
}

void parcels_make(ParcelList *l, Grouping grouping)
{
    size_t large = 0;
    l->count = l->largest = 0;
    for (size_t i = 0; i < l->tensors; i++) {
        const bool small = is_small(l, i);
        large += !small;
        if (small || grouping == GROUP_TENSOR)
            add(l, i, 1, small);
    }
    if (large && grouping == GROUP_ALL)
        add(l, 0, l->tensors, false);
}

void parcel_load(const ParcelList *l, const Parcel *p, const float *gradient, double gain, float *to)
{
    for (size_t i = p->first; i < p->first + p->count; i++) {
        const GradientTensor *t = &l->tensor[i];
        if (!holds(l, p, i))
            continue;
        const float *from = gradient + t->offset;
        if (gain == 1)
            memcpy(to, from, t->shape.n * sizeof *to);
        else
            for (size_t j = 0; j < t->shape.n; j++)
                to[j] = (float)(gain * (double)from[j]);
        to += t->shape.n;
    }
}

void parcel_store(const ParcelList *l, const Parcel *p, const float *from, float *gradient)
{
    for (size_t i = p->first; i < p->first + p->count; i++) {
        const GradientTensor *t = &l->tensor[i];
        if (!holds(l, p, i))
            continue;
        memcpy(gradient + t->offset, from, t->shape.n * sizeof *from);
        from += t->shape.n;
    }
}
