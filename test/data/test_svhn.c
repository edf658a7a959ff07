/* test_svhn.c -- reads SVHN's MATLAB files. Damaged and hostile files must be refused with an error that names
 * the file, even if they crash the library libmatio. */
#include "data/dataset.h"
#include "rig/scratch_dir.h"

#include <matio.h>
#include <zlib.h>

enum { IMAGES = 6, PLANE = 1024, PIXELS = 3 * PLANE, UINT8 = 9, DOUBLE = 6, MATRIX = 14, PACKED = 15 };

static Error err;
static const uint8_t digits[IMAGES] = {10, 1, 9, 5, 10, 3};

/* ---- writes MATLAB 5 files whose headers may contradict the data ---- */

typedef struct {
    uint8_t data[1 << 17];
    size_t size;
} File;

typedef struct {
    const char *name;
    /* MATLAB's numbers for the class of the array, its flags and its element type */
    uint8_t class_of, flags, element;
    int rank;
    uint32_t dim[5];
    const uint8_t *bytes;
    uint32_t size;
} Variable;

static uint8_t pixels[IMAGES * PIXELS]; /* pixels of all images, in the file's column-major order */

static Variable images(void)
{
    return (Variable){"X", UINT8, 0, 2, 4, {32, 32, 3, IMAGES}, pixels, sizeof pixels};
}

static Variable labels(void)
{
    return (Variable){"y", UINT8, 0, 2, 2, {IMAGES, 1}, digits, IMAGES};
}

static void add(File *f, const void *data, size_t size)
{
    check(f->size + size <= sizeof f->data);
    memcpy(f->data + f->size, data, size);
    f->size += size;
}

static void add_words(File *f, uint32_t a, uint32_t b)
{
    add(f, (uint32_t[]){a, b}, 8);
}

static void add_padded(File *f, uint32_t type, const void *data, uint32_t size)
{
    add_words(f, type, size);
    add(f, data, size);
    add(f, (uint8_t[8]){0}, -size % 8);
}

static void begin(File *f)
{
    uint8_t header[128];
    memset(header, ' ', sizeof header);
    memcpy(header, "MATLAB 5.0 MAT-file", 19);
    memcpy(header + 124, (uint8_t[]){0, 1, 'I', 'M'}, 4);
    f->size = 0;
    add(f, header, sizeof header);
}

static void add_variable(File *f, Variable v, bool packed)
{
    static File inner;
    static uint8_t small[1 << 17];
    inner.size = 0;
    add_words(&inner, MATRIX, 0);
    add_padded(&inner, 6, (uint32_t[]){(uint32_t)v.flags << 8 | v.class_of, 0}, 8);
    add_padded(&inner, 5, v.dim, 4 * (uint32_t)v.rank);
    add_padded(&inner, 1, v.name, (uint32_t)strlen(v.name));
    add_padded(&inner, v.element, v.bytes, v.size);
    memcpy(inner.data + 4, &(uint32_t){(uint32_t)inner.size - 8}, 4);
    uLongf size = sizeof small;
    check(compress(small, &size, inner.data, inner.size) == Z_OK);
    if (packed)
        add_words(f, PACKED, (uint32_t)size);
    add(f, packed ? small : inner.data, packed ? size : inner.size);
}

static void make(File *f, Variable x, Variable y, bool packed)
{
    begin(f);
    add_variable(f, x, packed);
    add_variable(f, y, packed);
}

/* ---- reading ---- */

static Status load(Dataset *d, Arena *a)
{
    err = (Error){0};
    return dataset_load(d, "svhn", scratch_dir, SPLIT_TEST, 1, a, &err);
}

static Status load_bytes(const void *data, size_t size, Dataset *d, Arena *a)
{
    file_save(in_scratch("test_32x32.mat"), data, size);
    return load(d, a);
}

