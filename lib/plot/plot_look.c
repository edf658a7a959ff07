/* plot_look.c -- chooses a codec's colour, mark and dashes from its spec, the same in every figure.
 *
 * The hue shows the codec's family, the mark shows the codec: the last one of a spec, whatever its wrappers and
 * keys, which choose one of 25 pairs of shade and dashes. Most families begin with different marks, so that marks and
 * dashes distinguish codecs in print without colours. No two codecs of one mark and dashes have nearly the same hue.
 * The hues are those of Okabe and Ito, which colour-blind readers can tell apart, and wine for sketches. If two specs
 * of one figure would look the same, the later in the alphabet takes the next free pair, or a pair with another mark
 * once all 25 are taken. */
#include "plot/plot_look.h"

#include "compress/spec.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef enum { NONE, ATOMS, LEVELS, SIGNS, SPARSE, LOWRANK, ROTATIONS, SKETCH, FAMILIES } Family;
enum { SHADES = 5, MARKS = 6, DASHES = 5, LOOKS = SHADES * DASHES };

static const unsigned char hues[FAMILIES][3] = {
    [NONE] = {0, 0, 0},           [ATOMS] = {0, 114, 178},  [LEVELS] = {213, 94, 0},
    [SIGNS] = {204, 121, 167},    [SPARSE] = {0, 158, 115}, [LOWRANK] = {230, 159, 0},
    [ROTATIONS] = {86, 180, 233}, [SKETCH] = {136, 34, 85},
};

/* The share of white (> 0) or black (< 0) that is mixed with the hue in each shade. The lightness L* of the
 * shades is that of the hue and near four of 20, 35, 50, 65 and 80, so that shades differ in grey, too. */
static const double shades[FAMILIES][SHADES] = {
    [NONE] = {0, 0.47, 0.78, 0.32, 0.62},        [ATOMS] = {0, -0.24, 0.37, -0.55, 0.64},
    [LEVELS] = {0, -0.36, 0.27, -0.62, 0.59},    [SIGNS] = {0, -0.44, 0.49, -0.67, -0.19},
    [SPARSE] = {0, -0.4, 0.56, -0.64, -0.2},     [LOWRANK] = {0, -0.52, 0.34, -0.72, -0.31},
    [ROTATIONS] = {0, -0.71, -0.51, 0.35, -0.3}, [SKETCH] = {0, 0.28, 0.71, -0.34, 0.49},
};

static const struct {
    Family family;
    /* Names of codecs, each between spaces. The position of a name selects its mark, dashes and shade, so new codecs are
     * added at the end or in an empty place (-). Where two codecs have the same mark and dashes, their colours differ for
     * the colour-blind and in grey. */
    const char *codecs;
} families[] = {
    {NONE, " none fp16 bf16 ef ef21 diana induced zstd blosc "},
    {ATOMS, " svd entry hadamard fourier dct wavelet lq gspar joint "},
    {LEVELS, " qsgd terngrad nuqsgd natural minmax zipml - - - - intsgd - - - thc zfp - - "},
    {SIGNS, " sign scaledsign onebit "},
    {SPARSE, " topk randk threshold dgc gaussiank sidco stc adaq strom chunktopk "},
    {LOWRANK, " powersgd lowrank "},
    {ROTATIONS, " rotated drive eden "},
    {SKETCH, " countsketch countmin sketchml - cas "},
};

/* The number of the pair of mark and dashes of a family's first codec: pair i has mark i % MARKS and dashes i % DASHES,
 * and the family's next codecs have the next pairs. ATOMS and ROTATIONS, which are both blue, share no pair. */
static const unsigned char first_pair[FAMILIES] = {
    [NONE] = 0,    [ATOMS] = 25,  [LEVELS] = 20,    [SIGNS] = 21,
    [SPARSE] = 10, [LOWRANK] = 5, [ROTATIONS] = 16, [SKETCH] = 25,
};

/* Returns the family of a codec, and sets *place to the codec's index in `codecs` of the family. A codec in
 * no family has NONE and MARKS. */
static Family family_of(const char *codec, size_t *place)
{
    char word[64];
    snprintf(word, sizeof word, " %s ", codec);
    for (size_t i = 0; i < countof(families); i++) {
        const char *at = strstr(families[i].codecs, word);
        *place = 0;
        for (const char *c = families[i].codecs + 1; at && c <= at; c++)
            *place += *c == ' ';
        if (at)
            return families[i].family;
    }
    *place = MARKS;
    return NONE;
}

/* The FNV-1a hash of s, continued from h. */
static size_t hash(size_t h, const char *s)
{
    for (; *s; s++)
        h = (h ^ (unsigned char)*s) * UINT32_C(16777619) & UINT32_MAX;
    return h;
}

static double halves(double from, double to)
{
    return 2 * log2(to / from);
}

/* Returns 2 log2(value / default) of a parameter, rounded; 0 if it has no positive default. Small whole
 * numbers that round to the same step would share a look: the k-th nearest (k from 0) gets 9 k more. */
static long steps_of(const Param *p, const char *value)
{
    enum { FURTHER = 9, SMALL = 64 };
    const double from = p->fallback ? atof(p->fallback) : 0, to = value ? atof(value) : 0;
    if (!(from > 0 && to > 0))
        return 0;
    const long steps = lround(halves(from, to));
    const double off = fabs(halves(from, to) - (double)steps);
    long nearer = 0;
    for (double k = floor(to * 0.7); to == floor(to) && to <= SMALL && k <= to * 1.5; k++)
        nearer += k > 0 && lround(halves(from, k)) == steps && fabs(halves(from, k) - (double)steps) < off;
    return steps + FURTHER * (nearer % LOOKS);
}

