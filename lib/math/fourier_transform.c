/* fourier_transform.c -- makes and runs FFTW's single-precision plans. A long row is transformed as a complex row of
 * half the length (FourierLong).
 *
 * Let z[c] = x[2 c] + i x[2 c + 1], of length m = cols / 2, and Z its transform. The even elements of x have
 * the transform E[k] = (Z[k] + conj Z[m-k]) / 2, and the odd elements O[k] = (Z[k] - conj Z[m-k]) / 2i. The
 * transform of x is X[k] = E[k] + w^k O[k], X[m-k] = conj(E[k] - w^k O[k]) with w = exp(-2 pi i / cols). */
#include "math/fourier_transform.h"
#include "base/dynamic.h"
#include "base/parallel.h"

#include <fftw3.h>
#include <math.h>
#include <pthread.h>
#include <string.h>

/* ---- factors ---- */

static void fill(double *pair, size_t count, double angle)
{
    for (size_t i = 0; i < count; i++) {
        pair[2 * i] = cos(angle * (double)i);
        pair[2 * i + 1] = sin(angle * (double)i);
    }
}

bool rotor_open(Rotor *r, double angle, size_t count, Arena *scratch)
{
    const size_t coarse = count / ROTOR_CHUNK + 1;
    r->coarse = NEW(scratch, double, 2 * coarse);
    r->fine = NEW_ZERO(scratch, double, 2 * ROTOR_CHUNK);
    if (!r->coarse || !r->fine)
        return false;
    fill(r->coarse, coarse, angle * ROTOR_CHUNK);
    fill(r->fine, count < ROTOR_CHUNK ? count : ROTOR_CHUNK, angle);
    return true;
}

void rotor_chunk(const Rotor *r, size_t at, double scale, RotorChunk *out)
{
    const double re = r->coarse[2 * (at / ROTOR_CHUNK)] * scale;
    const double im = r->coarse[2 * (at / ROTOR_CHUNK) + 1] * scale;
    const double *fine = r->fine;
    for (size_t i = 0; i < ROTOR_CHUNK; i++) {
        out->re[i] = (float)(re * fine[2 * i] - im * fine[2 * i + 1]);
        out->im[i] = (float)(re * fine[2 * i + 1] + im * fine[2 * i]);
    }
}

/* ---- a long line, in two passes ----
 *
 * The line is a matrix of a rows and b columns. The first pass transforms its columns, multiplies by the
 * factors exp(s j2 k1 / m), and writes them back as columns. The second pass transforms the rows of the result
 * and writes them as columns of a matrix of b rows and a columns. Each pass copies STRIP columns or rows at a
 * time to a buffer, so memory is read and written in whole cache lines. */

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

/* Returns a, at most the square root of `length`. Returns 0 if the line should not be transformed in two
 * passes: it is short, or its length has no two factors of which the longer is at most 16 times the shorter. */
static size_t fourier_long_side(size_t length)
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

/* Takes memory for lines of `length` numbers, and sets all members but the plans. `between` is memory for one
 * line; NULL: it comes from `scratch`. Returns false if scratch memory runs out. */
static bool fourier_long_open(FourierLong *f, size_t length, bool inverse, float *between, int threads,
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

/* Transforms a line of pairs (re, im) in place. Two threads must not use the same `f` at the same time. */
static void fourier_long_run(const FourierLong *f, float *line)
{
    Pair *const whole = (Pair *)(void *)line, *const between = (Pair *)(void *)f->between;
    const size_t a = f->sides[0], b = f->sides[1];
    Pass columns = {f, whole, between, a, b, f->plans[0], true},
         rows = {f, between, whole, b, a, f->plans[1], false};
    parallel_for_slots(f->threads, strips_of(b), run_strip, &columns);
    parallel_for_slots(f->threads, strips_of(a), run_strip, &rows);
}

/* ---- FFTW's plans, all for transforms in place ---- */

/* FFTW can make and destroy plans on only one thread of the process at a time, so this mutex is global. */
static pthread_mutex_t planner = PTHREAD_MUTEX_INITIALIZER;

static void hold_planner(void)
{
    pthread_mutex_lock(&planner);
}

static void free_planner(void)
{
    pthread_mutex_unlock(&planner);
}

/* A fork waits until no thread makes plans: the child would find the lock taken, and FFTW's tables half written. */
static void expect_forks(void)
{
    pthread_atfork(hold_planner, free_planner, free_planner);
}

static void lock_planner(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, expect_forks);
    hold_planner();
}

