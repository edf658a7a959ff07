/* test_plan.c -- codecs with a plan, in comparisons and in archives. A codec computes its plan once per step
 * from all tensors. The plan is an array with one record per tensor, which the encoder of the tensor reads. */
#include "compress/compressor.h"
#include "cmd/bench_archive.c"
#include "measure/compare.h"
#include "reference/vectors.h"
#include "rig/scratch_dir.h"
#include "dump/write.h"

#include <time.h>

/* ---- a test codec: a record of its plan has the number of tensors, and the index and sum of a tensor ---- */

typedef struct {
    size_t tensors, place;
    double sum;
    uint64_t magic;
} Plan;

enum { MAGIC = 0x706c616e, REFUSED = 333 };

static double sum_of(const float *x, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += (double)x[i];
    return sum;
}

static size_t bound(const Call *c)
{
    return raw_size(c) + 100;
}

static size_t plans; /* number of calls of plan() since open_world() */

static Status plan(const Step *step, void *records)
{
    Plan *p = records;
    plans++;
    for (size_t j = 0; j < step->count; j++) {
        const float *x = step->load(step->data, j, step->call->err);
        if (!x)
            return step->call->err->status;
        if (step->call[j].shape->n == REFUSED)
            return FAIL(step->call->err, ERR_NUMERIC, "no plan has room for 333");
        check(step->call[j].plan == NULL);
        p[j] = (Plan){step->count, j, sum_of(x, step->call[j].shape->n), MAGIC};
    }
    const struct timespec nap = {.tv_nsec = 20000000};
    nanosleep(&nap, NULL);
    return OK;
}

static Status encode(const Call *c, const float *x, Buf *out)
{
    const Plan *p = c->plan;
    check(p && p->magic == MAGIC && p->sum == sum_of(x, c->shape->n));
    buf_u8(out, PAYLOAD_METHOD);
    buf_u8(out, (uint8_t)p->tensors);
    buf_u8(out, (uint8_t)p->place);
    buf_copy(out, x, 4 * c->shape->n);
    return OK;
}

static Status decode(const Call *c, Bytes in, float *x)
{
    check(c->plan == NULL || ((const Plan *)c->plan)->magic == MAGIC);
    memcpy(x, in.data + 3, in.size - 3);
    return OK;
}

static double variance(const Call *c, const float *x)
{
    check(c->plan && ((const Plan *)c->plan)->sum == sum_of(x, c->shape->n));
    return 0;
}

static const Compressor planner = {.name = "planner",
                                   .promises = EXACT_BYTES,
                                   .bound = bound,
                                   .encode = encode,
                                   .decode = decode,
                                   .variance = variance,
                                   .plan_size = sizeof(Plan),
                                   .plan = plan};

/* ---- compare ---- */

enum { VECTORS = 4, CELLS = 3 };

typedef struct {
    Arena *a;
    Error err;
    Vector vector[CELLS * VECTORS];
    VectorList list;
    Codec codec;
    const Codec *codecs[1];
    Comparison c;
    size_t failures, loads, load_fails_at;
    double encode_ms[CELLS * (VECTORS + 1) + 1], vectors[CELLS * (VECTORS + 1) + 1];
    char error[CELLS * (VECTORS + 1) + 1][100];
} World;

static Status load(void *data, const Vector *v, float *x, Error *err)
{
    World *w = data;
    if (++w->loads == w->load_fails_at)
        return FAIL(err, ERR_IO, "the disk is gone");
    reference_gradient(x, v->shape.n, (uint32_t)(v->name[0] + 10 * v->step));
    return OK;
}

static Status keep(void *data, const Record *r, Error *err)
{
    World *w = data;
    (void)err;
    w->vectors[r->place] = (double)r->vectors;
    w->encode_ms[r->place] = r->vectors ? metric_value(metric_find("encode_ms"), &r->tally) : NAN;
    snprintf(w->error[r->place], sizeof w->error[0], "%s", r->error ? r->error : "");
    return OK;
}

