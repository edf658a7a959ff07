/* test_convert.c -- dumps (files of gradients) are converted from one of the formats HDF5, safetensors and .npz
 * to another, and to the first format again. */
#include "rig/array_make.h"
#include "rig/starve.h"
#include "dump/write.h"

static Error err;

static bool go_on(void *data, uint64_t done, const char *at)
{
    (void)data, (void)done, (void)at;
    return true;
}

static const char *const paths[] = {"plain", "step_1/worker_0/conv1.weight", "step_1/worker_1/conv1.weight",
                                    "step_2/b"};

/* A Tick: checks the path of each tensor of make_dump. */
static bool check_path(void *data, uint64_t done, const char *at)
{
    (void)data;
    check(done > 0 && done <= countof(paths));
    assert_string_equal(at, paths[done - 1]);
    return true;
}

static bool stop(void *data, uint64_t done, const char *at)
{
    (void)data, (void)at;
    return done < 2;
}

static Status convert(const char *from, const char *to, Tick tick, ConvertSum *sum)
{
    Arena *a = arena_open(0);
    Dump *d;
    const ConvertJob job = {.tick = tick};
    check_ok(dump_open(&d, in_scratch(from), a, &err), &err);
    const Status status = convert_dump(d, in_scratch(to), &job, sum, a, &err);
    dump_close(d);
    arena_close(a);
    return status;
}

static void check_same_bytes(const char *name, const char *other)
{
    size_t size, other_size;
    uint8_t *data = file_load(in_scratch(name), &size), *more = file_load(in_scratch(other), &other_size);
    assert_int_equal(size, other_size);
    assert_memory_equal(data, more, size);
    free(data);
    free(more);
}

static Attr whole(const char *name, int64_t v)
{
    return (Attr){.name = name, .type = ATTR_INT, .whole = v};
}
static Attr real(const char *name, double v)
{
    return (Attr){.name = name, .type = ATTR_REAL, .real = v};
}
static Attr text(const char *name, const char *v)
{
    return (Attr){.name = name, .type = ATTR_TEXT, .text = v};
}

/* Some texts look like numbers. The attributes are sorted by name, as in a dump converted from safetensors,
 * because the tests compare whole files. */
static void make_dump(const char *name)
{
    Attr root[] = {real("a", 0.1),       real("b", 2),
                   real("c", -INFINITY), real("d", NAN),
                   real("e", -0.0),      whole("f", INT64_MIN),
                   whole("g", 100),      text("h", "100"),
                   text("i", "1e-05"),   text("j", "nan"),
                   text("k", "\"q\""),   text("l", ""),
                   text("m", "\"7\""),   text("n", "\n\t\\\xc3\xa9"),
                   text("o", "007"),     text("p", "a@b")};
    Attr step[] = {real("loss", 1.5), whole("step", 1)}, tensor[] = {text("kind", "norm")};
    float x[] = {1, -0.0F, INFINITY, 0x1p-149F, 3.4e38F, 0};
    const Shape shapes[] = {{.rank = 0, .n = 1},
                            {.rank = 2, .dim = {2, 3}, .n = 6},
                            {.rank = 8, .dim = {1, 1, 2, 1, 1, 3, 1, 1}, .n = 6},
                            {.rank = 2, .dim = {0, 3}, .n = 0}};
    DumpWriter *w;
    check_ok(dump_create(&w, in_scratch(name), &err), &err);
    dump_sign(w, "atomo-bench convert");
    check_ok(dump_write_attrs(w, "", &(AttrList){root, countof(root)}, &err), &err);
    check_ok(dump_write_attrs(w, "step_1", &(AttrList){step, countof(step)}, &err), &err);
    check_ok(dump_write_attrs(w, "step_1/worker_0", &(AttrList){0}, &err), &err);
    check_ok(dump_write_attrs(w, "step_1/worker_1", &(AttrList){0}, &err), &err);
    check_ok(dump_write_attrs(w, "step_2", &(AttrList){0}, &err), &err);
    for (size_t i = 0; i < countof(paths); i++)
        check_ok(dump_write(w, paths[i], &shapes[i], x, &(AttrList){tensor, i == 1}, &err), &err);
    check_ok(dump_finish(w, OK, &err), &err);
}

