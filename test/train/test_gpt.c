/* test_gpt.c -- the network gpt against a slow transformer in double precision, written from the formulas, and
 * against PyTorch. gpt_torch.py made the values in reference/gpt.txt. `test_gpt --write FILE` writes the tokens
 * and weights that this script reads. */
#include "rig/check.h"

#include "train/rows.h"
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

/* ---- the slow transformer: x (tokens, channels), one window at a time ---- */

static const Slice *slice_of(const Net *t, const char *module, const char *part)
{
    char name[80];
    snprintf(name, sizeof name, "transformer.%s.%s", module, part);
    for (size_t i = 0; i < model_parameters(t->m)->count; i++)
        if (!strcmp(model_parameters(t->m)->item[i].name, name))
            return &model_parameters(t->m)->item[i];
    check_never("a parameter of that name");
    return NULL;
}

static const double *part_of(const Net *t, const double *w, const char *module, const char *part)
{
    return w + slice_of(t, module, part)->offset;
}

static void ref_norm(const Net *t, const double *w, const char *module, const double *x, double *y)
{
    const double *weight = part_of(t, w, module, "weight"),
                 *bias = t->bias ? part_of(t, w, module, "bias") : NULL;
    for (size_t i = 0; i < TOKENS; i++, x += WIDTH, y += WIDTH) {
        double mean = 0, square = 0;
        for (size_t k = 0; k < WIDTH; k++)
            mean += x[k] / WIDTH;
        for (size_t k = 0; k < WIDTH; k++)
            square += (x[k] - mean) * (x[k] - mean) / WIDTH;
        for (size_t k = 0; k < WIDTH; k++)
            y[k] = (x[k] - mean) / sqrt(square + 1e-5) * weight[k] + (bias ? bias[k] : 0);
    }
}

static void ref_linear(const Net *t, const double *w, const char *module, const double *x, size_t inputs,
                       size_t outputs, double *y)
{
    const double *weight = part_of(t, w, module, "weight"),
                 *bias = t->bias ? part_of(t, w, module, "bias") : NULL;
    for (size_t i = 0; i < TOKENS; i++)
        for (size_t k = 0; k < outputs; k++) {
            double sum = bias ? bias[k] : 0;
            for (size_t j = 0; j < inputs; j++)
                sum += weight[k * inputs + j] * x[i * inputs + j];
            y[i * outputs + k] = sum;
        }
}

static void ref_attention(const double *x, double *y)
{
    const size_t width = WIDTH / HEADS, step = 3 * WIDTH;
    double p[TOKENS];
    for (size_t head = 0; head < HEADS; head++)
        for (size_t i = 0; i < TOKENS; i++) {
            const double *q = x + i * step + head * width;
            double sum = 0;
            for (size_t j = 0; j <= i; j++) {
                const double *k = x + j * step + WIDTH + head * width;
                double s = 0;
                for (size_t c = 0; c < width; c++)
                    s += q[c] * k[c];
                sum += p[j] = exp(s / sqrt((double)width));
            }
            for (size_t c = 0; c < width; c++) {
                double *to = &y[i * WIDTH + head * width + c];
                *to = 0;
                for (size_t j = 0; j <= i; j++)
                    *to += p[j] / sum * x[j * step + 2 * WIDTH + head * width + c];
            }
        }
}

static void ref_block(const Net *t, const double *w, size_t layer, double *x)
{
    static double a[TOKENS * 4 * WIDTH], b[TOKENS * 4 * WIDTH];
    char name[40];
#define NAMED(part) (snprintf(name, sizeof name, "h.%zu." part, layer), name)
    ref_norm(t, w, NAMED("ln_1"), x, a);
    ref_linear(t, w, NAMED("attn.c_attn"), a, WIDTH, 3 * WIDTH, b);
    ref_attention(b, a);
    ref_linear(t, w, NAMED("attn.c_proj"), a, WIDTH, WIDTH, b);
    for (size_t i = 0; i < TOKENS * WIDTH; i++)
        x[i] += b[i];
    ref_norm(t, w, NAMED("ln_2"), x, a);
    ref_linear(t, w, NAMED("mlp.c_fc"), a, WIDTH, 4 * WIDTH, b);
    for (size_t i = 0; i < TOKENS * 4 * WIDTH; i++)
        a[i] = b[i] * 0.5 * erfc(-b[i] / sqrt(2));
    ref_linear(t, w, NAMED("mlp.c_proj"), a, 4 * WIDTH, WIDTH, b);
    for (size_t i = 0; i < TOKENS * WIDTH; i++)
        x[i] += b[i];
#undef NAMED
}

