/* training_run.c -- the loop over the steps, and the dump of their gradients; see training_run.h. */
#include "train/training_run.h"

#include "train/checkpoint.h"
#include "train/train_parts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* ---- the dump of gradients ---- */

struct GradientDump {
    Arena *arena, *scratch;
    const char *path;
    char *folder; /* FILE.parts, the folder of the parts (files of one step each) */
    int lock;
    bool workers; /* true: save each worker's gradient; false: save the mean of the workers' gradients */
    size_t from;  /* number of the last step done before this run */
    Attr root[SETUP_MOST + 8];
    size_t roots;
    float *x;       /* room for the gradient of one tensor */
    double *images; /* (workers) images that the gradient of each worker is the mean of */
    size_t most;    /* number of elements of the largest tensor */
};

/* ---- writing a part: a file with the gradients of one step ---- */

/* Returns the mean of the workers' gradients, weighted by their numbers of images. */
static const float *mean_of(const GradientDump *d, const Trainer *t, size_t step, const Slice *s)
{
    double all = 0;
    for (size_t w = 0; w < t->s.workers; w++)
        all += d->images[w] = (double)round_images(t, step, w);
    for (size_t i = 0; i < s->shape.n; i++) {
        double sum = 0;
        for (size_t w = 0; w < t->s.workers; w++)
            sum += d->images[w] * (double)t->gradient[w][s->offset + i];
        d->x[i] = (float)(sum / all);
    }
    return d->x;
}

static Status write_tensor(GradientDump *d, DumpWriter *to, const char *folder, const Slice *s,
                           const float *x, Error *err)
{
    Attr kind = attr_text("kind", kind_names[s->kind]);
    const char *path = text_format(d->scratch, "%s/%s", folder, s->name);
    return path ? dump_write(to, path, &s->shape, x, &(AttrList){&kind, 1}, err)
                : arena_fail(d->scratch, err);
}

static Status write_part(GradientDump *d, DumpWriter *to, const Trainer *t, const StepRecord *r, Error *err)
{
    const SliceList *list = model_parameters(t->model);
    char step[32], folder[64];
    Attr attrs[] = {attr_whole("step", r->step), attr_real("loss", r->train.loss),
                    attr_whole("epoch", r->epoch)};
    snprintf(step, sizeof step, "step_%06zu", r->step);
    TRY(dump_write_attrs(to, "", &(AttrList){d->root, d->roots}, err));
    for (size_t w = 0; w < (d->workers ? t->s.workers : 1); w++)
        for (size_t i = 0; i < list->count; i++) {
            const Slice *s = &list->item[i];
            if (d->workers)
                snprintf(folder, sizeof folder, "%s/worker_%zu", step, w);
            else
                snprintf(folder, sizeof folder, "%s", step);
            TRY(write_tensor(d, to, folder, s,
                             d->workers ? t->gradient[w] + s->offset : mean_of(d, t, r->step, s), err));
        }
    return dump_write_attrs(to, step, &(AttrList){attrs, countof(attrs)}, err);
}

static Status gradient_dump_step(GradientDump *d, const Trainer *t, const StepRecord *r, Error *err)
{
    const ArenaMark mark = arena_mark(d->scratch);
    DumpWriter *to;
    const char *path = step_file(d->folder, r->step, d->scratch);
    TRY(arena_check(path, d->scratch, err));
    TRY(dump_create(&to, path, err));
    const Status status = dump_finish(to, write_part(d, to, t, r, err), err);
    arena_rewind(d->scratch, mark);
    return status;
}

/* ---- joining the parts (files of one step each) to one dump ---- */

