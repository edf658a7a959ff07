/* test_array_files.c -- reads safetensors, .npy and .npz files as dumps of gradients: the right numbers for
 * every type, byte order and layout, and for every broken file an error with a reason. */
#include "rig/array_make.h"
#include "dump/array_file.h"

static Error err;
static Arena *arena;
static Dump *dump;
static Made made, other;

static void open_made(const char *name)
{
    arena = arena_open((size_t)1 << 28);
    check_ok(dump_open(&dump, save(&made, name), arena, &err), &err);
}

static void shut(void)
{
    dump_close(dump);
    arena_close(arena);
}

static void check_tensor(size_t i, const char *path, size_t n, const float *want)
{
    float x[64];
    const TensorInfo *t = dump_tensor(dump, i);
    assert_string_equal(t->path, path);
    assert_int_equal(t->shape.n, n);
    check_ok(dump_read(dump, i, x, &err), &err);
    assert_memory_equal(x, want, n * sizeof *x);
}

static Status read_made(const char *name)
{
    arena = arena_open((size_t)1 << 28);
    dump = NULL;
    Status status = dump_open(&dump, save(&made, name), arena, &err);
    for (size_t i = 0; status == OK && i < dump_count(dump); i++) {
        float *x = NEW(arena, float, dump_tensor(dump, i)->shape.n);
        status = x ? dump_read(dump, i, x, &err) : arena_fail(arena, &err);
    }
    shut();
    return status;
}

static void check_refused(const char *name, const char *why)
{
    assert_int_not_equal(read_made(name), OK);
    if (!strstr(err.text, why) || !strstr(err.text, name))
        print_error("%s\nwant: %s: ... %s\n", err.text, name, why);
    check(strstr(err.text, why) && strstr(err.text, name));
}

/* ---- safetensors ---- */

TEST(safetensors_of_each_type_are_read)
{
    static const uint8_t data[] = {0x00, 0x3c, 0x00, 0xc0,                         /* F16 1, -2 */
                                   0x80, 0x3f, 0x00, 0xc0,                         /* BF16 1, -2 */
                                   0x00, 0x00, 0x80, 0x3f, 0x00, 0x00, 0x00, 0xc0, /* F32 1, -2 */
                                   0,    0,    0,    0,    0,    0,    0xf0, 0x3f,
                                   0,    0,    0,    0,    0,    0,    0,    0xc0, /* F64 1, -2 */
                                   7,    8};                                       /* I8 */
    make_safetensors(&made,
                     "{\"h\":{\"dtype\":\"F16\",\"shape\":[2],\"data_offsets\":[0,4]},"
                     "\"b\":{\"shape\":[1,2],\"dtype\":\"BF16\",\"data_offsets\":[4,8]},"
                     "\"f\":{\"dtype\":\"F32\",\"shape\":[2,1],\"data_offsets\":[8,16]},"
                     "\"d\":{\"dtype\":\"F64\",\"data_offsets\":[16,32],\"shape\":[2]},"
                     "\"i\":{\"dtype\":\"I8\",\"shape\":[2],\"data_offsets\":[32,34]},"
                     "\"e\":{\"dtype\":\"F32\",\"shape\":[0,3],\"data_offsets\":[34,34]}}  ",
                     data, sizeof data);
    open_made("types.safetensors");
    assert_int_equal(dump_count(dump), 5);
    assert_int_equal(dump_skipped(dump), 1);
    const float want[] = {1, -2};
    for (size_t i = 0; i < 4; i++)
        check_tensor(i, (const char *[]){"h", "b", "f", "d"}[i], 2, want);
    check_tensor(4, "e", 0, want);
    assert_int_equal(dump_tensor(dump, 1)->shape.rank, 2);
    assert_int_equal(dump_tensor(dump, 1)->shape.dim[1], 2);
    shut();
}

