/* test_dump_hostile.c -- HDF5 files made to crash, hang, flood or mislead the process that reads them. Whatever
 * happens to the reader process, the program that started it gets floats or an error. */
#include "rig/hdf5_make.h"
#include "dump/tensor.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static Error err;

static Status read_all(const char *path)
{
    Arena *a = arena_open((size_t)1 << 28);
    Dump *d;
    Status status = dump_open(&d, path, a, &err);
    const bool opened = status == OK;
    for (size_t i = 0; status == OK && i < dump_count(d); i++) {
        const ArenaMark mark = arena_mark(a);
        float *x = NEW(a, float, dump_tensor(d, i)->shape.n);
        status = x ? dump_read(d, i, x, &err) : arena_fail(a, &err);
        arena_rewind(a, mark);
    }
    if (opened)
        dump_close(d);
    arena_close(a);
    if (status != OK)
        check(*err.text && !strchr(err.text, '\n') && status == err.status);
    return status;
}

static void check_refused(const char *name, const char *why)
{
    assert_int_not_equal(read_all(in_scratch(name)), OK);
    if (!strstr(err.text, why))
        print_error("%s\nwant: %s\n", err.text, why);
    check(strstr(err.text, why) != NULL && strstr(err.text, name) != NULL);
}

static void make_sample(const char *path, bool latest, bool packed)
{
    const hid_t file = make_file(path, latest), creation = H5Pcreate(H5P_DATASET_CREATE);
    if (packed) {
        H5Pset_chunk(creation, 1, (hsize_t[]){40});
        H5Pset_shuffle(creation);
        H5Pset_deflate(creation, 1);
    }
    make_group(file, "step_1");
    make_floats(file, "step_1/a", H5T_IEEE_F32LE, 100, creation);
    make_floats(file, "step_1/b", H5T_IEEE_F64BE, 50, creation);
    make_floats(file, "step_1/c", H5T_STD_I32LE, 10, H5P_DEFAULT);
    make_text_attr(file, "step_1/a", "kind", "fc");
    make_int_attr(file, "step_1", "step", 1);
    H5Pclose(creation);
    H5Fclose(file);
}

TEST(files_cut_short_anywhere_are_refused)
{
    make_sample(in_scratch("whole.h5"), false, true);
    size_t size;
    uint8_t *data = file_load(in_scratch("whole.h5"), &size);
    for (size_t cut = 0; cut < size; cut += 128) {
        file_save(in_scratch("cut.h5"), data, cut);
        assert_int_not_equal(read_all(in_scratch("cut.h5")), OK);
        if (cut >= 512) /* the cut file still has its whole header, which states the file's full length */
            check(strstr(err.text, "truncated file") != NULL);
    }
    free(data);
}

static uint32_t next_word(uint32_t *s)
{
    *s = *s * 1664525u + 1013904223u;
    return *s >> 8;
}

/* DAMAGED=N in the environment damages N files. */
TEST(flipped_bits_never_harm_this_process)
{
    const char *wanted = getenv("DAMAGED");
    const int flips = wanted ? atoi(wanted) / 4 : 40;
    uint32_t seed = 1;
    int refused = 0;
    for (int layout = 0; layout < 4; layout++) {
        make_sample(in_scratch("whole.h5"), layout & 1, layout & 2);
        size_t size;
        uint8_t *data = file_load(in_scratch("whole.h5"), &size);
        for (int flip = 0; flip < flips; flip++) {
            uint8_t old[4];
            size_t at[4];
            for (int i = 0; i < 4; i++) {
                at[i] = next_word(&seed) % size;
                old[i] = data[at[i]];
                data[at[i]] ^= (uint8_t)(1 + next_word(&seed) % 255);
            }
            file_save(in_scratch("flip.h5"), data, size);
            refused += read_all(in_scratch("flip.h5")) != OK;
            for (int i = 4; i-- > 0;)
                data[at[i]] = old[i];
        }
        free(data);
    }
    print_message("%d files damaged, %d refused\n", 4 * flips, refused);
    check(refused > flips / 4);
}

