/* synth.c -- makes synthetic gradients from random numbers, and writes them to a dump. */
#include "dump/write.h"

#include "base/rng.h"

#include <math.h>
#include <string.h>

const char *const law_names[] = {"normal", "laplace", "power", "lowrank", "sparse", NULL};

/* ---- elements ---- */

/* Independent streams of random words for one tensor. */
enum { VALUES, SIGNS, LEFT, RIGHT, STREAMS };

typedef struct {
    const Synth *synth;
    Rng stream[STREAMS];
    const double *left, *right; /* lowrank: U (rows x rank), V (cols x rank) */
    size_t cols, n;
    float *x;
} Fill;

static double normal_at(const Fill *f, size_t i)
{
    return rng_normal(&f->stream[VALUES], USE_DATA, i);
}

static double sign_at(const Fill *f, size_t i)
{
    return rng_u32(&f->stream[SIGNS], USE_DATA, i) & 1 ? 1 : -1;
}

/* Returns a uniform number in (0, 1] for element i. */
static double unit_at(const Fill *f, size_t i)
{
    return 1 - rng_unit(&f->stream[VALUES], USE_DATA, i);
}

static double laplace_at(const Fill *f, size_t i)
{
    return -sign_at(f, i) * log(unit_at(f, i));
}

static double power_at(const Fill *f, size_t i)
{
    return sign_at(f, i) * pow(unit_at(f, i), -1 / f->synth->alpha);
}

static double lowrank_at(const Fill *f, size_t i)
{
    const size_t rank = (size_t)f->synth->rank;
    const double *u = f->left + i / f->cols * rank, *v = f->right + i % f->cols * rank; /* (rank) */
    double sum = 0;
    for (size_t r = 0; r < rank; r++)
        sum += u[r] * v[r];
    return sum / sqrt((double)rank) + (f->synth->noise > 0 ? f->synth->noise * normal_at(f, i) : 0);
}

static double sparse_at(const Fill *f, size_t i)
{
    return rng_unit(&f->stream[SIGNS], USE_DATA, i) < f->synth->density ? normal_at(f, i) : 0;
}

static double (*const laws[])(const Fill *f, size_t i) = {
    [LAW_NORMAL] = normal_at,   [LAW_LAPLACE] = laplace_at, [LAW_POWER] = power_at,
    [LAW_LOWRANK] = lowrank_at, [LAW_SPARSE] = sparse_at,
};

static bool stopped(const Synth *s)
{
    return s->stopped && s->stopped();
}

static void fill_block(void *data, size_t block)
{
    const Fill *f = data;
    if (stopped(f->synth))
        return;
    const size_t start = block * BLOCK, size = block_size(f->n, block);
    for (size_t i = start; i < start + size; i++)
        f->x[i] = (float)(f->synth->scale * laws[f->synth->law](f, i));
}

/* ---- tensors ---- */

static const double *factor(const Fill *f, int stream, size_t count, Arena *a)
{
    const size_t total = count * (size_t)f->synth->rank;
    double *values = NEW(a, double, total);
    for (size_t i = 0; values && i < total; i++)
        values[i] = rng_normal(&f->stream[stream], USE_DATA, i);
    return values;
}

Status synth_fill(const Synth *s, int64_t worker, int64_t step, const char *name, const Shape *shape,
                  float *x, Arena *scratch, Error *err)
{
    const ArenaMark mark = arena_mark(scratch);
    const Rng rng = rng_open(s->seed, 0, worker, step, rng_hash(name));
    Fill f = {.synth = s, .n = shape->n, .x = x};
    for (uint64_t i = 0; i < STREAMS; i++)
        f.stream[i] = rng_below(&rng, i);
    if (s->law == LAW_LOWRANK) {
        size_t rows;
        matrix_view(shape, RESHAPE_PAPER, &rows, &f.cols);
        f.left = factor(&f, LEFT, rows, scratch);
        f.right = factor(&f, RIGHT, f.cols, scratch);
        TRY(arena_check(f.left && f.right, scratch, err));
    }
    parallel_for(s->threads, blocks_of(f.n), fill_block, &f);
    arena_rewind(scratch, mark);
    return stopped(s) ? FAIL(err, ERR_STOPPED, "synth: stopped; no file was written") : OK;
}