TEST(slashes_make_groups_and_metadata_are_attributes)
{
    static const float want[] = {1, 2, 3};
    float data[] = {1, 2, 3};
    floats_order(data, countof(data));
    make_safetensors(
        &made,
        "{\"__metadata__\":{\"model\":\"a@b\",\"lr\":\"0.5\",\"step_7@loss\":\"2.0\","
        "\"step_7@step\":\"70\",\"step_7/worker_1/conv1.weight@kind\":\"norm\",\"quoted\":\"\\\"12\\\"\"},"
        "\"step_7/worker_1/conv1.weight\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[8,12]},"
        "\"step_7/worker_0/conv1.weight\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]},"
        "\"plain.name\":{\"dtype\":\"F32\",\"shape\":[],\"data_offsets\":[4,8]}}",
        data, sizeof data);
    open_made("groups.safetensors");
    check_tensor(0, "plain.name", 1, &want[1]);
    check_tensor(1, "step_7/worker_0/conv1.weight", 1, &want[0]);
    check_tensor(2, "step_7/worker_1/conv1.weight", 1, &want[2]);
    assert_string_equal(dump_tensor(dump, 2)->name, "conv1.weight");
    assert_int_equal(dump_tensor(dump, 2)->step, 70);
    assert_int_equal(dump_tensor(dump, 2)->kind, KIND_NORM);
    assert_int_equal(dump_groups(dump), 2); /* the root and step_7, which have attributes */
    const Attr *loss = attr_find(dump_attrs(dump, "step_7"), "loss"),
               *lr = attr_find(dump_attrs(dump, ""), "lr");
    check(loss && loss->type == ATTR_REAL && loss->real == 2 && lr && lr->real == 0.5);
    assert_string_equal(attr_find(dump_attrs(dump, ""), "model")->text, "a@b");
    assert_string_equal(attr_find(dump_attrs(dump, ""), "quoted")->text, "12");
    shut();
}

#define ONE "\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}"

TEST(broken_safetensors_are_refused_with_the_reason)
{
    static const struct {
        const char *header, *why;
    } broken[] = {
        {"{" ONE ",\"b\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[4,12]}}",
         "b: overlaps another array at bytes 4 to 8"},
        {"{" ONE ",\"b\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[12,16]}}",
         "b: unused: bytes 8 to 12"},
        {"{" ONE "}", "the last 8 bytes of the data are in no array"},
        {"{" ONE "," ONE "}", "a: overlaps another array"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[4],\"data_offsets\":[0,16]},\"e\":{\"dtype\":\"I8\",\"shape\":[0],\"data_offsets\":[16,16]},\"e\":{\"dtype\":\"I8\",\"shape\":[0],\"data_offsets\":[16,16]}}",
         "e: two arrays of this name"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[4],\"data_offsets\":[0,20]}}",
         "a: data_offsets 0 to 20, and the file has 16"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[4],\"data_offsets\":[16,0]}}", "a: data_offsets 16 to 0"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[5],\"data_offsets\":[0,16]}}",
         "a: its shape needs 20 bytes, and data_offsets give it 16"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[4.0],\"data_offsets\":[0,16]}}",
         "a: a shape that is no list of sizes"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[-4],\"data_offsets\":[0,16]}}",
         "a: a shape that is no list of sizes"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[4294967296,4294967296],\"data_offsets\":[0,16]}}",
         "a: claims more elements than there can be"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1,1,1,1,1,1,1,1,4],\"data_offsets\":[0,16]}}",
         "a: rank 9, want at most 8"},
        {"{\"a\":{\"dtype\":\"F4\",\"shape\":[31],\"data_offsets\":[0,16]}}", "a: 31 elements of 4 bits are no whole bytes"},
        {"{\"a\":{\"dtype\":\"F6_E2M3\",\"shape\":[24],\"data_offsets\":[0,16]}}", "a: its shape needs 18 bytes"},
        {"{\"a\":{\"dtype\":\"X7\",\"shape\":[9],\"data_offsets\":[0,16]}}", "no float datasets (1 of other types)"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[4],\"data_offsets\":[0]}}", "a: no pair of data_offsets"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[4],\"data_offsets\":[0,16],\"x\":1}}",
         "a: want dtype, shape and data_offsets, and nothing else"},
        {"{\"a\":[]}", "a: want dtype"},
        {"{\"a/\":{\"dtype\":\"F32\",\"shape\":[4],\"data_offsets\":[0,16]}}",
         "a name that cannot be a path"},
        {"{\"/a\":{\"dtype\":\"F32\",\"shape\":[4],\"data_offsets\":[0,16]}}",
         "a name that cannot be a path"},
        {"{\"\":{\"dtype\":\"F32\",\"shape\":[4],\"data_offsets\":[0,16]}}", "a name that cannot be a path"},
        {"{\"__metadata__\":{\"x\":1},\"a\":{\"dtype\":\"F32\",\"shape\":[4],\"data_offsets\":[0,16]}}",
         "__metadata__: x is no text"},
        {"{\"__metadata__\":{\"x\":\"1\",\"x\":\"2\"},\"a\":{\"dtype\":\"F32\",\"shape\":[4],\"data_offsets\":[0,16]}}",
         "__metadata__: two members x"},
        {"{\"a\":{\"dtype\":\"F32\"", "JSON, byte"},
        {"{\"i\":{\"dtype\":\"I32\",\"shape\":[4],\"data_offsets\":[0,16]}}",
         "holds no float datasets (1 of other types)"},
    };
    static const float data[4] = {1, 2, 3, 4};
    for (size_t i = 0; i < countof(broken); i++) {
        make_safetensors(&made, broken[i].header, data, sizeof data);
        check_refused("broken.safetensors", broken[i].why);
    }
}

