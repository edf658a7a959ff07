/* test_archive.c -- encodes dumps (files of gradients) to containers of payloads, and decodes them again. The
 * decoded dump must have the estimates that receivers compute. */
#include "cmd/bench_archive.c"
#include "rig/scratch_dir.h"

#include "dump/write.h"
#include "compress/spec.h"

#include <signal.h>

static Error err;
static Arena *arena;

static Codec codec_of(const Compressor *ops)
{
    static const int no_params[8];
    return (Codec){.ops = ops, .params = no_params};
}

static void make_dump(int64_t steps, int64_t workers)
{
    static Shape shapes[4];
    shape_make(&shapes[0], 4, (size_t[]){8, 4, 3, 3});
    shape_make(&shapes[1], 2, (size_t[]){30, 20});
    shape_make(&shapes[2], 1, (size_t[]){7});
    shape_make(&shapes[3], 1, (size_t[]){0});
    const Synth synth = {.scale = 1, .seed = 3, .threads = 1};
    const SynthLayout layout = {shapes, 4, steps, workers};
    DumpWriter *w;
    check_ok(dump_create(&w, in_scratch("in.h5"), &err), &err);
    check_ok(synth_dump(&synth, &layout, w, arena, &err), &err);
    check_ok(dump_finish(w, OK, &err), &err);
}

static Archive encode(const Codec *codec, const GroupSpec *spec)
{
    Dump *d;
    VectorList list;
    FrameWriter *w;
    Archive job = {.codec = codec, .seed = 1, .threads = 1, .err = &err};
    check_ok(dump_open(&d, in_scratch("in.h5"), arena, &err), &err);
    check_ok(groups_make(&list, d, spec, arena, &err), &err);
    check_ok(frame_create(&w, in_scratch("x.atomo"), codec->ops->name, list.count, arena, &err), &err);
    check_ok(archive_encode(&job, d, &list, w, arena), &err);
    check_ok(frame_commit(w, &(uint64_t){0}, &err), &err);
    dump_close(d);
    return job;
}

static Status decode(const Codec *codec)
{
    FrameReader *r;
    DumpWriter *w;
    Archive job = {.codec = codec, .threads = 1, .err = &err};
    check_ok(frame_open(&r, in_scratch("x.atomo"), arena, &err), &err);
    check_ok(dump_create(&w, in_scratch("out.h5"), &err), &err);
    const Status status = dump_finish(w, archive_decode(&job, r, w, arena), &err);
    frame_close(r);
    return status;
}

static void check_same_attrs(const AttrList *a, const AttrList *b)
{
    assert_int_equal(a->count, b->count);
    for (size_t i = 0; i < a->count; i++) {
        assert_string_equal(a->item[i].name, b->item[i].name);
        check(a->item[i].type == b->item[i].type && a->item[i].whole == b->item[i].whole &&
              a->item[i].real == b->item[i].real);
        if (a->item[i].type == ATTR_TEXT)
            assert_string_equal(a->item[i].text, b->item[i].text);
    }
}

static void check_same_dump(float factor)
{
    Dump *in, *out;
    float x[1000], y[1000];
    check_ok(dump_open(&in, in_scratch("in.h5"), arena, &err), &err);
    check_ok(dump_open(&out, in_scratch("out.h5"), arena, &err), &err);
    assert_int_equal(dump_count(in), dump_count(out));
    assert_int_equal(dump_groups(in), dump_groups(out));
    for (size_t i = 0; i < dump_groups(in); i++) {
        const AttrList *attrs;
        const char *group = dump_group(in, i, &attrs);
        check(dump_attrs(out, group) != NULL);
        check_same_attrs(attrs, dump_attrs(out, group));
    }
    for (size_t i = 0; i < dump_count(in); i++) {
        const TensorInfo *a = dump_tensor(in, i), *b = dump_tensor(out, i);
        assert_string_equal(a->path, b->path);
        check(!memcmp(&a->shape, &b->shape, sizeof a->shape));
        check_same_attrs(&a->attrs, &b->attrs);
        check_ok(dump_read(in, i, x, &err), &err);
        check_ok(dump_read(out, i, y, &err), &err);
        for (size_t k = 0; k < a->shape.n; k++)
            check(y[k] == factor * x[k]);
    }
    dump_close(in);
    dump_close(out);
}

