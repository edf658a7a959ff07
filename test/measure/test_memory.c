/* test_memory.c -- the resident memory that a comparison takes, and the scratch memory that it reports.
 *
 * This test allows a comparison 24 bytes per element: five times the tensor's size, and once more for the codec's state,
 * payload and scratch. It adds 32 MB for the program, its libraries and the threads' buffers, which do not grow with the
 * tensor. */
#include "rig/check.h"
#include "measure/compare.h"
#include "compress/spec.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- a comparison of one codec on one synthetic vector ---- */

enum { METRICS_MOST = 200 };

typedef struct {
    Arena *a;
    Error err;
    Vector vector;
    VectorList list;
    const Codec *codec;
    Comparison c;
    double scratch;
    double metric[METRICS_MOST]; /* of the last record, in the order of `metrics` */
    bool failed;
} Bench;

/* The elements of a vector are a period, again and again, of nearly normal numbers: scaled sums of three random bytes
 * minus a fourth. */
enum { PART = 100003 /* no multiple of a block */, PERIOD = 2 * PART };
static float period[PERIOD];

static int make_period(void **state)
{
    for (size_t i = 0; i < PERIOD; i++) {
        const uint32_t u = rng_mix((uint32_t)i, 12345);
        const int sum = (int)(u & 255) + (int)(u >> 8 & 255) + (int)(u >> 16 & 255) - (int)(u >> 24) - 255;
        period[i] = 1e-4f * (float)sum;
    }
    return 0;
}

static Status load(void *data, const Vector *v, float *x, Error *err)
{
    const size_t n = v->shape.n;
    (void)data, (void)err;
    for (size_t at = 0; at < n; at += PERIOD)
        memcpy(x + at, period, (n - at < PERIOD ? n - at : PERIOD) * sizeof *x);
    return OK;
}

static Status record(void *data, const Record *r, Error *err)
{
    Bench *b = data;
    (void)err;
    b->failed |= r->error != NULL;
    b->scratch = r->tally.scratch;
    for (size_t i = 0; metrics[i].name; i++) {
        check(i < METRICS_MOST);
        b->metric[i] = metric_value(&metrics[i], &r->tally);
    }
    return OK;
}

static Status load_worker(void *data, const Vector *v, size_t worker, float *x, Error *err)
{
    TRY(load(data, v, x, err));
    x[worker] = 1;
    return OK;
}

/* Runs a merge of `workers` workers; if `workers` is 0, runs a comparison instead. */
static bool done(Bench *b, const char *spec, size_t n, size_t repeats, int threads, size_t workers)
{
    size_t failures;
    *b = (Bench){.a = arena_open(0)};
    b->vector = (Vector){.name = "w", .shape = shape_vector(n)};
    b->list = (VectorList){.item = &b->vector, .count = 1, .largest = n, .tensors = 1, .elements = n};
    if (codec_open(&b->codec, spec, b->a, &b->err) != OK)
        return false;
    b->c = (Comparison){.codec = &b->codec,
                        .codecs = 1,
                        .vectors = &b->list,
                        .repeats = repeats,
                        .seed = 1,
                        .memory = 12 * n,
                        .threads = threads,
                        .untimed = !workers,
                        .data = b,
                        .load = load,
                        .workers = workers,
                        .load_worker = load_worker,
                        .record = record};
    const Status status = compare_run(&b->c, &failures, b->a, &b->err);
    arena_close(b->a);
    return status == OK && failures == 0 && !b->failed;
}

static bool compared(Bench *b, const char *spec, size_t n, size_t repeats, int threads)
{
    return done(b, spec, n, repeats, threads, 0);
}

/* Returns the peak resident memory in kilobytes of a merge of n elements. The merge has its own process, as the peak
 * of a process never falls. */
static size_t peak_of_merge(const char *spec, size_t n, size_t workers)
{
    struct rusage used;
    int status = 1;
    const pid_t child = fork();
    if (child == 0) {
        Bench b;
        _exit(done(&b, spec, n, 1, 1, workers) ? 0 : 1);
    }
    check(child > 0 && wait4(child, &status, 0, &used) == child && status == 0);
    return (size_t)used.ru_maxrss;
}

