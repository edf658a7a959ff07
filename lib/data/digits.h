/* digits.h -- hand-drawn digits of our own making, so that a first run needs no download.
 *
 * An image is a function of (seed, part, its index) and of nothing else, to the byte on any machine: it is made of
 * additions, products, quotients and square roots, which IEEE arithmetic rounds alike everywhere. */
#ifndef ATOMO_DIGITS_H
#define ATOMO_DIGITS_H

#include "data/dataset.h"

enum {
    DIGIT_SIDE = 28,
    DIGIT_PIXELS = DIGIT_SIDE * DIGIT_SIDE,
    DIGITS_TRAIN = 60000,
    DIGITS_TEST = 10000,
};

/* One way of writing a digit: points that the pen passes through, on a square of 100 by 100 with y downwards. */
typedef struct {
    uint8_t x, y;
} PenPoint;
enum {
    PEN_UP = 255, /* as x: the stroke ends here and the next point begins another */
    STYLE_POINTS = 18,
    STYLES = 3, /* of each digit */
};
typedef struct {
    uint8_t points;
    PenPoint point[STYLE_POINTS];
} DigitStyle;
extern const DigitStyle digit_styles[10][STYLES];

/* Images 0 .. count-1: pixels (count, 28, 28), ink is light on a dark ground; labels (count). */
void digits_draw(uint64_t seed, Part part, size_t count, int threads, uint8_t *pixels, uint8_t *labels);

#endif