static Status copy_step(GradientDump *d, Dump *from, const char *step, DumpWriter *to, Error *err)
{
    for (size_t i = 0; i < dump_count(from); i++) {
        const TensorInfo *info = dump_tensor(from, i);
        if (!info->step_group || strcmp(info->step_group, step))
            continue;
        if (info->shape.n > d->most)
            return FAIL(err, ERR_CORRUPT, "%s: %s: %zu elements, more than any of the network's",
                        dump_file(from), info->path, info->shape.n);
        if (dump_read(from, i, d->x, err) != OK)
            return error_at(err, "%s", dump_file(from));
        TRY(dump_write(to, info->path, &info->shape, d->x, &info->attrs, err));
    }
    return dump_write_attrs(to, step, dump_attrs(from, step), err);
}

static Status copy_part(GradientDump *d, size_t step, DumpWriter *to, Error *err)
{
    const ArenaMark mark = arena_mark(d->scratch);
    char name[32];
    Dump *from;
    const char *path = step_file(d->folder, step, d->scratch);
    TRY(arena_check(path, d->scratch, err));
    TRY(dump_open(&from, path, d->scratch, err));
    snprintf(name, sizeof name, "step_%06zu", step);
    const Status status = copy_step(d, from, name, to, err);
    dump_close(from);
    arena_rewind(d->scratch, mark);
    return status;
}

/* Opens the dump FILE of an earlier run if this run resumes and FILE has the same setup; else returns NULL. */
static Dump *open_earlier(GradientDump *d)
{
    Error why = {0};
    Dump *from;
    if (!d->from || access(d->path, R_OK) || dump_open(&from, d->path, d->scratch, &why) != OK)
        return NULL;
    if (setup_check(d->root, d->roots, dump_attrs(from, ""), d->path, "a dump", &why) == OK)
        return from;
    dump_close(from);
    return NULL;
}

/* Returns the number of the step whose group is called `group`; 0 if `group` is not a step's. */
static size_t step_of(const char *group)
{
    size_t step;
    char again[64];
    if (sscanf(group, "step_%zu", &step) != 1)
        return 0;
    snprintf(again, sizeof again, "step_%06zu", step);
    return strcmp(again, group) ? 0 : step;
}

/* Copies all steps to one dump, in order. `before` is the dump of the earlier run; its steps are copied up
 * to step `from`, but for those that have parts (files of one step each). */
static Status copy_all(GradientDump *d, Dump *before, const size_t *part, size_t parts, DumpWriter *to,
                       Error *err)
{
    TRY(dump_write_attrs(to, "", &(AttrList){d->root, d->roots}, err));
    for (size_t i = 0; before && i < dump_groups(before); i++) {
        const AttrList *attrs;
        const char *group = dump_group(before, i, &attrs);
        const size_t step = step_of(group);
        if (step && step <= d->from && (!parts || step < part[0]))
            TRY(copy_step(d, before, group, to, err));
    }
    for (size_t i = 0; i < parts; i++)
        TRY(copy_part(d, part[i], to, err));
    return OK;
}

static Status write_file(GradientDump *d, const size_t *part, size_t parts, Error *err)
{
    DumpWriter *to;
    TRY(dump_create(&to, d->path, err));
    dump_sign(to, "atomo-train run");
    Dump *before = open_earlier(d);
    const Status status = copy_all(d, before, part, parts, to, err);
    dump_close(before);
    return dump_finish(to, status, err);
}

/* ---- opening and closing the dump ---- */

static void free_dump(GradientDump *d)
{
    step_folder_release(d->lock);
    arena_close(d->scratch);
    arena_close(d->arena);
}

/* Checks that the parts (files of one step each) up to step `from` have this setup, then removes those after it. */
static Status check_parts(GradientDump *d, Error *err)
{
    size_t *step, count;
    TRY(step_files(&step, &count, d->folder, d->scratch, err));
    for (size_t i = 0; i < count && step[i] <= d->from; i++) {
        const ArenaMark mark = arena_mark(d->scratch);
        const char *path = step_file(d->folder, step[i], d->scratch);
        Dump *from;
        TRY(arena_check(path, d->scratch, err));
        TRY(dump_open(&from, path, d->scratch, err));
        const Status status = setup_check(d->root, d->roots, dump_attrs(from, ""), path, "a dump of a run", err);
        dump_close(from);
        if (status != OK)
            return error_hint(err, "remove %.200s, or name another file", d->folder);
        arena_rewind(d->scratch, mark);
    }
    return step_files_remove(d->folder, d->from + 1, d->scratch, err);
}

