/* attention.c -- causal self-attention with several heads (Vaswani et al. 2017).
 *
 * The input of token t is q[t], k[t], v[t], side by side; each has `heads` parts of `width` channels. For each
 * head: s[t][u] = q[t] k[u] / sqrt(width) for u <= t, p[t] = softmax(s[t]), y[t] = sum over u of p[t][u] v[u].
 *
 * Blocks of BLOCK_ROWS tokens t are computed one by one, with the keys u up to the block's end. So no matrix of
 * all pairs of tokens is stored. The forward pass keeps log(sum of exp(s[t])) of each token, and the backward
 * pass computes p again from it. */
#include "train/layer.h"

#include "base/parallel.h"
#include "train/rows.h"
#include "math/linalg.h"

#include <math.h>
#include <string.h>

enum { BLOCK_ROWS = 64 };

typedef struct {
    const Layer *l;
    const Pass *p;
    size_t heads, width, length;
    float *room; /* (slots, `room_floats`) */
    size_t room_floats;
} Work;

/* Matrices of one head of one image: (length, width), and `s` and `d` with BLOCK_ROWS rows of up to `length`
 * columns. `y`, `dy` and `dq` have the rows of one block. */
typedef struct {
    float *q, *k, *v, *dk, *dv, *y, *dy, *dq, *s, *d;
} Head;

static Status open(Layer *l, size_t images, Arena *a, Error *err)
{
    const AttentionSettings *s = l->settings;
    l->state = NEW(a, float, images * s->heads * l->in->rows);
    return arena_check(l->state, a, err);
}

static Status work_open(Work *w, const Layer *l, const Pass *p)
{
    const AttentionSettings *s = l->settings;
    const size_t width = l->out->channels / s->heads, length = l->out->rows;
    *w = (Work){.l = l, .p = p, .heads = s->heads, .width = width, .length = length};
    w->room_floats = 5 * length * width + 3 * BLOCK_ROWS * width + 2 * BLOCK_ROWS * length;
    w->room = NEW(p->scratch, float, parallel_slots(p->threads, p->images * s->heads) * w->room_floats);
    return arena_check(w->room, p->scratch, p->err);
}

static Head head_of(const Work *w, size_t slot)
{
    float *at = w->room + slot * w->room_floats;
    const size_t all = w->length * w->width, block = BLOCK_ROWS * w->width;
    Head h = {.q = at, .k = at + all, .v = at + 2 * all, .dk = at + 3 * all, .dv = at + 4 * all};
    at += 5 * all;
    h.y = at;
    h.dy = at + block;
    h.dq = at + 2 * block;
    h.s = at + 3 * block;
    h.d = h.s + BLOCK_ROWS * w->length;
    return h;
}

/* ---- copying `rows` rows of `width` floats, between rows that are `step` floats apart and a matrix ---- */

static void gather(const Work *w, const float *from, size_t step, size_t rows, float *to)
{
    for (size_t i = 0; i < rows; i++)
        memcpy(to + i * w->width, from + i * step, w->width * sizeof *to);
}

static void scatter(const Work *w, const float *from, size_t rows, float *to, size_t step)
{
    for (size_t i = 0; i < rows; i++)
        memcpy(to + i * step, from + i * w->width, w->width * sizeof *to);
}

static void gather_inputs(const Work *w, const Head *h, size_t image, size_t head)
{
    const size_t channels = w->l->out->channels, step = 3 * channels;
    const float *x = w->l->in->x + image * w->length * step + head * w->width;
    gather(w, x, step, w->length, h->q);
    gather(w, x + channels, step, w->length, h->k);
    gather(w, x + 2 * channels, step, w->length, h->v);
}

/* ---- products of one block: queries `from` .. `from` + rows - 1, keys 0 .. keys - 1 ---- */

/* c = scale a b' */
static void rows_by_rows(const Work *w, const float *a, const float *b, size_t rows, size_t keys,
                         double scale, float *c)
{
    linalg_multiply(&(Product){.a = a,
                               .b = b,
                               .b_turned = true,
                               .c = c,
                               .m = rows,
                               .n = keys,
                               .k = w->width,
                               .scale = (float)scale},
                    1);
}

/* c = scale s b */
static void mix_keys(const Work *w, const float *s, const float *b, size_t rows, size_t keys, double scale,
                     float *c)
{
    linalg_multiply(
        &(Product){.a = s, .b = b, .c = c, .m = rows, .n = w->width, .k = keys, .scale = (float)scale}, 1);
}

/* c = c + scale s' b */
static void add_to_keys(const Work *w, const float *s, const float *b, size_t rows, size_t keys, double scale,
                        float *c)
{
    linalg_multiply(&(Product){.a = s,
                               .a_turned = true,
                               .b = b,
                               .c = c,
                               .m = keys,
                               .n = w->width,
                               .k = rows,
                               .add = true,
                               .scale = (float)scale},
                    1);
}

