/* test_powersgd.c -- the codec powersgd against the algorithm of the paper in long double, and on matrices
 * of low rank. An iteration computes P = M Q and then Q = M' P for the matrix M; P Q'
 * estimates M. */
#include "rig/codec_rig.h"
#include "rig/model_rig.h"
#include "math/blockwise.h"
#include "math/linalg.h"

static Shape shape_of(int rank, const size_t *dim)
{
    Shape shape;
    check(shape_make(&shape, rank, dim));
    return shape;
}

static Shape matrix(size_t rows, size_t cols)
{
    return shape_of(2, (const size_t[]){rows, cols});
}

static void normal(float *x, size_t n, uint64_t seed)
{
    const Rng rng = rng_open(seed, 0, 0, 0, 5);
    rng_normals(&rng, USE_TEST, 0, n, 1, x);
}

/* Fills x with a sum of `rank` outer products of normal vectors. Product k = 0, 1, ... is multiplied by
 * 2^-k. */
static void low_rank(float *x, size_t rows, size_t cols, size_t rank, uint64_t seed)
{
    const Rng rng = rng_open(seed, 0, 0, 0, 6);
    for (size_t i = 0; i < rows * cols; i++) {
        double v = 0;
        for (size_t k = 0; k < rank; k++)
            v += ldexp(rng_normal(&rng, USE_TEST, k * rows + i / cols) *
                           rng_normal(&rng, USE_DATA, k * cols + i % cols),
                       -(int)k);
        x[i] = (float)v;
    }
}

static double error_share(const float *x, const float *y, size_t n)
{
    double error = 0, whole = 0;
    for (size_t i = 0; i < n; i++) {
        error += pow((double)x[i] - (double)y[i], 2);
        whole += pow((double)x[i], 2);
    }
    return error / whole;
}

static void send(Rig *rig, const float *x, uint64_t step)
{
    check_ok(rig_encode(rig, x, step), &rig->err);
    check_ok(rig_decode(rig), &rig->err);
}

static void settle(Rig *rig, const float *x)
{
    check_ok(codec_settle(&rig->call, x, rig->message.round, rig->decoded, rig->state), &rig->err);
}

/* Returns an aligned copy of the floats in the payload of a round, which follow the first byte. */
static const float *values(const Rig *rig, int round)
{
    const Bytes b = rig->message.round[round];
    float *x = NEW(rig->forever, float, b.size / 4);
    memcpy(x, b.data + 1, b.size - 1);
    return x;
}

/* ---- each round against the paper's algorithm ---- */

/* Makes the `count` vectors of n elements in v orthonormal by the Gram-Schmidt process. */
static void gram_schmidt(long double *v, size_t count, size_t n)
{
    for (size_t k = 0; k < count; k++) {
        for (size_t j = 0; j <= k; j++) {
            long double along = 0;
            for (size_t i = 0; i < n; i++)
                along += v[j * n + i] * v[k * n + i];
            for (size_t i = 0; i < n; i++)
                v[k * n + i] = j < k ? v[k * n + i] - along * v[j * n + i] : v[k * n + i] / sqrtl(along);
        }
    }
}

enum { ROWS = 31, COLS = 22, RANK = 3 };

static void close_to(const float *got, const long double *want, size_t n)
{
    for (size_t i = 0; i < n; i++)
        check_near((double)got[i], (double)want[i], 3e-5);
}

TEST(each_round_is_the_papers_line)
{
    Rig rig;
    float x[ROWS * COLS];
    long double q[RANK * COLS], p[RANK * ROWS], y[ROWS * COLS] = {0};
    rig_open(&rig, "powersgd:rank=3,iters=2", matrix(ROWS, COLS));
    normal(x, ROWS * COLS, 1);
    normal(rig.state, RANK * COLS, 2);
    for (size_t i = 0; i < RANK * COLS; i++)
        q[i] = ((float *)rig.state)[i];
    send(&rig, x, 0);
    check(rig.message.rounds == 4);
    for (int round = 0; round < 4; round += 2) {
        gram_schmidt(q, RANK, COLS);
        for (size_t k = 0; k < RANK; k++)
            for (size_t i = 0; i < ROWS; i++) {
                p[k * ROWS + i] = 0;
                for (size_t j = 0; j < COLS; j++)
                    p[k * ROWS + i] += x[i * COLS + j] * q[k * COLS + j];
            }
        close_to(values(&rig, round), p, RANK * ROWS);
        gram_schmidt(p, RANK, ROWS);
        for (size_t k = 0; k < RANK; k++)
            for (size_t j = 0; j < COLS; j++) {
                q[k * COLS + j] = 0;
                for (size_t i = 0; i < ROWS; i++)
                    q[k * COLS + j] += x[i * COLS + j] * p[k * ROWS + i];
            }
        close_to(values(&rig, round + 1), q, RANK * COLS);
    }
    for (size_t i = 0; i < ROWS * COLS; i++)
        for (size_t k = 0; k < RANK; k++)
            y[i] += p[k * ROWS + i / COLS] * q[k * COLS + i % COLS];
    close_to(rig.decoded, y, ROWS * COLS);
    settle(&rig, x);
    close_to(rig.state, q, RANK * COLS);
    check(error_share(x, rig.decoded, ROWS * COLS) < 1);
    rig_close(&rig);
}