static void refused(const void *data, size_t size, const char *what)
{
    Dataset d = {0};
    Arena *a = arena_open(1 << 20);
    const Status status = load_bytes(data, size, &d, a);
    if (status != ERR_CORRUPT || !strstr(err.text, what))
        print_error("status %d: %s\nwant: %s\n", (int)status, err.text, what);
    check(status == ERR_CORRUPT && strstr(err.text, what) && strstr(err.text, "/test_32x32.mat: "));
    check(strstr(err.hint, "datasets/fetch.sh svhn") && !d.info && arena_used(a) <= sizeof pixels + 1000);
    arena_close(a);
}

static void refused_both(Variable x, Variable y, const char *what)
{
    static File f;
    for (int packed = 0; packed < 2; packed++) {
        make(&f, x, y, packed);
        refused(f.data, f.size, what);
    }
}

static void check_images(const Dataset *d)
{
    check(d->count == IMAGES && d->split == SPLIT_TEST && !strcmp(d->info->name, "svhn"));
    for (size_t i = 0; i < IMAGES; i++)
        check(d->labels[i] == digits[i] % 10);
    for (size_t i = 0; i < IMAGES * 3; i++)
        for (size_t row = 0; row < 32; row++)
            for (size_t column = 0; column < 32; column++)
                check(d->pixels[i * PLANE + row * 32 + column] == pixels[i * PLANE + column * 32 + row]);
}

/* ---- files that must be read ---- */

static void plain_and_packed_files_are_read_in_either_order(void **state)
{
    (void)state;
    static File f;
    for (int packed = 0; packed < 2; packed++)
        for (int turned = 0; turned < 2; turned++) {
            Dataset d;
            Arena *a = arena_open(0);
            make(&f, turned ? labels() : images(), turned ? images() : labels(), packed);
            check_ok(load_bytes(f.data, f.size, &d, a), &err);
            check_images(&d);
            arena_close(a);
        }
}

static void what_the_library_itself_writes_is_read(void **state)
{
    (void)state;
    Dataset d;
    Arena *a = arena_open(0);
    unlink(in_scratch("test_32x32.mat"));
    mat_t *mat = Mat_CreateVer(in_scratch("test_32x32.mat"), NULL, MAT_FT_MAT5);
    matvar_t *x = Mat_VarCreate("X", MAT_C_UINT8, MAT_T_UINT8, 4, (size_t[]){32, 32, 3, IMAGES}, pixels, 0);
    matvar_t *y =
        Mat_VarCreate("y", MAT_C_UINT8, MAT_T_UINT8, 2, (size_t[]){IMAGES, 1}, (void *)(uintptr_t)digits, 0);
    check(!Mat_VarWrite(mat, x, MAT_COMPRESSION_ZLIB) && !Mat_VarWrite(mat, y, MAT_COMPRESSION_NONE));
    Mat_VarFree(x);
    Mat_VarFree(y);
    Mat_Close(mat);
    check_ok(load(&d, a), &err);
    check_images(&d);
    arena_close(a);
}

/* MATLAB drops a last axis of length 1, so X of one image has three axes. */
static void one_image_is_a_data_set(void **state)
{
    (void)state;
    static File f;
    Variable x = images(), y = labels();
    x.rank = 3, x.size = PIXELS, y.dim[0] = 1, y.size = 1;
    Dataset d;
    Arena *a = arena_open(0);
    make(&f, x, y, true);
    check_ok(load_bytes(f.data, f.size, &d, a), &err);
    check(d.count == 1 && d.labels[0] == 0 && d.pixels[1] == pixels[32]);
    arena_close(a);
}

/* The reader sets the last byte of its buffer to a mark before it reads, to notice data that end too soon. It
 * must also read files whose last byte equals this mark. */
static void any_last_byte_is_read(void **state)
{
    (void)state;
    static File f;
    static uint8_t own[sizeof pixels];
    memcpy(own, pixels, sizeof own);
    const uint8_t values[] = {0, 255, 0xa5, 0x5a};
    for (size_t i = 0; i < countof(values); i++) {
        Dataset d;
        Arena *a = arena_open(0);
        Variable x = images();
        own[sizeof own - 1] = values[i];
        x.bytes = own;
        make(&f, x, labels(), true);
        check_ok(load_bytes(f.data, f.size, &d, a), &err);
        check(d.pixels[sizeof own - 1] == values[i]);
        arena_close(a);
    }
}