TEST(headers_beyond_the_file_or_the_limit_are_refused)
{
    static const float data[2] = {1, 2};
    make_safetensors(&made, "{" ONE "}", data, sizeof data);
    const uint64_t claims[] = {made.size - 7, 100000001, (uint64_t)1 << 47};
    for (size_t i = 0; i < countof(claims); i++) {
        store_u64(made.data, claims[i]);
        check_refused("long.safetensors", "its header claims");
    }
    store_u64(made.data, UINT64_MAX);
    check_refused("long.safetensors", "not an HDF5, safetensors, .npz or .npy file");
}

/* ---- .npy ---- */

TEST(npy_of_each_version_type_and_order_is_read)
{
    static const float want[] = {1, 2, 3, 4, 5, 6};
    /* the elements 1 .. 6 of a 2 x 3 array, in Fortran (column-major) order */
    double narrow[] = {1, 4, 2, 5, 3, 6};
    uint8_t swapped[24];
    for (size_t i = 0; i < 6; i++) {
        file_order(&narrow[i], sizeof narrow[i]);
        store_u32(swapped + 4 * i, __builtin_bswap32(float_bits(want[i])));
    }
    made.size = 0;
    add_npy(&made, 1, "{'descr': '<f8', 'fortran_order': True, 'shape': (2, 3), }", narrow, sizeof narrow);
    open_made("one.npy");
    check_tensor(0, "one", 6, want);
    shut();
    made.size = 0;
    add_npy(&made, 2, "{'shape':(6,),\"fortran_order\":False,'descr':'>f4'}   ", swapped, sizeof swapped);
    open_made("two.grad.npy");
    check_tensor(0, "two.grad", 6, want);
    shut();
    made.size = 0;
    add_npy(&made, 3, "{'descr': '<f2', 'fortran_order': False, 'shape': (), }",
            (const uint8_t[]){0x00, 0x3c}, 2);
    open_made("half");
    check_tensor(0, "half", 1, want);
    assert_int_equal(dump_tensor(dump, 0)->shape.rank, 0);
    shut();
}