static Status open_dump(GradientDump *d, const Trainer *t, Error *err)
{
    const SliceList *list = model_parameters(t->model);
    for (size_t i = 0; i < list->count; i++)
        d->most = list->item[i].shape.n > d->most ? list->item[i].shape.n : d->most;
    d->x = NEW(d->arena, float, d->most);
    d->images = NEW(d->arena, double, t->s.workers);
    d->folder = text_format(d->arena, "%s.parts", d->path);
    TRY(arena_check(d->x && d->images && d->folder, d->arena, err));
    d->root[0] = attr_text("schema", "atomo-gradients/1");
    d->root[1] = attr_text("model", t->s.network);
    d->root[2] = attr_text("framework", "atomo");
    d->root[3] = attr_text("gradient", d->workers ? "each worker's" : "mean");
    d->roots = 4 + setup_attrs(&t->s, d->root + 4, d->arena);
    TRY(step_folder_lock(&d->lock, d->folder, d->arena, err));
    return check_parts(d, err);
}

Status gradient_dump_open(GradientDump **out, const char *path, const Trainer *t, bool workers, Error *err)
{
    Arena *a = arena_open(0);
    GradientDump *d = NEW_ZERO(a, GradientDump, 1);
    *out = NULL;
    if (!d) {
        const Status status = arena_fail(a, err);
        arena_close(a);
        return status;
    }
    *d = (GradientDump){.arena = a,
                        .scratch = arena_open(0),
                        .path = path,
                        .lock = -1,
                        .workers = workers,
                        .from = trainer_step_done(t)};
    const Status status = open_dump(d, t, err);
    if (status == OK)
        *out = d;
    else
        free_dump(d);
    return status;
}

static Status join_parts(GradientDump *d, Error *err)
{
    size_t *part, parts;
    TRY(step_files(&part, &parts, d->folder, d->arena, err));
    if (parts && write_file(d, part, parts, err) != OK)
        return error_hint(err, "%.200s has each saved step as a dump of its own", d->folder);
    TRY(step_files_remove(d->folder, 0, d->arena, err));
    rmdir(d->folder);
    return OK;
}

Status gradient_dump_close(GradientDump *d, Error *err)
{
    const Status status = join_parts(d, err);
    free_dump(d);
    return status;
}

/* ---- the state of the whole run on rank 0 ---- */

typedef struct {
    Trainer *t;
    bool spread; /* false: the workers' ranks send to rank 0; true: rank 0 sends to them, and what is common to all */
} Moving;

static void move(const Moving *m, size_t w, void *data, size_t size)
{
    const int rank = relay_rank_of(m->t->s.net, way_of(m->t->s.topology), m->t->s.workers, w);
    net_move(m->t->s.net, m->spread ? 0 : rank, m->spread ? rank : 0, data, size);
}

/* Where a receiver decodes payloads with the senders' states, all ranks need all states. */
static Status move_array(void *data, int64_t worker, const char *path, const Shape *shape, float *x, Error *err)
{
    const Moving *m = data;
    const size_t size = shape->n * sizeof *x;
    const bool to_all = !strncmp(path, "state/", 6) && gradient_follows(m->t->fragment->exchange) && m->t->s.topology != TOPOLOGY_PS;
    (void)err;
    if (worker >= 0 && !(m->spread && to_all))
        move(m, (size_t)worker, x, size);
    else if (m->spread)
        net_broadcast(m->t->s.net, 0, x, size);
    return OK;
}

