/* tensor_names.c -- derives step, worker, name and kind from a path such as
 * "step_000100/worker_0/module.conv1.weight", and sorts tensors by the numbers of steps and workers.
 *
 * Groups of steps that are not called "step", as in `epoch3/iter17/conv1.weight`, are named by a glob (DumpHints.steps_from)
 * with one part for each level of groups, as "epoch*" and "iter*" joined by a slash. The number of a step is the last number
 * in the name of the innermost group. If two steps then have the same number, the numbers of all levels are joined, each with six
 * digits: epoch 3, iteration 17 is 3000017. */
#include "dump/tensor_stream.h"

#include "base/rng.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- groups by their paths ---- */

static int compare_paths(const void *left, const void *right)
{
    const ListedGroup *const *a = left, *const *b = right;
    return strcmp((*a)->path, (*b)->path);
}

/* Sorts l->by_path. */
static Status listing_sort_groups(Listing *l, Error *err)
{
    l->by_path = NEW(l->arena, const ListedGroup *, l->groups);
    TRY(arena_check(l->by_path, l->arena, err));
    for (size_t i = 0; i < l->groups; i++)
        l->by_path[i] = &l->group[i];
    if (l->groups)
        qsort(l->by_path, l->groups, sizeof *l->by_path, compare_paths);
    return OK;
}

const AttrList *listing_attrs(const Listing *l, const char *path)
{
    const ListedGroup wanted = {.path = path}, *key = &wanted;
    const ListedGroup **found =
        l->groups ? bsearch(&key, l->by_path, l->groups, sizeof *l->by_path, compare_paths) : NULL;
    return found ? &(*found)->attrs : NULL;
}

/* ---- groups of steps that a glob names ---- */

/* Returns the length of the first `levels` components of the path; 0: it has no component after them. */
static size_t leading(const char *path, size_t levels)
{
    const char *end = path;
    for (size_t i = 0; i < levels; i++) {
        end = strchr(end + (i > 0), '/');
        if (!end)
            return 0;
    }
    return (size_t)(end - path);
}

static size_t count_levels(const char *path)
{
    size_t levels = 1;
    while ((path = strchr(path, '/'))) {
        path++;
        levels++;
    }
    return levels;
}

/* Returns the last number in the first `length` characters of a name. Sets *digits to the number of its
 * digits without leading zeros; 0: there is no number. */
static int64_t last_number(const char *name, size_t length, int *digits)
{
    size_t end = length, start;
    char text[24];
    int64_t number = 0;
    *digits = 0;
    while (end && !isdigit((unsigned char)name[end - 1]))
        end--;
    for (start = end; start && isdigit((unsigned char)name[start - 1]);)
        start--;
    snprintf(text, sizeof text, "%.*s", (int)(end - start), name + start);
    if (end > start && end - start < sizeof text && text_to_int(text, &number))
        *digits = snprintf(text, sizeof text, "%lld", (long long)number);
    return number;
}

/* If the beginning of *path matches the glob, removes it from *path, and sets *group to it and *number to the
 * last number in it. Otherwise changes nothing. */
static Status steps_take(const char **path, const char *glob, const char **group, int64_t *number,
                         Arena *a, Error *err)
{
    const size_t length = leading(*path, count_levels(glob));
    int digits;
    if (!length)
        return OK;
    const char *beginning = text_slice(a, *path, length);
    TRY(arena_check(beginning, a, err));
    if (!text_glob(glob, beginning))
        return OK;
    *group = beginning;
    *number = last_number(beginning, length, &digits);
    *path += length + 1;
    return OK;
}

/* Returns the number that the attribute `step` of the group gives; NULL: there is none. */
static const int64_t *steps_attribute(const Listing *l, const char *group)
{
    const Attr *step = attr_find(listing_attrs(l, group), "step");
    return step && step->type == ATTR_INT ? &step->whole : NULL;
}

/* ---- joining the numbers of all levels ---- */

/* Returns the first tensor whose step has the number of the step before it, which is another; 0: there is none. */
static size_t find_clash(const Listing *l)
{
    for (size_t i = 1; i < l->tensors; i++) {
        const TensorInfo *before = &l->tensor[i - 1].info, *t = &l->tensor[i].info;
        if (before->step_group && before->step == t->step && strcmp(before->step_group, t->step_group))
            return i;
    }
    return 0;
}

