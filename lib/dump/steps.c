/* steps.c -- see steps.h. */
#include "dump/steps.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

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

Status steps_take(const char **path, const char *glob, const char **group, int64_t *number, Arena *a,
                  Error *err)
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

const int64_t *steps_attribute(const Listing *l, const char *group)
{
    const AttrList *attrs = listing_attrs(l, group);
    for (size_t i = 0; attrs && i < attrs->count; i++)
        if (attrs->item[i].type == ATTR_INT && !strcmp(attrs->item[i].name, "step"))
            return &attrs->item[i].whole;
    return NULL;
}

/* ---- joining the numbers of all levels ---- */

static bool numbers_clash(const Listing *l)
{
    for (size_t i = 1; i < l->tensors; i++) {
        const TensorInfo *before = &l->tensor[i - 1].info, *t = &l->tensor[i].info;
        if (before->step_group && before->step == t->step && strcmp(before->step_group, t->step_group))
            return true;
    }
    return false;
}

/* Raises width[i] to the digits of the number at level i of the group's name. */
static void widen(const char *group, int width[DEPTH_LIMIT])
{
    for (size_t i = 0; i < DEPTH_LIMIT; i++) {
        const size_t length = strcspn(group, "/");
        int digits;
        last_number(group, length, &digits);
        width[i] = digits > width[i] ? digits : width[i];
        if (!group[length])
            return;
        group += length + 1;
    }
}

/* Returns the numbers of all levels, joined; `otherwise` if they have more digits than a number can have. */
static int64_t join(const char *group, const int width[DEPTH_LIMIT], int64_t otherwise)
{
    char text[64];
    size_t used = 0;
    int64_t number;
    for (size_t i = 0; i < DEPTH_LIMIT && used < sizeof text; i++) {
        const size_t length = strcspn(group, "/");
        int digits;
        const int64_t part = last_number(group, length, &digits);
        if (width[i])
            used += (size_t)snprintf(text + used, sizeof text - used, "%0*lld", width[i], (long long)part);
        if (!group[length])
            break;
        group += length + 1;
    }
    return used && used < sizeof text && text_to_int(text, &number) ? number : otherwise;
}

bool steps_join_numbers(Listing *l)
{
    int width[DEPTH_LIMIT] = {0};
    if (!numbers_clash(l))
        return false;
    for (size_t i = 0; i < l->tensors; i++)
        if (l->tensor[i].info.step_group)
            widen(l->tensor[i].info.step_group, width);
    for (size_t i = 0; i < l->tensors; i++) {
        TensorInfo *t = &l->tensor[i].info;
        if (t->step_group && !steps_attribute(l, t->step_group))
            t->step = join(t->step_group, width, t->step);
    }
    return true;
}

/* ---- guessing the glob ---- */

/* Returns the length of the part before the number ("epoch_") if the component looks like a step ("epoch_3");
 * else 0. */
static size_t step_word(const char *component, size_t length)
{
    static const char *const words[] = {"epoch", "iter",   "iteration", "it",         "batch",
                                        "step",  "update", "round",     "global_step"};
    size_t letters = length;
    while (letters && isdigit((unsigned char)component[letters - 1]))
        letters--;
    const size_t prefix = letters;
    if (letters && strchr("_-.", component[letters - 1]))
        letters--;
    for (size_t i = 0; prefix < length && i < countof(words); i++)
        if (strlen(words[i]) == letters && !strncasecmp(words[i], component, letters))
            return prefix;
    return 0;
}

const char *steps_guess(const char *path, Arena *a)
{
    TextBuf glob = {.arena = a};
    text_add(&glob, "");
    for (const char *end; (end = strchr(path, '/')); path = end + 1) {
        const size_t word = step_word(path, (size_t)(end - path));
        if (!word)
            break;
        text_addf(&glob, "%s%.*s*", glob.size ? "/" : "", (int)word, path);
    }
    return text_done(&glob);
}
