/* fourier.c -- FFTW's single-precision plans. */
#include "fourier.h"

#include <fftw3.h>

/* Every matrix in place: strides of reals in floats, of the spectrum in complex numbers. */
static fftwf_plan make_plan(size_t rows, size_t cols, size_t count, FourierWay way, float *data)
{
    const ptrdiff_t room = (ptrdiff_t)fourier_room(cols), size = (ptrdiff_t)rows * room;
    const ptrdiff_t m = (ptrdiff_t)rows, n = (ptrdiff_t)cols, many = (ptrdiff_t)count;
    const int skip = rows == 1;
    fftwf_complex *spectrum = (void *)data;
    if (way == FOURIER_FORWARD) {
        const fftwf_iodim64 dims[] = {{m, room, room / 2}, {n, 1, 1}}, batch = {many, size, size / 2};
        return fftwf_plan_guru64_dft_r2c(2 - skip, dims + skip, 1, &batch, data, spectrum, FFTW_ESTIMATE);
    }
    const fftwf_iodim64 dims[] = {{m, room / 2, room}, {n, 1, 1}}, batch = {many, size / 2, size};
    return fftwf_plan_guru64_dft_c2r(2 - skip, dims + skip, 1, &batch, spectrum, data, FFTW_ESTIMATE);
}

Status fourier_open(Fourier *f, size_t rows, size_t cols, size_t count, FourierWay way, float *data,
                    Error *err)
{
    *f = (Fourier){make_plan(rows, cols, count, way, data), way};
    if (f->plan)
        return OK;
    return FAIL(err, ERR_MEMORY, "no memory for a Fourier transform of %zu x %zu x %zu", count, rows, cols);
}

void fourier_run(const Fourier *f, float *data)
{
    if (f->way == FOURIER_FORWARD)
        fftwf_execute_dft_r2c(f->plan, data, (void *)data);
    else
        fftwf_execute_dft_c2r(f->plan, (void *)data, data);
}

void fourier_close(Fourier *f)
{
    fftwf_destroy_plan(f->plan);
    f->plan = NULL;
}