TEST(none_brings_every_dump_back_exactly)
{
    arena = arena_open(0);
    const Codec none = codec_of(compressor_find("none"));
    for (int workers = 1; workers <= 2; workers++) {
        make_dump(2, workers);
        for (int g = 0; g < 3; g++) {
            const GroupSpec spec = {.grouping = (Grouping)g, .min_elements = g == 1 ? 10 : 0};
            const Archive sum = encode(&none, &spec);
            assert_int_equal(sum.tensors, 8 * workers);
            assert_int_equal(sum.payload_bytes, sum.raw_bytes);
            check_ok(decode(&none), &err);
            check_same_dump(1);
        }
    }
    arena_close(arena);
}

/* A container keeps only the groups that contain sent tensors. Groups whose names have a common prefix must not
 * be confused, although they are neighbours in sorted order. */
TEST(only_groups_on_the_way_to_what_is_sent_are_kept)
{
    arena = arena_open(0);
    static const char *const groups[] = {"", "step_1", "step_1-x", "step_10", "step_1/a", "step_1/a-", "z"};
    static const char *const paths[] = {"step_1/a/w", "step_1-x/v", "step_10/u", "step_1/a-/t", "z"};
    const Attr one = {.name = "k", .type = ATTR_INT, .whole = 1};
    const float x = 1;
    const Shape shape = shape_vector(1);
    DumpWriter *w;
    Dump *d;
    check_ok(dump_create(&w, in_scratch("in.h5"), &err), &err);
    for (size_t i = 0; i + 1 < countof(groups); i++)
        check_ok(dump_write_attrs(w, groups[i], &(AttrList){(Attr *)(uintptr_t)&one, 1}, &err), &err);
    for (size_t i = 0; i < countof(paths); i++)
        check_ok(dump_write(w, paths[i], &shape, &x, NULL, &err), &err);
    check_ok(dump_finish(w, OK, &err), &err);
    const Codec none = codec_of(compressor_find("none"));
    const char *sent[] = {paths[0], paths[2]};
    encode(&none, &(GroupSpec){.selection = {.tensors = {sent, 2}}});
    check_ok(decode(&none), &err);
    check_ok(dump_open(&d, in_scratch("out.h5"), arena, &err), &err);
    const bool kept[] = {true, true, false, true, true, false, false};
    for (size_t i = 0; i < countof(groups); i++) {
        const AttrList *attrs = dump_attrs(d, groups[i]);
        check((attrs && attrs->count == 1) == kept[i]);
    }
    dump_close(d);
    arena_close(arena);
}

/* ---- a test codec with a state ---- */

/* The state is the previous estimate, which the decoder needs. The payload of round 0 is empty, that of round 1
 * is x minus the state. */
static int delta_rounds(const Codec *codec)
{
    (void)codec;
    return 2;
}
static size_t delta_bound(const Call *c)
{
    return raw_size(c);
}
static size_t delta_state_size(const Call *c)
{
    return 4 * c->shape->n + 1;
}
static Status delta_encode(const Call *c, const float *x, Buf *out)
{
    buf_u8(out, PAYLOAD_METHOD);
    for (size_t i = 0; c->round == 1 && i < c->shape->n; i++)
        buf_f32(out, x[i] - ((const float *)c->state)[i]);
    return OK;
}
static Status delta_decode(const Call *c, Bytes in, float *x)
{
    if (in.size != raw_size(c) || c->heard[0].size != 1)
        return payload_bad(c, "%zu bytes", in.size);
    for (size_t i = 0; i < c->shape->n; i++)
        x[i] = load_f32(in.data + 1 + 4 * i) + ((const float *)c->state)[i];
    return OK;
}
static Status delta_settle(const Call *c, const float *x, const Bytes *sent, const float *agreed, void *to)
{
    (void)x, (void)sent;
    memcpy(to, agreed, 4 * c->shape->n);
    return OK;
}
static const Compressor delta = {
    .name = "delta",
    .promises = DECODES_STATE,
    .rounds = delta_rounds,
    .bound = delta_bound,
    .encode = delta_encode,
    .decode = delta_decode,
    .state_size = delta_state_size,
    .settle = delta_settle,
};

/* Makes a dump of small integers: the test codec sends differences, which are then exact. */
static void make_whole_numbers(int tensors)
{
    DumpWriter *w;
    check_ok(dump_create(&w, in_scratch("in.h5"), &err), &err);
    for (int step = 9; step <= 11; step++)
        for (int worker = 0; worker < 2; worker++)
            for (int t = 0; t < tensors; t++) {
                char path[64];
                float x[40];
                const Shape shape = shape_vector(40);
                snprintf(path, sizeof path, "step_%d/worker_%d/t%d", step, worker, t);
                for (int i = 0; i < 40; i++)
                    x[i] = (float)((step * step + 3 * worker + 5 * t + i) % 17);
                check_ok(dump_write(w, path, &shape, x, NULL, &err), &err);
            }
    check_ok(dump_finish(w, OK, &err), &err);
}

