/* digits.c -- draws synthetic digits. A digit's strokes go through randomly shifted points. The strokes are
 * distorted by a smooth random field and a random affine map, and drawn with a pen of random width. Then noise
 * is added.
 *
 * The pen's path is a Catmull-Rom curve, approximated by line segments. A pixel's ink follows from its distance
 * to the nearest segment. */

#include "train/files.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

/* ---- three ways to write each digit ---- */

/* A style is one way to write a digit: the list of points through which the pen moves. The points are in a
 * square of 100 x 100; y grows downwards. */
typedef struct {
    uint8_t x, y;
} PenPoint;
enum {
    PEN_UP = 255, /* value of x that ends a stroke; the next point begins a new stroke */
    STYLE_POINTS = 18,
    STYLES = 3, /* styles per digit */
};
typedef struct {
    uint8_t points;
    PenPoint point[STYLE_POINTS];
} DigitStyle;
/* clang-format off */
#define UP {PEN_UP, 0}

static const DigitStyle digit_styles[10][STYLES] = {
    { /* 0 */
        {9, {{50, 2}, {18, 20}, {10, 55}, {25, 92}, {52, 98}, {82, 85}, {92, 50}, {80, 15}, {50, 2}}},
        {9, {{62, 4}, {35, 10}, {18, 45}, {22, 85}, {45, 97}, {70, 80}, {80, 40}, {62, 4}, {48, 12}}},
        {9, {{70, 14}, {40, 2}, {15, 30}, {12, 70}, {40, 98}, {75, 88}, {88, 50}, {74, 12}, {46, 8}}},
    },
    { /* 1 */
        {2, {{50, 2}, {50, 98}}},
        {5, {{25, 27}, {54, 3}, UP, {54, 3}, {54, 97}}},
        {8, {{30, 24}, {52, 4}, UP, {52, 4}, {52, 96}, UP, {25, 96}, {80, 96}}},
    },
    { /* 2 */
        {10, {{15, 25}, {30, 5}, {60, 2}, {82, 20}, {75, 45}, {40, 75}, {12, 97}, UP, {12, 97}, {88, 97}}},
        {10, {{18, 22}, {45, 2}, {78, 15}, {75, 45}, {45, 75}, {20, 95}, {12, 82}, {30, 74}, {60, 90}, {92, 94}}},
        {11, {{12, 30}, {25, 8}, {55, 2}, {80, 15}, {80, 40}, {50, 65}, {10, 95}, UP, {10, 95}, {50, 90}, {90, 98}}},
    },
    { /* 3 */
        {11, {{15, 15}, {45, 2}, {78, 15}, {72, 38}, {42, 47}, UP, {42, 47}, {80, 60}, {82, 85}, {48, 98}, {12, 85}}},
        {11, {{15, 4}, {82, 4}, UP, {82, 4}, {45, 40}, UP, {45, 40}, {80, 50}, {85, 78}, {55, 98}, {12, 86}}},
        {12, {{10, 20}, {40, 3}, {75, 12}, {70, 36}, {35, 46}, UP, {35, 46}, {72, 52}, {88, 72}, {65, 95}, {30, 97},
              {8, 82}}},
    },
    { /* 4 */
        {8, {{25, 3}, {15, 55}, UP, {15, 55}, {88, 55}, UP, {68, 10}, {66, 98}}},
        {8, {{62, 3}, {10, 65}, UP, {10, 65}, {92, 65}, UP, {62, 3}, {62, 98}}},
        {9, {{20, 5}, {18, 40}, {30, 55}, {60, 52}, {78, 40}, UP, {80, 4}, {76, 50}, {70, 98}}},
    },
    { /* 5 */
        {12, {{82, 4}, {25, 4}, UP, {25, 4}, {20, 42}, UP, {20, 42}, {55, 36}, {84, 55}, {78, 85}, {45, 98},
              {12, 88}}},
        {12, {{80, 6}, {32, 8}, UP, {32, 8}, {22, 48}, UP, {22, 48}, {50, 40}, {76, 58}, {70, 88}, {40, 98},
              {15, 92}}},
        {8, {{85, 5}, {40, 6}, {22, 25}, {35, 45}, {65, 52}, {82, 72}, {60, 95}, {15, 92}}},
    },
    { /* 6 */
        {9, {{70, 4}, {35, 25}, {15, 60}, {25, 92}, {55, 98}, {82, 80}, {75, 58}, {45, 52}, {18, 72}}},
        {8, {{55, 2}, {28, 35}, {18, 75}, {42, 98}, {72, 88}, {72, 62}, {45, 55}, {20, 75}}},
        {10, {{80, 12}, {50, 3}, {22, 30}, {12, 65}, {30, 95}, {65, 96}, {85, 75}, {68, 52}, {35, 55}, {15, 70}}},
    },
    { /* 7 */
        {6, {{12, 5}, {86, 5}, UP, {86, 5}, {60, 40}, {40, 98}}},
        {9, {{12, 5}, {86, 5}, UP, {86, 5}, {62, 40}, {40, 98}, UP, {30, 52}, {74, 50}}},
        {8, {{14, 20}, {14, 5}, UP, {14, 5}, {86, 6}, UP, {86, 6}, {50, 97}}},
    },
    { /* 8 */
        {13, {{50, 48}, {22, 32}, {25, 8}, {52, 2}, {78, 12}, {74, 34}, {50, 48}, {18, 64}, {15, 88}, {48, 98},
              {82, 88}, {80, 62}, {50, 48}}},
        {11, {{78, 14}, {48, 2}, {22, 18}, {40, 42}, {72, 60}, {80, 85}, {48, 98}, {18, 84}, {30, 58}, {62, 42},
              {78, 14}}},
        {15, {{50, 2}, {25, 12}, {25, 36}, {50, 46}, {74, 36}, {74, 12}, {50, 2}, UP, {50, 46}, {18, 58}, {16, 86},
              {50, 98}, {84, 86}, {82, 58}, {50, 46}}},
    },
    { /* 9 */
        {10, {{80, 20}, {50, 3}, {20, 18}, {25, 45}, {55, 50}, {80, 28}, UP, {80, 8}, {78, 60}, {70, 98}}},
        {9, {{78, 25}, {52, 3}, {22, 18}, {25, 45}, {55, 48}, {78, 25}, {78, 60}, {62, 92}, {25, 95}}},
        {8, {{80, 8}, {45, 3}, {18, 25}, {30, 48}, {60, 46}, {80, 20}, {74, 60}, {60, 98}}},
    },
};
/* clang-format on */

