/* setup.c -- see setup.h. */
#include "nn/setup.h"
#include "compress/spec.h"

#include <stdio.h>
#include <string.h>

const Attr *attr_find(const AttrList *list, const char *name)
{
    for (size_t i = 0; list && i < list->count; i++)
        if (!strcmp(list->item[i].name, name))
            return &list->item[i];
    return NULL;
}

size_t setup_attrs(const TrainSetup *s, Attr out[SETUP_MOST], Arena *a)
{
    const Attr all[] = {
        attr_text("dataset", s->train->info->name),
        attr_whole("images", s->train->count),
        attr_text("compressor", codec_text(s->codec, a)),
        attr_text("group", grouping_names[s->grouping]),
        attr_whole("min_elements", s->min_elements),
        attr_whole("workers", s->workers),
        attr_whole("num_aggregate", s->aggregate),
        attr_whole("batch_size", s->batch),
        attr_whole("seed", s->seed),
        attr_real("lr", s->sgd.lr),
        attr_real("lr_decay", s->sgd.decay),
        attr_whole("lr_decay_steps", s->sgd.every),
        attr_real("momentum", s->sgd.momentum),
        attr_real("weight_decay", s->sgd.weight_decay),
    };
    _Static_assert(countof(all) < SETUP_MOST, "room for all");
    memcpy(out, all, sizeof all);
    return countof(all);
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

Status setup_same(const Attr *own, size_t count, const AttrList *theirs, const char *path, const char *what,
                  Error *err)
{
    char mine[64], other[64];
    for (size_t i = 0; i < count; i++) {
        const Attr *a = attr_find(theirs, own[i].name);
        if (!a)
            return FAIL(err, ERR_CORRUPT, "%s: no attribute %s: not %s", path, own[i].name, what);
        if (!same(a, &own[i]))
            return FAIL(err, ERR_USAGE, "%s: %s is %.100s there, %.100s here", path, own[i].name,
                        shown(a, other), shown(&own[i], mine));
    }
    return OK;
}
