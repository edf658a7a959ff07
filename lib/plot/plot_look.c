/* plot_look.c -- chooses a codec's colour, mark and dashes from its spec, the same in every figure.
 *
 * The hue shows the codec's family, the mark shows the codec. Families begin with different marks, so that
 * marks and dashes distinguish codecs in print without colours. Wrappers and parameters change the shade and
 * the dashes. The hues are those of Okabe and Ito, which colour-blind readers can tell apart, and wine for
 * sketches. If two specs of one figure would look the same, the later takes the next free look. */
#include "plot/plot_look.h"

#include "compress/spec.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef enum { NONE, ATOMS, LEVELS, SIGNS, SPARSE, LOWRANK, ROTATIONS, SKETCH, FAMILIES } Family;
enum { SHADES = 5, MARKS = 6, DASHES = 5, LOOKS = SHADES * MARKS };

static const unsigned char hues[FAMILIES][3] = {
    [NONE] = {0, 0, 0},           [ATOMS] = {0, 114, 178},  [LEVELS] = {213, 94, 0},
    [SIGNS] = {204, 121, 167},    [SPARSE] = {0, 158, 115}, [LOWRANK] = {230, 159, 0},
    [ROTATIONS] = {86, 180, 233}, [SKETCH] = {136, 34, 85},
};

/* the share of white (> 0) or black (< 0) that is mixed with the hue in each shade */
static const double shades[SHADES] = {0, -0.4, 0.25, -0.65, 0.45};

static const struct {
    Family family;
    /* Names of codecs, each between spaces. The position of a name selects its mark, so new codecs are added
     * at the end. */
    const char *codecs;
} families[] = {
    {NONE, " none fp16 bf16 ef ef21 diana induced zstd blosc "},
    {ATOMS, " svd entry hadamard fourier dct wavelet lq gspar joint "},
    {LEVELS, " qsgd terngrad nuqsgd natural minmax zipml intsgd thc zfp fpzip "},
    {SIGNS, " sign scaledsign onebit "},
    {SPARSE, " topk randk threshold dgc gaussiank sidco stc adaq strom chunktopk "},
    {LOWRANK, " powersgd lowrank "},
    {ROTATIONS, " rotated drive eden "},
    {SKETCH, " countsketch countmin sketchml cas "},
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

/* Returns 2 log2(value / default) of a parameter, rounded; 0 if it has no positive default. */
static long halves(const Param *p, const char *value)
{
    const double from = p->fallback ? atof(p->fallback) : 0, to = value ? atof(value) : 0;
    return from > 0 && to > 0 ? lround(2 * log2(to / from)) : 0;
}

/* Returns a number that selects shade and dashes: 0 for a codec without wrappers and with default parameters.
 * Each factor sqrt(2) in the rate adds 1. Sets *base to the last codec of the spec. */
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
            if (p == param_rate(codec->ops->params) && halves(p, text))
                steps = halves(p, text);
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

Look plot_look(const char *spec, size_t further, Arena *a)
{
    Error err;
    const Codec *codec, *base;
    size_t variant = hash(0, spec) % LOOKS, place;
    Family family = NONE;
    if (codec_open(&codec, spec, a, &err) == OK) {
        variant = variant_of(codec, &base);
        family = family_of(base->ops->name, &place);
    } else {
        place = hash(1, spec) % MARKS;
        family = (Family)(hash(2, spec) % FAMILIES);
    }
    variant = (variant + further) % LOOKS;
    const unsigned char *hue = hues[family];
    const double shade = shades[(place + variant) % SHADES];
    Look look = {.mark = (int)((place + variant / SHADES + (size_t)family) % MARKS),
                 .dash = (int)((place + 2 * variant) % DASHES)};
    snprintf(look.colour, sizeof look.colour, "#%02x%02x%02x", mixed(hue[0], shade), mixed(hue[1], shade),
             mixed(hue[2], shade));
    return look;
}

static bool alike(const Look *x, const Look *y)
{
    return x->mark == y->mark && x->dash == y->dash && !strcmp(x->colour, y->colour);
}

Look *plot_looks(const char *const *spec, size_t count, Arena *a)
{
    Look *look = NEW(a, Look, count);
    for (size_t i = 0; look && i < count; i++)
        for (size_t further = 0, taken = 1; taken && further < LOOKS; further++) {
            look[i] = plot_look(spec[i], further, a);
            taken = 0;
            for (size_t k = 0; k < i; k++)
                taken += alike(&look[i], &look[k]);
        }
    return look;
}
