/* abreast.c -- turns plain values into ones whose images stand side by side, piece by piece, and back. */
#include "nn/layers.h"

#include "base/parallel.h"

#include <string.h>

/* From (images, n) to (n, PIECE); lanes without an image are 0. */
static void lay(const float *plain, size_t images, size_t n, bool add, float *abreast)
{
    enum { SOME = 64 };
    float some[SOME][PIECE];
    memset(some, 0, sizeof some);
    for (size_t from = 0; from < n; from += SOME) {
        const size_t count = n - from < SOME ? n - from : SOME;
        for (size_t i = 0; i < images; i++)
            for (size_t j = 0; j < count; j++)
                some[j][i] = plain[i * n + from + j];
        float *to = abreast + from * PIECE;
        const float *x = &some[0][0];
        if (add)
            for (size_t j = 0; j < count * PIECE; j++)
                to[j] += x[j];
        else
            memcpy(to, x, count * sizeof some[0]);
    }
}

/* From (n, PIECE) to (images, n). */
static void take(const float *abreast, size_t images, size_t n, bool add, float *plain)
{
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < images; i++)
            plain[i * n + j] = (add ? plain[i * n + j] : 0) + abreast[j * PIECE + i];
}

typedef struct {
    const Layer *l;
    const Pass *p;
} Work;

static size_t images_of(const Work *w, size_t piece)
{
    const size_t left = w->p->images - piece * PIECE;
    return left < PIECE ? left : PIECE;
}

static size_t begin(const Work *w, size_t piece)
{
    return piece * PIECE * value_size(w->l->in);
}

/* ---- to side by side ---- */

static void lay_piece(void *data, size_t piece)
{
    const Work *w = data;
    lay(w->l->in->x + begin(w, piece), images_of(w, piece), value_size(w->l->in), false,
        w->l->out->x + begin(w, piece));
}

static void lay_back_piece(void *data, size_t piece)
{
    const Work *w = data;
    take(w->l->out->dx + begin(w, piece), images_of(w, piece), value_size(w->l->in), w->l->in->added,
         w->l->in->dx + begin(w, piece));
}

static Status lay_forward(Layer *l, const Pass *p)
{
    parallel_for(p->threads, pieces_of(p->images), lay_piece, &(Work){l, p});
    return OK;
}

static Status lay_backward(Layer *l, const Pass *p)
{
    if (!l->in->dx)
        return OK;
    parallel_for(p->threads, pieces_of(p->images), lay_back_piece, &(Work){l, p});
    l->in->added = true;
    return OK;
}

const LayerOps abreast_layer = {.name = "images abreast", .forward = lay_forward, .backward = lay_backward};

/* ---- and back ---- */

static void take_piece(void *data, size_t piece)
{
    const Work *w = data;
    take(w->l->in->x + begin(w, piece), images_of(w, piece), value_size(w->l->in), false,
         w->l->out->x + begin(w, piece));
}

static void take_back_piece(void *data, size_t piece)
{
    const Work *w = data;
    lay(w->l->out->dx + begin(w, piece), images_of(w, piece), value_size(w->l->in), w->l->in->added,
        w->l->in->dx + begin(w, piece));
}

static Status take_forward(Layer *l, const Pass *p)
{
    parallel_for(p->threads, pieces_of(p->images), take_piece, &(Work){l, p});
    return OK;
}

static Status take_backward(Layer *l, const Pass *p)
{
    parallel_for(p->threads, pieces_of(p->images), take_back_piece, &(Work){l, p});
    l->in->added = true;
    return OK;
}

const LayerOps plain_layer = {.name = "plain", .forward = take_forward, .backward = take_backward};
