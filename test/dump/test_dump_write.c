/* test_dump_write.c -- dumps (files of gradients) that are written are read back in order, with their
 * attributes; a dump appears at its path whole or not at all. */
#include "rig/hdf5_make.h"
#include "dump/tensor.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

static Error err;

#ifdef __SANITIZE_ADDRESS__
/* Suppresses a leak that LeakSanitizer would report: HDF5 does not free a file whose close failed on a full
 * disk, and takes some of its memory from what it keeps of earlier files. The sanitizer does not find a hidden function. */
__attribute__((visibility("default"))) const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:libhdf5";
}
#endif

static const Attr attrs[] = {
    {.name = "z_first", .type = ATTR_TEXT, .text = "caf\xc3\xa9, 2 > 1"},
    {.name = "empty", .type = ATTR_TEXT, .text = ""},
    {.name = "least", .type = ATTR_INT, .whole = INT64_MIN},
    {.name = "most", .type = ATTR_INT, .whole = INT64_MAX},
    {.name = "tenth", .type = ATTR_REAL, .real = 0.1},
    {.name = "infinite", .type = ATTR_REAL, .real = -INFINITY},
    {.name = "a7", .type = ATTR_INT, .whole = 7},
    {.name = "a8", .type = ATTR_INT, .whole = 8},
    {.name = "a9", .type = ATTR_INT, .whole = 9},
    {.name = "a10", .type = ATTR_INT, .whole = 10},
};
static const AttrList all_attrs = {(Attr *)(uintptr_t)attrs, countof(attrs)};

static void check_attrs(const AttrList *list)
{
    assert_int_equal(list->count, countof(attrs));
    for (size_t i = 0; i < list->count; i++) {
        assert_string_equal(list->item[i].name, attrs[i].name);
        assert_int_equal(list->item[i].type, attrs[i].type);
        check(list->item[i].whole == attrs[i].whole && list->item[i].real == attrs[i].real);
        if (attrs[i].type == ATTR_TEXT)
            assert_string_equal(list->item[i].text, attrs[i].text);
    }
}

static const char *const paths[] = {"step_000002/worker_0/z.weight", "step_000002/worker_0/a.weight",
                                    "step_000002/b"};

static Status write_sample(DumpWriter *w)
{
    const float x[6] = {1, -2, 3.5F, 0, -0.0F, 6};
    Shape shape;
    shape_make(&shape, 2, (size_t[]){2, 3});
    TRY(dump_write_attrs(w, "", &all_attrs, &err));
    TRY(dump_write_attrs(w, "step_000002", &all_attrs, &err));
    TRY(dump_write_attrs(w, "step_000002/worker_0", &all_attrs, &err));
    TRY(dump_write(w, paths[0], &shape, x, &all_attrs, &err));
    shape_make(&shape, 0, NULL);
    TRY(dump_write(w, paths[1], &shape, x + 2, NULL, &err));
    shape_make(&shape, 3, (size_t[]){4, 0, 2});
    return dump_write(w, paths[2], &shape, x, NULL, &err);
}

static void make_sample(const char *name)
{
    DumpWriter *w;
    check_ok(dump_create(&w, in_scratch(name), &err), &err);
    check_ok(write_sample(w), &err);
    check_ok(dump_finish(w, OK, &err), &err);
}

TEST(what_is_written_reads_back_in_order_with_attributes)
{
    make_sample("a.h5");
    Arena *a = arena_open(0);
    Dump *d;
    float x[6];
    check_ok(dump_open(&d, in_scratch("a.h5"), a, &err), &err);
    assert_int_equal(dump_count(d), 3);
    /* tensors that belong to no worker come before the workers' tensors */
    assert_string_equal(dump_tensor(d, 0)->path, paths[2]);
    /* within a group, tensors are in order of creation, not of names */
    assert_string_equal(dump_tensor(d, 1)->path, paths[0]);
    assert_string_equal(dump_tensor(d, 2)->path, paths[1]);
    check_attrs(dump_attrs(d, ""));
    check_attrs(dump_attrs(d, "step_000002"));
    check_attrs(dump_attrs(d, "step_000002/worker_0"));
    check_attrs(&dump_tensor(d, 1)->attrs);
    check(dump_attrs(d, "step_3") == NULL);
    check_ok(dump_read(d, 1, x, &err), &err);
    check(x[0] == 1 && x[2] == 3.5F && signbit(x[4]) && x[5] == 6);
    check_ok(dump_read(d, 2, x, &err), &err);
    check(x[0] == 3.5F && dump_tensor(d, 2)->shape.rank == 0);
    check(dump_tensor(d, 0)->shape.rank == 3 && dump_tensor(d, 0)->shape.dim[2] == 2);
    dump_close(d);
    arena_close(a);
}

TEST(same_calls_write_the_same_bytes)
{
    size_t size[2];
    make_sample("b.h5");
    uint8_t *first = file_load(in_scratch("b.h5"), &size[0]);
    sleep(1); /* after a second, a time stamp in the file would make the second file differ */
    make_sample("b.h5");
    uint8_t *second = file_load(in_scratch("b.h5"), &size[1]);
    assert_int_equal(size[0], size[1]);
    assert_memory_equal(first, second, size[0]);
    free(first);
    free(second);
}

TEST(nothing_shows_before_commit_nor_after_abandon)
{
    scratch_files(true);
    DumpWriter *w;
    file_save(in_scratch("old.h5"), "precious", 8);
    check_ok(dump_create(&w, in_scratch("old.h5"), &err), &err);
    check_ok(write_sample(w), &err);
    size_t size;
    uint8_t *data = file_load(in_scratch("old.h5"), &size);
    check(size == 8 && !memcmp(data, "precious", 8));
    free(data);
    check(dump_finish(w, ERR_STOPPED, &err) == ERR_STOPPED);
    assert_int_equal(scratch_files(false), 1);
}

TEST(the_metadata_carry_checksums)
{
    make_sample("c.h5");
    size_t size, silent = 0, at;
    uint8_t *data = file_load(in_scratch("c.h5"), &size);
    const uint8_t *header = memmem(data, size, "OHDR", 4);
    check(header != NULL);
    for (at = (size_t)(header - data); at < (size_t)(header - data) + 64; at++) {
        Arena *a = arena_open(0);
        Dump *d;
        data[at] ^= 4;
        file_save(in_scratch("c.h5"), data, size);
        if (dump_open(&d, in_scratch("c.h5"), a, &err) == OK) {
            silent++;
            dump_close(d);
        }
        data[at] ^= 4;
        arena_close(a);
    }
    free(data);
    assert_int_equal(silent, 0);
}

CHECK_ALL(scratch_open, scratch_close)
