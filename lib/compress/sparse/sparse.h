/* sparse.h -- the payload of sparsifiers: a set of indices, and a value for each of them.
 *
 *     kind:8  set  [ head  values ]          set: indices.h; the bracket only if the set is not empty
 *
 * All elements outside the set decode to zero. If raw floats are not longer than this payload, raw floats are sent
 * instead. */
#ifndef ATOMO_SPARSE_H
#define ATOMO_SPARSE_H

#include "compress/compressor.h"
#include "coder/indices.h"
#include "math/select.h"

#include <math.h>

/* The form of the values: bytes of the head, and bits of a value. Values of less than 8 bits are bit planes (planes.h). */
typedef struct {
    size_t head;
    int bits;
} ValueForm;

size_t sparse_bound(const Call *c, ValueForm form);

/* Writes a payload but for the head and the values, and sets *values to the room for them. Sends x as raw floats instead
 * where these are not longer, and sets *values to NULL. */
Status sparse_put(const Call *c, const Indices *set, ValueForm form, const float *x, Buf *out, uint8_t **values);

/* Reads the set of a payload, and sets *values to its head and values, which are not checked. */
Status sparse_get(const Call *c, Bytes in, ValueForm form, Places *set, const uint8_t **values);

/* ---- codecs that send a share of the elements. Their parameters begin with the key `ratio`. ---- */

typedef struct {
    double ratio;
} Ratio;

#define RATIO_KEY(Struct, fallback, help)                                                                    \
    PARAM(Struct, ratio, fallback, 0, 1, help, .above = true, .rate = true)

static inline double ratio_of(const Call *c)
{
    return ((const Ratio *)c->self->params)->ratio;
}

/* Returns min(n, max(1, floor(ratio n + 1/2))). */
static inline size_t share_of(size_t n, double ratio)
{
    const double wanted = floor(ratio * (double)n + 0.5);
    const size_t k = wanted < 1 ? 1 : (size_t)wanted;
    return k < n ? k : n;
}

/* Returns the number of elements to send. */
static inline size_t picks_wanted(const Call *c)
{
    return share_of(c->shape->n, ratio_of(c));
}

/* ---- selected elements (math/select.h), sent as floats: values:f32. Zeros are never sent. ---- */

/* Opens an empty selection of elements of x. Memory comes from scratch; x must outlive the selection. */
static inline Status picks_open(const Call *c, const float *x, Picks *s)
{
    return select_open(s, x, c->shape->n, c->threads, c->scratch) ? OK : arena_fail(c->scratch, c->err);
}

/* Returns the indices of a selection, which must outlive the result. */
static inline Indices picks_indices(const Picks *s)
{
    return s->place ? indices_list(s->place, s->count) : indices_bits(s->bits, s->n, s->count);
}

/* Writes the payload of a selection. */
Status picks_put(const Call *c, Picks *s, Buf *out);

/* Decodes a payload into x. Refuses values that are 0 or not finite. Codecs check further rules of their
 * payloads with *read. */
typedef struct {
    size_t count;
    float least, largest; /* magnitudes; infinity and 0 without values */
} PicksRead;
Status picks_get(const Call *c, Bytes in, float *x, PicksRead *read);

/* The hook `bound` of a Compressor. */
size_t picks_bound(const Call *c);

#endif
