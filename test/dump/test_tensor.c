/* test_tensor.c -- shapes of tensors and their views as matrices. Also reading dumps (files of gradients):
 * types, layouts, names, order, attributes, and the selection of tensors. */
#include "rig/check.h"
#include "rig/hdf5_make.h"
#include "dump/tensor.h"

#include <signal.h>
#include <sys/stat.h>

static Error err;
static Arena *arena;
static Dump *dump;

static void open_dump(const char *name)
{
    arena = arena_open(0);
    check_ok(dump_open(&dump, in_scratch(name), arena, &err), &err);
}
static void shut_dump(void)
{
    dump_close(dump);
    arena_close(arena);
}
static Status refused(const char *path)
{
    arena = arena_open(0);
    const Status status = dump_open(&dump, path, arena, &err);
    arena_close(arena);
    return status;
}

/* ---- shapes ---- */

static void check_view(int rank, const size_t *dim, Reshape how, size_t rows, size_t cols)
{
    Shape shape;
    size_t r, c;
    check(shape_make(&shape, rank, dim));
    matrix_view(&shape, how, &r, &c);
    assert_int_equal(r, rows);
    assert_int_equal(c, cols);
}

TEST(views_follow_the_papers_rule)
{
    check_view(2, (size_t[]){500, 800}, RESHAPE_PAPER, 500, 800);
    check_view(4, (size_t[]){64, 3, 3, 3}, RESHAPE_PAPER, 96, 18);
    check_view(4, (size_t[]){5, 3, 3, 3}, RESHAPE_PAPER, 15, 9);
    check_view(4, (size_t[]){64, 32, 1, 1}, RESHAPE_PAPER, 64, 32);
    check_view(1, (size_t[]){10}, RESHAPE_PAPER, 5, 2);
    check_view(1, (size_t[]){7}, RESHAPE_PAPER, 7, 1);
    check_view(0, NULL, RESHAPE_PAPER, 1, 1);
    check_view(3, (size_t[]){4, 5, 6}, RESHAPE_PAPER, 4, 30);
    check_view(4, (size_t[]){64, 3, 3, 3}, RESHAPE_ROWS, 64, 27);
    check_view(4, (size_t[]){64, 3, 3, 3}, RESHAPE_SQUARE, 48, 36);
}

TEST(shapes_that_overflow_are_refused)
{
    Shape shape;
    check(!shape_make(&shape, 2, (size_t[]){(size_t)1 << 40, (size_t)1 << 40}));
    check(!shape_make(&shape, RANK_MAX + 1, (size_t[9]){1, 1, 1, 1, 1, 1, 1, 1, 1}));
    check(shape_make(&shape, 3, (size_t[]){SIZE_MAX, 0, SIZE_MAX}) && shape.n == 0);
    check(shape_make(&shape, 2, (size_t[]){SIZE_MAX / 16, 1}) && shape.n == SIZE_MAX / 16);
    check(!shape_make(&shape, 2, (size_t[]){SIZE_MAX / 16 + 1, 1}));
}

TEST(kinds_follow_from_rank_and_name)
{
    static const struct {
        const char *name;
        int rank;
        Kind kind;
    } rows[] = {
        {"conv1.weight", 4, KIND_CONV},
        {"fc.weight", 2, KIND_FC},
        {"tok_emb.weight", 2, KIND_EMBEDDING},
        {"wte.weight", 2, KIND_EMBEDDING},
        {"embedding", 2, KIND_EMBEDDING},
        {"fc.bias", 1, KIND_BIAS},
        {"bn1.bias", 1, KIND_NORM},
        {"layer1.0.bn2.weight", 1, KIND_NORM},
        {"h.0.ln_1.bias", 1, KIND_NORM},
        {"encoder.norm.weight", 1, KIND_NORM},
        {"column.bias", 1, KIND_BIAS},
        {"downsample.1.weight", 1, KIND_NORM},
        {"x", 3, KIND_OTHER},
        {"x", 0, KIND_OTHER},
    };
    for (size_t i = 0; i < countof(rows); i++) {
        Shape shape;
        check(shape_make(&shape, rows[i].rank, (size_t[]){2, 2, 2, 2}));
        if (kind_guess(rows[i].name, &shape) != rows[i].kind)
            print_error("%s\n", rows[i].name);
        assert_int_equal(kind_guess(rows[i].name, &shape), rows[i].kind);
    }
}