TEST(states_evolve_and_are_replayed)
{
    arena = arena_open(0);
    const Codec codec = codec_of(&delta);
    for (int tensors = 2; tensors <= 90; tensors += 88) { /* many tensors make the table of states grow */
        make_whole_numbers(tensors);
        for (int g = 0; g < 3; g++) {
            encode(&codec, &(GroupSpec){.grouping = (Grouping)g});
            check_ok(decode(&codec), &err);
            check_same_dump(1);
        }
    }
    arena_close(arena);
}

TEST(a_payload_of_another_codec_is_refused_with_its_place)
{
    arena = arena_open(0);
    const Codec none = codec_of(compressor_find("none")), other = codec_of(&delta);
    make_dump(1, 1);
    encode(&none, &(GroupSpec){0});
    assert_int_equal(decode(&other), ERR_CORRUPT);
    check(strstr(err.text, "x.atomo: at byte ") && strstr(err.text, "layer0.weight"));
    arena_close(arena);
}

/* Encodes in.h5 to x.atomo. The caller commits or abandons the file. */
static Status encode_ticking(Archive *job, FrameWriter **to)
{
    Dump *d;
    VectorList list;
    check_ok(dump_open(&d, in_scratch("in.h5"), arena, &err), &err);
    check_ok(groups_make(&list, d, &(GroupSpec){0}, arena, &err), &err);
    check_ok(frame_create(to, in_scratch("x.atomo"), "none", list.count, arena, &err), &err);
    const Status status = archive_encode(job, d, &list, *to, arena);
    dump_close(d);
    return status;
}

TEST(a_record_at_the_address_of_another_name_is_refused)
{
    FrameWriter *w;
    arena = arena_open(0);
    const float x[2] = {1, 2};
    const Codec none = codec_of(compressor_find("none"));
    FrameMember member = {.path = "a", .shape = shape_vector(2)};
    FrameRecord r = {.tensor = rng_hash("b"), .name = "a", .member = &member, .members = 1, .rounds = 1};
    r.round[0] = (Bytes){(const uint8_t *)x, sizeof x};
    check_ok(frame_create(&w, in_scratch("x.atomo"), "none", 1, arena, &err), &err);
    check_ok(frame_put(w, &r, &err), &err);
    check_ok(frame_commit(w, &(uint64_t){0}, &err), &err);
    assert_int_equal(decode(&none), ERR_CORRUPT);
    check(strstr(err.text, "random address") != NULL);
    arena_close(arena);
}

TEST(decoding_ends_at_the_limits)
{
    arena = arena_open(0);
    const Codec none = codec_of(compressor_find("none"));
    const GroupSpec each = {.grouping = GROUP_TENSOR};
    make_dump(2, 1);
    const uint64_t all = encode(&none, &each).raw_bytes;
    const struct {
        uint64_t output, memory;
        Status status;
    } limits[] = {{all, 0, OK},
                  {all - 1, 0, ERR_CORRUPT},
                  {1, 0, ERR_CORRUPT},
                  {0, 1000, ERR_MEMORY},
                  {0, 1 << 20, OK}};
    for (size_t i = 0; i < countof(limits); i++) {
        FrameReader *r;
        DumpWriter *w;
        Archive job = {
            .codec = &none, .threads = 1, .output_max = limits[i].output, .memory = limits[i].memory, .err = &err};
        check_ok(frame_open(&r, in_scratch("x.atomo"), arena, &err), &err);
        check_ok(dump_create(&w, in_scratch("out.h5"), &err), &err);
        check(archive_decode(&job, r, w, arena) == limits[i].status);
        dump_finish(w, ERR_STOPPED, &err);
        frame_close(r);
    }
    arena_close(arena);
}

/* The last test: a signal stops all that follow. */
TEST(work_that_is_stopped_leaves_nothing)
{
    arena = arena_open(0);
    scratch_files(true);
    make_dump(1, 1);
    FrameWriter *w;
    const Codec none = codec_of(compressor_find("none"));
    Archive job = {.codec = &none, .threads = 1, .err = &err};
    cli_catch_stop();
    raise(SIGINT);
    assert_int_equal(encode_ticking(&job, &w), ERR_STOPPED);
    frame_abandon(w);
    assert_int_equal(scratch_files(false), 1);
    arena_close(arena);
}

CHECK_ALL(scratch_open, scratch_close)