/* Copies to rank 0 what only other ranks know: the running statistics and states of their workers. Called
 * before rank 0 tests, or saves a checkpoint. With `gradients`, also copies the gradients of the last step, or after an exchange
 * with local steps, the pseudo-gradients. */
static Status trainer_collect(Trainer *t, bool gradients, Error *err)
{
    Moving m = {t, false};
    for (size_t w = 0; w < t->s.workers && gradients; w++)
        move(&m, w, t->gradient[w], t->floats * sizeof **t->gradient);
    return t->s.net ? checkpoint_visit(t, move_array, &m, err) : OK;
}

Status trainer_spread(Trainer *t, Error *err)
{
    Moving m = {t, true};
    uint64_t step = t->step;
    net_broadcast(t->s.net, 0, &step, sizeof step);
    t->step = (size_t)step;
    t->ordered = 0;
    return t->s.net ? checkpoint_visit(t, move_array, &m, err) : OK;
}

/* ---- the loop over the steps ---- */

/* Returns true if the network is tested, and a checkpoint saved, after this step. */
static bool is_due(const Course *c, size_t step)
{
    return step == c->steps || (c->every && step % c->every == 0);
}

/* Returns true if the gradients of this step are saved. */
static bool is_dumped(const Trainer *t, const Course *c, size_t step)
{
    const size_t exchange = trainer_exchange(t, step);
    return c->dump_every && exchange && (exchange - 1) % c->dump_every == 0;
}

/* A test that is stopped has no result. */
static Status test(Trainer *t, StepRecord *r, Error *err)
{
    const Status status = trainer_test(t, t->s.test, &r->test, err);
    if (status != ERR_STOPPED)
        return status;
    r->test = (MeanScore){NAN, NAN};
    return OK;
}

/* Tests the network after a step, and writes the step's gradients and record. */
static Status write_step(Trainer *t, const Course *c, bool dumps, StepRecord *r, Error *err)
{
    if (is_due(c, r->step) && t->s.test)
        TRY(test(t, r, err));
    if (dumps)
        TRY(gradient_dump_step(c->dump, t, r, err));
    return c->record(c->data, r, err);
}

/* Saves a checkpoint; on several ranks, rank 0 saves. */
static Status save(Trainer *t, const Course *c, Error *err)
{
    Status status = OK;
    TRY(trainer_collect(t, false, err));
    if (net_rank(t->s.net) == 0)
        status = checkpoint_save(t, c->dir, err);
    return net_agree(t->s.net, status, err);
}

/* Runs one step. Writes the step's record before its checkpoint, so that a run resumed from the checkpoint
 * finds all earlier records. */
static Status run_step(Trainer *t, const Course *c, bool *stops, Error *err)
{
    StepRecord r;
    Status status = trainer_step(t, &r, err);
    if (status == ERR_STOPPED) {
        *stops = true;
        return c->dir && t->step && !is_due(c, t->step) ? save(t, c, err) : OK;
    }
    TRY(status);
    const bool due = is_due(c, r.step), dumps = is_dumped(t, c, r.step);
    r.dumped = dumps;
    if (dumps || (due && t->s.test))
        TRY(trainer_collect(t, dumps, err));
    if (net_rank(t->s.net) == 0)
        status = write_step(t, c, dumps, &r, err);
    TRY(net_agree(t->s.net, status, err));
    net_broadcast(t->s.net, 0, &r.test, sizeof r.test);
    *stops = net_any(t->s.net, c->stopped && c->stopped()) &&
             (r.step < c->steps || (due && t->s.test && isnan(r.test.accuracy)));
    return c->dir && (due || *stops) ? save(t, c, err) : OK;
}

Status train_run(Trainer *t, const Course *c, Error *err)
{
    bool stops = net_any(t->s.net, c->stopped && c->stopped());
    while (t->step < c->steps && !stops)
        TRY(run_step(t, c, &stops, err));
    return stops ? FAIL(err, ERR_STOPPED, "stopped after step %zu of %zu", t->step, c->steps) : OK;
}