/* ---- types and layouts of datasets ---- */

TEST(every_float_type_and_layout_reads_the_same_numbers)
{
    enum { N = 5000 };
    const hid_t types[] = {half_type(false), half_type(true), H5T_IEEE_F32LE,
                           H5T_IEEE_F32BE,   H5T_IEEE_F64LE,  H5T_IEEE_F64BE};
    const hid_t packed = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(packed, 1, (hsize_t[]){777});
    H5Pset_shuffle(packed);
    H5Pset_deflate(packed, 4);
    H5Pset_fletcher32(packed);
    const hid_t file = make_file(in_scratch("types.h5"), false);
    for (size_t t = 0; t < countof(types); t++) {
        char name[16];
        snprintf(name, sizeof name, "plain%zu", t);
        make_floats(file, name, types[t], N, H5P_DEFAULT);
        snprintf(name, sizeof name, "packed%zu", t);
        make_floats(file, name, types[t], N, packed);
    }
    H5Fclose(file);
    open_dump("types.h5");
    assert_int_equal(dump_count(dump), 2 * countof(types));
    for (size_t i = 0; i < dump_count(dump); i++) {
        float x[N] = {-1};
        assert_int_equal(dump_tensor(dump, i)->shape.n, N);
        check_ok(dump_read(dump, i, x, &err), &err);
        for (size_t k = 0; k < N; k++)
            check(x[k] == 0.5F * (float)(k % 2048));
    }
    shut_dump();
}

/* Contiguous floats are read from the file, others unpacked by the reader process. */
TEST(long_tensors_are_read)
{
    enum { LONG = 2500000 };
    float *x = malloc(LONG * sizeof *x);
    const hid_t file = make_file(in_scratch("long.h5"), false);
    make_floats(file, "plain", H5T_IEEE_F32LE, LONG, H5P_DEFAULT);
    make_floats(file, "unpacked", H5T_IEEE_F64LE, LONG, H5P_DEFAULT);
    H5Fclose(file);
    open_dump("long.h5");
    for (size_t i = 0; i < 2; i++) {
        memset(x, 255, LONG * sizeof *x);
        check_ok(dump_read(dump, i, x, &err), &err);
        for (size_t k = 0; k < LONG; k++)
            check(x[k] == 0.5F * (float)(k % 2048));
    }
    shut_dump();
    free(x);
}

