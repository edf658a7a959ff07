/* digits.h -- draws synthetic digits that look handwritten, so that a first run needs no download.
 *
 * An image depends on (seed, split, its index) alone and has the same bytes on any machine: only additions, products,
 * quotients and square roots are used, which IEEE arithmetic rounds identically everywhere. */
#ifndef ATOMO_DIGITS_H
#define ATOMO_DIGITS_H

#include "data/dataset.h"

enum {
    DIGIT_SIDE = 28,
    DIGIT_PIXELS = DIGIT_SIDE * DIGIT_SIDE,
    DIGITS_TRAIN = 60000,
    DIGITS_TEST = 10000,
};

/* A style is one way to write a digit: the points that the pen passes through, in a square of 100 by 100, with y
 * downwards. */
typedef struct {
    uint8_t x, y;
} PenPoint;
enum {
    PEN_UP = 255, /* value of x that ends a stroke; the next point begins another stroke */
    STYLE_POINTS = 18,
    STYLES = 3, /* styles per digit */
};
typedef struct {
    uint8_t points;
    PenPoint point[STYLE_POINTS];
} DigitStyle;
extern const DigitStyle digit_styles[10][STYLES];

/* Draws images 0 .. count-1: pixels (count, 28, 28), light ink on a dark ground, and labels (count). */
void digits_draw(uint64_t seed, DataSplit split, size_t count, int threads, uint8_t *pixels, uint8_t *labels);

#endif
