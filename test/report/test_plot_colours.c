/* test_plot_colours.c -- the looks of codecs in one figure must be told apart by readers with each kind of
 * colour blindness, and in print without colours.
 *
 * Colour blindness is simulated by the matrices of Machado, Oliveira and Fernandes (IEEE TVCG 15(6), 2009) for
 * full severity, on linear RGB. Distances are in CIELAB. Two colours at a distance of 10 are easily told apart;
 * of two greys, a difference of 8 in lightness. */
#include "compress/spec.h"
#include "rig/check.h"
#include "report/plot_figure.h"

#include <math.h>

enum { SERIES = 25, VIEWS = 5, CODECS_MOST = 64 };

static const char *const specs[SERIES] = {
    "none",        "qsgd",       "terngrad", "svd",        "topk",    "qsgd:bits=2", "qsgd:bits=8",
    "svd:rank=1",  "svd:rank=2", "sign",     "entry",      "ef+topk", "powersgd",    "ef+powersgd",
    "randk",       "natural",    "nuqsgd",   "scaledsign", "onebit",  "lowrank",     "rotated",
    "countsketch", "eden",       "dgc",      "hadamard",
};

/* rows: normal sight, protanopia, deuteranopia, tritanopia; the fifth view is grey */
static const double sight[VIEWS - 1][3][3] = {
    {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
    {{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}},
    {{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}},
    {{1.255528, -0.076749, -0.178779}, {-0.078411, 0.930809, 0.147602}, {0.004733, 0.691367, 0.303900}},
};

/* Converts a colour "#rrggbb" to linear RGB (IEC 61966-2-1). */
static void linear(const char *colour, double rgb[3])
{
    unsigned value[3];
    check(sscanf(colour, "#%2x%2x%2x", &value[0], &value[1], &value[2]) == 3);
    for (int i = 0; i < 3; i++) {
        const double v = value[i] / 255.0;
        rgb[i] = v <= 0.04045 ? v / 12.92 : pow((v + 0.055) / 1.055, 2.4);
    }
}

static double cube_root(double t)
{
    return t > 216.0 / 24389 ? cbrt(t) : (24389.0 / 27 * t + 16) / 116;
}

/* Converts linear RGB to CIELAB with the white point D65. */
static void to_lab(const double rgb[3], double lab[3])
{
    static const double xyz[3][3] = {{0.4124564, 0.3575761, 0.1804375},
                                     {0.2126729, 0.7151522, 0.0721750},
                                     {0.0193339, 0.1191920, 0.9503041}};
    static const double white[3] = {0.95047, 1, 1.08883};
    double f[3];
    for (int i = 0; i < 3; i++)
        f[i] = cube_root((xyz[i][0] * rgb[0] + xyz[i][1] * rgb[1] + xyz[i][2] * rgb[2]) / white[i]);
    lab[0] = 116 * f[1] - 16;
    lab[1] = 500 * (f[0] - f[1]);
    lab[2] = 200 * (f[1] - f[2]);
}

/* Sets lab to what a reader sees of a colour in one view. */
static void seen(const char *colour, int view, double lab[3])
{
    double rgb[3], out[3];
    linear(colour, rgb);
    const int how = view < VIEWS - 1 ? view : 0;
    for (int i = 0; i < 3; i++)
        out[i] = fmin(
            1, fmax(0, sight[how][i][0] * rgb[0] + sight[how][i][1] * rgb[1] + sight[how][i][2] * rgb[2]));
    to_lab(out, lab);
    if (view == VIEWS - 1)
        lab[1] = lab[2] = 0;
}

static double distance(const char *one, const char *other, int view)
{
    double p[3], q[3];
    seen(one, view, p);
    seen(other, view, q);
    return sqrt((p[0] - q[0]) * (p[0] - q[0]) + (p[1] - q[1]) * (p[1] - q[1]) +
                (p[2] - q[2]) * (p[2] - q[2]));
}

/* Sets of specs that readers compare in one figure. */
static const char *const rates[] = {"qsgd:bits=1", "qsgd:bits=2",    "qsgd",      "qsgd:bits=8",
                                    "svd:rank=1",  "svd:rank=2",     "svd",       "svd:rank=8",
                                    "none",        "entry:bits=0.6", "zstd+none", "fp16"};
static const char *const wrapped[] = {"topk",
                                      "topk:ratio=0.001",
                                      "topk:ratio=0.1",
                                      "ef+topk",
                                      "zstd+ef+topk:ratio=0.001",
                                      "ef+topk:ratio=0.1",
                                      "none",
                                      "qsgd:bits=2",
                                      "sign",
                                      "ef+sign",
                                      "powersgd",
                                      "powersgd:rank=1",
                                      "powersgd:rank=4"};

/* 25 series with a family of twelve, whose marks must repeat. */
static const char *const sparse[SERIES] = {
    "topk",      "randk",     "threshold:tau=0.01",
    "dgc",       "gaussiank", "sidco",
    "stc",       "adaq",      "strom",
    "chunktopk", "ef+topk",   "ef+randk",
    "none",      "qsgd",      "terngrad",
    "svd",       "entry",     "sign",
    "onebit",    "powersgd",  "ef+powersgd",
    "rotated",   "eden",      "countsketch",
    "natural",
};
static const char *const levels[SERIES] = {
    "qsgd",     "terngrad",    "nuqsgd",        "natural",  "minmax",     "zipml", "intsgd",
    "thc",      "qsgd:bits=2", "minmax:bits=2", "ef+qsgd",  "diana+qsgd", "none",  "svd",
    "entry",    "hadamard",    "gspar",         "sign",     "scaledsign", "topk",  "dgc",
    "powersgd", "lowrank",     "drive",         "sketchml",
};

static const struct {
    const char *const *spec;
    size_t count;
} figures[] = {{specs, SERIES},
               {rates, countof(rates)},
               {wrapped, countof(wrapped)},
               {sparse, SERIES},
               {levels, SERIES}};

/* Checks that two looks with the same mark and dashes differ in colour in each view. */
static void check_apart(const char *spec, const Look *look, const char *other_spec, const Look *other)
{
    if (look->mark != other->mark || look->dash != other->dash)
        return;
    for (int view = 0; view < VIEWS; view++) {
        const double apart = distance(look->colour, other->colour, view);
        if (apart < (view < VIEWS - 1 ? 10 : 8))
            print_error("%s and %s, view %d: distance %.1f\n", spec, other_spec, view, apart);
        check(apart >= (view < VIEWS - 1 ? 10 : 8));
    }
}

TEST(looks_with_one_mark_and_dash_differ_in_colour_for_everyone)
{
    Arena *a = arena_open(0);
    for (size_t f = 0; f < countof(figures); f++) {
        const char *const *spec = figures[f].spec;
        const Look *look = plot_looks(spec, figures[f].count, a);
        for (size_t i = 0; i < figures[f].count; i++)
            for (size_t j = 0; j < i; j++)
                check_apart(spec[i], &look[i], spec[j], &look[j]);
    }
    arena_close(a);
}

/* Calls check_two for all pairs of codecs, each with its default parameters. The codec threshold has none; it takes part
 * with the spec `threshold`, if that is not NULL. */
static Look look_of(const char *spec, Arena *a)
{
    return plot_looks(&spec, 1, a)[0];
}

static void each_pair(const char *threshold, void (*check_two)(const char *spec, const Look *look,
                                                               const char *other_spec, const Look *other))
{
    Error err;
    Look look[CODECS_MOST];
    const char *name[CODECS_MOST];
    const Codec *codec;
    size_t count = 0;
    Arena *a = arena_open(0);
    for (size_t i = 0; compressor_number(i); i++) {
        const char *own = compressor_number(i)->name, *spec = strcmp(own, "threshold") ? own : threshold;
        if (!spec || codec_open(&codec, spec, a, &err) != OK) /* a wrapper */
            continue;
        check(count < CODECS_MOST);
        name[count] = spec;
        look[count] = look_of(spec, a);
        for (size_t k = 0; k < count; k++)
            check_two(name[count], &look[count], name[k], &look[k]);
        count++;
    }
    check(count > 30);
    arena_close(a);
}

/* Where they have one mark and dashes. */
TEST(codecs_of_one_mark_and_dash_differ_in_colour_for_everyone)
{
    each_pair("threshold:tau=0.01", check_apart);
}

/* In one figure the shortest spec has its codec's look, and the others its hue. */
TEST(specs_of_one_codec_have_one_hue)
{
    Arena *a = arena_open(0);
    const Look own = look_of("topk", a), *look = plot_looks(wrapped, countof(wrapped), a);
    check(look[0].mark == own.mark && look[0].dash == own.dash);
    for (size_t i = 0; i < 6; i++)
        check(!strcmp(look[i].colour, own.colour));
    arena_close(a);
}

static double luminance(const char *colour)
{
    double rgb[3];
    linear(colour, rgb);
    return 0.2126 * rgb[0] + 0.7152 * rgb[1] + 0.0722 * rgb[2];
}

/* A line and its name are read on white: the contrast of WCAG 2 is 4.5:1 or more. Every codec names its look. */
TEST(every_colour_stands_out_from_white)
{
    for (size_t i = 0; compressor_number(i); i++) {
        const Compressor *c = compressor_number(i);
        if (!c->look.colour)
            check(c->wraps && !c->alone[0]);
        else
            check(1.05 / (luminance(c->look.colour) + 0.05) >= 4.5 && c->look.mark < 6 && c->look.dash < 5);
    }
}

CHECK_ALL(NULL, NULL)
