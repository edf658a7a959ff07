/* parcels.h -- cuts a gradient into parcels, the vectors that a codec encodes as a whole: each tensor, or all
 * tensors end to end. Tensors under min_elements are parcels of their own, and are sent as raw floats. */
#ifndef ATOMO_PARCELS_H
#define ATOMO_PARCELS_H

#include "exchange/gradient.h"

typedef struct {
    const char *name;
    Shape shape;
    bool raw; /* true: the vector is sent by the codec `none` */
    /* the tensors `first` .. `first` + `count` - 1; if `count` > 1, tensors under `min_elements` are left
     * out */
    size_t first, count;
} Parcel;

typedef struct {
    const GradientTensor *tensor;
    size_t tensors, min_elements;
    Parcel *item;
    size_t count;
    size_t largest; /* elements of the largest parcel */
} ParcelList;

/* Makes the parcels. `l->item` has room for `l->tensors` + 1. */
void parcels_make(ParcelList *l, Grouping grouping);

/* Copies the values of a parcel, times `gain`, from a gradient to `to` (p->shape.n). */
void parcel_load(const ParcelList *l, const Parcel *p, const float *gradient, double gain, float *to);

/* Copies the values of a parcel (p->shape.n) to a gradient. */
void parcel_store(const ParcelList *l, const Parcel *p, const float *from, float *gradient);

#endif
