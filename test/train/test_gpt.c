/* test_gpt.c -- the network gpt against PyTorch. gpt_torch.py made the values in reference/gpt.txt. `test_gpt --write FILE` writes the tokens
 * and weights that this script reads. */
#include "rig/check.h"

#include "train/tokens.c"
#include "train/model.h"

#include <stdatomic.h>

enum { TOKENS = 70, LETTERS = 7, IMAGES_MOST_HERE = 19, LAYERS = 2, HEADS = 2, WIDTH = 12 };

/* 70 tokens need two blocks of attention. */
#define SHAPE "gpt:layers=2,heads=2,width=12,context=70,bias="

typedef struct {
    Arena *a;
    Model *m;
    Error err;
    size_t n;
    float *x, *w, *g;
    uint32_t labels[IMAGES_MOST_HERE * TOKENS];
    Batch batch;
    bool bias;
} Net;

static atomic_size_t asked;
static size_t stop_at; /* the question that is the first to be answered with yes; 0: none */

static bool stopped(void)
{
    return stop_at && atomic_fetch_add(&asked, 1) + 1 >= stop_at;
}

static void net_open(Net *t, const char *network, size_t images)
{
    *t = (Net){.a = arena_open(0), .bias = strstr(network, "bias=on") != NULL};
    const Rng rng = rng_open(4, 0, 0, 0, 0);
    const ModelSpec spec = {network, 1, 1, TOKENS, LETTERS, images, stopped, .text = true};
    check_ok(model_open(&t->m, &spec, &t->err), &t->err);
    t->n = model_parameters(t->m)->floats;
    t->x = NEW(t->a, float, images *TOKENS);
    t->w = NEW(t->a, float, t->n);
    t->g = NEW(t->a, float, t->n);
    rng_normals(&rng, USE_TEST, 0, t->n, 0.3, t->w);
    for (size_t i = 0; i < images * TOKENS; i++) {
        t->x[i] = (float)(rng_u32(&rng, USE_DATA, i) % LETTERS);
        t->labels[i] = (uint32_t)(rng_u32(&rng, USE_COIN, i) % LETTERS);
    }
    t->batch = (Batch){t->x, t->labels, images};
}

static void net_close(Net *t)
{
    model_close(t->m);
    arena_close(t->a);
}

static Score gradient(Net *t, int threads)
{
    const Rng rng = rng_open(4, 0, 0, 0, 0);
    Score score;
    check_ok(model_gradient(t->m, &t->batch, t->w, NULL, &rng, threads, t->g, &score, &t->err), &t->err);
    return score;
}

static const Slice *slice_of(const Net *t, const char *name)
{
    for (size_t i = 0; i < model_parameters(t->m)->count; i++)
        if (!strcmp(model_parameters(t->m)->item[i].name, name))
            return &model_parameters(t->m)->item[i];
    check_never("a parameter of that name");
    return NULL;
}

/* ---- the network against PyTorch ---- */

static void check_tensor(const Net *t, const Slice *s, const double want[5])
{
    const float *g = t->g + s->offset;
    const size_t n = s->shape.n;
    double squares = 0, sum = 0;
    for (size_t i = 0; i < n; i++) {
        squares += (double)g[i] * (double)g[i];
        sum += (double)g[i];
    }
    const double norm = want[0], off = 1e-5 * norm / sqrt((double)n);
    check_rel(sqrt(squares), norm, 1e-5);
    check_near(sum, want[1], 1e-5 * norm * sqrt((double)n));
    check_near((double)g[0], want[2], 10 * off);
    check_near((double)g[n / 3], want[3], 10 * off);
    check_near((double)g[n - 1], want[4], 10 * off);
}

TEST(loss_and_gradients_are_those_of_pytorch)
{
    FILE *f = fopen("test/reference/gpt.txt", "r");
    Net t;
    char name[80];
    double v[5];
    check(f != NULL);
    net_open(&t, SHAPE "on", 3);
    const Score score = gradient(&t, 1);
    assert_int_equal(fscanf(f, "loss %lf correct %lf", v, v + 1), 2);
    check_rel(score.loss, v[0], 1e-6);
    assert_int_equal(score.correct, (size_t)v[1]);
    size_t tensors = 0;
    for (; fscanf(f, "%79s %lf %lf %lf %lf %lf", name, v, v + 1, v + 2, v + 3, v + 4) == 6; tensors++)
        check_tensor(&t, slice_of(&t, name), v);
    assert_int_equal(tensors, model_parameters(t.m)->count);
    fclose(f);
    net_close(&t);
}

/* ---- other properties ---- */

TEST(threads_change_no_bit)
{
    Net t;
    net_open(&t, SHAPE "on", IMAGES_MOST_HERE);
    const Score want = gradient(&t, 1);
    float *g = NEW(t.a, float, t.n);
    memcpy(g, t.g, t.n * sizeof *g);
    for (int threads = 2; threads <= 3; threads++) {
        const Score score = gradient(&t, threads);
        check(score.loss == want.loss && score.correct == want.correct);
        check(!memcmp(g, t.g, t.n * sizeof *g));
    }
    net_close(&t);
}

