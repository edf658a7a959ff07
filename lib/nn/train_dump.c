/* train_dump.c -- see train_dump.h. */
#include "nn/train_dump.h"

#include "nn/train_parts.h"

#include <stdio.h>

struct GradientDump {
    Arena *arena;
    DumpWriter *to;
    const char *path;
    bool workers; /* each by itself */
    size_t steps;
    float *mean; /* of one tensor */
};

static Attr text(const char *name, const char *v)
{
    return (Attr){.name = name, .type = ATTR_TEXT, .text = v};
}

static Attr whole(const char *name, size_t v)
{
    return (Attr){.name = name, .type = ATTR_INT, .whole = (int64_t)v};
}

static Attr real(const char *name, double v)
{
    return (Attr){.name = name, .type = ATTR_REAL, .real = v};
}

static Status write_root(GradientDump *d, const Trainer *t, Error *err)
{
    const TrainSetup *s = &t->s;
    Attr all[] = {
        text("schema", "atomo-gradients/1"),
        text("model", s->network),
        text("dataset", s->train->info->name),
        text("framework", "atomo"),
        real("lr", s->sgd.lr),
        real("momentum", s->sgd.momentum),
        real("weight_decay", s->sgd.weight_decay),
        whole("batch_size", s->batch),
        whole("workers", s->workers),
        text("compressor", codec_text(s->codec, d->arena)),
        whole("seed", s->seed),
    };
    return dump_write_attrs(d->to, "", &(AttrList){all, countof(all)}, err);
}

static Status open_dump(GradientDump *d, const Trainer *t, Error *err)
{
    const SliceList *list = model_parameters(t->model);
    size_t largest = 0;
    for (size_t i = 0; i < list->count; i++)
        largest = list->item[i].shape.n > largest ? list->item[i].shape.n : largest;
    d->mean = NEW(d->arena, float, largest);
    if (!d->mean)
        return arena_fail(d->arena, err);
    TRY(dump_create(&d->to, d->path, err));
    return write_root(d, t, err);
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
    *d = (GradientDump){.arena = a, .path = path, .workers = workers};
    const Status status = open_dump(d, t, err);
    if (status == OK)
        *out = d;
    else
        gradient_dump_abandon(d);
    return status;
}

/* Weighted by the workers' images. */
static const float *mean_of(const GradientDump *d, const Trainer *t, size_t step, const Slice *s)
{
    const Portion all = portion_of(t, step);
    for (size_t i = 0; i < s->shape.n; i++) {
        double sum = 0;
        for (size_t w = 0; w < t->s.workers; w++)
            sum += (double)portion_share(&all, t->s.workers, w).count * (double)t->gradient[w][s->offset + i];
        d->mean[i] = (float)(sum / (double)all.count);
    }
    return d->mean;
}

static Status write_tensor(GradientDump *d, const char *folder, const Slice *s, const float *x, Error *err)
{
    const ArenaMark mark = arena_mark(d->arena);
    Attr kind = text("kind", kind_names[s->kind]);
    const char *path = text_format(d->arena, "%s/%s", folder, s->name);
    if (!path)
        return arena_fail(d->arena, err);
    const Status status = dump_write(d->to, path, &s->shape, x, &(AttrList){&kind, 1}, err);
    arena_rewind(d->arena, mark);
    return status;
}

Status gradient_dump_step(GradientDump *d, const Trainer *t, const StepRecord *r, Error *err)
{
    const SliceList *list = model_parameters(t->model);
    char step[32], folder[64];
    Attr attrs[] = {whole("step", r->step), real("loss", r->train.loss), whole("epoch", r->epoch)};
    snprintf(step, sizeof step, "step_%06zu", r->step);
    for (size_t w = 0; w < (d->workers ? t->s.workers : 1); w++)
        for (size_t i = 0; i < list->count; i++) {
            const Slice *s = &list->item[i];
            if (d->workers)
                snprintf(folder, sizeof folder, "%s/worker_%zu", step, w);
            else
                snprintf(folder, sizeof folder, "%s", step);
            TRY(write_tensor(d, folder, s,
                             d->workers ? t->gradient[w] + s->offset : mean_of(d, t, r->step, s), err));
        }
    d->steps++;
    return dump_write_attrs(d->to, step, &(AttrList){attrs, countof(attrs)}, err);
}

Status gradient_dump_close(GradientDump *d, Error *err)
{
    Status status = OK;
    if (d->steps) {
        status = dump_commit(d->to, err);
        d->to = NULL;
    }
    gradient_dump_abandon(d);
    return status;
}

void gradient_dump_abandon(GradientDump *d)
{
    if (!d)
        return;
    dump_abandon(d->to);
    arena_close(d->arena);
}