static size_t block_rows(const Work *w, size_t from)
{
    return w->length - from < BLOCK_ROWS ? w->length - from : BLOCK_ROWS;
}

/* ---- forward ---- */

static void forward_head(void *data, size_t piece, size_t slot)
{
    const Work *w = data;
    const Head h = head_of(w, slot);
    const size_t image = piece / w->heads, head = piece % w->heads, channels = w->l->out->channels;
    const RowLoops *rows = row_loops();
    float *sums = (float *)w->l->state + piece * w->length;
    float *y = w->l->out->x + image * w->length * channels + head * w->width;
    gather_inputs(w, &h, image, head);
    for (size_t from = 0; from < w->length; from += BLOCK_ROWS) {
        const size_t count = block_rows(w, from), keys = from + count;
        rows_by_rows(w, h.q + from * w->width, h.k, count, keys, 1 / sqrt((double)w->width), h.s);
        for (size_t i = 0; i < count; i++) {
            const size_t seen = from + i + 1;
            sums[from + i] = rows->softmax(seen, h.s + i * keys);
            memset(h.s + i * keys + seen, 0, (keys - seen) * sizeof *h.s);
        }
        mix_keys(w, h.s, h.v, count, keys, 1, h.y);
        scatter(w, h.y, count, y + from * channels, channels);
    }
}

static Status forward(Layer *l, const Pass *p)
{
    Work w;
    TRY(work_open(&w, l, p));
    parallel_for_slots(p->threads, p->images * w.heads, forward_head, &w);
    return OK;
}

/* ---- backward: dp = dy v', ds = p (dp - (y dy)), dq = ds k, dk = ds' q, dv = p' dy ---- */

/* Computes p in h->s and ds in h->d for the block of queries from `from` on, whose dy is in h->dy. */
static void backward_scores(const Work *w, const Head *h, const float *sums, size_t from)
{
    const size_t count = block_rows(w, from), keys = from + count;
    const RowLoops *rows = row_loops();
    rows_by_rows(w, h->q + from * w->width, h->k, count, keys, 1 / sqrt((double)w->width), h->s);
    rows_by_rows(w, h->dy, h->v, count, keys, 1, h->d);
    for (size_t i = 0; i < count; i++) {
        const size_t seen = from + i + 1, rest = (keys - seen) * sizeof *h->s;
        float *s = h->s + i * keys, *d = h->d + i * keys;
        rows->exp_less(seen, sums[from + i], s);
        rows->softmax_back(seen, s, rows->dot(w->width, h->y + i * w->width, h->dy + i * w->width), d);
        memset(s + seen, 0, rest);
        memset(d + seen, 0, rest);
    }
}

static void backward_head(void *data, size_t piece, size_t slot)
{
    const Work *w = data;
    const Head h = head_of(w, slot);
    const size_t image = piece / w->heads, head = piece % w->heads, channels = w->l->out->channels;
    const double scale = 1 / sqrt((double)w->width);
    const size_t out = image * w->length * channels + head * w->width, step = 3 * channels;
    float *dx = w->l->in->dx + image * w->length * step + head * w->width;
    gather_inputs(w, &h, image, head);
    memset(h.dk, 0, 2 * w->length * w->width * sizeof *h.dk); /* dk, and dv behind it */
    for (size_t from = 0; from < w->length; from += BLOCK_ROWS) {
        const size_t count = block_rows(w, from), keys = from + count;
        gather(w, w->l->out->x + out + from * channels, channels, count, h.y);
        gather(w, w->l->out->dx + out + from * channels, channels, count, h.dy);
        backward_scores(w, &h, (const float *)w->l->state + piece * w->length, from);
        mix_keys(w, h.d, h.k, count, keys, scale, h.dq);
        scatter(w, h.dq, count, dx + from * step, step);
        add_to_keys(w, h.d, h.q + from * w->width, count, keys, scale, h.dk);
        add_to_keys(w, h.s, h.dy, count, keys, 1, h.dv);
    }
    scatter(w, h.dk, w->length, dx + channels, step);
    scatter(w, h.dv, w->length, dx + 2 * channels, step);
}

/* Only this layer reads its input, so the gradient is written, not added. */
static Status backward(Layer *l, const Pass *p)
{
    Work w;
    TRY(work_open(&w, l, p));
    parallel_for_slots(p->threads, p->images * w.heads, backward_head, &w);
    l->in->accumulate = true;
    return OK;
}

const LayerOps attention_layer = {
    .name = "attention", .open = open, .forward = forward, .backward = backward};