/* ---- drawing ---- */

enum {
    STEPS = 4, /* number of line segments between two points of a stroke */
    GRID = 4,  /* random displacements on GRID x GRID nodes are interpolated */
};

/* Indices of the random words that an image uses. */
enum {
    WORD_LABEL,
    WORD_STYLE,
    WORD_ROTATION,
    WORD_SHEAR,
    WORD_HEIGHT,
    WORD_WIDTH,
    WORD_RIGHT,
    WORD_DOWN,
    WORD_RADIUS,
    WORD_INK,
    WORD_NOISE,
    WORD_COLOUR,      /* the words from here on: two for each channel */
    WORD_JITTER = 32, /* the words from here on: two for each point of the strokes */
    /* the words from here on: two for each node of the distortion's grid */
    WORD_BEND = WORD_JITTER + 2 * STYLE_POINTS,
    WORD_PIXELS = WORD_BEND + 2 * GRID * GRID, /* the words from here on: one for each pixel */
};

typedef struct {
    float x, y;
} Point;

/* The random parameters of one image, and the squared distances of its pixels to the pen's path. */
typedef struct {
    RngKey key;
    float xx, xy, yx, yy, right, down; /* coefficients of the affine map from [-1, 1]^2 to pixels */
    Point bend[GRID * GRID];           /* displacements of the nodes of the distortion's grid, in pixels */
    float radius, ink, noise;
    float nearest[DIGIT_PIXELS]; /* squared distance of each pixel to the pen's path */
} Drawing;

/* Returns a number that is uniform in [least, most), made from random word number `word`. */
static float between(const RngKey *key, uint32_t word, float least, float most)
{
    return least + (most - least) * ((float)(rng_word(key, word) >> 8) * 0x1p-24f);
}

static uint32_t below(const RngKey *key, uint32_t word, uint32_t n)
{
    return (uint32_t)((uint64_t)rng_word(key, word) * n >> 32);
}

