/* short_cosine.c -- the DCT-II of a short vector, and its inverse. Cosines of equally spaced angles come from
 * the recurrence cos(a + b) = 2 cos(b) cos(a) - cos(a - b), for all coefficients at once; its rounding errors
 * grow with n^2, to 1e-10 at most. */
#include "math/short_cosine.h"

#include <math.h>

/* ---- cosines ---- */

/* Returns the Taylor series of cos x (from = 0) or sin x (from = 1), summed from its smallest term. */
static double series(double x, int from)
{
    double sum = 0;
    for (int k = from + 20; k > from; k -= 2)
        sum = (1 + sum) * (-x * x / (k * (k - 1)));
    return (1 + sum) * (from ? x : 1);
}

/* Returns cos(pi j / (2 n)) for j <= 2 n. */
static double cosine(size_t j, size_t n)
{
    const size_t i = j > n ? 2 * n - j : j;
    const double step = M_PI / (2 * (double)n);
    const double c = 2 * i > n ? series((double)(n - i) * step, 1) : series((double)i * step, 0);
    return j > n ? -c : c;
}

/* ---- sums of cosines ---- */

/* For each wave l (a cosine at equally spaced angles): its present value, its previous value, and twice the
 * cosine of the spacing. */
typedef struct {
    double now[SHORT_COSINE_MOST], before[SHORT_COSINE_MOST], twice[SHORT_COSINE_MOST];
} Waves;

/* Sets out_l to the sum over t of in_t times value t of wave l. */
static void add_waves(const double *in, size_t n, Waves *w, double *out)
{
    for (size_t l = 0; l < n; l++)
        out[l] = 0;
    for (size_t t = 0; t < n; t++)
        for (size_t l = 0; l < n; l++) {
            const double now = w->now[l], next = w->twice[l] * now - w->before[l];
            out[l] += in[t] * now;
            w->before[l] = now;
            w->now[l] = next;
        }
}

static double weight(size_t k, size_t n)
{
    return sqrt((k ? 2 : 1) / (double)n);
}

void short_cosine_matrix(double *c, size_t n)
{
    for (size_t k = 0; k < n; k++)
        for (size_t i = 0; i < n; i++) {
            const size_t j = (2 * i + 1) * k % (4 * n);
            c[k * n + i] = weight(k, n) * cosine(j > 2 * n ? 4 * n - j : j, n);
        }
}

void short_cosine(float *x, size_t n)
{
    double in[SHORT_COSINE_MOST], out[SHORT_COSINE_MOST];
    Waves w;
    for (size_t k = 0; k < n; k++) {
        in[k] = (double)x[k];
        w.now[k] = w.before[k] = cosine(k, n);
        w.twice[k] = 2 * cosine(2 * k, n);
    }
    add_waves(in, n, &w, out);
    for (size_t k = 0; k < n; k++)
        x[k] = (float)(weight(k, n) * out[k]);
}

void short_cosine_back(float *x, size_t n)
{
    double in[SHORT_COSINE_MOST], out[SHORT_COSINE_MOST];
    Waves w;
    for (size_t i = 0; i < n; i++) {
        in[i] = weight(i, n) * (double)x[i];
        w.now[i] = 1;
        w.before[i] = cosine(2 * i + 1, n);
        w.twice[i] = 2 * w.before[i];
    }
    add_waves(in, n, &w, out);
    for (size_t i = 0; i < n; i++)
        x[i] = (float)out[i];
}