/* Returns the sum of the losses of the tokens of one window. */
static double ref_window(const Net *t, const double *w, const float *token, const uint32_t *label)
{
    static double x[TOKENS * WIDTH], y[TOKENS * WIDTH];
    const double *tokens = part_of(t, w, "wte", "weight"), *places = part_of(t, w, "wpe", "weight");
    double loss = 0;
    for (size_t i = 0; i < TOKENS * WIDTH; i++)
        x[i] = tokens[(size_t)token[i / WIDTH] * WIDTH + i % WIDTH] + places[i];
    for (size_t layer = 0; layer < LAYERS; layer++)
        ref_block(t, w, layer, x);
    ref_norm(t, w, "ln_f", x, y);
    for (size_t i = 0; i < TOKENS; i++) {
        double sum = 0, own = 0;
        for (size_t k = 0; k < LETTERS; k++) {
            double s = 0;
            for (size_t c = 0; c < WIDTH; c++)
                s += tokens[k * WIDTH + c] * y[i * WIDTH + c];
            sum += exp(s);
            own = k == label[i] ? s : own;
        }
        loss += log(sum) - own;
    }
    return loss;
}

static double ref_loss(const Net *t, const double *w)
{
    double loss = 0;
    for (size_t i = 0; i < t->batch.count; i++)
        loss += ref_window(t, w, t->x + i * TOKENS, t->labels + i * TOKENS);
    return loss / (double)(t->batch.count * TOKENS);
}

/* ---- the network against the slow transformer ---- */

/* Compares the gradient of one parameter along the unit vector `v` with the central difference of the slow
 * loss. Its error is about (1e-4)^2 times the third derivative, which is of the size of the gradient here. */
static void check_along(const Net *t, const Slice *s, double *w, const double *v, double norm)
{
    const double step = 1e-4;
    double along = 0, difference = 0;
    for (int sign = -1; sign <= 1; sign += 2) {
        for (size_t i = 0; i < s->shape.n; i++)
            w[s->offset + i] = (double)t->w[s->offset + i] + sign * step * v[i];
        difference += sign * ref_loss(t, w) / (2 * step);
    }
    for (size_t i = 0; i < s->shape.n; i++) {
        w[s->offset + i] = (double)t->w[s->offset + i];
        along += v[i] * (double)t->g[s->offset + i];
    }
    check_near(along, difference, 1e-5 * norm);
}

/* Three directions: that of the gradient, a random one, and the parameter's last element. */
static void check_slice(const Net *t, const Slice *s, double *w)
{
    const Rng rng = rng_open(9, 0, 0, 0, rng_hash(s->name));
    const float *g = t->g + s->offset;
    double *v = NEW_ZERO(t->a, double, s->shape.n), norm = 0, size = 0;
    for (size_t i = 0; i < s->shape.n; i++)
        norm += (double)g[i] * (double)g[i];
    norm = sqrt(norm);
    check(norm > 1e-4);
    v[s->shape.n - 1] = 1;
    check_along(t, s, w, v, norm);
    for (size_t i = 0; i < s->shape.n; i++)
        v[i] = (double)g[i] / norm;
    check_along(t, s, w, v, norm);
    for (size_t i = 0; i < s->shape.n; i++) {
        v[i] = rng_normal(&rng, USE_TEST, i);
        size += v[i] * v[i];
    }
    for (size_t i = 0; i < s->shape.n; i++)
        v[i] /= sqrt(size);
    check_along(t, s, w, v, norm);
}