/* ---- files that must be refused ---- */

static void other_classes_and_shapes_are_refused(void **state)
{
    (void)state;
    Variable x = images(), y = labels();
    x.class_of = DOUBLE;
    refused_both(x, y, "X is of MATLAB's class 6: want 9, uint8");
    x = images(), x.flags = 8;
    refused_both(x, y, "complex");
    x = images(), x.dim[1] = 31;
    refused_both(x, y, "X is 32x31x3x");
    x = images(), x.rank = 2;
    refused_both(x, y, "X is 32x32: want");
    x = images(), x.rank = 5, x.dim[4] = 1;
    refused_both(x, y, "x1: want 32x32x3 by the number of images");
    x = images(), x.dim[3] = 0;
    refused_both(x, y, "X has 0 images");
    x = images(), x.dim[3] = 0x40000000;
    refused_both(x, y, "X has 1073741824 images");
    x = images(), x.name = "Z";
    refused_both(x, y, "no variable X");
    x = images(), y.class_of = DOUBLE;
    refused_both(x, y, "y is of MATLAB's class 6");
    y = labels(), y.dim[1] = 2;
    refused_both(x, y, "want the number of images by 1");
    y = labels(), y.name = "Y";
    refused_both(x, y, "no variable y");
}

static void labels_that_are_not_one_to_ten_are_refused(void **state)
{
    (void)state;
    uint8_t own[IMAGES];
    const uint8_t wrong[] = {0, 11, 255};
    for (size_t i = 0; i < countof(wrong); i++) {
        char what[40];
        Variable y = labels();
        memcpy(own, digits, IMAGES);
        own[3] = wrong[i];
        y.bytes = own;
        snprintf(what, sizeof what, "label %u of image 3", wrong[i]);
        refused_both(images(), y, what);
    }
    Variable y = labels();
    y.dim[0] = y.size = IMAGES - 1;
    refused_both(images(), y, "y has 5 labels: want one for each of the 6 images");
}

/* X has fewer bytes than its shape needs. libmatio would read the bytes that follow X. So an uncompressed file
 * is refused only because X is its last variable. */
static void data_shorter_than_the_shape_says_are_refused(void **state)
{
    (void)state;
    static File f;
    for (int packed = 0; packed < 2; packed++)
        for (int whole = 0; whole < 2; whole++) {
            Variable x = images();
            x.size = whole ? x.size - 8 : 0;
            make(&f, labels(), x, packed);
            refused(f.data, f.size, "X cannot be read, or ends before its 18432 bytes");
        }
    Variable y = labels();
    y.size = 4; /* `y` claims 4 bytes, so libmatio reads labels 4 and 5 from the zero padding */
    make(&f, images(), y, true);
    refused(f.data, f.size, "label 0 of image 4");
    y.size = 0;
    make(&f, images(), y, true);
    refused(f.data, f.size, "y cannot be read, or ends before its 6 bytes");
}

static void files_cut_short_anywhere_are_refused(void **state)
{
    (void)state;
    static File f;
    for (int packed = 0; packed < 2; packed++) {
        make(&f, images(), labels(), packed);
        for (size_t cut = 0; cut < f.size; cut += 1 + f.size / 40)
            refused(f.data, cut, cut < 136 ? "want a MATLAB 5 file" : "ends at byte");
        refused(f.data, f.size - 1, "ends at byte");
    }
    begin(&f);
    add_variable(&f, images(), true);
    refused(f.data, f.size, "no variable y");
    add_words(&f, 0, 0);
    refused(f.data, f.size, "type 0");
}

