/* own.c -- the user's own data set in an HDF5 file:
 *
 *     x         n x length, n x rows x columns or n x channels x rows x columns: integers or floats
 *     y         n labels, integers from 0 on
 *     x_test, y_test    test images and their labels, likewise; without them, every tenth image of x is a test image
 *
 * The file is read by the confined process that reads dumps. Values are normalised by mean and standard deviation
 * of the training values: of each channel if there are up to three, else of all channels together. */
#include "train/files.h"
#include "dump/tensor.h"
#include "math/blockwise.h"

#include <math.h>

enum { TENTH = 10, CLASSES_MOST = 1 << 20, CHANNELS_APART = 3 };

/* Images with their labels, as read from the file. */
typedef struct {
    size_t count;
    const float *values; /* (count, size) */
    const float *labels; /* (count) */
} Examples;

typedef struct {
    Dump *dump;
    Arena *arena;
    DatasetInfo *info;
    size_t size;     /* values of an image */
    Examples all[2]; /* by DataSplit */
    bool shared;     /* the file has no x_test: both splits come from x: every tenth image is a test image */
} Own;

/* ---- reading ---- */

static Status read(Own *o, const char *name, const float **x, Shape *shape, Error *err)
{
    const size_t index = dump_find(o->dump, name, 0);
    if (index == dump_count(o->dump)) {
        FAIL(err, ERR_CORRUPT, "has no numbers called %s", name);
        return error_hint(err, "x is images or vectors, one for each label of y; docs/datasets.md");
    }
    *shape = dump_tensor(o->dump, index)->shape;
    float *room = NEW(o->arena, float, shape->n + 1);
    TRY(arena_check(room, o->arena, err));
    TRY(dump_read(o->dump, index, room, err));
    const size_t bad = first_nonfinite(room, shape->n, NULL);
    if (bad < shape->n)
        return FAIL(err, ERR_CORRUPT, "%s: element %zu is not a finite float", name, bad);
    *x = room;
    return OK;
}

/* Sets the shape of an image from x; refuses an x_test whose images have another shape. */
static Status set_shape(Own *o, const Shape *x, const char *name, Error *err)
{
    const size_t *dim = x->dim;
    const size_t channels = x->rank == 4 ? dim[1] : 1, rows = x->rank == 2 ? 1 : dim[x->rank == 4 ? 2 : 1];
    if (x->rank < 2 || x->rank > 4)
        return FAIL(err, ERR_CORRUPT,
                    "%s has %d axes: want n x length, n x rows x columns, or n x channels x rows x columns",
                    name, x->rank);
    if (dim[0] < 1 || dim[0] > IMAGES_MOST || x->n == 0)
        return FAIL(err, ERR_CORRUPT, "%s has %zu images of %zu values: want 1 to %d, of one or more", name,
                    dim[0], dim[0] ? x->n / dim[0] : 0, IMAGES_MOST);
    const size_t columns = dim[x->rank - 1];
    if (o->size && (channels != o->info->channels || rows != o->info->rows || columns != o->info->columns))
        return FAIL(err, ERR_CORRUPT, "%s has images of %zux%zux%zu, and x of %zux%zux%zu", name, channels,
                    rows, columns, o->info->channels, o->info->rows, o->info->columns);
    o->info->channels = channels, o->info->rows = rows, o->info->columns = columns;
    o->size = channels * rows * columns;
    return OK;
}

static Status check_labels(Own *o, const Examples *e, const char *name, Error *err)
{
    for (size_t i = 0; i < e->count; i++) {
        const float label = e->labels[i];
        if (!(label >= 0) || label >= CLASSES_MOST || label != floorf(label))
            return FAIL(err, ERR_CORRUPT, "%s: label %g of image %zu: want an integer from 0 to %d", name,
                        (double)label, i, CLASSES_MOST - 1);
        if (o->info->classes <= (size_t)label)
            o->info->classes = (size_t)label + 1;
    }
    return OK;
}

static Status read_examples(Own *o, const char *images, const char *labels, Examples *out, Error *err)
{
    Shape x, y;
    TRY(read(o, images, &out->values, &x, err));
    TRY(set_shape(o, &x, images, err));
    TRY(read(o, labels, &out->labels, &y, err));
    out->count = x.dim[0];
    if (y.n != out->count)
        return FAIL(err, ERR_CORRUPT, "%s has %zu label%s: want one for each of the %zu images of %s", labels,
                    y.n, text_s(y.n), out->count, images);
    return check_labels(o, out, labels, err);
}