/* Sets *joined to the numbers of all levels, joined. */
static Status join(const char *group, int64_t *joined, Error *err)
{
    enum { LEVEL = 1000000 };
    *joined = 0;
    for (size_t at = 0, length; group[at]; at += length + (group[at + length] == '/')) {
        int digits;
        length = strcspn(group + at, "/");
        const int64_t part = last_number(group + at, length, &digits);
        if (part >= LEVEL || *joined > INT64_MAX / LEVEL - 1)
            return FAIL(err, ERR_USAGE, "--steps-from: %.200s: cannot join the number %lld with those of other levels", group, (long long)part);
        *joined = digits ? *joined * LEVEL + part : *joined;
    }
    return OK;
}

static int compare_listed(const void *left, const void *right);

/* Joins the numbers of all levels for the steps of the list, and sorts again. Steps whose number is in an attribute keep it.
 * Fails if two steps still have the same number. */
static Status join_all(Listing *l, Error *err)
{
    for (size_t i = 0; i < l->tensors; i++) {
        TensorInfo *info = &l->tensor[i].info;
        if (info->step_group && !steps_attribute(l, info->step_group))
            TRY(join(info->step_group, &info->step, err));
    }
    qsort(l->tensor, l->tensors, sizeof *l->tensor, compare_listed);
    const size_t clash = find_clash(l);
    return !clash ? OK
                  : FAIL(err, ERR_USAGE, "--steps-from: %.200s and %.200s are steps of the same number",
                         l->tensor[clash - 1].info.step_group, l->tensor[clash].info.step_group);
}

/* Joins them if two steps have the same number. The tensors are sorted by step. */
static Status steps_join_numbers(Listing *l, Error *err)
{
    return !find_clash(l) || join_all(l, err) == OK
               ? OK
               : error_hint(err, "steps of the same number get those of all levels, joined, each below 1000000; an attribute step of a group is another number");
}

/* ---- guessing the glob ---- */

/* Returns the length of the part before the number ("epoch_") if the component is one of the words and a number ("epoch_3");
 * else 0. */
static size_t group_word(const char *component, size_t length, const char *const *words, size_t count)
{
    size_t letters = length;
    while (letters && isdigit((unsigned char)component[letters - 1]))
        letters--;
    const size_t prefix = letters;
    if (letters && strchr("_-.", component[letters - 1]))
        letters--;
    for (size_t i = 0; prefix < length && i < count; i++)
        if (strlen(words[i]) == letters && !strncasecmp(words[i], component, letters))
            return prefix;
    return 0;
}

static const char *const step_words[] = {"epoch", "ep",    "iter",   "iteration", "it",
                                         "batch", "step",  "update", "round",     "global_step"};
static const char *const worker_words[] = {"worker", "rank", "gpu", "client", "node", "device", "process", "proc"};

const char *workers_guess(const char *name, Arena *a)
{
    const size_t length = strcspn(name, "/");
    const size_t word = name[length] ? group_word(name, length, worker_words, countof(worker_words)) : 0;
    return word ? text_format(a, "%.*s*", (int)word, name) : "";
}

const char *steps_guess(const char *path, Arena *a)
{
    TextBuf glob = {.arena = a};
    text_add(&glob, "");
    for (const char *end; (end = strchr(path, '/')); path = end + 1) {
        const size_t word = group_word(path, (size_t)(end - path), step_words, countof(step_words));
        if (!word)
            break;
        text_addf(&glob, "%s%.*s*", glob.size ? "/" : "", (int)word, path);
    }
    return text_done(&glob);
}

/* ---- the parts of a path ---- */

/* Removes the first component of the path if it is one of the words and a number ("step_000100", "worker3"). The last component
 * is never removed. Sets `group` to the removed component and `number` to its number. */
static Status take_group_name(const char **path, const char *const *words, size_t count, const char **group, int64_t *number,
                              Arena *a, Error *err)
{
    const size_t length = strcspn(*path, "/");
    int digits = 0;
    if ((*path)[length] && group_word(*path, length, words, count))
        *number = last_number(*path, length, &digits);
    if (!digits)
        return OK;
    *group = text_slice(a, *path, length);
    *path += length + 1;
    return arena_check(*group, a, err);
}

static const char *display_name(const char *name)
{
    static const char *const prefixes[] = {"module.", "_orig_mod."};
    for (size_t i = 0; i < countof(prefixes); i++) {
        const size_t length = strlen(prefixes[i]);
        if (!strncmp(name, prefixes[i], length) && name[length])
            return display_name(name + length);
    }
    return name;
}