/* Draws the random parameters of an image. A rotation by 2 atan(t) needs only quotients of polynomials in t, no
 * sine or cosine. */
static void draw_parameters(Drawing *d)
{
    const float t = between(&d->key, WORD_ROTATION, -0.11f, 0.11f),
                shear = between(&d->key, WORD_SHEAR, -0.25f, 0.25f);
    const float cosine = (1 - t * t) / (1 + t * t), sine = 2 * t / (1 + t * t);
    const float high = between(&d->key, WORD_HEIGHT, 8, 10.5f),
                wide = high * between(&d->key, WORD_WIDTH, 0.55f, 0.9f);
    d->xx = cosine * wide;
    d->xy = (cosine * shear - sine) * high;
    d->yx = sine * wide;
    d->yy = (sine * shear + cosine) * high;
    d->right = between(&d->key, WORD_RIGHT, -2, 2) + (DIGIT_SIDE - 1) * 0.5f;
    d->down = between(&d->key, WORD_DOWN, -1.8f, 1.8f) + (DIGIT_SIDE - 1) * 0.5f;
    d->radius = between(&d->key, WORD_RADIUS, 0.07f, 0.17f) * high;
    d->ink = between(&d->key, WORD_INK, 0.6f, 1);
    d->noise = between(&d->key, WORD_NOISE, 0, 0.2f);
    for (uint32_t i = 0; i < GRID * GRID; i++)
        d->bend[i] = (Point){between(&d->key, WORD_BEND + 2 * i, -1.8f, 1.8f),
                             between(&d->key, WORD_BEND + 2 * i + 1, -1.8f, 1.8f)};
}

/* Sets *cell to the node left of v in [0, 1] on the grid, along one axis. Returns the interpolation weight of
 * the node right of v, a smoothstep, so that the interpolated field is smooth. */
static float cell_of(float v, uint32_t *cell)
{
    const float at = (v < 0 ? 0 : v > 1 ? 1 : v) * (GRID - 1);
    *cell = (uint32_t)at < GRID - 2 ? (uint32_t)at : GRID - 2;
    const float part = at - (float)*cell;
    return part * part * (3 - 2 * part);
}

/* Maps the point (u, v) of the unit square to the image, in pixels: an affine map plus a random
 * displacement. */
static Point place(const Drawing *d, float u, float v)
{
    uint32_t i, j;
    const float p = cell_of(u, &i), q = cell_of(v, &j), x = 2 * u - 1, y = 2 * v - 1;
    const Point *b = d->bend + j * GRID + i;
    const float bx =
        (1 - q) * ((1 - p) * b[0].x + p * b[1].x) + q * ((1 - p) * b[GRID].x + p * b[GRID + 1].x);
    const float by =
        (1 - q) * ((1 - p) * b[0].y + p * b[1].y) + q * ((1 - p) * b[GRID].y + p * b[GRID + 1].y);
    return (Point){d->xx * x + d->xy * y + d->right + bx, d->yx * x + d->yy * y + d->down + by};
}

static int clamp_pixel(float v)
{
    return v < 0 ? 0 : v > DIGIT_SIDE - 1 ? DIGIT_SIDE - 1 : (int)v;
}

/* Lowers d->nearest (squared distance to the pen's path) at the pixels that this segment's ink may cover. */
static void draw_line(Drawing *d, Point from, Point to)
{
    const float reach = d->radius + 0.5f, dx = to.x - from.x, dy = to.y - from.y, length2 = dx * dx + dy * dy;
    const float scale = length2 > 0 ? 1 / length2 : 0;
    const int left = clamp_pixel((dx < 0 ? to.x : from.x) - reach),
              right = clamp_pixel((dx < 0 ? from.x : to.x) + reach + 1);
    const int top = clamp_pixel((dy < 0 ? to.y : from.y) - reach),
              bottom = clamp_pixel((dy < 0 ? from.y : to.y) + reach + 1);
    for (int row = top; row <= bottom; row++) {
        float *nearest = d->nearest + row * DIGIT_SIDE;
        const float py = (float)row - from.y;
        for (int column = left; column <= right; column++) {
            const float px = (float)column - from.x, along = (px * dx + py * dy) * scale;
            const float t = along < 0 ? 0 : along > 1 ? 1 : along, ex = px - t * dx, ey = py - t * dy;
            const float distance2 = ex * ex + ey * ey;
            nearest[column] = distance2 < nearest[column] ? distance2 : nearest[column];
        }
    }
}