/* ---- tests ---- */

TEST(a_comparison_takes_six_times_its_tensor)
{
    /* ODD has a large prime factor, for which FFTW needs more memory */
    enum { ROUND = 5 << 20, ODD = ROUND + 3, LONG = 1 << 22 };
    static const struct {
        const char *spec;
        size_t n;
    } rows[] = {
        {"topk", LONG},
        {"qsgd:bits=8", ODD},
        {"ef+entry:ratio=0.1", ODD},
        {"hadamard:ratio=0.5", ODD},
        {"fourier:dims=2", ROUND},
    };
#if defined(__SANITIZE_ADDRESS__)
    print_message("skip: the sanitizer's own memory counts too\n");
    return;
#endif
    for (size_t s = 0; s < countof(rows); s++) {
        Bench b;
        struct rusage used;
        int status = 1;
        const pid_t child = fork();
        if (child == 0)
            _exit(compared(&b, rows[s].spec, rows[s].n, 2, 2) ? 0 : 1);
        check(child > 0 && wait4(child, &status, 0, &used) == child && status == 0);
        const double n = (double)rows[s].n, peak = 1024.0 * (double)used.ru_maxrss;
        print_message("%-20s %5.1f bytes an element\n", rows[s].spec, peak / n);
        check(peak < 24 * n + 32e6);
    }
}

/* The peak may grow by 2 % and by 2 MB: the size of a huge page, which the kernel may or may not use. */
TEST(a_merge_takes_no_more_for_more_workers)
{
    static const char *const specs[] = {"qsgd", "randk", "sign", "joint"};
#if defined(__SANITIZE_ADDRESS__)
    print_message("skip: the sanitizer's own memory counts too\n");
    return;
#endif
    for (size_t s = 0; s < countof(specs); s++) {
        const size_t few = peak_of_merge(specs[s], 1 << 16, 8), many = peak_of_merge(specs[s], 1 << 16, 96);
        print_message("%-20s %zu kB with 8 workers, %zu kB with 96\n", specs[s], few, many);
        check(many <= few + 2048 + few / 50);
    }
}

/* A merge takes three times more than a comparison: for a worker's gradient and for sums of doubles. */
TEST(a_merge_takes_eight_times_its_tensor)
{
    enum { LONG = 1 << 22 };
    static const char *const specs[] = {"qsgd:bits=2", "topk"};
#if defined(__SANITIZE_ADDRESS__)
    print_message("skip: the sanitizer's own memory counts too\n");
    return;
#endif
    for (size_t s = 0; s < countof(specs); s++) {
        const double peak = 1024.0 * (double)peak_of_merge(specs[s], LONG, 2);
        print_message("%-20s %5.1f bytes an element\n", specs[s], peak / LONG);
        check(peak < 32.0 * LONG + 32e6);
    }
}

TEST(scratch_does_not_depend_on_threads)
{
    static const char *const specs[] = {
        "qsgd",
        "qsgd:bits=4,code=fixed",
        "entry",
        "entry:ratio=0.5,draw=systematic",
        "ef+entry:ratio=0.3",
        "svd:rank=1",
        "fourier:ratio=0.2,dims=2",
        "hadamard:ratio=0.3,draw=systematic",
        "randk",
        "topk",
        "gaussiank",
        "dgc",
        "countsketch:topk=1000",
    };
    for (size_t s = 0; s < countof(specs); s++) {
        Bench one, many;
        check(compared(&one, specs[s], 150000, 1, 1));
        check(compared(&many, specs[s], 150000, 1, 8));
        check(one.scratch == many.scratch);
    }
    /* long lists of indices, and a long line of a transform */
    static const char *const long_ones[] = {"topk:ratio=0.12", "entry:ratio=0.3", "dct", "fourier"};
    for (size_t s = 0; s < countof(long_ones); s++) {
        Bench one, many;
        check(compared(&one, long_ones[s], 600000, 1, 1));
        check(compared(&many, long_ones[s], 600000, 1, 12));
        check(one.scratch == many.scratch);
    }
}

CHECK_ALL(make_period, NULL)