static Kind find_kind(const TensorInfo *t)
{
    const Attr *kind = attr_find(&t->attrs, "kind");
    for (int k = 0; kind && kind->type == ATTR_TEXT && kind_names[k]; k++)
        if (!strcmp(kind_names[k], kind->text))
            return (Kind)k;
    return kind_guess(t->name, &t->shape);
}

/* ---- layouts of kernels ---- */

const char *const layout_names[] = {
    [LAYOUT_AUTO] = "auto", [LAYOUT_OIHW] = "oihw", [LAYOUT_HWIO] = "hwio", NULL};

const char *const axis_names[] = {"none", "0", NULL};
const char *const origin_names[] = {"groups", "files", NULL};
const char *const void_names[] = {
    [VOIDS_LEFT_OUT] = "leave", [VOIDS_BFLOAT16] = "bfloat16", [VOIDS_FLOAT16] = "float16", NULL};

/* Returns the layout that the attribute `layout` names. Files of Keras have the attribute `keras_version`
 * instead. LAYOUT_AUTO: no attribute names a layout. */
static KernelLayout named_layout(const AttrList *attrs)
{
    const Attr *named = attr_find(attrs, "layout");
    for (int i = LAYOUT_OIHW; named && named->type == ATTR_TEXT && layout_names[i]; i++)
        if (!strcasecmp(named->text, layout_names[i]))
            return (KernelLayout)i;
    return attr_find(attrs, "keras_version") ? LAYOUT_HWIO : LAYOUT_AUTO;
}

/* Adds the attribute layout = "oihw" to the tensor, or changes the value of its attribute `layout`. */
static Status rename_layout(TensorInfo *t, Arena *a, Error *err)
{
    AttrList attrs = {.item = NEW(a, Attr, t->attrs.count + 1)};
    TRY(arena_check(attrs.item, a, err));
    for (size_t i = 0; i < t->attrs.count; i++)
        if (strcmp(t->attrs.item[i].name, "layout"))
            attrs.item[attrs.count++] = t->attrs.item[i];
    attrs.item[attrs.count++] = attr_text("layout", layout_names[LAYOUT_OIHW]);
    t->attrs = attrs;
    return OK;
}

/* True if the last part of the name has the word "kernel", as in Keras, TensorFlow ("kernel:0") and Flax. PyTorch says
 * "weight". */
static bool named_kernel(const TensorInfo *t)
{
    const char *slash = t->name ? strrchr(t->name, '/') : NULL;
    return t->name && strstr(slash ? slash : t->name, "kernel");
}

/* True for kernels of convolutions in one or three dimensions, by kind or name (Keras: "conv1d/kernel"). Kernels of
 * attention have three axes, too. */
static bool is_other_kernel(const TensorInfo *t)
{
    return (t->shape.rank == 3 || t->shape.rank == 5) &&
           (t->kind == KIND_CONV || (named_kernel(t) && strcasestr(t->name, "conv")));
}

/* Sets the tensor's `layout` from `asked`, or, if `asked` is LAYOUT_AUTO, from the tensor's attributes and
 * those of the root. If `layout` becomes LAYOUT_HWIO, transposes the shape to [out, in, h, w] and sets the
 * attribute `layout` to "oihw". Sets `untransposed` of kernels of three or five axes if the layout is LAYOUT_HWIO, or
 * unknown while the name has the word "kernel". Changes nothing else of tensors that are no kernels of rank 4. */
static Status layout_settle(TensorInfo *t, KernelLayout asked, const AttrList *root, Arena *a, Error *err)
{
    KernelLayout layout = asked ? asked : named_layout(&t->attrs);
    if (layout == LAYOUT_AUTO)
        layout = named_layout(root);
    if (t->kind != KIND_CONV || t->shape.rank != 4) {
        t->untransposed =
            is_other_kernel(t) && (layout == LAYOUT_HWIO || (layout == LAYOUT_AUTO && named_kernel(t)));
        return OK;
    }
    t->layout = layout;
    if (layout != LAYOUT_HWIO)
        return OK;
    const size_t *dim = t->shape.dim;
    const Shape transposed = {.rank = 4, .dim = {dim[3], dim[2], dim[0], dim[1]}, .n = t->shape.n};
    t->shape = transposed;
    return rename_layout(t, a, err);
}

