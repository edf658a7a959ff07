/* svhn.c -- reads SVHN's cropped digits: MATLAB 5 files with two arrays of bytes, X (32 x 32 x 3 x images) and
 * y (images x 1). The first axis is contiguous.
 *
 *     file     = text:124 version:16 order:16 variable ...
 *     variable = element of type MATRIX, or element of type PACKED: such an element packed by zlib
 *     MATRIX   = elements: flags (class:8 bits:8 0:48), axes (int32 each), name, numbers
 *     element  = type:32 size:32 data, padded to 8 bytes; or type:16 size:16 data:32 for up to 4 bytes */
#include "data/files.h"
#include "base/text.h"

#include <stdio.h>

enum {
    SIDE = 32,
    PLANE = SIDE * SIDE,
    PIXELS = 3 * PLANE,
    TEN = 10, /* the label that SVHN uses for the digit 0 */
    AXES_MOST = 8,
};

enum { BYTES = 2, MATRIX = 14, PACKED = 15 }; /* types of elements */
enum { CLASS_BYTES = 9, COMPLEX = 8 };        /* a class of variables, and a bit of their flags */

typedef struct {
    uint32_t type;
    Bytes data;
} Element;

typedef struct {
    const char *name;
    unsigned class_of, bits;
    int rank;
    size_t dim[AXES_MOST];
    Bytes bytes; /* empty: the numbers are no bytes, or are missing */
} Variable;

/* ---- variables ---- */

static bool take_element(Reader *r, Element *e)
{
    const uint32_t word = take_u32(r);
    const bool small = word >> 16;
    const size_t size = small ? word >> 16 : take_u32(r), padded = small ? 4 : (size + 7) & ~(size_t)7;
    *e = (Element){small ? word & 0xffff : word, {r->at, size}};
    const size_t left = reader_left(r);
    take_bytes(r, padded > left && size <= left ? left : padded); /* the last element may lack its padding */
    return !r->bad && size <= padded;
}

/* Parses the content of a MATRIX. Returns false if its header is damaged. */
static bool take_variable(Bytes matrix, Variable *v, Arena *a)
{
    Reader r = reader_open(matrix);
    Element flags, axes, name, numbers;
    if (!take_element(&r, &flags) || !take_element(&r, &axes) || !take_element(&r, &name))
        return false;
    if (flags.data.size != 8 || axes.data.size % 4 || axes.data.size / 4 > AXES_MOST)
        return false;
    *v = (Variable){.name = text_slice(a, (const char *)name.data.data, name.data.size),
                    .class_of = flags.data.data[0],
                    .bits = flags.data.data[1],
                    .rank = (int)(axes.data.size / 4)};
    for (int i = 0; i < v->rank; i++)
        v->dim[i] = load_u32(axes.data.data + 4 * i);
    if (take_element(&r, &numbers) && numbers.type == BYTES)
        v->bytes = numbers.data;
    return true;
}

/* Unpacks the data of a PACKED element to the content of the MATRIX in it. */
static Status unpack_matrix(Bytes *data, Arena *a, Error *err)
{
    Bytes whole;
    Element inner;
    TRY(zlib_unpack(*data, &whole, a, err));
    Reader r = reader_open(whole);
    if (!take_element(&r, &inner) || inner.type != MATRIX || !reader_done(&r))
        return FAIL(err, ERR_CORRUPT, "its packed data are no variable");
    *data = inner.data;
    return OK;
}

/* Finds the variables X and y in the bytes of a file. A variable that the file does not have gets no name. */
static Status find_variables(Bytes file, Variable *x, Variable *y, Arena *a, Error *err)
{
    enum { HEADER = 128, TAG = 8, VERSION = 0x0100, ORDER = 'I' | 'M' << 8 };
    if (file.size < HEADER + TAG)
        return FAIL(err, ERR_CORRUPT, "%zu bytes: want a MATLAB 5 file", file.size);
    const unsigned version = load_u16(file.data + 124), order = load_u16(file.data + 126);
    if (version != VERSION || order != ORDER)
        return FAIL(err, ERR_CORRUPT,
                    "not a MATLAB 5 file: version 0x%04x and byte order 0x%04x, want 0x%04x and 0x%04x",
                    version, order, VERSION, ORDER);
    for (size_t at = HEADER, size; at < file.size; at += TAG + size) {
        const size_t left = file.size - at;
        const uint8_t *tag = file.data + at;
        size = left < TAG ? 0 : load_u32(tag + 4);
        if (left < TAG || size > left - TAG)
            return FAIL(err, ERR_CORRUPT, "ends at byte %zu, within the variable at byte %zu", file.size, at);
        const uint32_t type = load_u32(tag);
        Bytes matrix = {tag + TAG, size};
        Variable v;
        if (type != MATRIX && type != PACKED)
            return FAIL(err, ERR_CORRUPT, "type %u at byte %zu: want %d or %d", type, at, MATRIX, PACKED);
        if (type == PACKED && unpack_matrix(&matrix, a, err) != OK)
            return error_at(err, "the variable at byte %zu", at);
        if (!take_variable(matrix, &v, a))
            return FAIL(err, ERR_CORRUPT, "the variable at byte %zu: a damaged header", at);
        TRY(arena_check(v.name, a, err));
        if (!strcmp(v.name, "X") || !strcmp(v.name, "y"))
            *(*v.name == 'X' ? x : y) = v;
    }
    return OK;
}

