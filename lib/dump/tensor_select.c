/* tensor_select.c -- selects the tensors of a dump that match a command's globs. */
#include "dump/tensor.h"

#include <stdio.h>
#include <string.h>

/* Returns true if the glob matches the name or the number of a tensor's step or worker group. For a tensor
 * without a group, the glob must match the empty text, as "*" does. */
static bool group_matches(const char *glob, const char *group, int64_t number)
{
    char text[24];
    if (!glob)
        return true;
    if (!group)
        return text_glob(glob, "");
    snprintf(text, sizeof text, "%lld", (long long)number);
    return text_glob(glob, group) || text_glob(glob, text);
}

static bool tensor_matches(const char *glob, const TensorInfo *t)
{
    return text_glob(glob, t->path) || text_glob(glob, t->name) || text_glob(glob, t->display);
}

static bool kind_matches(const char *glob, const TensorInfo *t)
{
    return !glob || text_glob(glob, kind_names[t->kind]);
}

static bool any_matches(const TextList *globs, const TensorInfo *t)
{
    for (size_t i = 0; i < globs->count; i++)
        if (tensor_matches(globs->item[i], t))
            return true;
    return globs->count == 0;
}

/* ---- the error when a glob matches nothing ---- */

static const char *tensor_name(const void *data, size_t i)
{
    return i < dump_count(data) ? dump_tensor(data, i)->name : NULL;
}
static const char *step_name(const void *data, size_t i)
{
    if (i >= dump_count(data))
        return NULL;
    return dump_tensor(data, i)->step_group ? dump_tensor(data, i)->step_group : "";
}
static const char *worker_name(const void *data, size_t i)
{
    if (i >= dump_count(data))
        return NULL;
    return dump_tensor(data, i)->worker_group ? dump_tensor(data, i)->worker_group : "";
}
static const char *kind_name(const void *data, size_t i)
{
    return i < dump_count(data) ? kind_names[dump_tensor(data, i)->kind] : NULL;
}

/* Writes the first few different names that the callback `name` returns: "a, b, c, d, e and more". */
static void list_names(char *out, size_t size, const Dump *d, TextName name)
{
    enum { SHOWN = 5, LOOKED_AT = 64 };
    const char *seen[LOOKED_AT];
    size_t count = 0, used = 0;
    *out = 0;
    for (size_t i = 0; count < LOOKED_AT && name(d, i); i++) {
        bool known = !*name(d, i);
        for (size_t k = 0; k < count; k++)
            known |= !strcmp(seen[k], name(d, i));
        if (!known)
            seen[count++] = name(d, i);
    }
    for (size_t k = 0; k < count && k < SHOWN && used < size; k++)
        used += (size_t)snprintf(out + used, size - used, "%s%.60s", k ? ", " : "", seen[k]);
    if (count > SHOWN && used < size)
        snprintf(out + used, size - used, " and more");
}

/* Adds a hint to the error that a glob of tensors matches nothing. If the glob occurs inside names, as "fc1"
 * in "fc1.bias", the hint is a wider glob that matches these names. */
static Status hint_part(const Dump *d, const char *glob, Error *err)
{
    char wider[128];
    for (int anywhere = 0; *glob && anywhere < 2; anywhere++) {
        snprintf(wider, sizeof wider, anywhere ? "*%.100s*" : "%.100s*", glob);
        for (size_t i = 0; i < dump_count(d); i++)
            if (text_glob(wider, tensor_name(d, i)))
                return error_hint(err, "-t '%s'; a glob matches whole names", wider);
    }
    return error_hint(err, "atomo-bench inspect FILE lists the tensors; globs know *, ? and [..]");
}

static Status no_match(const Dump *d, const char *what, const char *glob, TextName name, Error *err)
{
    char names[400];
    const char *near = text_nearest(glob, name, d);
    list_names(names, sizeof names, d, name);
    if (strchr(glob, ',')) {
        FAIL(err, ERR_USAGE, "%.200s: no %s matches \"%.100s\", which is one glob and no list; there are %s",
             dump_file(d), what, glob, *names ? names : "none");
        return error_hint(err, "a glob is such as 'conv*' or '[cf]*'; only -t can be repeated");
    }
    if (near && *near)
        FAIL(err, ERR_USAGE, "%.200s: no %s matches \"%.100s\" (did you mean %.100s?)", dump_file(d), what,
             glob, near);
    else if (*names)
        FAIL(err, ERR_USAGE, "%.200s: no %s matches \"%.100s\"; there are %s", dump_file(d), what, glob,
             names);
    else
        FAIL(err, ERR_USAGE, "%.200s: no %s matches \"%.100s\": the file has no %ss", dump_file(d), what,
             glob, what);
    return hint_part(d, name == tensor_name ? glob : "", err);
}

/* Fails if a glob of the selection matches nothing: a misspelt glob must not just select less. */
static Status check_globs(const Dump *d, const Selection *s, Error *err)
{
    bool step = false, worker = false, kind = false;
    for (size_t i = 0; i < dump_count(d); i++) {
        const TensorInfo *t = dump_tensor(d, i);
        step |= group_matches(s->step, t->step_group, t->step);
        worker |= group_matches(s->worker, t->worker_group, t->worker);
        kind |= kind_matches(s->kind, t);
    }
    if (!step)
        return no_match(d, "step", s->step, step_name, err);
    if (!worker)
        return no_match(d, "worker", s->worker, worker_name, err);
    if (!kind)
        return no_match(d, "kind", s->kind, kind_name, err);
    for (size_t g = 0; g < s->tensors.count; g++) {
        bool tensor = false;
        for (size_t i = 0; i < dump_count(d) && !tensor; i++)
            tensor = tensor_matches(s->tensors.item[g], dump_tensor(d, i));
        if (!tensor)
            return no_match(d, "tensor", s->tensors.item[g], tensor_name, err);
    }
    return OK;
}

Status dump_select(const Dump *d, const Selection *s, Arena *a, size_t **index, size_t *count, Error *err)
{
    TRY(check_globs(d, s, err));
    *index = NEW(a, size_t, dump_count(d));
    TRY(arena_check(*index, a, err));
    *count = 0;
    for (size_t i = 0; i < dump_count(d); i++) {
        const TensorInfo *t = dump_tensor(d, i);
        if (group_matches(s->step, t->step_group, t->step) &&
            group_matches(s->worker, t->worker_group, t->worker) && kind_matches(s->kind, t) &&
            any_matches(&s->tensors, t))
            (*index)[(*count)++] = i;
    }
    if (*count == 0)
        return FAIL(err, ERR_USAGE, "%s: no tensor matches all of tensor, kind, step and worker together",
                    dump_file(d));
    return OK;
}