/* Returns a number that selects shade and dashes: 0 for a codec without wrappers and with default parameters.
 * The rate adds its steps_of. Sets *base to the last codec of the spec. */
static size_t variant_of(const Codec *codec, const Codec **base)
{
    size_t others = 0;
    long steps = 0;
    char value[32];
    for (*base = codec; codec; codec = codec_alone(codec) ? NULL : codec->inner) {
        *base = codec;
        if (codec->inner && !codec_alone(codec))
            others = hash(others + 1, codec->ops->name);
        for (const Param *p = codec->ops->params; p && p->key; p++) {
            if (param_is_default(p, codec->params))
                continue;
            const char *text = param_value(p, codec->params, value);
            if (p == param_rate(codec->ops->params) && steps_of(p, text))
                steps = steps_of(p, text);
            else
                others = hash(hash(others + 1, p->key), text ? text : "");
        }
    }
    return (others + LOOKS + (size_t)((steps % LOOKS + LOOKS) % LOOKS)) % LOOKS;
}

static unsigned mixed(unsigned char channel, double share)
{
    const double to = share > 0 ? 255 : 0;
    return (unsigned)lround(channel + (to - channel) * fabs(share));
}

/* Opens the spec that a line's name is or begins with; cost's figures put a topology or a link behind it, as in
 * "qsgd ring". Sets *variant to the hash of the rest; 0: there is none. Returns NULL if the name begins with no
 * spec. */
static const Codec *codec_of(const char *name, size_t *variant, Arena *a)
{
    Error err;
    const Codec *codec;
    const size_t length = strcspn(name, " ");
    const char *spec = text_slice(a, name, length);
    *variant = 0;
    if (codec_open(&codec, name, a, &err) == OK)
        return codec;
    *variant = hash(0, name + length);
    return name[length] && spec && codec_open(&codec, spec, a, &err) == OK ? codec : NULL;
}

/* Returns the line's name with its codec as the canonical spec, so that a codec has one look however it is typed. */
static const char *canonical(const char *name, Arena *a)
{
    size_t variant;
    const Codec *codec = codec_of(name, &variant, a);
    const char *text = codec ? codec_text(codec, a) : NULL;
    return text ? text_format(a, "%s%s", text, variant ? name + strcspn(name, " ") : "") : name;
}

Look plot_look(const char *spec, size_t further, Arena *a)
{
    size_t variant, place;
    Family family;
    const Codec *base, *codec = codec_of(spec, &variant, a);
    if (codec) {
        variant += variant_of(codec, &base);
        family = family_of(base->ops->name, &place);
    } else {
        variant = hash(0, spec);
        place = hash(1, spec) % MARKS;
        family = (Family)(hash(2, spec) % FAMILIES);
    }
    place += further / LOOKS;
    variant = (variant + further) % LOOKS;
    const unsigned char *hue = hues[family];
    const double shade = shades[family][(place + variant) % SHADES];
    /* a variant is a pair of shade and dashes; the next variant differs in both */
    const size_t pair = place + first_pair[family];
    Look look = {.mark = (int)(pair % MARKS),
                 .dash = (int)((pair + 2 * variant + variant / SHADES) % DASHES)};
    snprintf(look.colour, sizeof look.colour, "#%02x%02x%02x", mixed(hue[0], shade), mixed(hue[1], shade),
             mixed(hue[2], shade));
    return look;
}

/* True if a spec of the list has this look. */
static bool is_taken(const LookList *l, const Look *look)
{
    for (size_t i = 0; i < l->count; i++)
        if (l->look[i].mark == look->mark && l->look[i].dash == look->dash &&
            !strcmp(l->look[i].colour, look->colour))
            return true;
    return false;
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

static bool add(LookList *l, const char *spec, const Look *look, Arena *a)
{
    if (!make_room(l, a))
        return false;
    l->spec[l->count] = text_copy(a, spec);
    l->look[l->count] = *look;
    return l->spec[l->count++];
}

const Look *plot_look_in(const LookList *l, const char *spec)
{
    Arena *a = arena_open(0);
    const char *name = canonical(spec, a);
    size_t i = 0;
    while (i < l->count && (!name || strcmp(l->spec[i], name) != 0))
        i++;
    arena_close(a);
    return i < l->count ? &l->look[i] : NULL;
}

static bool add_free(LookList *l, const char *spec, Arena *a)
{
    Look look = plot_look(spec, 0, a);
    for (size_t further = 1; is_taken(l, &look) && further < LOOKS * MARKS; further++)
        look = plot_look(spec, further, a);
    return add(l, spec, &look, a);
}

static int by_name(const void *x, const void *y)
{
    return strcmp(*(const char *const *)x, *(const char *const *)y);
}

bool plot_looks_add(LookList *l, const char *const *spec, size_t count, Arena *a)
{
    const char **sorted = NEW(a, const char *, count);
    if (!sorted || !count)
        return sorted;
    for (size_t i = 0; i < count; i++)
        if (!(sorted[i] = canonical(spec[i], a)))
            return false;
    qsort(sorted, count, sizeof *sorted, by_name);
    for (size_t i = 0; i < count; i++) {
        const Look own = plot_look(sorted[i], 0, a);
        if (!is_taken(l, &own) && !plot_look_in(l, sorted[i]) && !add(l, sorted[i], &own, a))
            return false;
    }
    for (size_t i = 0; i < count; i++)
        if (!plot_look_in(l, sorted[i]) && !add_free(l, sorted[i], a))
            return false;
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
