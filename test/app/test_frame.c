/* test_frame.c -- the file format that stores payloads. A file must be read back as it was written. If it is
 * cut, altered or forged, it must be refused with the offset of the damage, and without large allocations. */
#include "base/checksum.h"
#include "app/frame.h"
#include "rig/scratch_dir.h"
#include "dump/tensor_wire.h"

#include <sys/resource.h>
#include <sys/stat.h>

static Error err;

/* ---- the checksum against published values ---- */

static uint64_t sum_of(const char *text)
{
    return checksum((Bytes){(const uint8_t *)text, strlen(text)}, 0);
}

TEST(the_checksum_is_xxh64)
{
    check(sum_of("") == 0xef46db3751d8e999);
    check(sum_of("a") == 0xd24ec4f1a98c6e5b);
    check(sum_of("abc") == 0x44bc2cf5ad770999);
    check(sum_of("Nobody inspects the spammish repetition") == 0xfbcea83c8a378bf1);
}

/* 100 bytes, cut into three pieces at every pair of places, have the checksum of the whole. */
TEST(the_checksum_of_pieces_is_that_of_the_whole)
{
    uint8_t data[100];
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (uint8_t)(i * i + 7);
    for (size_t size = 0; size <= sizeof data; size++)
        for (size_t first = 0; first <= size; first++)
            for (size_t second = first; second <= size; second++) {
                Checksum c = checksum_begin(size);
                checksum_add(&c, (Bytes){data, first});
                checksum_add(&c, (Bytes){data + first, second - first});
                checksum_add(&c, (Bytes){data + second, size - second});
                check(checksum_end(&c) == checksum((Bytes){data, size}, size));
            }
}

/* 0 to 600 floats have the checksum of their bytes in a file. */
TEST(the_checksum_of_floats_is_that_of_their_bytes)
{
    enum { MOST = 600 };
    static uint8_t data[4 * MOST];
    static float x[MOST];
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (uint8_t)(i * i % 61);
    floats_load(x, data, MOST);
    for (size_t n = 0; n <= MOST; n++)
        check(checksum_floats(x, n, n) == checksum((Bytes){data, 4 * n}, n));
}

/* ---- a sample container, written and read ---- */

static Attr kind = {.name = "kind", .type = ATTR_TEXT, .text = "fc"};
static Attr numbers[] = {{.name = "step", .type = ATTR_INT, .whole = -7},
                         {.name = "loss", .type = ATTR_REAL, .real = 0.25}};

static Status write_sample(const char *path, Arena *a)
{
    FrameWriter *w;
    static FrameMember members[2];
    shape_make(&members[0].shape, 2, (size_t[]){3, 4});
    shape_make(&members[1].shape, 0, NULL);
    members[0].path = "step_1/a.weight";
    members[0].attrs = (AttrList){&kind, 1};
    members[1].path = "step_1/b";
    FrameRecord both = {.seed = 9,
                        .worker = -1,
                        .step = 1LL << 40,
                        .tensor = ~UINT64_C(0),
                        .name = "all",
                        .joined = true,
                        .member = members,
                        .members = 2,
                        .rounds = 2};
    both.round[0] = (Bytes){(const uint8_t *)"hello", 5};
    FrameRecord one = both;
    one.joined = false;
    one.raw = true;
    one.members = 1;
    one.rounds = 1;
    one.name = "a.weight";
    TRY(frame_create(&w, path, "qsgd:bits=4", 2, a, &err));
    TRY(frame_put_attrs(w, "", &(AttrList){numbers, 2}, &err));
    TRY(frame_put(w, &both, &err));
    TRY(frame_put_attrs(w, "step_1", &(AttrList){numbers, 1}, &err));
    TRY(frame_put(w, &one, &err));
    uint64_t size;
    TRY(frame_commit(w, &size, &err));
    struct stat info;
    check(stat(path, &info) == 0 && (uint64_t)info.st_size == size);
    return OK;
}

TEST(what_is_put_is_taken)
{
    Arena *a = arena_open(0);
    FrameReader *r;
    FrameItem item;
    check_ok(write_sample(in_scratch("a.atomo"), a), &err);
    check_ok(frame_open(&r, in_scratch("a.atomo"), a, &err), &err);
    assert_string_equal(r->spec, "qsgd:bits=4");
    assert_int_equal(r->records, 2);
    check_ok(frame_next(r, &item, a, &err), &err);
    check(item.type == FRAME_ATTRS && !*item.group && item.attrs.count == 2 &&
          item.attrs.item[0].whole == -7 && item.attrs.item[1].real == 0.25);
    check_ok(frame_next(r, &item, a, &err), &err);
    const FrameRecord *rec = &item.record;
    check(item.type == FRAME_RECORD && rec->seed == 9 && rec->repeat == 0 && rec->worker == -1 &&
          rec->step == 1LL << 40 && rec->tensor == ~UINT64_C(0) && rec->joined && !rec->raw &&
          rec->members == 2);
    check(frame_shape(rec).n == 13 && frame_shape(rec).rank == 1 && rec->rounds == 2 &&
          rec->round[1].size == 0);
    check(rec->round[0].size == 5 && !memcmp(rec->round[0].data, "hello", 5));
    assert_string_equal(rec->member[0].attrs.item[0].text, "fc");
    assert_string_equal(rec->member[1].path, "step_1/b");
    check_ok(frame_next(r, &item, a, &err), &err);
    assert_string_equal(item.group, "step_1");
    check_ok(frame_next(r, &item, a, &err), &err);
    check(item.record.raw && !item.record.joined && frame_shape(&item.record).dim[1] == 4);
    check_ok(frame_next(r, &item, a, &err), &err);
    check(item.type == FRAME_END);
    frame_close(r);
    arena_close(a);
}