bool synth_shape(const char *text, Shape *shape)
{
    size_t dim[RANK_MAX];
    int rank = 0;
    for (const char *at = text;; at++) {
        const size_t digits = strspn(at, "0123456789");
        if (digits == 0 || digits > 15 || rank == RANK_MAX)
            return false;
        dim[rank] = 0;
        for (size_t i = 0; i < digits; i++)
            dim[rank] = 10 * dim[rank] + (size_t)(at[i] - '0');
        rank++;
        at += digits;
        if (!*at)
            return shape_make(shape, rank, dim);
        if (*at != 'x')
            return false;
    }
}

/* ---- writing a whole dump ---- */

static Status write_properties(const Synth *s, const SynthLayout *layout, DumpWriter *to, Error *err)
{
    Attr attr[12];
    AttrList list = {attr, 0};
    attr[list.count++] = attr_text("schema", "atomo-gradients/1");
    attr[list.count++] = attr_text("model", "synthetic");
    attr[list.count++] = attr_text("law", law_names[s->law]);
    attr[list.count++] = attr_real("scale", s->scale);
    attr[list.count++] = attr_whole("seed", s->seed);
    attr[list.count++] = attr_whole("workers", (uint64_t)layout->workers);
    if (s->law == LAW_POWER)
        attr[list.count++] = attr_real("alpha", s->alpha);
    if (s->law == LAW_LOWRANK) {
        attr[list.count++] = attr_whole("rank", (uint64_t)s->rank);
        attr[list.count++] = attr_real("noise", s->noise);
    }
    if (s->law == LAW_SPARSE)
        attr[list.count++] = attr_real("density", s->density);
    return dump_write_attrs(to, "", &list, err);
}

static Status write_tensor(const Synth *s, const char *group, int64_t worker, int64_t step, size_t i,
                           const Shape *shape, DumpWriter *to, Arena *a, Error *err)
{
    const char *name = text_format(a, "layer%zu.weight", i);
    const char *path = text_format(a, "%s/%s", group, name ? name : "");
    float *x = NEW(a, float, shape->n);
    TRY(arena_check(name && path && x, a, err));
    Attr kind = attr_text("kind", kind_names[kind_guess(name, shape)]);
    TRY(synth_fill(s, worker, step, name, shape, x, a, err));
    return dump_write(to, path, shape, x, &(AttrList){&kind, 1}, err);
}

static Status write_group(const Synth *s, const SynthLayout *layout, int64_t step, int64_t worker,
                          DumpWriter *to, Arena *a, Error *err)
{
    Attr numbers[] = {attr_whole("step", (uint64_t)step), attr_whole("worker", (uint64_t)worker)};
    const char *group = text_format(a, "step_%06lld", (long long)step);
    TRY(arena_check(group, a, err));
    if (worker == 0)
        TRY(dump_write_attrs(to, group, &(AttrList){numbers, 1}, err));
    if (layout->workers > 1) {
        group = text_format(a, "%s/worker_%lld", group, (long long)worker);
        TRY(arena_check(group, a, err));
        TRY(dump_write_attrs(to, group, &(AttrList){numbers, 2}, err));
    }
    for (size_t i = 0; i < layout->shapes; i++) {
        const ArenaMark mark = arena_mark(a);
        TRY(write_tensor(s, group, worker, step, i, &layout->shape[i], to, a, err));
        arena_rewind(a, mark);
    }
    return OK;
}

Status synth_dump(const Synth *s, const SynthLayout *layout, DumpWriter *to, Arena *a, Error *err)
{
    TRY(write_properties(s, layout, to, err));
    for (int64_t step = 1; step <= layout->steps; step++)
        for (int64_t worker = 0; worker < layout->workers; worker++)
            TRY(write_group(s, layout, step, worker, to, a, err));
    return OK;
}
