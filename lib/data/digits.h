/* digits.h -- draws synthetic digits that look handwritten, so that a first run needs no download.
 *
 * An image depends only on the seed, the split (training or test) and its index. An image has the same bytes on
 * any machine: the code uses only additions, products, quotients and square roots, which IEEE arithmetic rounds
 * identically everywhere. */
#ifndef ATOMO_DIGITS_H
#define ATOMO_DIGITS_H

#include "data/dataset.h"

enum {
    DIGIT_SIDE = 28,
    DIGIT_PIXELS = DIGIT_SIDE * DIGIT_SIDE,
    DIGITS_TRAIN = 60000,
    DIGITS_TEST = 10000,
    COLOUR_SIDE = 32,
    COLOUR_PIXELS = 3 * COLOUR_SIDE * COLOUR_SIDE,
    COLOUR_TRAIN = 10000,
    COLOUR_TEST = 1000,
};

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
extern const DigitStyle digit_styles[10][STYLES];

/* Draws images 0 .. count - 1: pixels (count, 28, 28), light digits on a dark ground; labels (count). Leaves images out
 * once `stopped` returns true; NULL: never. */
void digits_draw(uint64_t seed, DataSplit split, size_t count, int threads, bool (*stopped)(void),
                 uint8_t *pixels, uint8_t *labels);

/* Makes colour images (count, 3, 32, 32) of the images of digits_draw with the same seed and split: a margin of two
 * pixels, and for each image and channel a random dark level in place of black and a random light one in place of white. */
void digits_colour(uint64_t seed, DataSplit split, size_t count, int threads, const uint8_t *grey,
                   uint8_t *pixels);

#endif
