/* npy.c -- reads the header of a .npy file (NumPy's NEP 1; versions 1.0 to 3.0), and lists a .npy file as a
 * file with one array.
 *
 *     "\x93NUMPY" major:u8 minor:u8 length (u16 in version 1, else u32) header elements
 *
 * The header is a Python dictionary of exactly three keys, followed by spaces and a line feed:
 *
 *     {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), } */
#include "dump/array_file.h"

#include "base/bytes.h"
#include "base/text.h"

#include <ctype.h>
#include <string.h>

enum { MAGIC = 8, HEADER_MOST = 1 << 16 };

/* ---- the Python dictionary in the header ---- */

typedef struct {
    const char *at; /* ends with NUL */
} Cursor;

typedef struct {
    /* text of the element type, without a NUL; NULL: the type is a list (structured array) */
    const char *descr;
    size_t descr_size;
    bool fortran;
    int rank;
    size_t dim[RANK_MAX];
} Dictionary;

static Status refuse(Error *err)
{
    return FAIL(err, ERR_CORRUPT, "damaged .npy header");
}

static void skip_space(Cursor *c)
{
    while (*c->at == ' ' || *c->at == '\n')
        c->at++;
}

/* Skips spaces; if `text` comes next, skips it, too, and returns true. */
static bool take(Cursor *c, const char *text)
{
    const size_t length = strlen(text);
    skip_space(c);
    if (strncmp(c->at, text, length) != 0)
        return false;
    c->at += length;
    return true;
}

static bool take_string(Cursor *c, const char **text, size_t *size)
{
    skip_space(c);
    const char quote = *c->at;
    if (quote != '\'' && quote != '"')
        return false;
    *text = ++c->at;
    *size = strcspn(c->at, quote == '"' ? "\"\\" : "'\\");
    c->at += *size;
    return *c->at++ == quote;
}

static bool skip_list(Cursor *c)
{
    int deep = 0;
    const char *text;
    size_t size;
    do {
        skip_space(c);
        if (*c->at == '\'' || *c->at == '"') {
            if (!take_string(c, &text, &size))
                return false;
            continue;
        }
        if (!*c->at)
            return false;
        deep += (*c->at == '[' || *c->at == '(') - (*c->at == ']' || *c->at == ')');
        c->at++;
    } while (deep > 0);
    return true;
}

static bool take_descr(Cursor *c, Dictionary *d)
{
    skip_space(c);
    return *c->at == '[' ? skip_list(c) : take_string(c, &d->descr, &d->descr_size);
}

static bool take_order(Cursor *c, Dictionary *d)
{
    d->fortran = take(c, "True");
    return d->fortran || take(c, "False");
}

static bool take_size(Cursor *c, size_t *size)
{
    skip_space(c);
    if (!isdigit((unsigned char)*c->at))
        return false;
    for (*size = 0; isdigit((unsigned char)*c->at); c->at++) {
        if (*size > (SIZE_MAX - 9) / 10)
            return false;
        *size = 10 * *size + (size_t)(*c->at - '0');
    }
    c->at += *c->at == 'L'; /* skips the L behind long numbers that Python 2 wrote */
    return true;
}

/* Reads a shape such as (), (3,), (3, 4) or (3, 4,). Counts axes beyond RANK_MAX, but does not store them. */
static bool take_shape(Cursor *c, Dictionary *d)
{
    size_t size;
    if (!take(c, "("))
        return false;
    for (d->rank = 0; !take(c, ")"); d->rank++) {
        if (d->rank && !take(c, ","))
            return false;
        if (d->rank && take(c, ")"))
            return true;
        if (!take_size(c, &size))
            return false;
        if (d->rank < RANK_MAX)
            d->dim[d->rank] = size;
        skip_space(c);
        if (d->rank == 0 && *c->at != ',') /* (3) is a number, not a tuple */
            return false;
    }
    return true;
}

static const struct {
    const char *key;
    bool (*take)(Cursor *, Dictionary *);
} keys[] = {{"descr", take_descr}, {"fortran_order", take_order}, {"shape", take_shape}};

static bool take_pair(Cursor *c, Dictionary *d, unsigned *seen)
{
    const char *name;
    size_t size;
    if (!take_string(c, &name, &size) || !take(c, ":"))
        return false;
    for (unsigned i = 0; i < countof(keys); i++)
        if (strlen(keys[i].key) == size && !memcmp(keys[i].key, name, size) && !(*seen >> i & 1)) {
            *seen |= 1u << i;
            return keys[i].take(c, d);
        }
    return false;
}

