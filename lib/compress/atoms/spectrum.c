/* spectrum.c -- computes the Fourier atoms of a matrix, and the matrix from its atoms (spectrum.h). An atom's
 * gauge is its |z| or up to 0.12 % more (math/phase.h). */
#include "compress/atoms/spectrum.h"

#include "compress/atoms/basis.h"
#include "math/fourier_transform.h"
#include "base/parallel.h"
#include "math/blockwise.h"
#include "math/phase.h"

#include <float.h>
#include <math.h>

FourierSpectrum spectrum_shape(size_t rows, size_t cols)
{
    const bool turned = rows > cols;
    FourierSpectrum s = {.turned = turned, .rows = turned ? cols : rows, .cols = turned ? rows : cols};
    if (rows == 0 || cols == 0)
        return (FourierSpectrum){0};
    s.room = fourier_room(s.cols);
    s.edge = s.rows / 2 + 1;
    s.middle = (s.cols - 1) / 2;
    s.atoms = s.edge * (s.cols % 2 ? 1 : 2) + s.rows * s.middle;
    return s;
}

static size_t elements(const FourierSpectrum *s)
{
    return s->rows * s->cols;
}

Frequency spectrum_frequency(const FourierSpectrum *s, size_t atom)
{
    const bool inner = atom >= s->edge && atom - s->edge < s->rows * s->middle;
    if (inner) {
        const size_t i = atom - s->edge;
        return (Frequency){i / s->middle * s->room + 2 * (i % s->middle + 1), false};
    }
    const bool last = atom >= s->edge;
    const size_t j = last ? atom - s->edge - s->rows * s->middle : atom;
    return (Frequency){j * s->room + (last ? s->cols : 0), j == 0 || 2 * j == s->rows};
}

/* ---- copying between a tensor and rows of `room` floats ---- */

static void load(const Call *c, const FourierSpectrum *s, const float *x, double lift)
{
    for (size_t j = 0; j < s->rows && !s->turned; j++)
        basis_scale(x + j * s->cols, s->cols, lift, c->threads, s->data + j * s->room);
    for (size_t i = 0; i < s->cols && s->turned; i++)
        for (size_t j = 0; j < s->rows; j++)
            s->data[j * s->room + i] = (float)((double)x[i * s->rows + j] * lift);
}

static bool store(const Call *c, const FourierSpectrum *s, double lift, float *x)
{
    bool in = true;
    for (size_t j = 0; j < s->rows && !s->turned; j++)
        in &= basis_scale(s->data + j * s->room, s->cols, lift, c->threads, x + j * s->cols);
    for (size_t i = 0; i < s->cols && s->turned; i++)
        for (size_t j = 0; j < s->rows; j++) {
            const double v = (double)s->data[j * s->room + i] * lift;
            in &= fabs(v) <= (double)FLT_MAX;
            x[i * s->rows + j] = in ? (float)v : 0;
        }
    return in;
}

/* ---- forward transform ---- */

typedef struct {
    const FourierSpectrum *s;
    float *gauge;
    size_t blocks; /* blocks in a row of atoms, without columns 0 and cols / 2 */
} GaugeJob;

static void measure_piece(void *data, size_t piece)
{
    const GaugeJob *m = data;
    const FourierSpectrum *s = m->s;
    const size_t j = piece / m->blocks, block = piece % m->blocks, from = block * BLOCK;
    const float scale = (float)sqrt(2 / (double)elements(s));
    phase_gauges(s->data + j * s->room + 2 + 2 * from, block_size(s->middle, block), scale,
                 m->gauge + s->edge + j * s->middle + from);
}

/* Computes the gauges (spectrum.h) of the atoms in column k, which is 0 or cols / 2. Rows j > rows / 2 hold the
 * conjugates of other rows, not atoms, so they get no gauge. */
static void measure_edge(const FourierSpectrum *s, size_t first, size_t k, float *gauge)
{
    const double n = (double)elements(s);
    for (size_t j = 0; j < s->rows; j++) {
        float *z = s->data + j * s->room + 2 * k, unread;
        const bool real = j == 0 || 2 * j == s->rows;
        z[1] = real ? 0 : z[1];
        phase_gauges(z, 1, (float)sqrt((real ? 1 : 2) / n), j < s->edge ? &gauge[first + j] : &unread);
    }
}

static void measure(const Call *c, const FourierSpectrum *s, float *gauge)
{
    const GaugeJob m = {s, gauge, blocks_of(s->middle)};
    parallel_for(c->threads, s->rows * m.blocks, measure_piece, (void *)(uintptr_t)&m);
    measure_edge(s, 0, 0, gauge);
    if (s->cols % 2 == 0)
        measure_edge(s, s->edge + s->rows * s->middle, s->cols / 2, gauge);
}

static Status transform(const Call *c, const FourierSpectrum *s, FourierWay way, float *spare)
{
    Fourier f;
    const ArenaMark mark = arena_mark(c->scratch);
    TRY(fourier_open(&f, s->rows, s->cols, FOURIER_MATRIX, way, s->data, spare, c->threads, c->scratch,
                     c->err));
    fourier_run(&f, s->data);
    fourier_close(&f);
    arena_rewind(c->scratch, mark);
    return OK;
}

Status spectrum_of(const Call *c, const float *x, FourierSpectrum *s, float *gauge)
{
    const double lift = basis_lift(blockwise_most(x, elements(s), c->threads));
    s->data = NEW(c->scratch, float, s->rows * s->room);
    TRY(arena_check(s->data, c->scratch, c->err));
    if (s->atoms == 0)
        return OK;
    load(c, s, x, lift);
    TRY(transform(c, s, FOURIER_FORWARD, NULL));
    measure(c, s, gauge);
    if (lift == 1)
        return OK;
    if (!basis_scale(gauge, s->atoms, 1 / lift, c->threads, gauge))
        return FAIL(c->err, ERR_NUMERIC, "%s: a coefficient is beyond float32", c->self->ops->name);
    basis_scale(s->data, s->rows * s->room, 1 / lift, c->threads, s->data);
    return OK;
}

/* ---- inverse transform ---- */

Status spectrum_clear(const Call *c, FourierSpectrum *s)
{
    s->data = NEW_ZERO(c->scratch, float, s->rows * s->room);
    return arena_check(s->data, c->scratch, c->err);
}

/* The inverse transform does not divide by sqrt(n), nor by the sqrt(2) of atoms that are not real, so the
 * factor does both. */
double spectrum_factor(const FourierSpectrum *s, Frequency f, double lift)
{
    return lift / sqrt((f.real ? 1 : 2) * (double)elements(s));
}

/* Fills in the conjugates of the atoms in column k (0 or cols / 2), because the inverse transform reads the
 * conjugates too. */
static void mirror(const FourierSpectrum *s, size_t k)
{
    for (size_t j = 1; 2 * j < s->rows; j++) {
        const float *z = s->data + j * s->room + 2 * k;
        float *partner = s->data + (s->rows - j) * s->room + 2 * k;
        partner[0] = z[0];
        partner[1] = -z[1];
    }
}

Status spectrum_back(const Call *c, FourierSpectrum *s, double lift, float *x, bool *in)
{
    *in = true;
    if (s->atoms == 0)
        return OK;
    mirror(s, 0);
    if (s->cols % 2 == 0)
        mirror(s, s->cols / 2);
    TRY(transform(c, s, FOURIER_BACK, x));
    *in = store(c, s, 1 / lift, x);
    return OK;
}