TEST(data_in_other_files_are_refused)
{
    hid_t file = make_file(in_scratch("external.h5"), false);
    const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
    const hsize_t dim = 16;
    const hid_t space = H5Screate_simple(1, &dim, NULL);
    H5Pset_external(creation, "/etc/passwd", 0, 64);
    H5Dclose(H5Dcreate2(file, "x", H5T_IEEE_F32LE, space, H5P_DEFAULT, creation, H5P_DEFAULT));
    H5Pclose(creation);
    H5Fclose(file);
    check_refused("external.h5", "x: external storage");

    make_sample(in_scratch("target.h5"), false, false);
    file = make_file(in_scratch("link.h5"), false);
    check(H5Lcreate_external("target.h5", "/step_1/a", file, "x", H5P_DEFAULT, H5P_DEFAULT) >= 0);
    H5Fclose(file);
    check_refused("link.h5", "x: an external link");

    file = make_file(in_scratch("virtual.h5"), true);
    const hid_t mapped = H5Pcreate(H5P_DATASET_CREATE);
    check(H5Pset_virtual(mapped, space, in_scratch("target.h5"), "/step_1/a", space) >= 0);
    H5Dclose(H5Dcreate2(file, "x", H5T_IEEE_F32LE, space, H5P_DEFAULT, mapped, H5P_DEFAULT));
    H5Pclose(mapped);
    H5Fclose(file);
    check_refused("virtual.h5", "x: a virtual dataset");
    H5Sclose(space);
}

static size_t pass(unsigned flags, size_t values, const unsigned *value, size_t bytes, size_t *size,
                   void **data)
{
    (void)flags, (void)values, (void)value, (void)size, (void)data;
    return bytes;
}

TEST(filters_that_need_a_plug_in_are_refused)
{
    const H5Z_class2_t filter = {H5Z_CLASS_T_VERS, 32015, 1, 1, "zstd", NULL, NULL, pass};
    H5Zregister(&filter);
    const hid_t file = make_file(in_scratch("filter.h5"), false), creation = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(creation, 1, (hsize_t[]){10});
    H5Pset_filter(creation, 32015, 0, 0, NULL);
    make_floats(file, "x", H5T_IEEE_F32LE, 100, creation);
    H5Pclose(creation);
    H5Fclose(file);
    H5Zunregister(32015);
    check_refused("filter.h5", "x: packed with filter 32015");
}

/* Chunks packed with LZF that hold anything are unpacked to as many bytes as a chunk has, or refused; "ab" followed by 14 bytes
 * from two bytes before gives "abab...". */
TEST(damaged_lzf_is_refused)
{
    enum { CHUNK = 16, CHUNKS = 300 };
    static const uint8_t good[] = {1, 'a', 'b', 0xe0, 5, 1};
    const hid_t file = make_file(in_scratch("lzf.h5"), false), creation = H5Pcreate(H5P_DATASET_CREATE);
    const hid_t space = H5Screate_simple(1, &(hsize_t){CHUNK / 4}, NULL);
    H5Pset_chunk(creation, 1, (hsize_t[]){CHUNK / 4});
    H5Pset_filter(creation, 32000, H5Z_FLAG_OPTIONAL, 3, (unsigned[]){4, 261, CHUNK});
    for (unsigned i = 0; i < CHUNKS; i++) {
        char name[16];
        uint8_t chunk[sizeof good];
        memcpy(chunk, good, sizeof good);
        if (i)
            chunk[i % sizeof good] = (uint8_t)(i * 37);
        snprintf(name, sizeof name, "x%03u", i);
        const hid_t d = H5Dcreate2(file, name, H5T_IEEE_F32LE, space, H5P_DEFAULT, creation, H5P_DEFAULT);
        check(H5Dwrite_chunk(d, H5P_DEFAULT, 0, (hsize_t[]){0}, i % 7 == 6 ? 1 + i % 5 : sizeof good, chunk) >= 0);
        H5Dclose(d);
    }
    H5Fclose(file);
    Arena *a = arena_open(0);
    Dump *d;
    size_t bad = 0;
    float x[CHUNK / 4];
    check_ok(dump_open(&d, in_scratch("lzf.h5"), a, &err), &err);
    check_ok(dump_read(d, 0, x, &err), &err);
    check(!memcmp(x, "abababababababab", CHUNK));
    for (size_t i = 1; i < CHUNKS; i++)
        if (dump_read(d, i, x, &err) != OK) {
            check(strstr(err.text, "cannot be read") != NULL);
            bad++;
        }
    check(bad > CHUNKS / 2);
    dump_close(d);
    arena_close(a);
}

