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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Arena *a = arena_open((size_t)1 << 28);
    Error err;
    const Json *v;
    const bool good = json_read(&v, (const char *)data, size, a, &err) == OK;
    if (good)
        walk(v, false, 0);
    arena_close(a);
    return 0;
}
