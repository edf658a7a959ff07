/* cosine.c -- a DCT through one real FFT of the same length (Makhoul, IEEE Trans. ASSP 28, 1980).
 *
 * With v = x_0, x_2, x_4, ..., x_5, x_3, x_1 and V its Fourier transform, t_k V_k = C_k - i C_{n-k}, where
 * t_k = exp(-i pi k / (2 n)) and C_k = sum x_i cos(pi (2 i + 1) k / (2 n)).
 *
 * A matrix is transformed line by line (rows, then columns); several neighbouring lines form a strip. A
 * strip is copied to a buffer in the order of v and transformed; then its coefficients C_k are written. */
#include "math/fourier_transform.h"

#include "base/parallel.h"

#include <math.h>
#include <string.h>

enum {
    STRIP = 1 << 14, /* floats in a strip, unless LEAST lines have more */
    LEAST = 16,      /* fewest lines in a strip, so that columns are read in whole cache lines */
    SLOTS = 8,       /* number of buffers, and of strips that are transformed at the same time */
    /* pairs of elements of a line that are copied before pairs of the next line, so that cache lines shared
     * by neighbouring columns are still in the cache */
    CHUNK = ROTOR_CHUNK
};

/* One pass over the lines (rows or columns) of a matrix. Element i of line l is at l * pitch + i * step. */
typedef struct {
    const float *from;
    float *to;
    size_t lines, length, step, pitch;
    size_t strips, width; /* `width`: lines in a strip; the last strip may have fewer */
    size_t first;         /* index of the strip in the first buffer of `slot` */
    float *slot;          /* (SLOTS, width, room) */
    int threads;
    Fourier fourier;
    Rotor rotor; /* factors exp(i pi k / (2 n)) of the transform */
} Pass;

/* ---- strips ---- */

typedef struct {
    const Pass *p;
    size_t line, lines; /* the strip's first line in the matrix; the number of its lines */
    size_t room;
    float *v;
} Strip;

static Strip strip_of(const Pass *p, size_t slot)
{
    const size_t line = (p->first + slot) * p->width, room = fourier_room(p->length);
    return (Strip){p, line, size_least(p->width, p->lines - line), room, p->slot + slot * p->width * room};
}

/* Calls body(s, at) for at = 0, CHUNK, 2 CHUNK, ... below `end`. */
typedef struct {
    const Strip *s;
    size_t end;
    void (*body)(const Strip *s, size_t at);
} Chunks;

enum { CHUNKS = 64 }; /* chunks in a piece */

static void chunks_piece(void *data, size_t piece)
{
    const Chunks *c = data;
    for (size_t k = piece * CHUNKS; k < (piece + 1) * CHUNKS && k * CHUNK < c->end; k++)
        c->body(c->s, k * CHUNK);
}

/* Runs in parallel if the strip is the only one, since calls of parallel_for within a call run alone. */
static void each_chunk(const Strip *s, size_t end, void (*body)(const Strip *s, size_t at))
{
    Chunks c = {s, end, body};
    parallel_for(s->p->threads, end ? (end - 1) / (CHUNKS * CHUNK) + 1 : 0, chunks_piece, &c);
}

/* Copies CHUNK pairs of elements of each line, 2 i and 2 i + 1, to v. In v the even elements come first, then the odd elements
 * backwards, as the FFT needs. */
static void gather_chunk(const Strip *s, size_t at)
{
    const Pass *p = s->p;
    const size_t n = p->length, end = size_least(at + CHUNK, n / 2), step = p->step;
    for (size_t l = 0; l < s->lines; l++) {
        const float *x = p->from + (s->line + l) * p->pitch;
        float *v = s->v + l * s->room;
        for (size_t i = at; i < end; i++) {
            v[i] = x[2 * i * step];
            v[n - 1 - i] = x[(2 * i + 1) * step];
        }
    }
}

static void gather(const Strip *s)
{
    const Pass *p = s->p;
    const size_t n = p->length;
    each_chunk(s, n / 2, gather_chunk);
    for (size_t l = 0; l < s->lines && n % 2; l++)
        s->v[l * s->room + n / 2] = p->from[(s->line + l) * p->pitch + (n - 1) * p->step];
}

static void scatter_chunk(const Strip *s, size_t at)
{
    const Pass *p = s->p;
    const size_t n = p->length, end = size_least(at + CHUNK, n / 2), step = p->step;
    for (size_t l = 0; l < s->lines; l++) {
        float *x = p->to + (s->line + l) * p->pitch;
        const float *v = s->v + l * s->room;
        for (size_t i = at; i < end; i++) {
            x[2 * i * step] = v[i];
            x[(2 * i + 1) * step] = v[n - 1 - i];
        }
    }
}

static void scatter(const Strip *s)
{
    const Pass *p = s->p;
    const size_t n = p->length;
    each_chunk(s, n / 2, scatter_chunk);
    for (size_t l = 0; l < s->lines && n % 2; l++)
        p->to[(s->line + l) * p->pitch + (n - 1) * p->step] = s->v[l * s->room + n / 2];
}

/* Computes from the Fourier transform v the DCT's coefficients k and n - k, for CHUNK k > 0, and writes them to y. `f` has
 * scale * exp(+i pi k / (2 n)), the conjugate of t_k times the scale. */