TEST(scalars_and_empty_tensors_are_tensors)
{
    const hid_t file = make_file(in_scratch("odd.h5"), true), scalar = H5Screate(H5S_SCALAR);
    const float value = 2.5F;
    float x = 0;
    const hid_t dataset =
        H5Dcreate2(file, "b", H5T_IEEE_F32LE, scalar, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    H5Dwrite(dataset, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, &value);
    H5Dclose(dataset);
    make_floats(file, "a", H5T_IEEE_F32LE, 0, H5P_DEFAULT);
    H5Fclose(file);
    open_dump("odd.h5");
    assert_int_equal(dump_count(dump), 2);
    assert_int_equal(dump_tensor(dump, 0)->shape.n, 0);
    assert_int_equal(dump_tensor(dump, 1)->shape.rank, 0);
    check_ok(dump_read(dump, 0, &x, &err), &err);
    check_ok(dump_read(dump, 1, &x, &err), &err);
    check(x == value);
    shut_dump();
}

TEST(doubles_beyond_float32_become_infinite)
{
    const hid_t file = make_file(in_scratch("big.h5"), true);
    const hsize_t dim = 2;
    const double value[] = {1e300, -1e300};
    float x[2];
    const hid_t space = H5Screate_simple(1, &dim, NULL);
    const hid_t dataset = H5Dcreate2(file, "a", H5T_IEEE_F64LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    H5Dwrite(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, value);
    H5Dclose(dataset);
    H5Fclose(file);
    open_dump("big.h5");
    check_ok(dump_read(dump, 0, x, &err), &err);
    check(isinf(x[0]) && isinf(x[1]) && x[1] < 0);
    shut_dump();
}

TEST(bfloat16_in_uint16_is_read_where_an_attribute_says_so)
{
    const hid_t file = make_file(in_scratch("bf.h5"), true);
    const hsize_t dim = 3;
    const uint16_t value[] = {0x3f80, 0xc040, 0x0000}; /* 1, -3, 0 */
    const hid_t space = H5Screate_simple(1, &dim, NULL);
    for (int i = 0; i < 2; i++) {
        const hid_t d =
            H5Dcreate2(file, i ? "b" : "a", H5T_STD_U16BE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
        H5Dwrite(d, H5T_NATIVE_UINT16, H5S_ALL, H5S_ALL, H5P_DEFAULT, value);
        H5Dclose(d);
    }
    /* A text attribute may have up to 64 KB. The limit holds for each text: two texts of 40,000 bytes are
     * accepted. */
    char *notes = calloc(1, 40001);
    memset(notes, 'n', 40000);
    make_text_attr(file, "b", "notes", notes);
    make_text_attr(file, "b", "more_notes", notes);
    free(notes);
    make_text_attr(file, "b", "dtype", "bfloat16");
    make_text_attr(file, "a", "dtype", "bfloat1");
    H5Fclose(file);
    open_dump("bf.h5");
    float x[3];
    assert_int_equal(dump_count(dump), 1);
    assert_int_equal(dump_skipped(dump), 1);
    check_ok(dump_read(dump, 0, x, &err), &err);
    check(x[0] == 1 && x[1] == -3 && x[2] == 0);
    shut_dump();
}

/* Elements of two bytes that an attribute calls floats are read by their bits, whatever integer or bit type they have; nothing
 * else of integers, bits and untyped bytes is read, and no other dataset is harmed. */
TEST(bits_that_an_attribute_calls_floats_are_read_as_they_are)
{
    enum { N = 1000, SIZES = 4 };
    static const char *const says[] = {NULL, "bfloat16", "float16", "bfloat1"};
    static const char *const order[] = {"le", "be"}, *const classes[] = {"signed", "unsigned", "bits", "untyped"};
    const hsize_t dim = N;
    uint8_t raw[8 * N];
    for (size_t i = 0; i < sizeof raw; i++)
        raw[i] = (uint8_t)(i * 167 + i / 251);
    const hid_t file = make_file(in_scratch("pairs.h5"), false), space = H5Screate_simple(1, &dim, NULL);
    size_t made = 0;
    for (int c = 0; c < 4; c++)
        for (int s = 0; s < SIZES; s++)
            for (int o = 0; o < 2; o++)
                for (size_t a = 0; a < countof(says); a++) {
                    char name[64];
                    const hid_t type = c == 3 ? H5Tcreate(H5T_OPAQUE, (size_t)1 << s)
                                              : H5Tcopy(c == 2 ? H5T_STD_B8LE : c == 1 ? H5T_STD_U8LE : H5T_STD_I8LE);
                    if (c < 3)
                        check(H5Tset_size(type, (size_t)1 << s) >= 0 && H5Tset_precision(type, (size_t)8 << s) >= 0 &&
                              H5Tset_order(type, o ? H5T_ORDER_BE : H5T_ORDER_LE) >= 0);
                    snprintf(name, sizeof name, "%s.%d.%s.%s", classes[c], 1 << s, order[o], says[a] ? says[a] : "none");
                    const hid_t d = H5Dcreate2(file, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
                    check(H5Dwrite(d, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, raw) >= 0);
                    H5Dclose(d);
                    H5Tclose(type);
                    if (says[a])
                        make_text_attr(file, name, "dtype", says[a]);
                    made++;
                }
    H5Fclose(file);
    open_dump("pairs.h5");
    assert_int_equal(dump_count(dump), 4 * 2 * 2);
    assert_int_equal(dump_skipped(dump), made - dump_count(dump));
    for (size_t i = 0; i < dump_count(dump); i++) {
        float x[N];
        const char *name = dump_tensor(dump, i)->path;
        const bool big = strstr(name, ".be.") && !strstr(name, "untyped");
        check(strstr(name, ".2.") && strstr(name, "float16"));
        check_ok(dump_read(dump, i, x, &err), &err);
        for (size_t k = 0; k < N; k++) {
            const uint16_t bits = (uint16_t)(raw[2 * k + big] | raw[2 * k + !big] << 8);
            uint32_t wide = (uint32_t)bits << 16;
            float want;
            memcpy(&want, &wide, sizeof want);
            if (!strstr(name, "bfloat16")) {
                const int exponent = bits >> 10 & 31, fraction = bits & 1023;
                want = exponent == 31 ? (fraction ? NAN : INFINITY)
                                      : ldexpf((float)(fraction + (exponent ? 1024 : 0)), (exponent ? exponent : 1) - 25);
                want = bits >> 15 ? -want : want;
            }
            check(isnan(want) ? isnan(x[k]) : x[k] == want);
        }
    }
    shut_dump();
}

/* E5M2 has IEEE's infinities. E4M3 has 448 where they would be, which the type does not tell, so it is left out, as is long double. */
TEST(floats_whose_rules_are_in_doubt_are_left_out)
{
    static const uint8_t bits[] = {0x00, 0x01, 0x3c, 0x7b, 0x7c, 0xc0};
    static const float want[] = {0, 0x1p-16F, 1, 57344, INFINITY, -2};
    const hsize_t dim = countof(bits);
    const hid_t file = make_file(in_scratch("f8.h5"), false), space = H5Screate_simple(1, &dim, NULL);
    for (int e4m3 = 0; e4m3 < 2; e4m3++) {
        const hid_t type = H5Tcopy(H5T_IEEE_F32LE);
        check(H5Tset_fields(type, 7, 2 + (size_t)e4m3, 5 - (size_t)e4m3, 0, 2 + (size_t)e4m3) >= 0 && H5Tset_size(type, 1) >= 0 &&
              H5Tset_ebias(type, e4m3 ? 7 : 15) >= 0);
        const hid_t d = H5Dcreate2(file, e4m3 ? "e4m3" : "e5m2", type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
        check(H5Dwrite(d, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, bits) >= 0);
        H5Dclose(d);
    }
    make_floats(file, "long", H5T_NATIVE_LDOUBLE, 5, H5P_DEFAULT);
    H5Fclose(file);
    float x[countof(bits)];
    open_dump("f8.h5");
    assert_int_equal(dump_count(dump), 1);
    assert_int_equal(dump_left_out(dump)->count, 2);
    assert_int_equal(dump_left_out(dump)->elements, countof(bits) + 5);
    assert_string_equal(dump_left_out(dump)->type, "float of 8 bits");
    check_ok(dump_read(dump, 0, x, &err), &err);
    for (size_t i = 0; i < countof(bits); i++)
        check(x[i] == want[i]);
    shut_dump();
}

TEST(datasets_without_floats_are_skipped_and_counted)
{
    const hid_t file = make_file(in_scratch("ints.h5"), false);
    make_floats(file, "i", H5T_STD_I32LE, 5, H5P_DEFAULT);
    make_floats(file, "u", H5T_STD_U8LE, 5, H5P_DEFAULT);
    H5Fclose(file);
    assert_int_equal(refused(in_scratch("ints.h5")), ERR_CORRUPT);
    check(strstr(err.text, "no float datasets (2 of other types)") != NULL);
}

/* ---- names and order of tensors ---- */

TEST(steps_and_workers_come_in_numerical_order)
{
    const hid_t file = make_file(in_scratch("order.h5"), false);
    static const char *const groups[] = {"step_10", "step_9", "step_9/worker_10", "step_9/worker_2",
                                         "step_x"};
    for (size_t i = 0; i < countof(groups); i++)
        make_group(file, groups[i]);
    make_floats(file, "step_10/module.fc.weight", H5T_IEEE_F32LE, 3, H5P_DEFAULT);
    make_floats(file, "step_9/worker_10/fc.weight", H5T_IEEE_F32LE, 3, H5P_DEFAULT);
    make_floats(file, "step_9/worker_2/fc.weight", H5T_IEEE_F32LE, 3, H5P_DEFAULT);
    make_floats(file, "step_x/fc", H5T_IEEE_F32LE, 3, H5P_DEFAULT);
    make_int_attr(file, "step_10", "step", 1000);
    make_text_attr(file, "step_9/worker_2/fc.weight", "kind", "embedding");
    H5Fclose(file);
    open_dump("order.h5");
    static const char *const want[] = {"step_x/fc", "step_9/worker_2/fc.weight", "step_9/worker_10/fc.weight",
                                       "step_10/module.fc.weight"};
    assert_int_equal(dump_count(dump), countof(want));
    for (size_t i = 0; i < countof(want); i++)
        assert_string_equal(dump_tensor(dump, i)->path, want[i]);
    const TensorInfo *plain = dump_tensor(dump, 0), *two = dump_tensor(dump, 1), *last = dump_tensor(dump, 3);
    check(!plain->step_group && plain->step == 0 && !strcmp(plain->name, "step_x/fc"));
    check(two->step == 9 && two->worker == 2 && two->kind == KIND_EMBEDDING &&
          !strcmp(two->name, "fc.weight"));
    check(last->step == 1000 && !strcmp(last->step_group, "step_10") && !strcmp(last->display, "fc.weight"));
    check(!strcmp(last->name, "module.fc.weight") && !last->worker_group);
    shut_dump();
}

/* Two tensors of one name must differ in `step_address` or `worker_address`, which select their random numbers. */
static void check_apart(void)
{
    for (size_t i = 0; i < dump_count(dump); i++)
        for (size_t k = 0; k < i; k++) {
            const TensorInfo *a = dump_tensor(dump, i), *b = dump_tensor(dump, k);
            check(strcmp(a->name, b->name) || a->step_address != b->step_address ||
                  a->worker_address != b->worker_address);
        }
}

TEST(groups_of_one_number_draw_apart)
{
    static const char *const paths[] = {"step_1/a",          "step_01/a",          "step_2/worker_1/a",
                                        "step_2/worker_1/b", "step_2/worker_01/a", "step_2/worker_0/a",
                                        "step_2/a",          "step_0/a",           "a",
                                        "step_7/worker_1/a", "step_8/worker_1/a"};
    const hid_t file = make_file(in_scratch("twins.h5"), false);
    static const char *const groups[] = {"step_1",          "step_01",         "step_2",           "step_0",
                                         "step_2/worker_0", "step_2/worker_1", "step_2/worker_01", "step_7",
                                         "step_8",          "step_7/worker_1", "step_8/worker_1"};
    for (size_t i = 0; i < countof(groups); i++)
        make_group(file, groups[i]);
    for (size_t i = 0; i < countof(paths); i++)
        make_floats(file, paths[i], H5T_IEEE_F32LE, 3, H5P_DEFAULT);
    /* gives group step_8 the same number as step_7, as when a training run counts its steps anew */
    make_int_attr(file, "step_8", "step", 7);
    H5Fclose(file);
    open_dump("twins.h5");
    assert_int_equal(dump_count(dump), countof(paths));
    /* Five numbers are taken: step_0 by `a`, step_1 by step_01, worker_0 by step_2/a, worker_1 by worker_01,
     * step_8 by step_7. A tensor outside any step or worker has the number 0. */
    check_apart();
    for (size_t i = 0; i < dump_count(dump); i++) {
        const TensorInfo *t = dump_tensor(dump, i);
        const bool plain = !strcmp(t->path, "a") || !strcmp(t->path, "step_01/a") ||
                           !strncmp(t->path, "step_2", 6) || !strncmp(t->path, "step_7", 6);
        check(plain ? t->step_address == t->step : t->step_address < 0);
    }
    shut_dump();
}

TEST(groups_have_all_their_names_and_soft_links_are_passed_over)
{
    const hid_t file = make_file(in_scratch("names.h5"), false);
    make_group(file, "g");
    make_floats(file, "g/x", H5T_IEEE_F32LE, 3, H5P_DEFAULT);
    check(H5Lcreate_hard(file, "/g", file, "h", H5P_DEFAULT, H5P_DEFAULT) >= 0);
    check(H5Lcreate_hard(file, "/g/x", file, "again", H5P_DEFAULT, H5P_DEFAULT) >= 0);
    check(H5Lcreate_soft("/g/x", file, "soft", H5P_DEFAULT, H5P_DEFAULT) >= 0);
    check(H5Lcreate_soft("/nowhere", file, "dangling", H5P_DEFAULT, H5P_DEFAULT) >= 0);
    H5Fclose(file);
    open_dump("names.h5");
    assert_int_equal(dump_count(dump), 3); /* g/x, h/x and again */
    shut_dump();
}

/* ---- selecting ---- */

static size_t selected(const char *tensor, const char *step, const char *worker)
{
    Selection s = {.tensors = {&tensor, tensor != NULL}, .step = step, .worker = worker};
    size_t *index, count = 0;
    return dump_select(dump, &s, arena, &index, &count, &err) == OK ? count : 0;
}

TEST(globs_select_by_path_name_step_and_worker)
{
    const hid_t file = make_file(in_scratch("select.h5"), false);
    static const char *const groups[] = {"step_000001",          "step_000002",
                                         "step_000001/worker_0", "step_000001/worker_1",
                                         "step_000002/worker_0", "step_000002/worker_1"};
    for (size_t i = 0; i < countof(groups); i++)
        make_group(file, groups[i]);
    for (size_t i = 2; i < countof(groups); i++)
        for (int t = 0; t < 3; t++) {
            char path[64];
            snprintf(path, sizeof path, "%s/conv%d.weight", groups[i], t);
            make_floats(file, path, H5T_IEEE_F32LE, 3, H5P_DEFAULT);
        }
    H5Fclose(file);
    open_dump("select.h5");
    assert_int_equal(selected(NULL, NULL, NULL), 12);
    assert_int_equal(selected("conv1.weight", NULL, NULL), 4);
    assert_int_equal(selected("conv1/weight", "2", NULL), 2);
    assert_int_equal(selected("*conv1*", "step_000002", "1"), 1);
    assert_int_equal(selected("step_000001/*", NULL, "worker_0"), 3);
    assert_int_equal(selected("conv1.wieght", NULL, NULL), 0);
    check(strstr(err.text, "did you mean conv1.weight?") != NULL);
    assert_int_equal(selected("conv1", NULL, NULL), 0);
    assert_string_equal(err.hint, "-t 'conv1*'; a glob matches whole names");
    assert_int_equal(selected("1.we", NULL, NULL), 0);
    assert_string_equal(err.hint, "-t '*1.we*'; a glob matches whole names");
    assert_int_equal(selected(NULL, "0000", NULL), 0);
    check(strstr(err.hint, "inspect FILE lists the tensors") != NULL);
    assert_int_equal(selected("zzz", NULL, NULL), 0);
    check(strstr(err.text, "there are conv0.weight, conv1.weight, conv2.weight") != NULL);
    assert_int_equal(selected(NULL, "7", NULL), 0);
    check(strstr(err.text, "step_000001, step_000002") != NULL);
    assert_int_equal(selected("step_000001/*", "2", NULL), 0);
    assert_int_equal(err.status, ERR_USAGE);
    shut_dump();
}

/* ---- failures ---- */

TEST(what_is_no_dump_is_one_clear_line)
{
    assert_int_equal(refused(in_scratch("absent.h5")), ERR_IO);
    check(strstr(err.text, "absent.h5: cannot be opened: No such file") != NULL);
    mkdir(in_scratch("none"), 0700);
    assert_int_equal(refused(in_scratch("none")), ERR_IO);
    check(strstr(err.text, "a directory without") != NULL);
    rmdir(in_scratch("none"));
    file_save(in_scratch("text.h5"), "hello", 5);
    assert_int_equal(refused(in_scratch("text.h5")), ERR_CORRUPT);
    check(strstr(err.text, "text.h5: not an HDF5, safetensors, .npz or .npy file") != NULL);
    file_save(in_scratch("empty.h5"), "", 0);
    assert_int_equal(refused(in_scratch("empty.h5")), ERR_CORRUPT);
    mkfifo(in_scratch("fifo.h5"), 0600);
    assert_int_equal(refused(in_scratch("fifo.h5")), ERR_IO);
    check(strstr(err.text, "not a regular file") != NULL);
}

static pid_t only_child(void)
{
    char path[64], text[64] = "";
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)getpid(), (int)getpid());
    FILE *f = fopen(path, "r");
    if (!f || !fgets(text, sizeof text, f))
        print_message("cannot see the reader process\n");
    if (f)
        fclose(f);
    return atoi(text);
}

TEST(the_readers_death_is_an_error_and_stays_one)
{
    const hid_t file = make_file(in_scratch("death.h5"), true);
    /* floats of the other byte order, so that `dump_read` needs the reader process, which converts them */
    const bool big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
    make_floats(file, "a", big ? H5T_IEEE_F32LE : H5T_IEEE_F32BE, 100, H5P_DEFAULT);
    H5Fclose(file);
    open_dump("death.h5");
    float x[100];
    check_ok(dump_read(dump, 0, x, &err), &err);
    const pid_t child = only_child();
    if (child > 0) {
        kill(child, SIGSEGV);
        for (int i = 0; i < 2; i++) {
            assert_int_equal(dump_read(dump, 0, x, &err), ERR_CORRUPT);
            check(strstr(err.text, "death.h5: the HDF5 library failed on this file (signal 11)") != NULL);
        }
    }
    shut_dump();
    check(child <= 0 || kill(child, 0) != 0); /* the child has ended and this process has waited for it */
}

CHECK_ALL(scratch_open, scratch_close)
