/* digits.h -- draws synthetic digits that look handwritten, so that a first run needs no download.
 *
 * An image depends only on the seed, the split (training or test) and its index. An image has the same bytes on
 * any machine: the code uses only additions, products, quotients and square roots, which IEEE arithmetic rounds
 * identically everywhere. */
#ifndef ATOMO_DIGITS_H
#define ATOMO_DIGITS_H

#include "train/dataset.h"

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

/* The images of a data set that are drawn when they are first used (Dataset.drawn). A colour image (3, 32, 32) is the grey
 * one of the same index with a margin of two pixels, and for each channel a random dark level in place of black and a
 * random light one in place of white. */
typedef struct DrawnImages DrawnImages;

/* Draws the image at `image` if no thread has, and returns `image`; if another thread is drawing it, draws a copy into
 * `room` and returns that. Threads may call it at the same time. */
const uint8_t *drawn_image(const DrawnImages *d, const uint8_t *image, uint8_t room[COLOUR_PIXELS]);

#endif
