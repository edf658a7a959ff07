/* tensor_groups.c -- finds the attributes of a group of a dump by the group's path. */
#include "dump/tensor_stream.h"

#include <stdlib.h>
#include <string.h>

static int compare_paths(const void *left, const void *right)
{
    const ListedGroup *const *a = left, *const *b = right;
    return strcmp((*a)->path, (*b)->path);
}

Status listing_sort_groups(Listing *l, Error *err)
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