void layout_transpose(const Shape *shape, const float *part, size_t at, size_t n, float *x)
{
    const size_t outs = shape->dim[0], ins = shape->dim[1], taps = shape->dim[2] * shape->dim[3];
    size_t o = at % outs, i = at / outs % ins, tap = at / outs / ins;
    for (size_t k = 0; k < n; k++) {
        x[(o * ins + i) * taps + tap] = part[k];
        if (++o < outs)
            continue;
        o = 0;
        if (++i == ins) {
            i = 0;
            tap++;
        }
    }
}

bool layout_doubtful(const TensorInfo *t)
{
    return t->kind == KIND_CONV && t->shape.rank == 4 && t->layout == LAYOUT_AUTO && named_kernel(t);
}

/* ---- tensors ---- */

static Status describe(Listing *l, TensorInfo *t, Error *err)
{
    const char *glob = l->hints.steps_from;
    t->name = t->path;
    if (glob)
        TRY(steps_take(&t->name, glob, &t->step_group, &t->step, l->arena, err));
    else
        TRY(take_group_name(&t->name, (const char *const[]){"step"}, 1, &t->step_group, &t->step, l->arena, err));
    if (l->hints.workers_from)
        TRY(steps_take(&t->name, l->hints.workers_from, &t->worker_group, &t->worker, l->arena, err));
    else
        TRY(take_group_name(&t->name, (const char *const[]){"worker", "rank"}, 2, &t->worker_group, &t->worker, l->arena, err));
    const int64_t *step = t->step_group ? steps_attribute(l, t->step_group) : NULL;
    if (step)
        t->step = *step;
    if (!strcmp(t->name, "*"))
        t->name = "/*";
    t->display = display_name(t->name);
    t->kind = find_kind(t);
    return layout_settle(t, (KernelLayout)l->hints.layout, listing_attrs(l, ""), l->arena, err);
}

/* Compares groups by number, then by name; tensors without a group (NULL) come first. */
static int compare_groups(const char *a, int64_t a_number, const char *b, int64_t b_number)
{
    if (!a || !b)
        return (a != NULL) - (b != NULL);
    if (a_number != b_number)
        return a_number < b_number ? -1 : 1;
    return strcmp(a, b);
}

static int compare_listed(const void *left, const void *right)
{
    const Listed *a = left, *b = right;
    int order = compare_groups(a->info.step_group, a->info.step, b->info.step_group, b->info.step);
    if (!order)
        order = compare_groups(a->info.worker_group, a->info.worker, b->info.worker_group, b->info.worker);
    return order ? order : (a->number > b->number) - (a->number < b->number);
}

/* ---- the numbers of step and worker from which random numbers are drawn ---- */

/* Returns the number that selects the random numbers of a step or worker group. Usually it is `number`, from
 * the group's name or attribute `step`. It is 0 if the tensor has no such group (`group` is NULL).
 *
 * The result is a hash of the group's name if the previous tensor is in another group with the same number.
 * It is also a hash if `number` is 0 and `taken` is true, because tensors without such a group then use 0.
 *
 * The previous tensor is in the group `before` (NULL: none), with number `before_number`. For that group
 * this function returned `before_address`. */
static int64_t group_address(const char *group, int64_t number, bool taken, const char *before,
                             int64_t before_number, int64_t before_address)
{
    const bool same_number = before && before_number == number;
    if (!group)
        return 0;
    if (same_number && !strcmp(before, group))
        return before_address;
    return same_number || (taken && number == 0) ? (int64_t)(rng_hash(group) | UINT64_C(1) << 63) : number;
}

static bool same_group(const char *a, const char *b)
{
    return a == b || (a && b && !strcmp(a, b));
}

/* Sets `step_address` and `worker_address` of all tensors. Needs sorted tensors: those without a group
 * first, groups of equal numbers next to each other. */
static void set_addresses(Listing *l)
{
    static const TensorInfo none = {0};
    /* `before`: the previous tensor; `first`: the first tensor of the present step */
    const TensorInfo *before = &none, *first = &none;
    for (size_t i = 0; i < l->tensors; i++) {
        TensorInfo *t = &l->tensor[i].info;
        t->step_address = group_address(t->step_group, t->step, !l->tensor[0].info.step_group,
                                        before->step_group, before->step, before->step_address);
        const bool new_step = i == 0 || !same_group(t->step_group, before->step_group);
        if (new_step) {
            first = t;
            before = &none;
        }
        t->worker_address = group_address(t->worker_group, t->worker, !first->worker_group,
                                          before->worker_group, before->worker, before->worker_address);
        before = t;
    }
}