TEST(broken_npy_is_refused_with_the_reason)
{
    static const struct {
        int version;
        const char *dictionary, *why;
    } broken[] = {
        {4, "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }", ".npy version 4.0, want 1.0"},
        {1, "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }",
         "its shape needs 12 bytes, and the file has 8"},
        {1, "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }",
         "its shape needs 4 bytes, and the file has 8"},
        {1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2), }", "damaged .npy header"},
        {1, "{'descr': '<f4', 'fortran_order': False, 'shape': (-2,), }", "damaged .npy header"},
        {1, "{'descr': '<f4', 'fortran_order': 0, 'shape': (2,), }", "damaged .npy header"},
        {1, "{'descr': '<f4', 'fortran_order': False, }", "damaged .npy header"},
        {1, "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (2,), }",
         "damaged .npy header"},
        {1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), 'x': 1}", "damaged .npy header"},
        {1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), } import os", "damaged .npy header"},
        {1, "{'descr': '<f4', 'fortran_order': False 'shape': (2,), }", "damaged .npy header"},
        {1, "{'descr': [('a', '<f4'), 'fortran_order': False, 'shape': (2,), }", "damaged .npy header"},
        {1, "{'descr': '<f16', 'fortran_order': False, 'shape': (2,), }", "no float datasets (1 of other types)"},
        {1, "{'descr': '=f4', 'fortran_order': False, 'shape': (2,), }", "no float datasets (1 of other types)"},
        {1, "{'descr': 'float', 'fortran_order': False, 'shape': (2,), }",
         "descr \"float\", no type of NumPy's"},
        {1, "{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,2), }",
         "rank 9, want at most 8"},
        {1, "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,), }",
         "damaged .npy header"},
        {1, "{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296,4294967296), }",
         "claims more elements"},
        {1, "{'descr': '<i4', 'fortran_order': False, 'shape': (2,), }",
         "holds no float datasets (1 of other types)"},
        {1, "{'descr': [('a', '<f4', (1,))], 'fortran_order': False, 'shape': (2,), }",
         "holds no float datasets"},
    };
    static const float data[2] = {1, 2};
    for (size_t i = 0; i < countof(broken); i++) {
        made.size = 0;
        add_npy(&made, broken[i].version, broken[i].dictionary, data, sizeof data);
        check_refused("broken.npy", broken[i].why);
    }
    made.size = 0;
    add_npy(&made, 2, "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }", data, sizeof data);
    store_u32(made.data + 8, 1 << 20);
    check_refused("broken.npy", "a .npy header of 1048576 bytes, want at most 65536");
    store_u32(made.data + 8, 2000);
    check_refused("broken.npy", "fewer than its header needs");
}

/* Returns the value of a half-precision number by the format's definition. */
static float half_value(unsigned half)
{
    const int exponent = (int)(half >> 10 & 31), fraction = (int)(half & 1023);
    const float sign = half >> 15 ? -1.0F : 1.0F;
    if (exponent == 31)
        return fraction ? NAN : sign * INFINITY;
    return sign * (exponent ? ldexpf((float)(1024 + fraction), exponent - 25) : ldexpf((float)fraction, -24));
}

TEST(every_half_is_converted_exactly)
{
    enum { HALVES = 1 << 16 };
    static uint8_t data[2 * HALVES];
    static float x[HALVES];
    for (unsigned i = 0; i < HALVES; i++)
        store_u16(data + 2 * i, (uint16_t)i);
    made.size = 0;
    add_npy(&made, 1, "{'descr': '<f2', 'fortran_order': False, 'shape': (256, 256), }", data, sizeof data);
    open_made("halves.npy");
    check_ok(dump_read(dump, 0, x, &err), &err);
    for (unsigned i = 0; i < HALVES; i++) {
        const float want = half_value(i);
        check(isnan(want) ? isnan(x[i]) && !signbit(x[i]) == !(i >> 15)
                          : float_bits(x[i]) == float_bits(want));
    }
    shut();
}

/* ---- .npz ---- */

static const float six[] = {1, 2, 3, 4, 5, 6};

static void make_six(Made *content)
{
    float data[] = {1, 2, 3, 4, 5, 6};
    floats_order(data, countof(data));
    content->size = 0;
    add_npy(content, 1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }", data, sizeof data);
}

