/* checkpoint.c -- see checkpoint.h. */
#include "nn/checkpoint.h"

#include "checksum.h"
#include "nn/train_parts.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char schema[] = "atomo-checkpoint/1";

/* ---- the setup, as attributes ---- */

enum { SETUP_MOST = 24 };

static Attr whole(const char *name, uint64_t v)
{
    return (Attr){.name = name, .type = ATTR_INT, .whole = (int64_t)v};
}

static Attr real(const char *name, double v)
{
    return (Attr){.name = name, .type = ATTR_REAL, .real = v};
}

static Attr text(const char *name, const char *v)
{
    return (Attr){.name = name, .type = ATTR_TEXT, .text = v};
}

/* What a run's weights depend on. */
static size_t setup_attrs(const Trainer *t, Attr out[SETUP_MOST])
{
    const TrainSetup *s = &t->s;
    const Attr all[] = {
        text("schema", schema),
        text("network", s->network),
        text("dataset", s->train->info->name),
        whole("images", s->train->count),
        text("compressor", codec_text(s->codec, t->arena)),
        text("group", grouping_names[s->grouping]),
        whole("min_elements", s->min_elements),
        whole("workers", s->workers),
        whole("num_aggregate", s->aggregate),
        whole("batch_size", s->batch),
        whole("seed", s->seed),
        real("lr", s->sgd.lr),
        real("lr_decay", s->sgd.decay),
        whole("lr_decay_steps", s->sgd.every),
        real("momentum", s->sgd.momentum),
        real("weight_decay", s->sgd.weight_decay),
    };
    _Static_assert(countof(all) < SETUP_MOST, "room for all");
    memcpy(out, all, sizeof all);
    return countof(all);
}

static const Attr *find(const AttrList *list, const char *name)
{
    for (size_t i = 0; list && i < list->count; i++)
        if (!strcmp(list->item[i].name, name))
            return &list->item[i];
    return NULL;
}

static bool same(const Attr *a, const Attr *b)
{
    if (a->type != b->type)
        return false;
    return a->type == ATTR_TEXT  ? !strcmp(a->text, b->text)
           : a->type == ATTR_INT ? a->whole == b->whole
                                 : a->real == b->real;
}

static const char *shown(const Attr *a, char out[64])
{
    if (a->type == ATTR_TEXT)
        return a->text;
    if (a->type == ATTR_INT)
        snprintf(out, 64, "%lld", (long long)a->whole);
    else
        text_double(out, a->real);
    return out;
}

static Status check_setup(const Trainer *t, const AttrList *attrs, const char *path, Error *err)
{
    Attr own[SETUP_MOST];
    const size_t count = setup_attrs(t, own);
    char mine[64], theirs[64];
    for (size_t i = 0; i < count; i++) {
        const Attr *a = find(attrs, own[i].name);
        if (!a)
            return FAIL(err, ERR_CORRUPT, "%s: no attribute %s: not a checkpoint", path, own[i].name);
        if (same(a, &own[i]))
            continue;
        FAIL(err, ERR_USAGE, "%s: %s is %.100s there, %.100s here", path, own[i].name, shown(a, theirs),
             shown(&own[i], mine));
        return error_hint(err,
                          "go on with the options of the run that wrote it, or name another --train-dir");
    }
    return OK;
}

/* ---- saving ---- */

char *checkpoint_path(const char *dir, size_t step, Arena *a)
{
    return text_format(a, "%s/step_%08zu.h5", dir, step);
}

typedef struct {
    DumpWriter *to;
    Dump *from;
    uint64_t sum;
} Passing;

static void add_sum(Passing *p, const Shape *shape, const float *x)
{
    p->sum = checksum((Bytes){(const uint8_t *)x, shape->n * sizeof *x}, p->sum);
}

static Status save_array(void *data, const char *path, const Shape *shape, float *x, Error *err)
{
    Passing *p = data;
    add_sum(p, shape, x);
    return dump_write(p->to, path, shape, x, NULL, err);
}