static void open_world(World *w)
{
    plans = 0;
    static const char *const names[VECTORS] = {"a", "b", "c", "d"};
    *w = (World){.a = arena_open(0), .codec = {.ops = &planner}};
    for (size_t i = 0; i < CELLS * VECTORS; i++) {
        const size_t n = 40 + i % VECTORS;
        w->vector[i] = (Vector){.name = names[i % VECTORS],
                                .step_group = "step",
                                .step = (int64_t)(i / VECTORS),
                                .step_address = (int64_t)(i / VECTORS),
                                .raw = i % VECTORS == 1,
                                .shape = shape_vector(n)};
        w->list.elements += n;
    }
    w->list.item = w->vector;
    w->list.count = CELLS * VECTORS;
    w->list.largest = 1000;
    w->codecs[0] = &w->codec;
    w->c = (Comparison){.codec = w->codecs,
                        .codecs = 1,
                        .vectors = &w->list,
                        .repeats = 2,
                        .seed = 1,
                        .memory = 1 << 20,
                        .threads = 1,
                        .data = w,
                        .load = load,
                        .record = keep};
}

/* The plan takes at least 20 ms. This time is added to the time of the step, but not to the time of any
 * tensor. */
TEST(a_plan_is_made_for_each_step_and_timed_in_the_whole)
{
    World w;
    double least = HUGE_VAL;
    open_world(&w);
    check_ok(compare_run(&w.c, &w.failures, w.a, &w.err), &w.err);
    /* vectors are read for the percentiles, for the plan (except the raw vector) and for encoding */
    check(w.failures == 0 && w.loads == CELLS * (3 * VECTORS - 1));
    for (size_t k = 0; k < CELLS; k++) {
        const double *ms = &w.encode_ms[k * (VECTORS + 1)];
        double sum = 0;
        for (size_t i = 0; i < VECTORS; i++) {
            sum += ms[i];
            least = fmin(least, ms[i]);
        }
        check(ms[VECTORS] - sum > 19.999);
    }
    check(least < 15);
    /* the last time is the mean time per step over the whole run */
    check(w.encode_ms[CELLS * (VECTORS + 1)] >= 20);
    arena_close(w.a);
}

TEST(a_plan_that_fails_says_why_in_every_record)
{
    World w;
    open_world(&w);
    w.vector[VECTORS + 3].shape = shape_vector(REFUSED);
    w.list.elements += REFUSED - 43;
    check_ok(compare_run(&w.c, &w.failures, w.a, &w.err), &w.err);
    check(w.failures == VECTORS - 1);
    for (size_t k = 0; k < CELLS; k++)
        for (size_t i = 0; i < VECTORS; i++)
            assert_string_equal(w.error[k * (VECTORS + 1) + i],
                                k == 1 && i != 1 ? "d: no plan has room for 333" : "");
    assert_string_equal(w.error[2 * VECTORS + 1], "without 3 of 4 tensors, which failed");
    arena_close(w.a);
}

/* ---- archives ---- */

TEST(archives_plan_each_step_and_decode_without)
{
    Arena *a = arena_open(0);
    Error err;
    Shape shapes[3];
    Dump *d;
    DumpWriter *out;
    VectorList list;
    FrameWriter *w;
    FrameReader *r;
    const Codec codec = {.ops = &planner, .params = ""};
    Archive job = {.codec = &codec, .seed = 1, .threads = 1, .err = &err}, back = {.codec = &codec, .threads = 1, .err = &err};
    check(shape_make(&shapes[0], 2, (size_t[]){6, 7}) && shape_make(&shapes[1], 1, (size_t[]){5}) &&
          shape_make(&shapes[2], 1, (size_t[]){50}));
    check_ok(dump_create(&out, in_scratch("in.h5"), &err), &err);
    check_ok(synth_dump(&(Synth){.scale = 1, .seed = 3, .threads = 1}, &(SynthLayout){shapes, 3, 2, 3}, out,
                        a, &err),
             &err);
    check_ok(dump_finish(out, OK, &err), &err);
    check_ok(dump_open(&d, in_scratch("in.h5"), a, &err), &err);
    check_ok(groups_make(&list, d, &(GroupSpec){.min_elements = 10}, a, &err), &err);
    check_ok(frame_create(&w, in_scratch("x.atomo"), "none", list.count, a, &err), &err);
    check_ok(archive_encode(&job, d, &list, w, a), &err);
    check_ok(frame_commit(w, &(uint64_t){0}, &err), &err);
    check(job.vectors == 18 && job.payload_bytes == 6 * (4 * 42 + 1 + 4 * 5 + 4 * 50 + 1));
    check_ok(frame_open(&r, in_scratch("x.atomo"), a, &err), &err);
    check_ok(dump_create(&out, in_scratch("out.h5"), &err), &err);
    check_ok(archive_decode(&back, r, out, a), &err);
    check_ok(dump_finish(out, OK, &err), &err);
    frame_close(r);
    dump_close(d);
    arena_close(a);
}

CHECK_ALL(scratch_open, scratch_close)