/* Returns the point at t in [0, 1] of the Catmull-Rom curve through a, b, c, d; t = 0 is b, t = 1 is c. */
static float catmull_rom(float a, float b, float c, float d, float t)
{
    return b + 0.5f * t * (c - a + t * (2 * a - 5 * b + 4 * c - d + t * (3 * (b - c) + d - a)));
}

/* Draws a stroke through `n` points. If the last point equals the first, the stroke is a closed curve, smooth
 * at that point too. */
static void draw_stroke(Drawing *d, const Point *p, size_t n)
{
    const bool closed = n > 3 && p[0].x == p[n - 1].x && p[0].y == p[n - 1].y;
    Point last = place(d, p[0].x, p[0].y);
    for (size_t i = 0; i + 1 < n; i++) {
        const Point a = i ? p[i - 1] : closed ? p[n - 2] : p[0], b = p[i], c = p[i + 1];
        const Point e = i + 2 < n ? p[i + 2] : closed ? p[1] : p[n - 1];
        for (int s = 1; s <= STEPS; s++) {
            const float t = (float)s / STEPS;
            const Point next =
                place(d, catmull_rom(a.x, b.x, c.x, e.x, t), catmull_rom(a.y, b.y, c.y, e.y, t));
            draw_line(d, last, next);
            last = next;
        }
    }
}

/* Returns the index of the first point equal to point i. Equal points get the same random shift, so strokes
 * that met still meet. */
static uint32_t first_equal(const DigitStyle *style, uint32_t i)
{
    uint32_t j = 0;
    while (style->point[j].x != style->point[i].x || style->point[j].y != style->point[i].y)
        j++;
    return j;
}

static void draw_style(Drawing *d, const DigitStyle *style)
{
    Point stroke[STYLE_POINTS];
    size_t n = 0;
    for (uint32_t i = 0; i < style->points; i++) {
        const PenPoint pen = style->point[i];
        if (pen.x == PEN_UP) {
            draw_stroke(d, stroke, n);
            n = 0;
            continue;
        }
        const uint32_t word = WORD_JITTER + 2 * first_equal(style, i);
        stroke[n++] = (Point){(float)pen.x * 0.01f + between(&d->key, word, -0.055f, 0.055f),
                              (float)pen.y * 0.01f + between(&d->key, word + 1, -0.055f, 0.055f)};
    }
    draw_stroke(d, stroke, n);
}

/* Ink fades over one pixel at the pen's edge. The noise, the difference of two halves of a random word, has a
 * triangular distribution. */
static void develop(const Drawing *d, uint8_t *pixels)
{
    const float strength = d->noise * 0x1p-16f;
    for (uint32_t i = 0; i < DIGIT_PIXELS; i++) {
        const float edge = d->radius + 0.5f - sqrtf(d->nearest[i]), ink = edge < 0 ? 0 : edge > 1 ? 1 : edge;
        const uint32_t word = rng_word(&d->key, WORD_PIXELS + i);
        const float noisy =
            ink * d->ink + strength * ((float)(int)(word & 0xffff) - (float)(int)(word >> 16));
        const float level = noisy * 255 + 0.5f;
        pixels[i] = (uint8_t)(int)(level < 0 ? 0 : level > 255 ? 255 : level);
    }
}

/* the random numbers of all images of a split; rng_below gives those of one */
static Rng images_rng(uint64_t seed, DataSplit split)
{
    return rng_open(seed, 0, RNG_EVERYONE, split, rng_hash("digits"));
}

static RngKey image_key(const Rng *images, size_t i)
{
    const Rng rng = rng_below(images, i);
    return rng_key(&rng, USE_DATA, 0);
}

static uint8_t label_of(const RngKey *key)
{
    return (uint8_t)below(key, WORD_LABEL, 10);
}

