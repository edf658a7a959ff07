/* phase.c -- finds the edge of the regular 64-gon to which a complex number points. The number is first
 * reflected into the first octant, for which there are tables. */
#include "math/phase.h"

#include <math.h>

enum { EDGES = PHASES / 8, QUARTER = PHASES / 4, HALF = PHASES / 2 };

/* Element k is cos(2 pi k / 64) for k <= 16. Element 16 - k is the sine of the same angle. */
static const double cosine[QUARTER + 1] = {1,
                                           0.99518472667219693,
                                           0.98078528040323043,
                                           0.95694033573220882,
                                           0.92387953251128674,
                                           0.88192126434835505,
                                           0.83146961230254524,
                                           0.77301045336273699,
                                           0.70710678118654757,
                                           0.63439328416364549,
                                           0.55557023301960229,
                                           0.47139673682599781,
                                           0.38268343236508984,
                                           0.29028467725446233,
                                           0.19509032201612833,
                                           0.09801714032956077,
                                           0};

/* The 8 edges of the 64-gon in the first octant. Edge j lies on the line re edge_re[j] + im edge_im[j] = 1.
 * The two coefficients are the cosine and sine of the direction of the edge's middle, over cos(pi / 64). */
static const float edge_re[EDGES] = {
    1, 0.990369453f, 0.971201107f, 0.942679564f, 0.905079501f, 0.858763028f, 0.804176197f, 0.74184471f};
static const float edge_im[EDGES] = {0.0491268498f, 0.146907431f, 0.243273213f, 0.337296141f,
                                     0.428070723f,  0.51472275f,  0.596417716f, 0.672368853f};

/* Returns gauge(z) = |z| / |e|, where e is the point of the 64-gon in the direction of z = re + i im. It is
 * the largest x edge_re[j] + y edge_im[j] over the octant's edges j, where x + i y is z reflected into the
 * first octant. */
static inline float gauge_of(float re, float im)
{
    const float a = fabsf(re), b = fabsf(im);
    const float x = a > b ? a : b, y = a > b ? b : a;
    float most = x * edge_re[0] + y * edge_im[0];
    for (int j = 1; j < EDGES; j++) {
        const float g = x * edge_re[j] + y * edge_im[j];
        most = g > most ? g : most;
    }
    return most;
}

void phase_gauges(float *z, size_t count, float scale, float *gauge)
{
    for (size_t i = 0; i < count; i++) {
        const float re = z[2 * i] * scale, im = z[2 * i + 1] * scale;
        z[2 * i] = re;
        z[2 * i + 1] = im;
        gauge[i] = gauge_of(re, im);
    }
}

void phase_corner(unsigned k, double z[2])
{
    const unsigned part = k % QUARTER;
    const double c = cosine[part], s = cosine[QUARTER - part];
    const unsigned quarter = k / QUARTER;
    z[0] = quarter == 0 ? c : quarter == 1 ? -s : quarter == 2 ? -c : s;
    z[1] = quarter == 0 ? s : quarter == 1 ? c : quarter == 2 ? -s : -c;
}

unsigned phase_draw(float re, float im, float gauge, double u)
{
    const double a = fabs((double)re), b = fabs((double)im);
    const double x = a > b ? a : b, y = a > b ? b : a;
    /* index of the corner at the beginning of the edge to which z points */
    unsigned j = 0;
    for (unsigned k = 1; k < EDGES; k++)
        j = y * cosine[k] >= x * cosine[QUARTER - k] ? k : j;
    /* z lies between `gauge` c_j and `gauge` c_(j+1), where c_j is corner j on the unit circle. With q the
     * probability of c_(j+1), z = gauge ((1 - q) c_j + q c_(j+1)). So the cross product of c_j and z is q
     * gauge sin(2 pi / 64). */
    const double q = (cosine[j] * y - cosine[QUARTER - j] * x) / ((double)gauge * cosine[QUARTER - 1]);
    unsigned k = j + (u < q);
    k = a > b ? k : QUARTER - k;
    k = re < 0 ? HALF - k : k;
    return im < 0 ? (PHASES - k) % PHASES : k;
}