static Status save_all(Trainer *t, DumpWriter *to, Error *err)
{
    Passing p = {.to = to};
    Attr attr[SETUP_MOST + 4];
    const ArenaMark mark = arena_mark(t->arena);
    const Portion next = portion_of(t, t->step + 1);
    TRY(trainer_arrays(t, save_array, &p, err));
    size_t count = setup_attrs(t, attr);
    attr[count++] = whole("step", t->step);
    attr[count++] = whole("epoch", next.epoch);
    attr[count++] = whole("place", next.place);
    attr[count++] = whole("checksum", p.sum);
    TRY(dump_write_attrs(to, "", &(AttrList){attr, count}, err));
    arena_rewind(t->arena, mark);
    return OK;
}

/* With the folders above it. */
static Status make_folder(const char *dir, Arena *a, Error *err)
{
    char *path = text_copy(a, dir);
    if (!path)
        return arena_fail(a, err);
    for (char *at = path + 1;; at++) {
        const char was = *at;
        if (was && was != '/')
            continue;
        *at = 0;
        if (mkdir(path, 0777) && errno != EEXIST)
            return FAIL(err, ERR_IO, "%s: cannot make this folder: %s", path, strerror(errno));
        if (!(*at = was))
            return OK;
    }
}

Status checkpoint_save(Trainer *t, const char *dir, Error *err)
{
    const ArenaMark mark = arena_mark(t->arena);
    DumpWriter *to;
    TRY(make_folder(dir, t->arena, err));
    const char *path = checkpoint_path(dir, t->step, t->arena);
    if (!path)
        return arena_fail(t->arena, err);
    TRY(dump_create(&to, path, err));
    const Status status = save_all(t, to, err);
    if (status == OK)
        TRY(dump_commit(to, err));
    else
        dump_abandon(to);
    arena_rewind(t->arena, mark);
    return status;
}

/* ---- loading ---- */

static Status load_array(void *data, const char *path, const Shape *shape, float *x, Error *err)
{
    Passing *p = data;
    for (size_t i = 0; i < dump_count(p->from); i++) {
        const TensorInfo *info = dump_tensor(p->from, i);
        if (strcmp(info->path, path))
            continue;
        if (info->shape.n != shape->n)
            return FAIL(err, ERR_CORRUPT, "%s: %zu elements, want %zu", path, info->shape.n, shape->n);
        TRY(dump_read(p->from, i, x, err));
        add_sum(p, shape, x);
        return OK;
    }
    return FAIL(err, ERR_CORRUPT, "%s is missing", path);
}

static Status load_all(Trainer *t, Dump *from, const char *path, Error *err)
{
    Passing p = {.from = from};
    TRY(check_setup(t, dump_attrs(from), path, err));
    const Attr *step = find(dump_attrs(from), "step"), *sum = find(dump_attrs(from), "checksum");
    if (!step || step->type != ATTR_INT || step->whole < 0 || !sum || sum->type != ATTR_INT)
        return FAIL(err, ERR_CORRUPT, "%s: no step or no checksum", path);
    if (trainer_arrays(t, load_array, &p, err) != OK)
        return error_at(err, "%s", path);
    if (p.sum != (uint64_t)sum->whole)
        return FAIL(err, ERR_CORRUPT, "%s: its arrays do not have the checksum they were written with", path);
    t->step = (size_t)step->whole;
    t->ordered = 0;
    return OK;
}

Status checkpoint_load(Trainer *t, const char *path, Error *err)
{
    Arena *a = arena_open(0);
    Dump *from = NULL;
    Status status = dump_open(&from, path, a, err);
    if (status == OK)
        status = load_all(t, from, path, err);
    dump_close(from);
    arena_close(a);
    return status;
}

/* ---- the setup of a checkpoint ---- */

typedef struct {
    const AttrList *attrs;
    const char *path, *missing;
} Known;

static const Attr *known(Known *k, const char *name, int type)
{
    static const Attr none = {.text = ""};
    const Attr *a = find(k->attrs, name);
    if (a && (int)a->type == type && (type != ATTR_INT || a->whole >= 0))
        return a;
    k->missing = name;
    return &none;
}

static size_t known_whole(Known *k, const char *name)
{
    return (size_t)known(k, name, ATTR_INT)->whole;
}

static double known_real(Known *k, const char *name)
{
    return known(k, name, ATTR_REAL)->real;
}