/* Fails if no tensor is in a group that the user's glob of steps, or of workers, matches. */
static Status check_steps(const Listing *l, Error *err)
{
    const char *glob = l->hints.steps_from;
    bool worker = !l->hints.workers_from;
    for (size_t i = 0; !worker && i < l->tensors; i++)
        worker = l->tensor[i].info.worker_group;
    if (!worker)
        return FAIL(err, ERR_USAGE, "no groups match --workers-from \"%.100s\"; the first tensor is %.200s", l->hints.workers_from,
                    l->tensors ? l->tensor[0].info.path : "none");
    bool found = !glob;
    for (size_t i = 0; !found && i < l->tensors; i++)
        found = l->tensor[i].info.step_group;
    if (found)
        return OK;
    const char *path = l->tensors ? l->tensor[0].info.path : "none", *guess = steps_guess(path, l->arena);
    TRY(arena_check(guess, l->arena, err));
    FAIL(err, ERR_USAGE, "no groups match --steps-from \"%.100s\"; the first tensor is %.200s", glob, path);
    return *guess ? error_hint(err, "--steps-from '%.100s'", guess)
                  : error_hint(err, "the glob has a part for each level of groups, as in 'epoch*/iter*'");
}

static Status put_in_order(Listing *l, Error *err)
{
    if (l->tensors)
        qsort(l->tensor, l->tensors, sizeof *l->tensor, compare_listed);
    if (l->hints.steps_from)
        TRY(steps_join_numbers(l, err));
    set_addresses(l);
    return OK;
}

Status listing_join(Listing *l, Error *err)
{
    TRY(listing_sort_groups(l, err));
    return put_in_order(l, err);
}

/* Replaces every tensor by its parts along the first axis, which are in steps 0, 1, ... */
static Status cut_steps(Listing *l, Error *err)
{
    const size_t steps = l->tensors && l->tensor[0].info.shape.rank ? l->tensor[0].info.shape.dim[0] : 0;
    for (size_t i = 0; i < l->tensors; i++) {
        const Shape *s = &l->tensor[i].info.shape;
        if (!s->rank || s->dim[0] != steps || !steps || steps > OBJECTS_MAX / l->tensors)
            return FAIL(err, ERR_USAGE, "%.200s: --steps-axis 0: its first axis is not that of %.200s, or counts none or too many steps",
                        l->tensor[i].info.path, l->tensor[0].info.path);
    }
    Listed *part = NEW(l->arena, Listed, l->tensors * steps);
    TRY(arena_check(part, l->arena, err));
    for (size_t i = 0; i < l->tensors * steps; i++) {
        Listed *t = &part[i];
        *t = l->tensor[i / steps];
        t->slice = i % steps;
        TensorInfo *info = &t->info;
        info->path = text_format(l->arena, "step_%06zu/%s", t->slice, info->path);
        TRY(arena_check(info->path, l->arena, err));
        shape_make(&info->shape, info->shape.rank - 1, l->tensor[i / steps].info.shape.dim + 1);
        if (t->at != NOWHERE)
            t->at += t->slice * info->shape.n * array_item_bytes[info->type];
    }
    l->tensor = part;
    l->tensors = l->tensor_room = l->tensors * steps;
    return OK;
}

/* Leaves of the tensor's shape what a sample of it has. */
static void cut_sample(TensorInfo *t, const DumpHints *h)
{
    enum { EACH = 256 };
    const size_t most = (size_t)h->sample * (t->shape.rank == 1 ? EACH : 1), thin = h->thin > 1 ? (size_t)h->thin : 1;
    t->whole = t->shape.n;
    if (!most || t->shape.rank == 0 || t->shape.n == 0 || t->layout == LAYOUT_HWIO || t->shape.dim[0] <= most)
        return;
    t->shape.n = t->shape.n / t->shape.dim[0] * (most / thin ? most / thin : 1);
    t->shape.dim[0] = most / thin ? most / thin : 1;
}

Status listing_finish(Listing *l, Error *err)
{
    TRY(listing_sort_groups(l, err));
    if (l->hints.steps_axis)
        TRY(cut_steps(l, err));
    for (size_t i = 0; i < l->tensors; i++) {
        TRY(describe(l, &l->tensor[i].info, err));
        cut_sample(&l->tensor[i].info, &l->hints);
    }
    TRY(check_steps(l, err));
    return put_in_order(l, err);
}