static void draw_image(const RngKey *key, uint8_t *pixels)
{
    Drawing d;
    d.key = *key;
    draw_parameters(&d);
    for (size_t j = 0; j < DIGIT_PIXELS; j++)
        d.nearest[j] = 4 * DIGIT_PIXELS;
    draw_style(&d, &digit_styles[label_of(key)][below(key, WORD_STYLE, STYLES)]);
    develop(&d, pixels);
}

/* Makes the colour image of a grey one. LEVELS: number of values that a colour channel can have in the background (from
 * 0), and in the digit (to 255). */
static void colour_image(const RngKey *key, const uint8_t *grey, uint8_t *pixels)
{
    enum { MARGIN = (COLOUR_SIDE - DIGIT_SIDE) / 2, LEVELS = 96 };
    for (uint32_t channel = 0; channel < 3; channel++) {
        const uint32_t ground = below(key, WORD_COLOUR + 2 * channel, LEVELS),
                       light = 255 - below(key, WORD_COLOUR + 2 * channel + 1, LEVELS);
        uint8_t *plane = pixels + channel * COLOUR_SIDE * COLOUR_SIDE;
        memset(plane, (int)ground, (size_t)COLOUR_SIDE * COLOUR_SIDE);
        for (size_t row = 0; row < DIGIT_SIDE; row++)
            for (size_t column = 0; column < DIGIT_SIDE; column++) {
                const uint32_t ink = grey[row * DIGIT_SIDE + column];
                plane[(row + MARGIN) * COLOUR_SIDE + column + MARGIN] =
                    (uint8_t)(ground + (light - ground) * ink / 255);
            }
    }
}

/* ---- images that are drawn when they are first used ---- */

enum { BLANK, CLAIMED, THERE }; /* states of an image */

struct DrawnImages {
    Rng rng;
    size_t size; /* bytes of an image */
    uint8_t *pixels;
    atomic_uchar *state; /* (count) */
};

static void draw(const DrawnImages *d, size_t i, uint8_t *pixels)
{
    uint8_t grey[DIGIT_PIXELS];
    const RngKey key = image_key(&d->rng, i);
    const bool colour = d->size == COLOUR_PIXELS;
    draw_image(&key, colour ? grey : pixels);
    if (colour)
        colour_image(&key, grey, pixels);
}

const uint8_t *drawn_image(const DrawnImages *d, const uint8_t *image, uint8_t room[COLOUR_PIXELS])
{
    const size_t i = (size_t)(image - d->pixels) / d->size;
    atomic_uchar *state = &d->state[i];
    unsigned char was = BLANK;
    if (atomic_load(state) == THERE)
        return image;
    const bool mine = atomic_compare_exchange_strong(state, &was, CLAIMED);
    if (!mine && was == THERE)
        return image;
    draw(d, i, mine ? d->pixels + i * d->size : room);
    if (mine)
        atomic_store(state, THERE);
    return mine ? image : room;
}

static Status open_drawn(Dataset *d, uint64_t seed, size_t count, size_t size, Arena *a, Error *err)
{
    DrawnImages *drawn = NEW(a, DrawnImages, 1);
    uint8_t *pixels = NEW(a, uint8_t, count * size);
    uint32_t *labels = NEW(a, uint32_t, count);
    atomic_uchar *state = NEW_ZERO(a, atomic_uchar, count); /* BLANK */
    TRY(arena_check(drawn && pixels && labels && state, a, err));
    *drawn = (DrawnImages){images_rng(seed, d->split), size, pixels, state};
    for (size_t i = 0; i < count; i++) {
        const RngKey key = image_key(&drawn->rng, i);
        labels[i] = label_of(&key);
    }
    d->count = count;
    d->pixels = pixels;
    d->labels = labels;
    d->drawn = drawn;
    return OK;
}

Status digits_load(Dataset *d, const char *dir, uint64_t seed, Arena *a, Error *err)
{
    (void)dir;
    return open_drawn(d, seed, d->split == SPLIT_TRAIN ? DIGITS_TRAIN : DIGITS_TEST, DIGIT_PIXELS, a, err);
}

Status colour_digits_load(Dataset *d, const char *dir, uint64_t seed, Arena *a, Error *err)
{
    (void)dir;
    return open_drawn(d, seed, d->split == SPLIT_TRAIN ? COLOUR_TRAIN : COLOUR_TEST, COLOUR_PIXELS, a, err);
}