static void other_kinds_of_files_are_refused(void **state)
{
    (void)state;
    static File f;
    make(&f, images(), labels(), true);
    f.data[125] = 2; /* the version number of MATLAB 7.3, whose files are HDF5 */
    refused(f.data, f.size, "not a MATLAB 5 file: version 0x0200");
    make(&f, images(), labels(), true);
    f.data[126] = 'M', f.data[127] = 'I';
    refused(f.data, f.size, "byte order 0x494d");
    memset(f.data, 0, f.size);
    refused(f.data, f.size, "not a MATLAB 5 file: version 0x0000");
}

/* Packed data have a checksum over all bytes, so damage to any byte must be detected. */
static void any_damage_to_packed_data_is_noticed(void **state)
{
    (void)state;
    static File f;
    make(&f, images(), labels(), true);
    for (size_t at = 128 + 8; at < f.size; at += 1 + f.size / 150) {
        f.data[at] ^= 0x20;
        refused(f.data, f.size, "at byte");
        f.data[at] ^= 0x20;
    }
}

static uint32_t next_word(uint32_t *s)
{
    *s = *s * 1664525u + 1013904223u;
    return *s >> 8;
}

/* Uncompressed files have no checksum, so libmatio reads damaged headers, in a child process. The child process
 * may crash, but this process must not. */
static void damaged_headers_never_harm_this_process(void **state)
{
    (void)state;
    enum { TRIES = 300 };
    static File f;
    uint32_t seed = 1;
    int bad = 0;
    for (int i = 0; i < TRIES; i++) {
        Dataset d = {0};
        Arena *a = arena_open((size_t)1 << 24);
        make(&f, labels(), images(), false);
        for (uint32_t flips = next_word(&seed) % 3 + 1; flips; flips--)
            f.data[128 + next_word(&seed) % 136] ^= (uint8_t)(1u << next_word(&seed) % 8);
        if (load_bytes(f.data, f.size, &d, a) != OK) {
            check(*err.text && !strchr(err.text, '\n') && !d.info);
            bad++;
        }
        arena_close(a);
    }
    check(bad > TRIES / 4 && bad < TRIES);
}

static void a_file_that_claims_gigabytes_is_refused_for_its_claim(void **state)
{
    (void)state;
    static File f;
    Variable big = {"A", DOUBLE, 0, 9, 2, {0xffffffff, 0xffffffff}, digits, 6};
    begin(&f);
    add_variable(&f, big, false);
    add_variable(&f, big, true);
    refused(f.data, f.size, "no variable X");
    Variable x = images(), y = labels();
    x.dim[3] = y.dim[0] = 30000; /* the headers claim 92 MB, but the file has 18 KB */
    refused_both(x, y, "images: want 1 to");
}

static void augmentation_pads_with_black(void **state)
{
    (void)state;
    check(dataset_find("svhn", &err)->crop == CROP_ZERO);
}

static int open_all(void **state)
{
    for (size_t i = 0; i < sizeof pixels; i++)
        pixels[i] = (uint8_t)((i * 2654435761u) >> 13);
    return scratch_open(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_and_packed_files_are_read_in_either_order),
        cmocka_unit_test(what_the_library_itself_writes_is_read),
        cmocka_unit_test(one_image_is_a_data_set),
        cmocka_unit_test(any_last_byte_is_read),
        cmocka_unit_test(other_classes_and_shapes_are_refused),
        cmocka_unit_test(labels_that_are_not_one_to_ten_are_refused),
        cmocka_unit_test(data_shorter_than_the_shape_says_are_refused),
        cmocka_unit_test(files_cut_short_anywhere_are_refused),
        cmocka_unit_test(other_kinds_of_files_are_refused),
        cmocka_unit_test(any_damage_to_packed_data_is_noticed),
        cmocka_unit_test(damaged_headers_never_harm_this_process),
        cmocka_unit_test(a_file_that_claims_gigabytes_is_refused_for_its_claim),
        cmocka_unit_test(augmentation_pads_with_black),
    };
    return cmocka_run_group_tests(tests, open_all, scratch_close) ? 1 : 0;
}
