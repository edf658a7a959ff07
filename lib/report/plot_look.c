/* plot_look.c -- gives each line of a figure its colour, mark and dashes.
 *
 * The last codec of a spec, whatever its wrappers and keys, gives the colour (Compressor.look). Of the specs of one codec
 * in a figure the shortest has the codec's mark and dashes, too; the others take the next pairs that are free. */
#include "report/plot_figure.h"

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

/* True if one of the looks has this mark and these dashes, whatever its colour or in the colour of `look`. */
static bool is_taken(const Look *used, size_t count, const Look *look, bool any_colour)
{
    for (size_t i = 0; i < count; i++)
        if (used[i].mark == look->mark && used[i].dash == look->dash && (any_colour || !strcmp(used[i].colour, look->colour)))
            return true;
    return false;
}

/* Returns the codec's own look if no line has it, else the next pair of mark and dashes that no line has, or no line of
 * this colour. */
static Look free_look(const Look *used, size_t count, Look own)
{
    if (!is_taken(used, count, &own, false))
        return own;
    for (int k = 1; k < 2 * PAIRS; k++) {
        const Look next = {own.colour, (own.mark + k) % MARKS, (own.dash + k) % DASHES};
        if (!is_taken(used, count, &next, k < PAIRS))
            return next;
    }
    return own;
}

/* A line whose look is sought: its canonical name, and its place in the figure. */
typedef struct {
    const char *name;
    size_t at;
    bool done;
} Seeker;

static int shortest_first(const void *x, const void *y)
{
    const Seeker *a = x, *b = y;
    const size_t m = strlen(a->name), n = strlen(b->name);
    return m == n ? strcmp(a->name, b->name) : m < n ? -1 : 1;
}

Look *plot_looks(const char *const *spec, size_t count, Arena *a)
{
    Look *look = NEW(a, Look, count + 1), *used = NEW(a, Look, count + 1);
    Seeker *line = NEW_ZERO(a, Seeker, count + 1);
    size_t uses = 0;
    if (!look || !used || !line)
        return NULL;
    for (size_t i = 0; i < count; i++) {
        line[i] = (Seeker){.name = canonical(spec[i], a), .at = i};
        if (!line[i].name)
            return NULL;
    }
    qsort(line, count, sizeof *line, shortest_first);
    for (int pass = 0; pass < 2; pass++) /* first those that have their own looks */
        for (size_t i = 0; i < count; i++) {
            const Look own = plot_look(line[i].name, a);
            if (i && !strcmp(line[i].name, line[i - 1].name)) {
                look[line[i].at] = look[line[i - 1].at];
                continue;
            }
            if (line[i].done || (pass == 0 && is_taken(used, uses, &own, false)))
                continue;
            look[line[i].at] = used[uses] = free_look(used, uses, own);
            uses++;
            line[i].done = true;
        }
    return look;
}