TEST(npz_of_each_layout_is_read)
{
    make_six(&other);
    for (int layout = 0; layout < 16; layout++) {
        const MadeMember member[] = {
            {.name = "step_1/worker_0/fc.weight.npy",
             .content = &other,
             .deflated = layout & 1,
             .wide = layout & 2},
            {.name = "notes.txt", .content = &other},
            {.name = "folder/", .content = &(Made){.size = 0}},
            {.name = "b.npy", .content = &other, .deflated = !(layout & 1), .flags = layout & 8 ? 8 : 0},
        };
        make_zip(&made, member, countof(member),
                 &(MadeEnd){.end64 = layout & 4, .comment = layout & 8 ? "PK\5\6" : NULL});
        open_made("layout.npz");
        assert_int_equal(dump_count(dump), 2);
        assert_int_equal(dump_skipped(dump), 1);
        check_tensor(0, "b", 6, six);
        check_tensor(1, "step_1/worker_0/fc.weight", 6, six);
        assert_int_equal(dump_tensor(dump, 1)->step, 1);
        shut();
    }
}

TEST(broken_npz_is_refused_with_the_reason)
{
    static Made bomb;
    static const float zeros[20000];
    bomb.size = 0;
    add_npy(&bomb, 1, "{'descr': '<f4', 'fortran_order': False, 'shape': (20000,), }", zeros, sizeof zeros);
    make_six(&other);
    const struct {
        MadeMember member;
        const char *why;
    } broken[] = {
        {{.name = "a.npy", .content = &other, .sum_error = 1}, "a: its checksum is"},
        {{.name = "a.npy", .content = &other, .deflated = true, .sum_error = 1}, "a: its checksum is"},
        {{.name = "a.npy", .content = &other, .flags = 1}, "a.npy: encrypted"},
        {{.name = "a.npy", .content = &other, .method = 12},
         "a.npy: packed by method 12; want stored or deflated"},
        {{.name = "a.npy", .content = &other, .claims = 5000},
         "a.npy: stored as 94 bytes, and says it has 5000"},
        {{.name = "a.npy", .content = &other, .claims_packed = 5000, .claims = 5000},
         "a member is not where its directory says"},
        {{.name = "a.npy", .content = &other, .claims_at = 5001}, "a member beyond its directory"},
        {{.name = "a.npy", .content = &other, .claims_at = 5}, "a member is not where its directory says"},
        {{.name = "a.npy", .content = &bomb, .deflated = true, .claims = 93}, "its shape needs 80000 bytes"},
        {{.name = "a.npy", .content = &bomb, .deflated = true, .claims = (uint64_t)1 << 40, .wide = true},
         "bytes cannot unpack to 1099511627776"},
        {{.name = "a.npy", .content = &other, .deflated = true, .claims = 90}, "its shape needs 24 bytes"},
        {{.name = "a.npy", .content = &other, .deflated = true, .claims_packed = 20},
         "a.npy: the packed data end too early"},
        {{.name = "\xff.npy", .content = &other}, "a name that is no UTF-8"},
        {{.name = "/a.npy", .content = &other}, "a name that cannot be a path"},
        {{.name = "m/data.pkl", .content = &other}, "a Python pickle"},
        {{.name = "word/document.xml", .content = &other}, "holds no float datasets (1 of other types)"},
    };
    for (size_t i = 0; i < countof(broken); i++) {
        make_zip(&made, &broken[i].member, 1, &(MadeEnd){0});
        check_refused("broken.npz", broken[i].why);
    }
}

/* The shape of the .npy member fits the member's stated size, but the member decompresses to more bytes. */
TEST(members_that_unpack_to_more_than_they_say_are_refused)
{
    static const float more[5000];
    other.size = 0;
    add_npy(&other, 1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }", more, sizeof more);
    const MadeMember member = {
        .name = "a.npy", .content = &other, .deflated = true, .claims = other.size - sizeof more + 24};
    make_zip(&made, &member, 1, &(MadeEnd){0});
    check_refused("bomb.npz", "a: the packed data have more bytes than the archive says");
}

TEST(archives_cut_short_anywhere_are_refused)
{
    make_six(&other);
    const MadeMember member[] = {{.name = "a.npy", .content = &other, .deflated = true},
                                 {.name = "b.npy", .content = &other}};
    make_zip(&made, member, 2, &(MadeEnd){0});
    for (const size_t whole = made.size; made.size > 0;) {
        made.size -= made.size < 7 ? made.size : 7;
        check(made.size < whole);
        check_refused("cut.npz", "");
    }
}

/* ---- pickles ---- */

CHECK_ALL(scratch_open, scratch_close)