/* Returns the relative squared error of the best approximation of x of rank `rank`: the share of the squared
 * singular values after the first `rank`. */
static double beyond(const float *x, size_t rows, size_t cols, size_t rank)
{
    Arena *a = arena_open(0);
    Error err;
    const Tall tall = tall_of(x, rows, cols);
    double *s = NEW(a, double, tall.cols), rest = 0, whole = 0;
    check_ok(linalg_svd(&tall, NULL, s, NULL, a, &err), &err);
    for (size_t i = 0; i < tall.cols; i++) {
        whole += s[i] * s[i];
        rest += i < rank ? 0 : s[i] * s[i];
    }
    arena_close(a);
    return rest / whole;
}

TEST(a_constant_gradient_of_low_rank_is_reached)
{
    Rig warm, cold;
    float x[60 * 45];
    rig_open(&warm, "powersgd:rank=2", matrix(60, 45));
    rig_open(&cold, "powersgd:rank=2,warm=off", matrix(60, 45));
    check(codec_state_size(&cold.call) == 0);
    low_rank(x, 60, 45, 6, 3);
    double first = 0, best = 0, worst = 1;
    for (uint64_t step = 0; step < 40; step++) {
        send(&warm, x, step);
        best = error_share(x, warm.decoded, 60 * 45);
        first = step ? first : best;
        settle(&warm, x);
        send(&cold, x, step);
        worst = fmin(worst, error_share(x, cold.decoded, 60 * 45));
    }
    check(best < 0.8 * first && best < worst);
    check_rel(best, beyond(x, 60, 45, 2), 1e-4);
    rig_close(&warm), rig_close(&cold);

    /* a matrix of rank 2 is sent without error from the first step on */
    rig_open(&warm, "powersgd:rank=2", matrix(60, 45));
    low_rank(x, 60, 45, 2, 4);
    for (uint64_t step = 0; step < 3; step++) {
        send(&warm, x, step);
        check(error_share(x, warm.decoded, 60 * 45) < 1e-12);
        settle(&warm, x);
    }
    rig_close(&warm);
}

/* ---- sizes ---- */

/* Defect 9 of public implementations: the rows of the matrix are the first axis of every tensor. In layouts
 * with the kernel axes first, 1 x 1 kernels are then sent raw, and 3 x 3 kernels shrink by at most a factor of
 * three. */
TEST(defect_9_kernels_are_matrices_that_shrink)
{
    static const struct {
        const char *spec;
        size_t dim[4];
        double least;
    } rows[] = {{"powersgd", {64, 128, 1, 1}, 20},
                {"powersgd", {64, 64, 3, 3}, 28},
                {"powersgd:reshape=paper", {64, 128, 1, 1}, 20},
                {"powersgd:reshape=square", {1, 1, 128, 64}, 20}, /* spatial axes first */
                {"powersgd:reshape=square", {3, 3, 64, 64}, 40}};
    for (size_t i = 0; i < countof(rows); i++) {
        Rig rig;
        const Shape shape = shape_of(4, rows[i].dim);
        rig_open(&rig, rows[i].spec, shape);
        float *x = NEW(rig.forever, float, shape.n);
        normal(x, shape.n, i);
        send(&rig, x, 0);
        check(4 * (double)shape.n / (double)rig.payload.size > rows[i].least);
        check(error_share(x, rig.decoded, shape.n) < 1);
        rig_close(&rig);
    }
}

CHECK_ALL(NULL, NULL)