TEST(safetensors_give_back_every_bit_and_attribute)
{
    ConvertSum sum;
    make_dump("a.h5");
    check_ok(convert("a.h5", "b.safetensors", check_path, &sum), &err);
    assert_int_equal(sum.tensors, 4);
    assert_int_equal(sum.bytes, 4 * 13);
    assert_int_equal(sum.left_out, 0);
    check_ok(convert("b.safetensors", "c.h5", check_path, &sum), &err);
    check_ok(convert("c.h5", "c.safetensors", go_on, &sum), &err);
    check_same_bytes("b.safetensors", "c.safetensors");
}

TEST(npz_gives_back_every_bit_without_attributes)
{
    ConvertSum sum;
    make_dump("a.h5");
    check_ok(convert("a.h5", "a.npz", check_path, &sum), &err);
    assert_int_equal(sum.left_out, 19);
    check_ok(convert("a.npz", "d.h5", check_path, &sum), &err);
    check_ok(convert("d.h5", "e.safetensors", go_on, &sum), &err);
    check_ok(convert("e.safetensors", "e.npz", go_on, &sum), &err);
    assert_int_equal(sum.left_out, 0);
    check_same_bytes("a.npz", "e.npz");
}

TEST(attributes_that_are_no_utf8_are_counted)
{
    DumpWriter *w;
    ConvertSum sum;
    Attr attrs[] = {text("a", "\xff"), text("b", "kept")};
    check_ok(dump_create(&w, in_scratch("latin.h5"), &err), &err);
    check_ok(dump_write_attrs(w, "", &(AttrList){attrs, 2}, &err), &err);
    check_ok(dump_write(w, "x", &(Shape){.n = 1}, &(float){1}, NULL, &err), &err);
    check_ok(dump_finish(w, OK, &err), &err);
    check_ok(convert("latin.h5", "latin.safetensors", go_on, &sum), &err);
    assert_int_equal(sum.left_out, 1);
}

TEST(a_stopped_conversion_leaves_no_file)
{
    ConvertSum sum;
    make_dump("a.h5");
    const int files = scratch_files(false);
    static const char *const to[] = {"s.h5", "s.npz", "s.safetensors"};
    for (size_t i = 0; i < countof(to); i++) {
        assert_int_equal(convert("a.h5", to[i], stop, &sum), ERR_STOPPED);
        assert_int_equal(scratch_files(false), files);
    }
}

typedef struct {
    const char *from, *to, *plenty; /* `plenty`: the output of a conversion with plenty of memory */
} Conversion;

TEST(what_a_format_cannot_hold_is_refused)
{
    static Made made;
    ConvertSum sum;
    make_safetensors(&made,
                     "{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]},"
                     "\"a/b\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[4,8]}}",
                     (float[]){1, 2}, 8);
    save(&made, "both.safetensors");
    assert_int_equal(convert("both.safetensors", "both.h5", go_on, &sum), ERR_USAGE);
    check(strstr(err.text, "a: a tensor and a group at once, which HDF5 cannot hold") != NULL);
    check_ok(convert("both.safetensors", "both.npz", go_on, &sum), &err);
    assert_int_equal(convert("both.safetensors", "both.pt", go_on, &sum), ERR_USAGE);
    check(strstr(err.text, "both.pt: want a name that ends in .h5, .safetensors or .npz") != NULL);
    DumpWriter *w;
    assert_int_equal(dump_create(&w, in_scratch("x.npz"), &err), ERR_USAGE);
    check(strstr(err.text, "x.npz: a dump is written as HDF5") && strstr(err.hint, "atomo-bench convert"));
}

CHECK_ALL(scratch_open, scratch_close)