static void fold_chunk(const Strip *s, size_t at)
{
    const Pass *p = s->p;
    const size_t n = p->length, end = size_least(at + CHUNK, n / 2 + 1), step = p->step;
    RotorChunk f;
    rotor_chunk(&p->rotor, at, sqrt(2 / (double)n), &f);
    for (size_t l = 0; l < s->lines; l++) {
        float *y = p->to + (s->line + l) * p->pitch;
        const float *v = s->v + l * s->room;
        for (size_t k = at + !at; k < end; k++) {
            const float re = f.re[k - at], im = f.im[k - at];
            y[k * step] = re * v[2 * k] + im * v[2 * k + 1];
            y[(n - k) * step] = im * v[2 * k] - re * v[2 * k + 1];
        }
        if (!at)
            y[0] = v[0] * (float)sqrt(1 / (double)n);
    }
}

static void unfold_chunk(const Strip *s, size_t at)
{
    const Pass *p = s->p;
    const size_t n = p->length, end = size_least(at + CHUNK, n / 2 + 1), step = p->step;
    RotorChunk f;
    /* the scale includes the factor 1 / n that FFTW's inverse transform omits */
    rotor_chunk(&p->rotor, at, sqrt(0.5 / (double)n), &f);
    for (size_t l = 0; l < s->lines; l++) {
        const float *y = p->from + (s->line + l) * p->pitch;
        float *v = s->v + l * s->room;
        for (size_t k = at + !at; k < end; k++) {
            const float re = f.re[k - at], im = f.im[k - at], one = y[k * step], other = y[(n - k) * step];
            v[2 * k] = re * one + im * other;
            v[2 * k + 1] = im * one - re * other;
        }
    }
}

static void unfold_strip(const Strip *s)
{
    const Pass *p = s->p;
    const size_t n = p->length;
    each_chunk(s, n / 2 + 1, unfold_chunk);
    for (size_t l = 0; l < s->lines; l++) {
        float *v = s->v + l * s->room;
        v[0] = p->from[(s->line + l) * p->pitch] * (float)sqrt(1 / (double)n);
        v[1] = 0;
        if (n % 2 == 0)
            v[n + 1] = 0; /* imaginary part of the middle Fourier coefficient, which is 0 up to rounding */
    }
}

static void run_slot(void *data, size_t slot)
{
    const Pass *p = data;
    const Strip s = strip_of(p, slot);
    const size_t spare = (p->width - s.lines) * s.room;
    /* the FFT plan always transforms `width` lines, so the lines that the strip lacks are set to 0 */
    memset(s.v + s.lines * s.room, 0, spare * sizeof *s.v);
    if (p->fourier.way == FOURIER_FORWARD)
        gather(&s);
    else
        unfold_strip(&s);
    fourier_run(&p->fourier, s.v);
    if (p->fourier.way == FOURIER_FORWARD)
        each_chunk(&s, p->length / 2 + 1, fold_chunk);
    else
        scatter(&s);
}

/* ---- one pass over the rows or the columns of a matrix ---- */

static Status run(Pass *p, FourierWay way, int threads, Arena *scratch, Error *err)
{
    const size_t room = fourier_room(p->length), most = STRIP / room > LEAST ? STRIP / room : LEAST;
    const ArenaMark mark = arena_mark(scratch);
    p->strips = (p->lines - 1) / most + 1;
    p->width = (p->lines - 1) / p->strips + 1; /* strips have nearly equal numbers of lines */
    p->strips = (p->lines - 1) / p->width + 1;
    p->threads = threads;
    const size_t slots = size_least(p->strips, SLOTS);
    p->slot = NEW(scratch, float, slots * p->width * room);
    TRY(arena_check(p->slot &&
                        rotor_open(&p->rotor, M_PI / (2 * (double)p->length), p->length / 2 + 1, scratch),
                    scratch, err));
    /* a single line has been copied to `slot` before `to` is overwritten, even if it comes from `to` */
    TRY(fourier_open(&p->fourier, p->width, p->length, FOURIER_ROWS, way, p->slot, p->to, threads, scratch,
                     err));
    for (p->first = 0; p->first < p->strips; p->first += slots)
        parallel_for(threads, size_least(slots, p->strips - p->first), run_slot, p);
    fourier_close(&p->fourier);
    arena_rewind(scratch, mark);
    return OK;
}

static Status transform(const float *x, size_t rows, size_t cols, float *y, FourierWay way, int threads,
                        Arena *scratch, Error *err)
{
    Pass along = {.from = x, .to = y, .lines = rows, .length = cols, .step = 1, .pitch = cols};
    Pass down = {.from = x, .to = y, .lines = cols, .length = rows, .step = cols, .pitch = 1};
    if (x != y && cols <= 1 && rows <= 1)
        memcpy(y, x, rows * cols * sizeof *y);
    if (cols > 1 && rows > 0)
        TRY(run(&along, way, threads, scratch, err));
    if (cols > 1)
        down.from = y;
    if (rows > 1 && cols > 0)
        TRY(run(&down, way, threads, scratch, err));
    return OK;
}

Status cosine_forward(const float *x, size_t rows, size_t cols, float *y, int threads, Arena *scratch,
                      Error *err)
{
    return transform(x, rows, cols, y, FOURIER_FORWARD, threads, scratch, err);
}

Status cosine_back(const float *y, size_t rows, size_t cols, float *x, int threads, Arena *scratch,
                   Error *err)
{
    return transform(y, rows, cols, x, FOURIER_BACK, threads, scratch, err);
}
