/* plot_look.c -- gives each line of a figure its colour, mark and dashes.
 *
 * The last codec of a spec, whatever its wrappers and keys, gives the colour (Compressor.look). Of the specs of one codec
 * in a figure the shortest has the codec's mark and dashes, too; the others take the next pairs that are free. */
#include "report/plot_look.h"

#include "compress/spec.h"

#include <stdlib.h>
#include <string.h>

/* Pair i has mark i % MARKS and dashes i % DASHES, so that neighbours differ in both. */
enum { MARKS = 6, DASHES = 5, PAIRS = MARKS * DASHES };

/* Opens the spec that a line's name is or begins with; cost's figures put a topology or a link behind it, as in
 * "qsgd ring". Sets *rest to what is behind the spec. Returns NULL if the name begins with no spec. */
static const Codec *codec_of(const char *name, const char **rest, Arena *a)
{
    Error err;
    const Codec *codec;
    const size_t length = strcspn(name, " ");
    const char *spec = text_slice(a, name, length);
    *rest = "";
    if (codec_open(&codec, name, a, &err) == OK)
        return codec;
    *rest = name + length;
    return name[length] && spec && codec_open(&codec, spec, a, &err) == OK ? codec : NULL;
}

/* Returns the line's name with its codec as the canonical spec, so that a codec has one look however it is typed. */
static const char *canonical(const char *name, Arena *a)
{
    const char *rest;
    const Codec *codec = codec_of(name, &rest, a);
    const char *text = codec ? codec_text(codec, a) : NULL;
    return text ? text_format(a, "%s%s", text, rest) : name;
}

/* The look of a name that is no spec: chosen by the FNV-1a hash of its bytes. */
static Look look_of_text(const char *name)
{
    static const char *const hues[] = {HUE_ATOMS,   HUE_LEVELS,    HUE_SIGNS,  HUE_SPARSE,
                                       HUE_LOWRANK, HUE_ROTATIONS, HUE_SKETCH, HUE_NONE};
    uint32_t hash = 0;
    for (; *name; name++)
        hash = (hash ^ (unsigned char)*name) * UINT32_C(16777619);
    return (Look){hues[hash % countof(hues)], (int)(hash / 8 % MARKS), (int)(hash / 8 % DASHES)};
}

Look plot_look(const char *name, Arena *a)
{
    const char *rest;
    const Codec *codec = codec_of(name, &rest, a);
    while (codec && codec->inner && !codec_alone(codec))
        codec = codec->inner;
    return codec && codec->ops->look.colour ? codec->ops->look : look_of_text(name);
}

/* True if a line of the list has this mark and these dashes, whatever its colour or in the colour of `look`. */
static bool is_taken(const LookList *l, const Look *look, bool any_colour)
{
    for (size_t i = 0; i < l->count; i++)
        if (l->look[i].mark == look->mark && l->look[i].dash == look->dash &&
            (any_colour || !strcmp(l->look[i].colour, look->colour)))
            return true;
    return false;
}

/* Returns the codec's own look if no line has it, else the next pair of mark and dashes that no line has, or no line of
 * this colour. */
static Look free_look(const LookList *l, Look own)
{
    if (!is_taken(l, &own, false))
        return own;
    for (int k = 1; k < 2 * PAIRS; k++) {
        const Look next = {own.colour, (own.mark + k) % MARKS, (own.dash + k) % DASHES};
        if (!is_taken(l, &next, k < PAIRS))
            return next;
    }
    return own;
}

/* Doubles the list's room if it is full. */
static bool make_room(LookList *l, Arena *a)
{
    if (l->count < l->room)
        return true;
    const size_t room = l->room ? 2 * l->room : 16;
    char **spec = NEW(a, char *, room);
    Look *look = NEW(a, Look, room);
    if (!spec || !look)
        return false;
    for (size_t i = 0; i < l->count; i++) {
        spec[i] = l->spec[i];
        look[i] = l->look[i];
    }
    l->spec = spec;
    l->look = look;
    l->room = room;
    return true;
}

static const Look *find(const LookList *l, const char *name)
{
    for (size_t i = 0; i < l->count; i++)
        if (!strcmp(l->spec[i], name))
            return &l->look[i];
    return NULL;
}

const Look *plot_look_in(const LookList *l, const char *spec)
{
    Arena *a = arena_open(0);
    const char *name = canonical(spec, a);
    const Look *look = name ? find(l, name) : NULL;
    arena_close(a);
    return look;
}

static int shortest_first(const void *x, const void *y)
{
    const char *a = *(const char *const *)x, *b = *(const char *const *)y;
    const size_t m = strlen(a), n = strlen(b);
    return m == n ? strcmp(a, b) : m < n ? -1 : 1;
}

bool plot_looks_add(LookList *l, const char *const *spec, size_t count, Arena *a)
{
    const char **sorted = NEW(a, const char *, count);
    if (!sorted || !count)
        return sorted;
    for (size_t i = 0; i < count; i++)
        if (!(sorted[i] = canonical(spec[i], a)))
            return false;
    qsort(sorted, count, sizeof *sorted, shortest_first);
    for (size_t i = 0; i < 2 * count; i++) { /* first those that have their own looks */
        const char *name = sorted[i % count];
        const Look own = plot_look(name, a), look = free_look(l, own);
        if (find(l, name) || (i < count && is_taken(l, &own, false)))
            continue;
        if (!make_room(l, a) || !(l->spec[l->count] = text_copy(a, name)))
            return false;
        l->look[l->count++] = look;
    }
    return true;
}

Look *plot_looks(const char *const *spec, size_t count, Arena *a)
{
    LookList list = {0};
    Look *look = NEW(a, Look, count);
    if (!look || !plot_looks_add(&list, spec, count, a))
        return NULL;
    for (size_t i = 0; i < count; i++)
        look[i] = *plot_look_in(&list, spec[i]);
    return look;
}
