/* array_file.c -- the arrays in a file of arrays (array_file.h): adds them to the list, and reads them as float32, converting
 * their elements by chunks and Fortran order to C order. */
#include "dump/array_file.h"

#include "dump/tensor_stream.h"

#include <stdlib.h>

/* ---- names ---- */

static int compare_names(const void *left, const void *right)
{
    const char *const *a = left, *const *b = right;
    return strcmp(*a, *b);
}

const char *sort_names(const char **name, size_t count)
{
    if (count)
        qsort(name, count, sizeof *name, compare_names);
    for (size_t i = 1; i < count; i++)
        if (!strcmp(name[i - 1], name[i]))
            return name[i];
    return NULL;
}

bool name_found(const char *const *name, size_t count, const char *wanted)
{
    return count && bsearch(&wanted, name, count, sizeof *name, compare_names);
}

/* ---- adding an array to the list ---- */

static size_t depth(const char *path)
{
    size_t slashes = 0;
    while ((path = strchr(path, '/'))) {
        slashes++;
        path++;
    }
    return slashes;
}

static Status check_array(const Array *a, Error *err)
{
    const uint64_t bytes = a->shape.n * array_item_bytes[a->type];
    if (strlen(a->path) > PATH_LIMIT || !path_valid(a->path))
        return FAIL(err, ERR_CORRUPT, "\"%.200s\": a name that cannot be a path", a->path);
    if (depth(a->path) > DEPTH_LIMIT)
        return FAIL(err, ERR_CORRUPT, "%.200s: groups stand more than %d deep", a->path, DEPTH_LIMIT);
    if (a->extent.size < a->head || a->extent.size - a->head != bytes)
        return FAIL(err, ERR_CORRUPT, "%.200s: its shape needs %llu bytes, and the file has %llu for it",
                    a->path, (unsigned long long)bytes, (unsigned long long)(a->extent.size - a->head));
    return OK;
}

Status array_add(ArrayFile *f, const Array *array, Error *err)
{
    TRY(check_array(array, err));
    if (f->count + f->skipped >= OBJECTS_MAX / 2)
        return FAIL(err, ERR_CORRUPT, "more than %d arrays in one file", OBJECTS_MAX / 2);
    f->array = items_more(f->array, f->count, &f->room, sizeof *array, f->arena);
    TRY(arena_check(f->array, f->arena, err));
    f->array[f->count++] = *array;
    return OK;
}

Status array_skip(ArrayFile *f, Skipped skipped, Error *err)
{
    if (f->count + f->skipped >= OBJECTS_MAX / 2)
        return FAIL(err, ERR_CORRUPT, "more than %d arrays in one file", OBJECTS_MAX / 2);
    f->skip = items_more(f->skip, f->skipped, &f->skip_room, sizeof skipped, f->arena);
    TRY(arena_check(f->skip, f->arena, err));
    f->skip[f->skipped++] = skipped;
    return OK;
}

enum { CHUNK = 4096, ITEM_MAX = 8 }; /* elements of a chunk; bytes of an element */

/* ---- conversion to float32 ---- */

static void swap_bytes(uint8_t *raw, size_t n, size_t item)
{
    for (uint8_t *at = raw; at < raw + n * item; at += item)
        for (size_t i = 0; i < item / 2; i++) {
            const uint8_t low = at[i];
            at[i] = at[item - 1 - i];
            at[item - 1 - i] = low;
        }
}

/* With exponent and fraction moved to the bits of a float's exponent and fraction, the float is the magnitude
 * times 2^-112. Infinities and NaN (0x7c00 and above) have all exponent bits set. */
static float half_float(uint16_t half)
{
    const uint32_t sign = (uint32_t)(half & 0x8000) << 16, rest = half & 0x7fff;
    if (rest >= 0x7c00)
        return bits_float(sign | 0x7f800000 | rest << 13);
    return bits_float(sign | float_bits(bits_float(rest << 13) * 0x1p112F));
}

