/* test_tails.c -- the codecs gaussiank and sidco against plain versions of the papers' rules. Each codec fits a
 * distribution to the elements to find a threshold that about k magnitudes reach. */
#include "rig/try.h"

#include <float.h>

static const size_t sizes[] = {2, 3, 65, 1000, 65536, 131077};

static double magnitude(const Try *t, size_t i)
{
    return fabs((double)t->x[i]);
}

static size_t wanted(double ratio, size_t n)
{
    const size_t k = (size_t)(ratio * (double)n + 0.5);
    return k < 1 ? 1 : k < n ? k : n;
}

static size_t reach(const Try *t, double level)
{
    size_t count = 0;
    for (size_t i = 0; i < t->shape.n; i++)
        count += t->x[i] != 0 && magnitude(t, i) >= level;
    return count;
}

static double largest(const Try *t)
{
    double most = 0;
    for (size_t i = 0; i < t->shape.n; i++)
        most = fmax(most, magnitude(t, i));
    return most;
}

/* Returns the z with P(|Z| > z) = `share` for a standard normal Z. */
static double two_sided(double share)
{
    double low = 0, high = 40;
    for (int i = 0; i < 200; i++) {
        const double mid = 0.5 * (low + high);
        *(erfc(mid * M_SQRT1_2) > share ? &low : &high) = mid;
    }
    return low;
}

static double gaussian_level(const Try *t, double ratio)
{
    const double n = (double)t->shape.n, k = (double)wanted(ratio, t->shape.n);
    long double mean = 0, variance = 0;
    if (k == n)
        return 0;
    for (size_t i = 0; i < t->shape.n; i++)
        mean += (long double)t->x[i] / n;
    for (size_t i = 0; i < t->shape.n; i++)
        variance += ((long double)t->x[i] - mean) * ((long double)t->x[i] - mean) / n;
    double level = fabs((double)mean) + two_sided(ratio) * sqrt((double)variance);
    for (int round = 0; round < 4; round++) {
        const double count = (double)reach(t, level);
        if (count < 2 * k / 3)
            level *= 0.5;
        else if (count > 4 * k / 3)
            level *= 1.5;
    }
    return reach(t, level) ? level : largest(t);
}

static double staged_level(const Try *t, double ratio, int stages)
{
    double level = 0;
    for (int m = 1; m <= stages; m++) {
        const double share = stages == 1 ? ratio : m == 1 ? 0.25 : pow(4 * ratio, 1.0 / (stages - 1));
        long double excess = 0, count = 0;
        for (size_t i = 0; i < t->shape.n; i++)
            if (magnitude(t, i) >= level) {
                excess += (long double)magnitude(t, i) - level;
                count++;
            }
        if (count == 0)
            break;
        level += (double)(excess / count) * log(1 / share);
    }
    return level;
}

static double sidco_level(const Try *t, double ratio)
{
    const double k = (double)wanted(ratio, t->shape.n);
    double best = INFINITY, least = INFINITY;
    if (wanted(ratio, t->shape.n) == t->shape.n)
        return 0;
    for (int stages = 1; stages <= (ratio < 0.25 ? 4 : 1); stages++) {
        const double level = staged_level(t, ratio, stages), count = (double)reach(t, level);
        const double miss = count > 0 ? fmax(count / k, k / count) : INFINITY;
        if (miss < least) {
            least = miss;
            best = level;
        }
    }
    return reach(t, best) ? best : largest(t);
}

/* ---- the codecs against the plain versions of the papers' rules ---- */

static const struct {
    const char *name;
    double (*level)(const Try *t, double ratio);
} codecs[] = {{"gaussiank", gaussian_level}, {"sidco", sidco_level}};
static const double ratios[] = {1e-4, 1e-3, 0.01, 0.1, 0.24, 0.4, 1};

enum { LAWS = 5 };

static void fill(Try *t, int law)
{
    law == 1 ? try_laplace(t, 6) : try_normal(t, 6);
    for (size_t i = 0; i < t->shape.n; i++) {
        const float v = t->x[i];
        /* law 2 has a mean far from zero */
        t->x[i] = law == 2   ? 3 + v
                  : law == 3 ? v * v * v * v * v * 0.1f /* heavy tails */
                  : law == 4 ? (i % 7 ? 0 : v)
                             : v;
    }
}

static Try *open_case(const char *name, double ratio, size_t n, int law)
{
    char spec[48];
    snprintf(spec, sizeof spec, "%s:ratio=%g", name, ratio);
    Try *t = try_open(spec, n);
    fill(t, law);
    return t;
}

/* Elements within a rounding error of the threshold may be sent or not. */
TEST(what_goes_is_what_reaches_the_papers_level)
{
    for (size_t c = 0; c < countof(codecs); c++)
        for (size_t r = 0; r < countof(ratios); r++)
            for (size_t z = 0; z < countof(sizes); z++)
                for (int law = 0; law < LAWS; law++) {
                    Try *t = open_case(codecs[c].name, ratios[r], sizes[z], law);
                    try_both(t);
                    const double level = codecs[c].level(t, ratios[r]);
                    const bool raw = t->out.data[0] == PAYLOAD_RAW;
                    for (size_t i = 0; i < sizes[z]; i++) {
                        const bool near = fabs(magnitude(t, i) - level) < 1e-12 * level;
                        const bool in = raw || magnitude(t, i) >= level;
                        if (!near && t->y[i] != (in ? t->x[i] : 0))
                            print_error("%s, ratio %g, n %zu, law %d, level %g\n", codecs[c].name, ratios[r],
                                        sizes[z], law, level);
                        check(near || t->y[i] == (in ? t->x[i] : 0));
                    }
                    try_close(t);
                }
}

CHECK_ALL(NULL, NULL)