static Status read_file(Own *o, Error *err)
{
    TRY(read_examples(o, "x", "y", &o->all[SPLIT_TRAIN], err));
    o->shared = dump_find(o->dump, "x_test", 0) == dump_count(o->dump);
    if (o->shared)
        o->all[SPLIT_TEST] = o->all[SPLIT_TRAIN];
    else
        TRY(read_examples(o, "x_test", "y_test", &o->all[SPLIT_TEST], err));
    if (o->shared && o->all[SPLIT_TRAIN].count < TENTH)
        return FAIL(err, ERR_CORRUPT,
                    "x has %zu image%s: want %d or more (every tenth becomes a test image), or x_test",
                    o->all[SPLIT_TRAIN].count, text_s(o->all[SPLIT_TRAIN].count), TENTH);
    return o->info->classes >= 2 ? OK : FAIL(err, ERR_CORRUPT, "y has one class only: want two or more");
}

/* ---- a split of the data ---- */

static size_t split_count(const Own *o, DataSplit split)
{
    const size_t count = o->all[split].count, tests = count / TENTH;
    return !o->shared ? count : split == SPLIT_TEST ? tests : count - tests;
}

/* Returns the place in the file of image i of a split. */
static size_t place_of(const Own *o, DataSplit split, size_t i)
{
    const size_t others = TENTH - 1;
    if (!o->shared)
        return i;
    return split == SPLIT_TEST ? i * TENTH + others : i / others * TENTH + i % others;
}

static const float *image_of(const Own *o, DataSplit split, size_t i)
{
    return o->all[split].values + place_of(o, split, i) * o->size;
}

/* Sets mean and standard deviation of the training images' values: of each channel, or of all together. */
static void measure(Own *o)
{
    const size_t groups = o->info->channels <= CHANNELS_APART ? o->info->channels : 1,
                 plane = o->size / groups;
    const size_t count = split_count(o, SPLIT_TRAIN);
    for (size_t c = 0; c < groups; c++) {
        double sum = 0, squares = 0;
        for (size_t i = 0; i < count; i++)
            for (size_t k = 0; k < plane; k++)
                sum += (double)image_of(o, SPLIT_TRAIN, i)[c * plane + k];
        const double mean = sum / (double)(count * plane);
        for (size_t i = 0; i < count; i++)
            for (size_t k = 0; k < plane; k++) {
                const double v = (double)image_of(o, SPLIT_TRAIN, i)[c * plane + k] - mean;
                squares += v * v;
            }
        const double deviation = sqrt(squares / (double)(count * plane));
        o->info->mean[c] = (float)mean;
        o->info->deviation[c] = deviation > 0 ? (float)deviation : 1;
    }
}

static Status keep_values(const Own *o, Dataset *d, Arena *a, Error *err)
{
    float *values = NEW(a, float, d->count * o->size);
    TRY(arena_check(values, a, err));
    const size_t plane = o->size / (o->info->channels <= CHANNELS_APART ? o->info->channels : 1);
    for (size_t i = 0; i < d->count; i++)
        for (size_t k = 0; k < o->size; k++) {
            const size_t c = k / plane;
            values[i * o->size + k] =
                (image_of(o, d->split, i)[k] - o->info->mean[c]) / o->info->deviation[c];
        }
    const size_t bad = first_nonfinite(values, d->count * o->size, NULL);
    if (bad < d->count * o->size)
        return FAIL(err, ERR_NUMERIC, "image %zu: a value is too far from the others to be normalised",
                    bad / o->size);
    d->values = values;
    return OK;
}

static Status take(Own *o, Dataset *d, Arena *a, Error *err)
{
    d->count = split_count(o, d->split);
    uint32_t *labels = NEW(a, uint32_t, d->count);
    TRY(arena_check(labels, a, err));
    for (size_t i = 0; i < d->count; i++)
        labels[i] = (uint32_t)o->all[d->split].labels[place_of(o, d->split, i)];
    d->labels = labels;
    measure(o);
    return keep_values(o, d, a, err);
}

Status own_load(Dataset *d, const char *path, uint64_t seed, Arena *a, Error *err)
{
    (void)seed;
    DatasetInfo *info = NEW_ZERO(a, DatasetInfo, 1);
    const char *name = text_copy(a, path);
    TRY(arena_check(info && name, a, err));
    *info = (DatasetInfo){.name = name, .brief = ""};
    Own o = {.arena = arena_open(0), .info = info};
    d->info = info;
    Status status = dump_open_as(&o.dump, path, &(DumpHints){.integers = true}, o.arena, err);
    if (status == OK && (read_file(&o, err) != OK || take(&o, d, a, err) != OK))
        status = strncmp(err->text, path, strlen(path)) ? error_at(err, "%s", path) : err->status;
    dump_close(o.dump);
    arena_close(o.arena);
    return status;
}
