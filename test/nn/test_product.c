/* test_product.c -- the matrix products of layers against sums in double. */
#include "rig/check.h"

#include "nn/loops.h"

#include <float.h>

enum { M = 101, N = 33, K = 801 };

static const struct {
    size_t m, n, k;
} sizes[] = {{1, 1, 1},   {1, 16, 7},  {5, 17, 8},    {6, 16, 9},    {7, 15, 31},  {47, 33, 16},
             {48, 32, 5}, {49, 1, 64}, {101, 33, 65}, {54, 31, 384}, {6, 20, 385}, {13, 16, 801}};

/* Products of one size: A and B, each stored in both ways, and what c is before the product. */
typedef struct {
    float a[2][M * K], b[2][K * N], before[M * N], c[M * N];
    double sum[M * N], size[M * N]; /* of the products, and of their magnitudes */
} Case;

static void case_make(Case *t, size_t m, size_t n, size_t k)
{
    const Rng rng = rng_open(1, 0, 0, 0, m * n * k);
    rng_normals(&rng, USE_TEST, 0, m * k, 1, t->a[0]);
    rng_normals(&rng, USE_DATA, 0, k * n, 1, t->b[0]);
    rng_normals(&rng, USE_COIN, 0, m * n, 1, t->before);
    for (size_t i = 0; i < m * k; i++)
        t->a[1][i % k * m + i / k] = t->a[0][i];
    for (size_t i = 0; i < k * n; i++)
        t->b[1][i % n * k + i / n] = t->b[0][i];
    for (size_t i = 0; i < m * n; i++) {
        t->sum[i] = t->size[i] = 0;
        for (size_t l = 0; l < k; l++) {
            const double x = (double)t->a[0][i / n * k + l] * (double)t->b[0][l * n + i % n];
            t->sum[i] += x;
            t->size[i] += fabs(x);
        }
    }
}

static void check_product(const Case *t, const Product *p)
{
    for (size_t i = 0; i < p->m * p->n; i++) {
        const double before = p->add ? (double)t->before[i] : 0, scale = (double)p->scale;
        check_near((double)p->c[i], before + scale * t->sum[i],
                   FLT_EPSILON * ((double)p->k + 2) * (fabs(before) + fabs(scale) * t->size[i]));
    }
}

static void by_loops(const Product *p, const ProductLoops *l, Arena *a)
{
    const ArenaMark mark = arena_mark(a);
    const size_t panels = (p->n + PRODUCT_COLUMNS - 1) / PRODUCT_COLUMNS;
    float *packed = NEW(a, float, panels * p->k * PRODUCT_COLUMNS),
          *room = NEW(a, float, PRODUCT_ROWS *PRODUCT_TERMS + PRODUCT_BEHIND);
    for (size_t i = 0; i < panels; i++)
        l->pack(p, i, packed + i * p->k * PRODUCT_COLUMNS);
    for (size_t from = 0; from < p->m; from += PRODUCT_ROWS)
        l->rows(p, from, p->m - from < PRODUCT_ROWS ? p->m - from : PRODUCT_ROWS, packed, room);
    arena_rewind(a, mark);
}

/* Calls `check_one` for every size, with A and B as they are and turned, set and added. */
static void for_all(void (*check_one)(Case *t, const Product *p, Arena *a))
{
    Arena *a = arena_open(0);
    Case *t = NEW(a, Case, 1);
    Error err;
    check_ok(linalg_ready(&err), &err);
    for (size_t i = 0; i < countof(sizes); i++) {
        case_make(t, sizes[i].m, sizes[i].n, sizes[i].k);
        for (int way = 0; way < 8; way++) {
            const bool at = way & 1, bt = way & 2, add = way & 4;
            check_one(t,
                      &(Product){.a = t->a[at],
                                 .b = t->b[bt],
                                 .c = t->c,
                                 .m = sizes[i].m,
                                 .n = sizes[i].n,
                                 .k = sizes[i].k,
                                 .a_turned = at,
                                 .b_turned = bt,
                                 .add = add,
                                 .scale = add ? 1 : 0.3F},
                      a);
        }
    }
    arena_close(a);
}

static void check_loops(Case *t, const Product *p, Arena *a)
{
    for (Isa isa = 0; isa < ISA_COUNT; isa++)
        if (loops_of(isa) && loops_of(isa)->product->rows) {
            memcpy(t->c, t->before, sizeof t->c);
            by_loops(p, loops_of(isa)->product, a);
            check_product(t, p);
            /* nothing behind the result is written */
            assert_memory_equal(t->c + p->m * p->n, t->before + p->m * p->n,
                                (M * N - p->m * p->n) * sizeof *t->c);
        }
}

static void loops_of_every_instruction_set_are_the_sums(void **state)
{
    (void)state;
    for_all(check_loops);
}

static void check_threads(Case *t, const Product *p, Arena *a)
{
    static float first[M * N];
    Error err;
    const ArenaMark mark = arena_mark(a);
    for (int threads = 0; threads <= 3; threads++) {
        memcpy(t->c, t->before, sizeof t->c);
        if (threads)
            check_ok(product(p, threads, a, &err), &err);
        else
            product_alone(p, NEW(a, float, product_room(p->n, p->k)));
        check_product(t, p);
        if (!threads)
            memcpy(first, t->c, sizeof first);
        assert_memory_equal(first, t->c, p->m * p->n * sizeof *first);
    }
    arena_rewind(a, mark);
}

static void threads_change_no_bit(void **state)
{
    (void)state;
    for_all(check_threads);
}

static void a_product_of_no_terms_is_0(void **state)
{
    (void)state;
    Arena *a = arena_open(0);
    Error err;
    float c[4] = {1, 2, 3, 4}, none[1] = {0};
    check_ok(linalg_ready(&err), &err);
    check_ok(product(&(Product){.a = none, .b = none, .c = c, .m = 2, .n = 2, .scale = 1}, 1, a, &err), &err);
    for (size_t i = 0; i < 4; i++)
        check(c[i] == 0);
    arena_close(a);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(loops_of_every_instruction_set_are_the_sums),
    cmocka_unit_test(threads_change_no_bit),
    cmocka_unit_test(a_product_of_no_terms_is_0),
};

CHECK_MAIN(tests)