static void make_unwritten(const char *path, hsize_t n, bool chunked)
{
    const hid_t file = make_file(path, false), creation = H5Pcreate(H5P_DATASET_CREATE);
    const hid_t space = H5Screate_simple(1, &n, NULL);
    if (chunked)
        H5Pset_chunk(creation, 1, (hsize_t[]){1024});
    H5Dclose(H5Dcreate2(file, "x", H5T_IEEE_F32LE, space, H5P_DEFAULT, creation, H5P_DEFAULT));
    H5Sclose(space);
    H5Pclose(creation);
    H5Fclose(file);
}

static void patch(const char *path, uint64_t from, uint64_t to)
{
    size_t size;
    uint8_t *data = file_load(path, &size);
    for (size_t i = 0; i + 8 <= size; i++)
        if (!memcmp(data + i, &from, 8))
            memcpy(data + i, &to, 8);
    file_save(path, data, size);
    free(data);
}

TEST(extents_that_the_file_cannot_hold_are_refused)
{
    make_unwritten(in_scratch("huge.h5"), (hsize_t)1 << 40, false);
    check_refused("huge.h5", "claims 1099511627776 elements");
    make_unwritten(in_scratch("chunks.h5"), (hsize_t)1 << 40, true);
    check_refused("chunks.h5", "claims 1099511627776 elements");
    /* a dataset that was created but never written is read as its fill value */
    make_unwritten(in_scratch("zeros.h5"), 1000, false);
    assert_int_equal(read_all(in_scratch("zeros.h5")), OK);
    const hid_t file = make_file(in_scratch("patched.h5"), false);
    make_floats(file, "x", H5T_IEEE_F32LE, 12345, H5P_DEFAULT);
    H5Fclose(file);
    patch(in_scratch("patched.h5"), 12345, (uint64_t)1 << 40);
    assert_int_not_equal(read_all(in_scratch("patched.h5")), OK);
    patch(in_scratch("patched.h5"), 4 * 12345, (uint64_t)1 << 42);
    assert_int_not_equal(read_all(in_scratch("patched.h5")), OK);
}

TEST(groups_without_end_are_refused)
{
    const hid_t file = make_file(in_scratch("deep.h5"), false);
    hid_t group = H5Gopen2(file, "/", H5P_DEFAULT);
    for (int i = 0; i < 3000; i++) {
        const hid_t below = H5Gcreate2(group, "g", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
        H5Gclose(group);
        group = below;
    }
    H5Gclose(group);
    H5Fclose(file);
    check_refused("deep.h5", "groups stand more than 64 deep");
    const hid_t cycle = make_file(in_scratch("cycle.h5"), false);
    make_group(cycle, "g");
    check(H5Lcreate_hard(cycle, "/", cycle, "g/root", H5P_DEFAULT, H5P_DEFAULT) >= 0);
    H5Fclose(cycle);
    check_refused("cycle.h5", "groups stand more than 64 deep");
}

TEST(names_and_ranks_beyond_measure_are_refused)
{
    char *name = malloc(60001);
    memset(name, 'n', 60000);
    name[60000] = 0;
    hid_t file = make_file(in_scratch("long.h5"), true);
    make_floats(file, name, H5T_IEEE_F32LE, 3, H5P_DEFAULT);
    H5Fclose(file);
    free(name);
    check_refused("long.h5", "a name that cannot be");

    file = make_file(in_scratch("rank.h5"), true);
    const hsize_t dim[9] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
    const hid_t space = H5Screate_simple(9, dim, NULL);
    H5Dclose(H5Dcreate2(file, "x", H5T_IEEE_F32LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    H5Sclose(space);
    H5Fclose(file);
    check_refused("rank.h5", "x: rank 9, want at most 8");

    file = make_file(in_scratch("long_double.h5"), true);
    make_floats(file, "x", H5T_NATIVE_LDOUBLE, 3, H5P_DEFAULT);
    H5Fclose(file);
    check_refused("long_double.h5", "no float datasets (1 of other types)");
}

TEST(this_process_stayed_small)
{
#ifndef __SANITIZE_ADDRESS__
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    check(usage.ru_maxrss < 200 * 1024);
#endif
}

CHECK_ALL(scratch_open, scratch_close)
