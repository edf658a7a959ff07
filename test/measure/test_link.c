/* test_link.c -- fits of links: exact times give back their link, a brute-force search finds no better one, and the
 * intervals hold the truth as often as they say. Files of links are read, and all others refused. */
#include "rig/check.h"
#include "rig/scratch_dir.h"

#include "base/rng.h"
#include "cmd/bench_link.c"
#include "math/stats.h"

static Error err;

enum { POINTS = 12 };

/* Exchanges of 64 bytes to 4 MB, with 1, 2, 3, 1, ... messages, on a link of 40 us and 1.2e8 bytes per second. Each
 * time is off by a factor 1 + `noise` z, with a normal z. */
static void make_points(LinkPoint *p, double noise, int64_t draw)
{
    const Rng rng = rng_open(1, 0, 0, draw, 0);
    for (size_t i = 0; i < POINTS; i++) {
        p[i] = (LinkPoint){.messages = (double)(i % 3 + 1),
                           .bytes = 64 * pow(4, (double)(i * 8) / (POINTS - 1))};
        p[i].seconds =
            (p[i].messages * 40e-6 + p[i].bytes / 1.2e8) * (1 + noise * rng_normal(&rng, USE_SAMPLE, i));
    }
}

TEST(exact_times_give_back_their_link)
{
    LinkPoint p[POINTS];
    LinkFit f;
    make_points(p, 0, 0);
    check_ok(link_fit(&f, p, POINTS, &err), &err);
    check_rel(f.latency, 40e-6, 1e-12);
    check_rel(f.bandwidth, 1.2e8, 1e-12);
    check(f.deviation < 1e-12 && f.worst < 1e-12);
    check(f.latency_se < 1e-12 * 40e-6 * 100 && f.bandwidth_se < 1.2e8 * 1e-10);
    check_rel(link_fit_seconds(&f, &p[5]), p[5].seconds, 1e-12);
    check_ok(link_fit(&f, p + 3, 2, &err), &err);
    check_rel(f.latency, 40e-6, 1e-9);
    check(isnan(f.latency_se) && isnan(f.bandwidth_se));
}

static double squares(const LinkPoint *p, double latency, double bandwidth)
{
    double sum = 0;
    for (size_t i = 0; i < POINTS; i++) {
        const double off = (p[i].messages * latency + p[i].bytes / bandwidth) / p[i].seconds - 1;
        sum += off * off;
    }
    return sum;
}

TEST(no_other_link_is_nearer)
{
    LinkPoint p[POINTS];
    LinkFit f;
    make_points(p, 0.2, 7);
    check_ok(link_fit(&f, p, POINTS, &err), &err);
    const double least = squares(p, f.latency, f.bandwidth);
    check_rel(f.deviation, sqrt(least / POINTS), 1e-12);
    for (int i = -50; i <= 50; i++)
        for (int j = -50; j <= 50; j++)
            if (i || j)
                check(squares(p, f.latency * (1 + i * 1e-3), f.bandwidth * (1 + j * 1e-3)) > least);
    double worst = 0;
    for (size_t i = 0; i < POINTS; i++)
        worst = fmax(worst, fabs(link_fit_seconds(&f, &p[i]) / p[i].seconds - 1));
    check_rel(f.worst, worst, 1e-12);
}

/* Of 4,000 intervals at 95 %, a number outside 200 +- 5 standard deviations (69) has a probability of 6e-7. Relative
 * noise of 1 % keeps the fit linear in the noise. */
TEST(intervals_hold_the_link_as_often_as_they_say)
{
    enum { DRAWS = 4000 };
    const double t = t_quantile(0.05, POINTS - 2);
    int missed_latency = 0, missed_bandwidth = 0;
    for (int i = 0; i < DRAWS; i++) {
        LinkPoint p[POINTS];
        LinkFit f;
        make_points(p, 0.01, i);
        check_ok(link_fit(&f, p, POINTS, &err), &err);
        missed_latency += fabs(f.latency - 40e-6) > t * f.latency_se;
        missed_bandwidth += fabs(f.bandwidth - 1.2e8) > t * f.bandwidth_se;
    }
    check_near(missed_latency, 200, 69);
    check_near(missed_bandwidth, 200, 69);
}

TEST(a_latency_is_never_negative)
{
    /* times that grow faster than the bytes: a line through them has a negative value at 0 bytes */
    const LinkPoint p[] = {{1, 1e3, 1e-5}, {1, 2e3, 3e-5}, {1, 4e3, 8e-5}};
    LinkFit f;
    double y = 0, yy = 0;
    for (size_t i = 0; i < countof(p); i++) {
        y += p[i].bytes / p[i].seconds;
        yy += p[i].bytes / p[i].seconds * p[i].bytes / p[i].seconds;
    }
    check_ok(link_fit(&f, p, countof(p), &err), &err);
    check(f.latency == 0 && isnan(f.latency_se));
    check_rel(f.bandwidth, yy / y, 1e-12);
    check(f.bandwidth_se > 0);
}

/* ---- files ---- */

static Arena *a;

static const char *write_file(const char *schema, const char *rows)
{
    const char *path = in_scratch("link.json");
    char text[2000];
    const int size =
        snprintf(text, sizeof text, "{\"schema\": \"%s\", \"meta\": {}, \"results\": [%s]}", schema, rows);
    file_save(path, text, (size_t)size);
    return path;
}

#define ALL(numbers) "{\"record\": \"fit\", \"exchange\": \"all\", " numbers "}"
#define OTHERS                                                                                               \
    "{\"record\": \"fit\", \"exchange\": \"ring\", \"alpha_ms\": 7, \"beta_gbps\": 7},"                      \
    "{\"record\": \"time\", \"exchange\": \"all\", \"alpha_ms\": 8, \"beta_gbps\": 8},"

TEST(a_file_has_the_fit_of_all_exchanges)
{
    Link l;
    a = arena_open(0);
    const char *path = write_file("atomo-link/1", OTHERS ALL("\"alpha_ms\": 0.25, \"beta_gbps\": 1.5"));
    check_ok(link_read(&l, path, a, &err), &err);
    check_rel(l.latency, 0.25e-3, 1e-12);
    check_rel(l.bandwidth, 1.5e9, 1e-12);
    assert_string_equal(l.name, path);
    arena_close(a);
}

CHECK_ALL(scratch_open, scratch_close)