static void widen_f16(const uint8_t *raw, size_t n, float *x)
{
    for (size_t i = 0; i < n; i++)
        x[i] = half_float(load_u16(raw + 2 * i));
}

static void widen_bf16(const uint8_t *raw, size_t n, float *x)
{
    for (size_t i = 0; i < n; i++)
        x[i] = bits_float((uint32_t)load_u16(raw + 2 * i) << 16);
}

static void copy_f32(const uint8_t *raw, size_t n, float *x)
{
    floats_load(x, raw, n);
}

static void narrow_f64(const uint8_t *raw, size_t n, float *x)
{
    for (size_t i = 0; i < n; i++)
        x[i] = (float)load_f64(raw + 8 * i);
}

static void widen_e5m2(const uint8_t *raw, size_t n, float *x)
{
    for (size_t i = 0; i < n; i++)
        x[i] = half_float((uint16_t)(raw[i] << 8));
}

/* Exponent and fraction at the bits of a half's are the magnitude times 2^-8. 0x7f and 0xff are NaN. */
static void widen_e4m3(const uint8_t *raw, size_t n, float *x)
{
    for (size_t i = 0; i < n; i++) {
        const unsigned rest = raw[i] & 0x7f, sign = raw[i] & 0x80;
        x[i] = rest == 0x7f ? bits_float(sign << 24 | 0x7fc00000) : half_float((uint16_t)(sign << 8 | rest << 7)) * 256;
    }
}

static void (*const convert[])(const uint8_t *, size_t, float *) = {
    [ARRAY_F16] = widen_f16,  [ARRAY_BF16] = widen_bf16,    [ARRAY_F32] = copy_f32,
    [ARRAY_F64] = narrow_f64, [ARRAY_F8_E4M3] = widen_e4m3, [ARRAY_F8_E5M2] = widen_e5m2};

void array_convert(ArrayType type, bool big_endian, uint8_t *raw, size_t n, float *x)
{
    if (big_endian)
        swap_bytes(raw, n, array_item_bytes[type]);
    convert[type](raw, n, x);
}

/* ---- from Fortran order to C order ---- */

/* The index in C order of element k in Fortran order. */
static size_t c_index(const Shape *shape, size_t k)
{
    size_t at = 0, stride = shape->n;
    for (int i = 0; i < shape->rank; i++) {
        stride /= shape->dim[i];
        at += k % shape->dim[i] * stride;
        k /= shape->dim[i];
    }
    return at;
}

/* ---- reading an array ---- */

static Status skip_head(ExtentStream *s, size_t size, Error *err)
{
    uint8_t room[1 << 10];
    for (size_t left = size; left;) {
        const size_t part = left < sizeof room ? left : sizeof room;
        TRY(extent_take(s, room, part, err));
        left -= part;
    }
    return OK;
}

static Status read_elements(ExtentStream *s, const Array *a, float *x, Error *err)
{
    uint8_t raw[CHUNK * ITEM_MAX];
    float values[CHUNK];
    TRY(skip_head(s, a->head, err));
    for (size_t done = 0; done < a->shape.n;) {
        const size_t left = a->shape.n - done, n = left < CHUNK ? left : CHUNK, item = array_item_bytes[a->type];
        TRY(extent_take(s, raw, n * item, err));
        array_convert(a->type, a->big_endian, raw, n, a->fortran ? values : x + done);
        for (size_t i = 0; a->fortran && i < n; i++)
            x[c_index(&a->shape, done + i)] = values[i];
        done += n;
    }
    return extent_end(s, err);
}

Status array_read(const ArrayFile *f, size_t i, float *x, Error *err)
{
    const Array *a = &f->array[i];
    const ArenaMark mark = arena_mark(f->arena);
    ExtentStream *s = NULL;
    Status status = extent_open(&s, f->fd, &a->extent, f->arena, err);
    if (status == OK)
        status = read_elements(s, a, x, err);
    extent_close(s);
    arena_rewind(f->arena, mark);
    return status;
}