/* ---- checks ---- */

/* Writes the lengths of the axes as text, for example "32x32x3x12". */
static const char *axes_text(const Variable *v, char out[200])
{
    size_t used = 0;
    for (int i = 0; i < v->rank; i++)
        used += (size_t)snprintf(out + used, 200 - used, "%s%zu", i ? "x" : "", v->dim[i]);
    return v->rank > 0 ? out : "nothing";
}

static Status check_class(const Variable *v, const char *name, Error *err)
{
    if (!v->name)
        return FAIL(err, ERR_CORRUPT, "no variable %s in it", name);
    if (v->class_of == CLASS_BYTES && !(v->bits & COMPLEX))
        return OK;
    return FAIL(err, ERR_CORRUPT, "%s is of MATLAB's class %u%s: want %d, uint8", name, v->class_of,
                v->bits & COMPLEX ? ", complex" : "", CLASS_BYTES);
}

/* Checks the shape of X and sets *count to the number of images. MATLAB drops a last axis of length 1, so X has
 * three axes if there is one image. Deflate compresses by a factor of at most 1032, so the size of the file
 * bounds the number of images. */
static Status check_pixels(const Variable *x, size_t file_size, size_t *count, Error *err)
{
    char sides[200];
    const size_t packed = 1032 * file_size / PIXELS + 1, most = packed < IMAGES_MOST ? packed : IMAGES_MOST;
    if ((x->rank != 3 && x->rank != 4) || x->dim[0] != SIDE || x->dim[1] != SIDE || x->dim[2] != 3)
        return FAIL(err, ERR_CORRUPT, "X is %s: want 32x32x3 by the number of images", axes_text(x, sides));
    *count = x->rank == 4 ? x->dim[3] : 1;
    return *count && *count <= most
               ? OK
               : FAIL(err, ERR_CORRUPT, "X has %zu images: want 1 to %zu in a file of this size", *count,
                      most);
}

static Status check_labels(const Variable *y, size_t count, Error *err)
{
    char sides[200];
    if (y->rank != 2 || (y->dim[0] != 1 && y->dim[1] != 1))
        return FAIL(err, ERR_CORRUPT, "y is %s: want the number of images by 1", axes_text(y, sides));
    const size_t labels = y->dim[0] == 1 ? y->dim[1] : y->dim[0];
    return labels == count ? OK
                           : FAIL(err, ERR_CORRUPT, "y has %zu labels: want one for each of the %zu images",
                                  labels, count);
}

static Status check_bytes(const Variable *v, size_t size, Error *err)
{
    return v->bytes.size == size ? OK
                                 : FAIL(err, ERR_CORRUPT, "%s has %zu bytes of numbers, want %zu", v->name,
                                        v->bytes.size, size);
}

/* ---- loading the file ---- */

/* Transposes each image plane from column-major to row-major. */
static void transpose_planes(const uint8_t *from, size_t planes, uint8_t *to)
{
    for (size_t p = 0; p < planes; p++, from += PLANE, to += PLANE)
        for (size_t column = 0; column < SIDE; column++)
            for (size_t row = 0; row < SIDE; row++)
                to[row * SIDE + column] = from[column * SIDE + row];
}

Status svhn_take(Dataset *d, Bytes file, Arena *own, Arena *a, Error *err)
{
    Variable x = {0}, y = {0};
    size_t count = 0;
    TRY(find_variables(file, &x, &y, own, err));
    TRY(check_class(&x, "X", err));
    TRY(check_class(&y, "y", err));
    TRY(check_pixels(&x, file.size, &count, err));
    TRY(check_labels(&y, count, err));
    TRY(check_bytes(&x, count * PIXELS, err));
    TRY(check_bytes(&y, count, err));
    uint8_t *pixels = NEW(a, uint8_t, count * PIXELS), *labels = NEW(a, uint8_t, count);
    TRY(arena_check(pixels && labels, a, err));
    transpose_planes(x.bytes.data, 3 * count, pixels);
    for (size_t i = 0; i < count; i++) {
        const uint8_t label = y.bytes.data[i];
        if (!label || label > TEN)
            return FAIL(err, ERR_CORRUPT, "label %u of image %zu: want 1 to %d, which stands for 0", label, i,
                        TEN);
        labels[i] = label % TEN;
    }
    d->count = count;
    d->pixels = pixels;
    d->labels = labels;
    return OK;
}

Status svhn_load(Dataset *d, const char *dir, uint64_t seed, int threads, Arena *a, Error *err)
{
    (void)seed, (void)threads;
    const char *name = d->split == SPLIT_TRAIN ? "train_32x32.mat" : "test_32x32.mat", *path;
    Arena *own = arena_open(0); /* for the file's bytes */
    Bytes file;
    Status status = data_file(d->info, dir, name, &file, &path, own, err);
    if (status == OK && svhn_take(d, file, own, a, err) != OK)
        status = data_damaged(d->info, path, err);
    arena_close(own);
    return status;
}