/* A stop within a layer leaves values that later code of the layer may find wrong, such as a variance of 0. */
TEST(a_pass_that_is_stopped_anywhere_says_so_and_no_more)
{
    Net t;
    Score score;
    Status status = ERR_STOPPED;
    size_t within = 0;
    const Rng rng = rng_open(4, 0, 0, 0, 0);
    for (size_t at = 1; status != OK; at++) {
        net_open(&t, SHAPE "on", 4);
        asked = 0;
        stop_at = at;
        status = model_gradient(t.m, &t.batch, t.w, NULL, &rng, 2, t.g, &score, &t.err);
        stop_at = 0;
        check(status == OK || status == ERR_STOPPED);
        within += status == ERR_STOPPED;
        net_close(&t);
    }
    check(within > 100); /* 16 layers, forward and backward, have fewer ends */
}

/* The loss of the first tokens must not change when a later token does. */
TEST(a_token_does_not_see_later_tokens)
{
    Net t;
    Score score;
    net_open(&t, SHAPE "off", 1);
    double *before = NEW(t.a, double, TOKENS);
    for (size_t seen = 0; seen < TOKENS; seen++) {
        /* With the label of token `seen` changed, the loss changes by that token's outputs alone. */
        double loss[2];
        for (int k = 0; k < 2; k++) {
            t.labels[seen] = (uint32_t)((t.labels[seen] + 1) % LETTERS);
            check_ok(model_score(t.m, &t.batch, t.w, NULL, 1, &score, &t.err), &t.err);
            loss[k] = score.loss;
        }
        before[seen] = loss[1] - loss[0];
        t.labels[seen] = (uint32_t)((t.labels[seen] + LETTERS - 2) % LETTERS);
    }
    t.x[40] = (float)(((int)t.x[40] + 1) % LETTERS);
    size_t changed = 0;
    for (size_t seen = 0; seen < TOKENS; seen++) {
        double loss[2];
        for (int k = 0; k < 2; k++) {
            t.labels[seen] = (uint32_t)((t.labels[seen] + 1) % LETTERS);
            check_ok(model_score(t.m, &t.batch, t.w, NULL, 1, &score, &t.err), &t.err);
            loss[k] = score.loss;
        }
        const bool same = fabs(loss[1] - loss[0] - before[seen]) < 1e-6;
        check(same || seen >= 40);
        changed += !same;
        t.labels[seen] = (uint32_t)((t.labels[seen] + LETTERS - 2) % LETTERS);
    }
    check(changed > 15);
    net_close(&t);
}

TEST(gelu_is_exact_on_every_instruction_set)
{
    enum { COUNT = 2003 };
    static float x[COUNT], y[COUNT];
    for (Isa isa = 0; isa < ISA_COUNT; isa++) {
        if (isa > isa_of_cpu() || !tables[isa])
            continue;
        for (size_t i = 0; i < COUNT; i++)
            x[i] = (float)i / 100 - 10;
        tables[isa]->gelu(COUNT, x, y);
        for (size_t i = 0; i < COUNT; i++) {
            const double v = (double)((float)i / 100 - 10), below = 0.5 * erfc(-v / sqrt(2));
            check_near((double)y[i], v * below, 2e-7 * fmax(1, fabs(v)));
            check_near((double)x[i], below + v * exp(-v * v / 2) / sqrt(2 * acos(-1)), 4e-7);
        }
    }
}

TEST(presets_have_the_published_numbers_of_parameters)
{
    /* nanoGPT prints 0.80M and 10.65M for a vocabulary of 65: without the context * width positions. */
    static const struct {
        const char *network;
        size_t context, parameters;
    } want[] = {{"gpt-nano", 64, 795904 + 64 * 128}, {"gpt-char", 256, 10646784 + 256 * 384}};
    for (size_t i = 0; i < countof(want); i++) {
        Model *m;
        Error err = {0};
        size_t context;
        check_ok(network_context(&context, want[i].network, &err), &err);
        assert_int_equal(context, want[i].context);
        const ModelSpec spec = {want[i].network, 1, 1, context, 65, 1, NULL, .text = true};
        check_ok(model_open(&m, &spec, &err), &err);
        assert_int_equal(model_parameters(m)->floats, want[i].parameters);
        model_close(m);
    }
}

static int write_inputs(const char *path)
{
    Net t;
    net_open(&t, SHAPE "on", 3);
    FILE *f = fopen(path, "wb");
    check(f && fwrite(t.x, sizeof *t.x, 3 * TOKENS, f) == 3 * TOKENS);
    for (size_t i = 0; i < 3 * TOKENS; i++) {
        const float label = (float)t.labels[i];
        check(fwrite(&label, sizeof label, 1, f) == 1);
    }
    check(fwrite(t.w, sizeof *t.w, t.n, f) == t.n && !fclose(f));
    net_close(&t);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 3 && !strcmp(argv[1], "--write"))
        return write_inputs(argv[2]);
    return check_run(NULL, NULL);
}