static fftwf_plan plan_real(ptrdiff_t rows, ptrdiff_t cols, FourierWay way, float *data)
{
    const ptrdiff_t room = (ptrdiff_t)fourier_room((size_t)cols);
    const fftwf_iodim64 line = {cols, 1, 1}, there = {rows, room, room / 2}, back = {rows, room / 2, room};
    if (way == FOURIER_FORWARD)
        return fftwf_plan_guru64_dft_r2c(1, &line, 1, &there, data, (void *)data, FFTW_ESTIMATE);
    return fftwf_plan_guru64_dft_c2r(1, &line, 1, &back, (void *)data, data, FFTW_ESTIMATE);
}

/* Plans `count` complex transforms. Neighbouring elements of a transform are `step` complex numbers apart,
 * and the first elements of consecutive transforms `pitch` complex numbers. */
static fftwf_plan plan_complex(size_t length, size_t step, size_t count, size_t pitch, FourierWay way,
                               float *data)
{
    const fftwf_iodim64 line = {(ptrdiff_t)length, (ptrdiff_t)step, (ptrdiff_t)step};
    const fftwf_iodim64 many = {(ptrdiff_t)count, (ptrdiff_t)pitch, (ptrdiff_t)pitch};
    const int sign = way == FOURIER_FORWARD ? FFTW_FORWARD : FFTW_BACKWARD;
    return fftwf_plan_guru64_dft(1, &line, 1, &many, (void *)data, (void *)data, sign, FFTW_ESTIMATE);
}

/* Plans one transform of each length that a long line needs. */
static void plan_long(FourierLong *l, FourierWay way)
{
    for (int pass = 0; pass < 2; pass++)
        l->plans[pass] = plan_complex(l->sides[pass], 1, 1, 1, way, l->slot);
}

static void make_plans(Fourier *f, bool down, float *data)
{
    const size_t rows = f->rows, pairs = fourier_room(f->cols) / 2;
    lock_planner();
    if (f->is_long)
        plan_long(&f->line, f->way);
    else
        f->along = plan_real((ptrdiff_t)rows, (ptrdiff_t)f->cols, f->way, data);
    f->down = down ? plan_complex(rows, pairs, pairs, 1, f->way, data) : NULL;
    free_planner();
}

Status fourier_open(Fourier *f, size_t rows, size_t cols, FourierSide side, FourierWay way, float *data,
                    float *spare, int threads, Arena *scratch, Error *err)
{
    const bool down = side == FOURIER_MATRIX && rows > 1;
    *f = (Fourier){.way = way, .rows = rows, .cols = cols, .threads = threads};
    f->is_long = rows == 1 && cols % 2 == 0 && fourier_long_side(cols / 2) > 0;
    if (f->is_long)
        TRY(arena_check(rotor_open(&f->rotor, -2 * M_PI / (double)cols, cols / 4 + 1, scratch) &&
                            fourier_long_open(&f->line, cols / 2, way == FOURIER_BACK, spare, threads, scratch),
                        scratch, err));
    make_plans(f, down, data);
    if ((f->is_long ? f->line.plans[0] && f->line.plans[1] : f->along != NULL) && (f->down || !down))
        return OK;
    fourier_close(f);
    return FAIL(err, ERR_MEMORY, "no memory for a Fourier transform of %zu x %zu", rows, cols);
}

void fourier_close(Fourier *f)
{
    lock_planner();
    fftwf_destroy_plan(f->along);
    fftwf_destroy_plan(f->down);
    fftwf_destroy_plan(f->line.plans[0]);
    fftwf_destroy_plan(f->line.plans[1]);
    free_planner();
    f->along = f->down = f->line.plans[0] = f->line.plans[1] = NULL;
}

/* ---- a long row, transformed as a complex row of half the length ---- */

