/* test_networks.c -- the small networks against PyTorch, and properties of every small network.
 * networks_torch.py made the values in reference/networks.txt. `test_networks --write DIR` writes the images
 * and weights that this script reads. */
#include "rig/check.h"

#include "train/model.h"

enum { IMAGES = 20, SIDE = 28, EACH = SIDE * SIDE };

static const char *const small[] = {"softmax", "fc", "lenet", "cnn"};

typedef struct {
    Arena *a;
    Model *m;
    Error err;
    size_t n;
    float *images, *w, *g, *running;
    uint32_t labels[IMAGES];
    Batch batch;
    Rng rng;
} Net;

static void net_open(Net *t, const char *network)
{
    *t = (Net){.a = arena_open(0), .rng = rng_open(4, 0, 0, 0, 0)};
    const ModelSpec spec = {network, 1, SIDE, SIDE, 10, IMAGES, NULL, .text = false};
    check_ok(model_open(&t->m, &spec, &t->err), &t->err);
    t->n = model_parameters(t->m)->floats;
    t->images = NEW(t->a, float, IMAGES *EACH);
    t->w = NEW(t->a, float, t->n);
    t->g = NEW(t->a, float, t->n);
    t->running = NEW(t->a, float, model_running(t->m)->floats + 1);
    model_init(t->m, 7, t->w, t->running);
    rng_normals(&t->rng, USE_TEST, 0, IMAGES * EACH, 1, t->images);
    for (size_t i = 0; i < IMAGES; i++)
        t->labels[i] = (uint32_t)(i * 7 % 10);
    t->batch = (Batch){t->images, t->labels, IMAGES};
}

static void net_close(Net *t)
{
    model_close(t->m);
    arena_close(t->a);
}

static Score gradient(Net *t, int threads)
{
    Score score;
    check_ok(model_gradient(t->m, &t->batch, t->w, t->running, &t->rng, threads, t->g, &score, &t->err),
             &t->err);
    return score;
}

/* ---- gradients of the small networks against PyTorch's ---- */

static void check_tensor(const Net *t, const char *name, const double want[5])
{
    for (size_t k = 0; k < model_parameters(t->m)->count; k++) {
        const Slice *s = &model_parameters(t->m)->item[k];
        if (strcmp(s->name, name))
            continue;
        const float *g = t->g + s->offset;
        const size_t n = s->shape.n;
        double squares = 0, sum = 0;
        for (size_t i = 0; i < n; i++) {
            squares += (double)g[i] * (double)g[i];
            sum += (double)g[i];
        }
        /* `off` is 1e-5 of the size of a typical element, norm / sqrt(n). It is the tolerance for rounding
         * errors of sums over a few thousand terms. */
        const double norm = want[0], off = 1e-5 * norm / sqrt((double)n);
        check_rel(sqrt(squares), norm, 1e-5);
        check_near(sum, want[1], 1e-5 * norm * sqrt((double)n));
        check_near((double)g[0], want[2], 10 * off);
        check_near((double)g[n / 3], want[3], 10 * off);
        check_near((double)g[n - 1], want[4], 10 * off);
        return;
    }
    check_never("a tensor of that name");
}

TEST(small_networks_have_pytorchs_loss_and_gradients)
{
    FILE *f = fopen("test/reference/networks.txt", "r");
    check(f != NULL);
    Net t = {0};
    size_t tensors = 0;
    char line[256], name[64];
    double v[5];
    while (fgets(line, sizeof line, f)) {
        const int got = sscanf(line, "%63s %lf %lf %lf %lf %lf", name, v, v + 1, v + 2, v + 3, v + 4);
        char *slash = strchr(name, '/');
        if (slash) {
            assert_int_equal(got, 6);
            check_tensor(&t, slash + 1, v);
            tensors++;
            continue;
        }
        if (t.m)
            net_close(&t);
        net_open(&t, name);
        const Score score = gradient(&t, 2);
        check_rel(score.loss, v[0], 1e-6);
        assert_int_equal(score.correct, (size_t)v[1]);
    }
    net_close(&t);
    fclose(f);
    assert_int_equal(tensors, 2 + 6 + 8 + 6);
}

/* ---- properties of every small network ---- */

TEST(scores_do_not_depend_on_threads_and_are_the_gradients_loss)
{
    for (size_t k = 0; k < countof(small); k++) {
        Net t;
        net_open(&t, small[k]);
        const Score want = gradient(&t, 1);
        float *g = NEW(t.a, float, t.n);
        memcpy(g, t.g, t.n * sizeof *g);
        for (int threads = 1; threads <= 3; threads++) {
            Score score = gradient(&t, threads);
            check(score.loss == want.loss && score.correct == want.correct);
            check(!memcmp(g, t.g, t.n * sizeof *g));
            check_ok(model_score(t.m, &t.batch, t.w, t.running, threads, &score, &t.err), &t.err);
            check(score.loss == want.loss && score.correct == want.correct);
        }
        net_close(&t);
    }
}

/* A batch is divided into parts. The gradient of the batch must be the mean of the gradients of the parts. A
 * pass must not affect later passes. */
TEST(parts_of_a_batch_make_the_batch)
{
    for (size_t k = 0; k < countof(small); k++) {
        Net t;
        net_open(&t, small[k]);
        static const size_t part[] = {1, 16, 3};
        double *sum = NEW_ZERO(t.a, double, t.n), loss = 0, norm = 0, off = 0;
        size_t from = 0;
        const Score whole = gradient(&t, 1);
        float *g = NEW(t.a, float, t.n);
        memcpy(g, t.g, t.n * sizeof *g);
        for (size_t i = 0; i < countof(part); from += part[i++]) {
            t.batch = (Batch){t.images + from * EACH, t.labels + from, part[i]};
            loss += gradient(&t, 1).loss * (double)part[i] / IMAGES;
            for (size_t j = 0; j < t.n; j++)
                sum[j] += (double)t.g[j] * (double)part[i] / IMAGES;
        }
        check_rel(loss, whole.loss, 1e-6);
        for (size_t j = 0; j < t.n; j++) {
            norm += sum[j] * sum[j];
            off += (sum[j] - (double)g[j]) * (sum[j] - (double)g[j]);
        }
        check(sqrt(off) <= 1e-5 * sqrt(norm));
        net_close(&t);
    }
}

/* ---- writes the files that networks_torch.py reads ---- */

static int write_all(const char *folder)
{
    for (size_t k = 0; k < countof(small); k++) {
        char path[512];
        snprintf(path, sizeof path, "%s/%s", folder, small[k]);
        FILE *f = fopen(path, "wb");
        if (!f)
            return 1;
        Net t;
        net_open(&t, small[k]);
        fwrite(t.images, sizeof(float), IMAGES * EACH, f);
        fwrite(t.w, sizeof(float), t.n, f);
        net_close(&t);
        if (fclose(f))
            return 1;
    }
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 3 && !strcmp(argv[1], "--write"))
        return write_all(argv[2]);
    return check_run(NULL, NULL) ? 1 : 0;
}
