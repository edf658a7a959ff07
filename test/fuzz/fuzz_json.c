/* fuzz_json.c -- fuzzes the JSON reader: it must refuse the bytes, or return a tree whose numbers are finite
 * and whose members have names. */
#include "base/json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void walk(const Json *v, bool member, int depth)
{
    const bool nested = v->type == JSON_ARRAY || v->type == JSON_OBJECT;
    if (!v->name == member || (v->first && !nested) || depth > 65)
        abort();
    if (v->type == JSON_TEXT && strlen(v->text) > 1 << 24)
        abort();
    if (v->type == JSON_NUMBER && (!isfinite(v->number) || (v->is_whole && (double)v->whole != v->number)))
        abort();
    for (const Json *item = v->first; item; item = item->next)
        walk(item, v->type == JSON_OBJECT, depth + 1);
}

static bool same(const Json *x, const Json *y)
{
    if (x->type != y->type || !x->text != !y->text || (x->text && strcmp(x->text, y->text) != 0))
        return false;
    const Json *v = x->first, *w = y->first;
    for (; v && w; v = v->next, w = w->next)
        if ((v->name && strcmp(v->name, w->name) != 0) || !same(v, w))
            return false;
    return !v && !w;
}

static Status take(void *next, const Json *element)
{
    const Json **expected = next;
    if (*expected && !same(*expected, element))
        abort();
    *expected = *expected ? (*expected)->next : NULL;
    return OK;
}

/* Reads the array "results" element by element. If the whole text is a valid object, the elements must equal
 * those in `tree`. */
static void read_rows(const Json *tree, const uint8_t *data, size_t size, Arena *a)
{
    const Json *array = json_member(tree, "results"), *v;
    const Json *next = array && array->type == JSON_ARRAY ? array->first : NULL;
    const JsonRows rows = {"results", take, &next};
    char *text = malloc(size ? size : 1);
    Error err;
    if (!text)
        return;
    memcpy(text, data, size);
    if ((json_read_rows(&v, &rows, text, size, a, &err) == OK) != (tree != NULL) || (tree && next))
        abort();
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Arena *a = arena_open((size_t)1 << 28);
    Error err;
    const Json *v;
    const bool good = json_read(&v, (const char *)data, size, a, &err) == OK;
    if (good)
        walk(v, false, 0);
    read_rows(good && v->type == JSON_OBJECT ? v : NULL, data, size, a);
    arena_close(a);
    return 0;
}