static Status take_setup(TrainSetup *s, const char **dataset, size_t *images, Known *k, Arena *a, Error *err)
{
    const char *spec = known(k, "compressor", ATTR_TEXT)->text;
    s->network = text_copy(a, known(k, "network", ATTR_TEXT)->text);
    *dataset = text_copy(a, known(k, "dataset", ATTR_TEXT)->text);
    *images = known_whole(k, "images");
    s->grouping =
        strcmp(known(k, "group", ATTR_TEXT)->text, grouping_names[GROUP_ALL]) ? GROUP_TENSOR : GROUP_ALL;
    s->min_elements = known_whole(k, "min_elements");
    s->workers = known_whole(k, "workers");
    s->aggregate = known_whole(k, "num_aggregate");
    s->batch = known_whole(k, "batch_size");
    s->seed = known_whole(k, "seed");
    s->sgd = (Sgd){known_real(k, "lr"), known_real(k, "momentum"), known_real(k, "weight_decay"),
                   known_real(k, "lr_decay"), known_whole(k, "lr_decay_steps")};
    if (k->missing)
        return FAIL(err, ERR_CORRUPT, "%s: no attribute %s: not a checkpoint", k->path, k->missing);
    return s->network && *dataset ? codec_open(&s->codec, spec, a, err) : arena_fail(a, err);
}

Status checkpoint_setup(TrainSetup *s, const char **dataset, size_t *images, const char *path, Arena *a,
                        Error *err)
{
    Dump *from;
    Known k = {.path = path};
    TRY(dump_open(&from, path, a, err));
    k.attrs = dump_attrs(from);
    const Status status = take_setup(s, dataset, images, &k, a, err);
    dump_close(from);
    return status;
}

/* ---- which there are ---- */

static int by_number(const void *a, const void *b)
{
    const size_t x = *(const size_t *)a, y = *(const size_t *)b;
    return (x > y) - (x < y);
}

/* "step_%08zu.h5" and nothing else. */
static bool number_of(const char *name, size_t *step)
{
    char again[64];
    char *end;
    if (strncmp(name, "step_", 5))
        return false;
    *step = (size_t)strtoull(name + 5, &end, 10);
    snprintf(again, sizeof again, "step_%08zu.h5", *step);
    return !strcmp(name, again);
}

Status checkpoint_list(size_t **step, size_t *count, const char *dir, Arena *a, Error *err)
{
    DIR *folder = opendir(dir);
    size_t room = 16, number;
    *count = 0;
    *step = NEW(a, size_t, room);
    if (!folder)
        return *step ? OK : arena_fail(a, err);
    for (const struct dirent *e; *step && (e = readdir(folder));) {
        if (!number_of(e->d_name, &number))
            continue;
        if (*count == room) {
            size_t *more = NEW(a, size_t, 2 * room);
            if (more)
                memcpy(more, *step, room * sizeof *more);
            *step = more;
            room *= 2;
        }
        if (*step)
            (*step)[(*count)++] = number;
    }
    closedir(folder);
    if (!*step)
        return arena_fail(a, err);
    qsort(*step, *count, sizeof **step, by_number);
    return OK;
}

Status checkpoint_resume(Trainer *t, const char *dir, void (*note)(void *data, const char *text), void *data,
                         Error *err)
{
    const ArenaMark mark = arena_mark(t->arena);
    size_t *step, count;
    char line[1000];
    TRY(checkpoint_list(&step, &count, dir, t->arena, err));
    while (count-- > 0) {
        const char *path = checkpoint_path(dir, step[count], t->arena);
        if (!path)
            return arena_fail(t->arena, err);
        const Status status = checkpoint_load(t, path, err);
        if (status == OK || status == ERR_USAGE || status == ERR_MEMORY) {
            arena_rewind(t->arena, mark);
            return status;
        }
        snprintf(line, sizeof line, "%s; %s", err->text,
                 count ? "the one before is tried" : "there is none before it");
        note(data, line);
    }
    trainer_reset(t);
    snprintf(line, sizeof line, "%s: no checkpoint to go on from: the run begins afresh", dir);
    note(data, line);
    arena_rewind(t->arena, mark);
    return OK;
}