/* ---- containers that must be refused ---- */

static Status read_all(const char *path)
{
    Arena *a = arena_open((size_t)1 << 20);
    FrameReader *r;
    FrameItem item = {.type = FRAME_ATTRS};
    Status status = frame_open(&r, path, a, &err);
    if (status == OK) {
        while (status == OK && item.type != FRAME_END)
            status = frame_next(r, &item, a, &err);
        frame_close(r);
    }
    arena_close(a);
    return status;
}

static uint8_t *sample(size_t *size)
{
    Arena *a = arena_open(0);
    check_ok(write_sample(in_scratch("s.atomo"), a), &err);
    arena_close(a);
    return file_load(in_scratch("s.atomo"), size);
}

TEST(every_cut_is_seen_and_located)
{
    size_t size;
    uint8_t *data = sample(&size);
    for (size_t cut = 0; cut < size; cut++) {
        file_save(in_scratch("cut.atomo"), data, cut);
        assert_int_equal(read_all(in_scratch("cut.atomo")), ERR_CORRUPT);
        check(strstr(err.text, "cut.atomo: at byte ") != NULL);
    }
    data[size] = 0;
    file_save(in_scratch("cut.atomo"), data, size + 1);
    assert_int_equal(read_all(in_scratch("cut.atomo")), ERR_CORRUPT);
    check(strstr(err.text, "behind the end block") != NULL);
    free(data);
}

TEST(every_flipped_bit_is_seen)
{
    size_t size;
    uint8_t *data = sample(&size);
    for (size_t bit = 0; bit < 8 * size; bit++) {
        data[bit / 8] ^= (uint8_t)(1 << bit % 8);
        file_save(in_scratch("flip.atomo"), data, size);
        assert_int_equal(read_all(in_scratch("flip.atomo")), ERR_CORRUPT);
        data[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    free(data);
}

/* A file begins with a magic number and a version (12 bytes). A block is a type, a size, a body and a
 * checksum. */
static size_t block_at(const uint8_t *data, int number)
{
    size_t at = 12;
    while (number--)
        at += 9 + load_u64(data + at + 1) + 8;
    return at;
}
static void seal(uint8_t *data, size_t at)
{
    const uint64_t size = 9 + load_u64(data + at + 1);
    store_u64(data + at + size, checksum((Bytes){data + at, size}, at));
}
static void check_refused(const uint8_t *data, size_t size, const char *why)
{
    file_save(in_scratch("forged.atomo"), data, size);
    assert_int_equal(read_all(in_scratch("forged.atomo")), ERR_CORRUPT);
    if (!strstr(err.text, why))
        print_error("%s\nwant %s\n", err.text, why);
    check(strstr(err.text, why) != NULL);
}

TEST(forgeries_with_right_checksums_are_refused)
{
    size_t size;
    uint8_t *data = sample(&size), *forged = malloc(size);
    const size_t header = block_at(data, 0), record = block_at(data, 2);
    const uint8_t *dims = memmem(data, size, "a.weight\0\2", 10);
    check(dims != NULL);
#define FORGE(block, edit, why)                                                                              \
    memcpy(forged, data, size), edit, seal(forged, block), check_refused(forged, size, why)
    FORGE(header, store_u64(forged + header + 9, 1), "more records than the header says");
    FORGE(header, store_u64(forged + header + 9, 3), "fewer records than the header says");
    FORGE(header, forged[header] = 'X', "the header is malformed");
    FORGE(record, forged[record] = 'X', "a block of unknown type");
    FORGE(record, store_u64(forged + (dims - data) + 10, UINT64_C(1) << 34), "does not fit its description");
    FORGE(record, store_u64(forged + (dims - data) + 10, UINT64_MAX), "description is malformed");
    FORGE(record, forged[dims - data + 8] = 1, "description is malformed"); /* unknown dtype */
    FORGE(record, forged[dims - data + 9] = 9, "description is malformed"); /* rank 9 */
    FORGE(record, forged[dims - data] = '/', "description is malformed");   /* path "step_1//.weight" */
#undef FORGE
    memcpy(forged, data, size);
    store_u64(forged + record + 1, UINT64_MAX - 20);
    check_refused(forged, size, "a length is wrong");
    memcpy(forged, data, size);
    store_u32(forged + 8, 2);
    check_refused(forged, size, "container version 2, this program reads 1");
    free(forged);
    free(data);
}

TEST(more_elements_than_a_payload_justifies_are_not_written)
{
    Arena *a = arena_open(0);
    FrameWriter *w;
    FrameMember member = {.path = "x", .shape = shape_vector((size_t)1 << 30)};
    FrameRecord r = {.name = "x", .member = &member, .members = 1, .rounds = 1};
    scratch_files(true);
    check_ok(frame_create(&w, in_scratch("x.atomo"), "none", 1, a, &err), &err);
    assert_int_equal(frame_put(w, &r, &err), ERR_USAGE);
    frame_abandon(w);
    assert_int_equal(scratch_files(false), 0);
    arena_close(a);
}

CHECK_ALL(scratch_open, scratch_close)