static Status take_dictionary(const char *header, Dictionary *d, Error *err)
{
    Cursor c = {header};
    unsigned seen = 0;
    bool more = true;
    if (!take(&c, "{"))
        return refuse(err);
    while (!take(&c, "}")) {
        if (!more || !take_pair(&c, d, &seen))
            return refuse(err);
        more = take(&c, ",");
    }
    skip_space(&c);
    return *c.at || seen != 7 ? refuse(err) : OK;
}

/* ---- types ---- */

/* Sets the element type and byte order of *a from `descr`, such as "<f4". Sets *floats to false if the type is
 * not a float type. */
static Status take_type(const Dictionary *d, Array *a, bool *floats, Error *err)
{
    static const struct {
        const char *size;
        ArrayType type;
    } known[] = {{"2", ARRAY_F16}, {"4", ARRAY_F32}, {"8", ARRAY_F64}};
    *floats = false;
    if (!d->descr)
        return OK;
    if (d->descr_size < 2 || !strchr("<>|=", d->descr[0]) || !strchr("fbiucOSaUVmM", d->descr[1]))
        return FAIL(err, ERR_CORRUPT, "descr \"%.*s\", no type of NumPy's",
                    (int)(d->descr_size < 40 ? d->descr_size : 40), d->descr);
    if (d->descr[1] != 'f')
        return OK;
    *floats = true;
    a->big_endian = d->descr[0] == '>';
    for (size_t i = 0; i < countof(known); i++)
        if (d->descr_size == 3 && d->descr[2] == known[i].size[0] &&
            (d->descr[0] == '<' || d->descr[0] == '>')) {
            a->type = known[i].type;
            return OK;
        }
    return FAIL(err, ERR_USAGE, "floats of type \"%.*s\"; want 16, 32 or 64 bits, such as \"<f4\"",
                (int)(d->descr_size < 40 ? d->descr_size : 40), d->descr);
}

/* ---- headers ---- */

static Status take_header(ExtentStream *from, char **header, uint32_t *head, Arena *arena, Error *err)
{
    uint8_t magic[MAGIC], length[4] = {0};
    TRY(extent_take(from, magic, sizeof magic, err));
    if (memcmp(magic, "\x93NUMPY", 6) != 0)
        return FAIL(err, ERR_CORRUPT, "not a .npy file");
    if (magic[6] < 1 || magic[6] > 3 || magic[7] != 0)
        return FAIL(err, ERR_CORRUPT, ".npy version %u.%u, want 1.0, 2.0 or 3.0", magic[6], magic[7]);
    const size_t field = magic[6] == 1 ? 2 : 4;
    TRY(extent_take(from, length, field, err));
    const uint32_t size = load_u32(length);
    if (size > HEADER_MOST)
        return FAIL(err, ERR_CORRUPT, "a .npy header of %u bytes, want at most %d", (unsigned)size,
                    HEADER_MOST);
    *header = NEW(arena, char, (size_t)size + 1);
    if (!*header)
        return arena_fail(arena, err);
    TRY(extent_take(from, *header, size, err));
    (*header)[size] = 0;
    *head = (uint32_t)(MAGIC + field + size);
    return memchr(*header, 0, size) ? refuse(err) : OK;
}

Status npy_header(ExtentStream *from, Array *a, bool *floats, Arena *arena, Error *err)
{
    Dictionary d = {0};
    char *header = NULL;
    TRY(take_header(from, &header, &a->head, arena, err));
    TRY(take_dictionary(header, &d, err));
    TRY(take_type(&d, a, floats, err));
    if (!*floats)
        return OK;
    a->fortran = d.fortran;
    if (d.rank > RANK_MAX)
        return FAIL(err, ERR_USAGE, "rank %d, want at most %d", d.rank, RANK_MAX);
    if (!shape_make(&a->shape, d.rank, d.dim))
        return FAIL(err, ERR_CORRUPT, "claims more elements than there can be");
    return OK;
}

/* ---- a .npy file by itself ---- */

/* Returns the file's name without folder and ending, or "array" if this is not a valid name. */
static const char *stem(const char *path, Arena *a)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path, *dot = strrchr(name, '.');
    const char *copy = text_slice(a, name, dot ? (size_t)(dot - name) : strlen(name));
    return copy && (!*copy || !strcmp(copy, ".")) ? "array" : copy;
}

Status npy_list(ArrayFile *f, Error *err)
{
    Array a = {.path = stem(f->file, f->arena), .extent = {.stored = f->size, .size = f->size}};
    ExtentStream *s = NULL;
    bool floats = false;
    if (!a.path)
        return arena_fail(f->arena, err);
    TRY(extent_open(&s, f->fd, &a.extent, f->arena, err));
    TRY(npy_header(s, &a, &floats, f->arena, err));
    if (floats)
        return array_add(f, &a, err);
    f->skipped++;
    return OK;
}
