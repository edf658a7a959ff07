/* fourier_long.c -- transforms a long line in two passes; implements fourier_long.h.
 *
 * The line is a matrix of a rows and b columns. The first pass transforms its columns, multiplies by the
 * factors exp(s j2 k1 / m), and writes them back as columns. The second pass transforms the rows of the result
 * and writes them as columns of a matrix of b rows and a columns. Each pass copies STRIP columns or rows at a
 * time to a buffer, so memory is read and written in whole cache lines. */
#include "math/fourier_long.h"
#include "base/parallel.h"

#include <fftw3.h>
#include <math.h>
#include <string.h>

enum {
    STRIP = 16, /* lines in a strip */
    PAD = 8,    /* numbers between the lines of a strip, so that they lie in different sets of the cache */
    LONG = 1 << 17, /* shorter lines are left to FFTW */
    /* The shorter side must be at least SIDE_LEAST, so that the buffers of SLOTS strips take at most half as much memory
     * as the line, and the longer side at most RATIO times as long, so that a strip fits into the cache. */
    SIDE_LEAST = 256,
    RATIO = 16,
    AHEAD = 8, /* rows between a prefetch and its use */
    LINE = 8,  /* numbers in a line of the cache */
    FINE = 64, /* factors in the table of a line's first factors */
    SLOTS = 8  /* most threads: each has a buffer, and the memory must not depend on the number of threads */
};

/* one complex number */
typedef struct {
    float re, im;
} Pair;

size_t fourier_long_side(size_t length)
{
    size_t side = (size_t)sqrt((double)length);
    if (length < LONG)
        return 0;
    while (length % side || length / side < side)
        side--;
    return side < SIDE_LEAST || length / side > RATIO * side ? 0 : side;
}

/* Returns the numbers from one line of a strip to the next. */
static size_t pitch_of(size_t length)
{
    return (length + PAD - 1) / PAD * PAD + PAD;
}

/* Returns the numbers in the buffer of a strip. */
static size_t slot_room(const size_t sides[2])
{
    return STRIP * pitch_of(sides[1]);
}

static size_t strips_of(size_t lines)
{
    return (lines + STRIP - 1) / STRIP;
}

bool fourier_long_open(FourierLong *f, size_t length, bool inverse, float *between, int threads,
                       Arena *scratch)
{
    const size_t a = fourier_long_side(length), b = length / a; /* a <= b */
    *f = (FourierLong){.sides = {a, b}, .threads = threads < SLOTS ? threads : SLOTS};
    f->between = between ? between : NEW(scratch, float, 2 * length);
    f->slot = NEW(scratch, float, 2 * slot_room(f->sides) * parallel_slots(SLOTS, strips_of(b)));
    return f->between && f->slot &&
           rotor_open(&f->rotor, (inverse ? 2 : -2) * M_PI / (double)length, length, scratch);
}

typedef struct {
    const FourierLong *f;
    const Pair *from;
    Pair *to;
    size_t length, lines; /* of the short transforms */
    struct fftwf_plan_s *plan;
    bool first;
} Pass;

/* Prefetches `lines` numbers. A prefetch may lie behind the memory, since it never fails. */
static inline void fetch(const Pair *at, size_t lines, const bool written)
{
    for (size_t l = 0; l < lines; l += LINE)
        written ? __builtin_prefetch(at + l, 1) : __builtin_prefetch(at + l);
}

/* Copies `lines` neighbouring columns of a matrix with `cols` columns to the lines of `v`. */
static inline void take_columns(const Pair *from, size_t cols, size_t length, size_t lines, size_t pitch,
                                Pair *v)
{
    for (size_t r = 0; r < length; r++) {
        fetch(from + (r + AHEAD) * cols, lines, false);
        for (size_t l = 0; l < lines; l++)
            v[l * pitch + r] = from[r * cols + l];
    }
}

static inline void put_columns(const Pair *v, size_t pitch, size_t cols, size_t length, size_t lines,
                               Pair *to)
{
    for (size_t r = 0; r < length; r++) {
        fetch(to + (r + AHEAD) * cols, lines, true);
        for (size_t l = 0; l < lines; l++)
            to[r * cols + l] = v[l * pitch + r];
    }
}

/* Multiplies v[k] by exp(s j k / m), k < length. */
static void turn_line(const Rotor *rotor, size_t j, size_t length, Pair *v)
{
    double re[FINE], im[FINE];
    for (size_t k = 0; k < FINE; k++)
        rotor_at(rotor, j * k, &re[k], &im[k]);
    for (size_t at = 0; at < length; at += FINE) {
        const size_t some = length - at < FINE ? length - at : FINE;
        double cr, ci;
        rotor_at(rotor, j * at, &cr, &ci);
        for (size_t k = 0; k < some; k++) {
            const float wr = (float)(cr * re[k] - ci * im[k]), wi = (float)(cr * im[k] + ci * re[k]);
            const Pair z = v[at + k];
            v[at + k] = (Pair){z.re * wr - z.im * wi, z.re * wi + z.im * wr};
        }
    }
}

/* Every caller passes a constant `lines` where it can, so that compilers unroll the loops. */
static inline void run_lines(const Pass *p, size_t line, size_t lines, Pair *v)
{
    const size_t pitch = pitch_of(p->length);
    if (p->first)
        take_columns(p->from + line, p->lines, p->length, lines, pitch, v);
    for (size_t l = 0; l < lines; l++) {
        Pair *const one = v + l * pitch;
        if (!p->first)
            memcpy(one, p->from + (line + l) * p->length, p->length * sizeof *one);
        fftwf_execute_dft(p->plan, (void *)one, (void *)one);
        if (p->first)
            turn_line(&p->f->rotor, line + l, p->length, one);
    }
    put_columns(v, pitch, p->lines, p->length, lines, p->to + line);
}

static void run_strip(void *data, size_t strip, size_t slot)
{
    const Pass *p = data;
    const size_t line = strip * STRIP;
    Pair *const v = (Pair *)(void *)p->f->slot + slot * slot_room(p->f->sides);
    if (p->lines - line >= STRIP)
        run_lines(p, line, STRIP, v);
    else
        run_lines(p, line, p->lines - line, v);
}

void fourier_long_run(const FourierLong *f, float *line)
{
    Pair *const whole = (Pair *)(void *)line, *const between = (Pair *)(void *)f->between;
    const size_t a = f->sides[0], b = f->sides[1];
    Pass columns = {f, whole, between, a, b, f->plans[0], true},
         rows = {f, between, whole, b, a, f->plans[1], false};
    parallel_for_slots(f->threads, strips_of(b), run_strip, &columns);
    parallel_for_slots(f->threads, strips_of(a), run_strip, &rows);
}