static void loss_and_gradients_are_those_of_the_formulas(void **state)
{
    (void)state;
    static const char *const shape[] = {SHAPE "on", SHAPE "off"};
    for (size_t k = 0; k < countof(shape); k++) {
        Net t;
        net_open(&t, shape[k], 2);
        const Score score = gradient(&t, 2);
        double *w = NEW(t.a, double, t.n);
        for (size_t i = 0; i < t.n; i++)
            w[i] = (double)t.w[i];
        check_rel(score.loss, ref_loss(&t, w), 1e-6);
        for (size_t i = 0; i < model_parameters(t.m)->count; i++)
            check_slice(&t, &model_parameters(t.m)->item[i], w);
        net_close(&t);
    }
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

static void loss_and_gradients_are_those_of_pytorch(void **state)
{
    (void)state;
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
    for (; fscanf(f, "%79s %lf %lf %lf %lf %lf", name, v, v + 1, v + 2, v + 3, v + 4) == 6; tensors++) {
        char *dot = strrchr(name, '.');
        *dot = '\0';
        check_tensor(&t, slice_of(&t, name + strlen("transformer."), dot + 1), v);
    }
    assert_int_equal(tensors, model_parameters(t.m)->count);
    fclose(f);
    net_close(&t);
}

/* ---- other properties ---- */

static void threads_change_no_bit(void **state)
{
    (void)state;
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
static void a_pass_that_is_stopped_anywhere_says_so_and_no_more(void **state)
{
    (void)state;
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
static void a_token_does_not_see_later_tokens(void **state)
{
    (void)state;
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

static void gelu_is_exact_on_every_instruction_set(void **state)
{
    (void)state;
    enum { COUNT = 2003 };
    static float x[COUNT], y[COUNT];
    for (Isa isa = 0; isa < ISA_COUNT; isa++) {
        if (!row_loops_of(isa))
            continue;
        for (size_t i = 0; i < COUNT; i++)
            x[i] = (float)i / 100 - 10;
        row_loops_of(isa)->gelu(COUNT, x, y);
        for (size_t i = 0; i < COUNT; i++) {
            const double v = (double)((float)i / 100 - 10), below = 0.5 * erfc(-v / sqrt(2));
            check_near((double)y[i], v * below, 2e-7 * fmax(1, fabs(v)));
            check_near((double)x[i], below + v * exp(-v * v / 2) / sqrt(2 * acos(-1)), 4e-7);
        }
    }
}

static void shapes_that_do_not_fit_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *network, *says;
        bool text;
    } bad[] = {
        {"gpt:width=10,heads=3,context=70", "want a multiple of the 3 heads", true},
        {"gpt:context=71", "windows of 70 tokens: want 71", true},
        {"gpt:depth=2", "depth", true},
        {"gpt:layers=0", "layers", true},
        {"gpt-nano", "takes a text", false},
        {"softmax", "takes images", true},
        {"lenet:width=2", "has no options", false},
        {"gtp", "no such network", true},
    };
    for (size_t i = 0; i < countof(bad); i++) {
        Model *m;
        Error err = {0};
        const ModelSpec spec = {bad[i].network, 1, 1, TOKENS, LETTERS, 1, NULL, .text = bad[i].text};
        assert_int_equal(model_open(&m, &spec, &err), ERR_USAGE);
        check(strstr(err.text, bad[i].says) != NULL);
    }
}

static void presets_have_the_published_numbers_of_parameters(void **state)
{
    (void)state;
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
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loss_and_gradients_are_those_of_the_formulas),
        cmocka_unit_test(loss_and_gradients_are_those_of_pytorch),
        cmocka_unit_test(threads_change_no_bit),
        cmocka_unit_test(a_pass_that_is_stopped_anywhere_says_so_and_no_more),
        cmocka_unit_test(a_token_does_not_see_later_tokens),
        cmocka_unit_test(gelu_is_exact_on_every_instruction_set),
        cmocka_unit_test(shapes_that_do_not_fit_are_refused),
        cmocka_unit_test(presets_have_the_published_numbers_of_parameters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