/* Computes in place X[k] and X[m-k] from Z[k] and Z[m-k], for k = at .. end - 1. All k are in one chunk of
 * ROTOR_CHUNK frequencies; `w` has the chunk's factors w^k. */
static void split(float *z, size_t m, size_t at, size_t end, const RotorChunk *w)
{
    for (size_t k = at; k < end; k++) {
        const float c = w->re[k % ROTOR_CHUNK], s = w->im[k % ROTOR_CHUNK];
        float *a = z + 2 * k, *b = z + 2 * (m - k);
        const float er = 0.5f * (a[0] + b[0]), ei = 0.5f * (a[1] - b[1]);
        const float ur = 0.5f * (a[1] + b[1]), ui = 0.5f * (b[0] - a[0]);
        const float tr = c * ur - s * ui, ti = c * ui + s * ur;
        a[0] = er + tr;
        a[1] = ei + ti;
        b[0] = er - tr;
        b[1] = ti - ei;
    }
}

/* Computes in place 2 Z[k] and 2 Z[m-k] from X[k] and X[m-k]: undoes `split`, except for the factor 2. */
static void join(float *z, size_t m, size_t at, size_t end, const RotorChunk *w)
{
    for (size_t k = at; k < end; k++) {
        const float c = w->re[k % ROTOR_CHUNK], s = w->im[k % ROTOR_CHUNK];
        float *a = z + 2 * k, *b = z + 2 * (m - k);
        const float er = a[0] + b[0], ei = a[1] - b[1], tr = a[0] - b[0], ti = a[1] + b[1];
        const float ur = c * tr + s * ti, ui = c * ti - s * tr;
        a[0] = er - ui;
        a[1] = ei + ur;
        b[0] = er + ui;
        b[1] = ur - ei;
    }
}

static void ends(float *z, size_t m, FourierWay way)
{
    if (way == FOURIER_FORWARD) {
        const float re = z[0], im = z[1];
        z[0] = re + im;
        z[2 * m] = re - im;
        z[1] = z[2 * m + 1] = 0;
    } else {
        const float first = z[0], last = z[2 * m];
        z[0] = first + last;
        z[1] = first - last;
    }
}

typedef struct {
    const Fourier *f;
    float *data;
    size_t last; /* frequencies 0 to last - 1 and their mirror images are all frequencies */
} Turn;

enum { CHUNKS = 64 }; /* chunks of frequencies in a piece */

/* Runs `split` or `join` over CHUNKS chunks of frequencies. */
static void turn_piece(void *data, size_t piece)
{
    const Turn *t = data;
    const size_t from = piece * CHUNKS * ROTOR_CHUNK;
    RotorChunk w;
    for (size_t at = from; at < t->last && at < from + CHUNKS * ROTOR_CHUNK; at += ROTOR_CHUNK) {
        const size_t end = at + ROTOR_CHUNK < t->last ? at + ROTOR_CHUNK : t->last;
        rotor_chunk(&t->f->rotor, at, 1, &w);
        (t->f->way == FOURIER_FORWARD ? split : join)(t->data, t->f->cols / 2, at + !at, end, &w);
    }
}

static void turn(const Fourier *f, float *data)
{
    Turn t = {f, data, f->cols / 4 + 1};
    parallel_for(f->threads, (t.last - 1) / (CHUNKS * ROTOR_CHUNK) + 1, turn_piece, &t);
    ends(data, f->cols / 2, f->way);
}

/* ---- transforms of all rows, and of all columns ---- */

static void forward(const Fourier *f, float *data)
{
    if (f->is_long) {
        fourier_long_run(&f->line, data);
        turn(f, data);
    } else
        fftwf_execute_dft_r2c(f->along, data, (void *)data);
    if (f->down)
        fftwf_execute_dft(f->down, (void *)data, (void *)data);
}

static void back(const Fourier *f, float *data)
{
    if (f->down)
        fftwf_execute_dft(f->down, (void *)data, (void *)data);
    if (f->is_long) {
        turn(f, data);
        fourier_long_run(&f->line, data);
    } else
        fftwf_execute_dft_c2r(f->along, (void *)data, data);
}

void fourier_run(const Fourier *f, float *data)
{
    (f->way == FOURIER_FORWARD ? forward : back)(f, data);
}
