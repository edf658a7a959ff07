/* test_times.c -- compares the reported encode and decode times with a clock that only this test moves.
 *
 * clock_gettime of this file replaces the system's. Each reading moves the clock by a nanosecond, and the test codec's
 * encode and decode by fixed times, so every reported time is known up to the readings. */
#include "compress/compressor.h"
#include "measure/compare.h"
#include "reference/vectors.h"
#include "rig/check.h"

#include <math.h>
#include <time.h>

enum { ENCODE_US = 700, DECODE_US = 400, REPEATS = 5, WORKERS = 4, N = 16 };

static int64_t now;

int clock_gettime(clockid_t clock, struct timespec *t)
{
    (void)clock;
    now++;
    *t = (struct timespec){.tv_sec = now / 1000000000, .tv_nsec = now % 1000000000};
    return 0;
}

static void wait_us(int64_t us)
{
    now += 1000 * us;
}

static size_t bound(const Call *c)
{
    return raw_size(c);
}

static Status encode(const Call *c, const float *x, Buf *out)
{
    wait_us(ENCODE_US);
    buf_u8(out, PAYLOAD_METHOD);
    buf_copy(out, x, 4 * c->shape->n);
    return OK;
}

static Status decode(const Call *c, Bytes in, float *x)
{
    (void)c;
    wait_us(DECODE_US);
    memcpy(x, in.data + 1, in.size - 1);
    return OK;
}

static const Compressor waiter = {
    .name = "waiter", .promises = EXACT_BYTES, .bound = bound, .encode = encode, .decode = decode};

enum { ENCODE, ENCODE_MIN, DECODE, DECODE_MIN, TIMES };
static const char *const fields[TIMES] = {"encode_ms", "encode_ms_min", "decode_ms", "decode_ms_min"};
static const double waits[TIMES] = {1e-3 * ENCODE_US, 1e-3 * ENCODE_US, 1e-3 * DECODE_US, 1e-3 * DECODE_US};

static Status load(void *data, const Vector *v, float *x, Error *err)
{
    (void)data;
    (void)err;
    reference_gradient(x, v->shape.n, 1);
    return OK;
}

static Status load_worker(void *data, const Vector *v, size_t worker, float *x, Error *err)
{
    (void)worker;
    return load(data, v, x, err);
}

static Status keep(void *data, const Record *r, Error *err)
{
    double *ms = data;
    (void)err;
    if (r->level == LEVEL_VECTOR)
        for (int i = 0; i < TIMES; i++)
            ms[i] = metric_value(metric_find(fields[i]), &r->tally);
    return OK;
}

/* ms[0]: milliseconds of one worker's encoding; ms[1]: milliseconds of decoding all payloads */
static Status keep_merge(void *data, const Record *r, Error *err)
{
    double *ms = data;
    (void)err;
    if (r->level == LEVEL_VECTOR) {
        ms[0] = metric_value(metric_find("encode_ms"), &r->tally);
        ms[1] = 1e3 * r->tally.each;
    }
    return OK;
}

/* Measures the codec in a comparison, or in a merge of `workers` workers if this is not 0. */
static void compare_waiter(size_t workers, double ms[TIMES])
{
    Error err = {0};
    Arena *a = arena_open(0);
    const Codec codec = {.ops = &waiter}, *codecs[] = {&codec};
    Vector vector = {.name = "w", .shape = shape_vector(N)};
    const VectorList list = {.item = &vector, .count = 1, .largest = N, .elements = N};
    const Comparison c = {.codec = codecs,
                          .codecs = 1,
                          .vectors = &list,
                          .repeats = REPEATS,
                          .seed = 1,
                          .memory = 1 << 20,
                          .threads = 1,
                          .workers = workers,
                          .data = ms,
                          .load = load,
                          .load_worker = load_worker,
                          .record = workers ? keep_merge : keep};
    size_t failures;
    check_ok(compare_run(&c, &failures, a, &err), &err);
    assert_int_equal(failures, 0);
    arena_close(a);
}

/* Checks the reported times against wait[i], the milliseconds that the test codec waits. */
static void check_times(size_t workers, const char *const *field, const double *wait, size_t times)
{
    double ms[TIMES] = {0};
    compare_waiter(workers, ms);
    for (size_t i = 0; i < times; i++) {
        if (!(ms[i] >= wait[i] && ms[i] <= 1.0001 * wait[i]))
            print_error("%s is %g, want %g ms\n", field[i], ms[i], wait[i]);
        check(ms[i] >= wait[i] && ms[i] <= 1.0001 * wait[i]);
    }
}

TEST(times_are_those_of_a_clock_outside_of_the_library)
{
    check_times(0, fields, waits, TIMES);
}

TEST(times_of_merges_are_of_one_encoding_and_of_all_decodings)
{
    static const char *const field[] = {"encode_ms", "decode_each_ms"};
    static const double wait[] = {1e-3 * ENCODE_US, 1e-3 * DECODE_US * WORKERS};
    check_times(WORKERS, field, wait, countof(wait));
}

CHECK_ALL(NULL, NULL)
