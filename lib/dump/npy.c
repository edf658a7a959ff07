/* npy.c -- lists the array of a .npy file and the arrays of a .npz file.
 *
 * .npy (NumPy's NEP 1; versions 1.0 to 3.0):
 *
 *     "\x93NUMPY" major:u8 minor:u8 length (u16 in version 1, else u32) header elements
 *
 * The header is a Python dictionary of exactly three keys, followed by spaces and a line feed:
 *
 *     {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }
 *
 * .npz is a zip archive of .npy members, as np.savez and np.savez_compressed write it. The
 * member "conv1.weight.npy" is the array "conv1.weight". The layout of a zip archive (PKWARE's APPNOTE, with zip64):
 *
 *     { member header, its data } x count   directory   (zip64 end, its locator)   end
 *
 * The end record is searched for from the back of the file, because a comment of up to 65535 bytes may
 * follow it. The directory must be at the archive's end, and all sizes and checksums are its own. Members must be stored or
 * deflated. */
#include "dump/array_file.h"

#include "base/bytes.h"
#include "base/text.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
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

typedef struct {
    bool left_out;
    char type[48]; /* of an array that is left out: as in Skipped */
} Odd;

/* Sets the element type and byte order of *a from `descr`, such as "<f4", or *odd if arrays of this type are left out. Elements of two bytes without a type are bfloat16 if
 * `descr` is "<V2", as ml_dtypes says; "|V2" may be anything, unless the user says (DumpHints.voids). */
static Status take_type(const Dictionary *d, int voids, Array *a, Odd *odd, Error *err)
{
    static const struct {
        const char *descr;
        ArrayType type;
    } known[] = {{"f2", ARRAY_F16}, {"f4", ARRAY_F32}, {"f8", ARRAY_F64}, {"V2", ARRAY_BF16}};
    const int shown = (int)(d->descr_size < 40 ? d->descr_size : 40);
    if (d->descr_size == 8 && !memcmp(d->descr, "bfloat16", 8)) { /* as NumPy reads where ml_dtypes is loaded */
        a->type = ARRAY_BF16;
        return OK;
    }
    if (!d->descr) {
        *odd = (Odd){true, "structured"};
        return OK;
    }
    if (d->descr_size < 2 || !strchr("<>|=", d->descr[0]) || !strchr("fbiucOSaUVmM", d->descr[1]))
        return FAIL(err, ERR_CORRUPT, "descr \"%.*s\", no type of NumPy's", shown, d->descr);
    const bool is_void = d->descr[1] == 'V';
    odd->left_out = true;
    snprintf(odd->type, sizeof odd->type, "%.*s", strchr("fcV", d->descr[1]) ? shown : 0, d->descr);
    if (is_void ? d->descr[0] != '<' && !voids : d->descr[0] != '<' && d->descr[0] != '>')
        return OK;
    a->big_endian = d->descr[0] == '>';
    for (size_t i = 0; i < countof(known); i++)
        if (d->descr_size == 3 && !memcmp(d->descr + 1, known[i].descr, 2)) {
            a->type = is_void && voids == VOIDS_FLOAT16 ? ARRAY_F16 : known[i].type;
            odd->left_out = false;
        }
    return OK;
}

/* ---- headers ---- */

static Status take_header(ExtentStream *from, char **header, Array *a, Arena *arena, Error *err)
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
    TRY(arena_check(*header, arena, err));
    TRY(extent_take(from, *header, size, err));
    (*header)[size] = 0;
    a->head = (uint32_t)(MAGIC + field + size);
    a->head_sum = crc32_add(crc32_add(crc32_add(0, magic, sizeof magic), length, field), *header, size);
    return memchr(*header, 0, size) ? refuse(err) : OK;
}

/* Reads the header of a .npy array at the start of an extent. Sets all fields of *a except path and extent, and *odd as
 * take_type does. */
static Status npy_header(ExtentStream *from, int voids, Array *a, Odd *odd, Arena *arena, Error *err)
{
    Dictionary d = {0};
    char *header = NULL;
    TRY(take_header(from, &header, a, arena, err));
    TRY(take_dictionary(header, &d, err));
    TRY(take_type(&d, voids, a, odd, err));
    a->fortran = d.fortran;
    if (shape_make(&a->shape, d.rank, d.dim) || odd->left_out)
        return OK;
    if (d.rank > RANK_MAX)
        return FAIL(err, ERR_USAGE, "rank %d, want at most %d", d.rank, RANK_MAX);
    return FAIL(err, ERR_CORRUPT, "claims more elements than there can be");
}

static Status read_header(const ArrayFile *f, Array *a, Odd *odd, Error *err)
{
    const ArenaMark mark = arena_mark(f->arena);
    ExtentStream *s = NULL;
    Status status = extent_open(&s, f->fd, &a->extent, f->arena, err);
    if (status == OK)
        status = npy_header(s, f->voids, a, odd, f->arena, err);
    extent_close(s);
    arena_rewind(f->arena, mark);
    return status;
}

static Status list_array(ArrayFile *f, Array *a, Error *err)
{
    Odd odd = {false, ""};
    TRY(read_header(f, a, &odd, err));
    if (!odd.left_out)
        return array_add(f, a, err);
    const char *type = text_copy(f->arena, odd.type);
    return type ? array_skip(f, (Skipped){a->path, type, a->shape.n}, err) : arena_fail(f->arena, err);
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
    return a.path ? list_array(f, &a, err) : arena_fail(f->arena, err);
}

/* ---- .npz: a zip archive ---- */

enum {
    END = 22,         /* bytes of the end record without its comment */
    END64 = 56,       /* bytes of the zip64 end record without its extensible part */
    LOCATOR = 20,     /* bytes of the zip64 locator, which points to the zip64 end record */
    ENTRY = 46,       /* bytes of a directory entry without its name, extra fields and comment */
    LOCAL = 30,       /* bytes of a member's header without its name and extra fields */
    COMMENT = 0xffff, /* bytes of the longest comment */
    INFLATE_MOST = 1032,
    MEMBERS_MOST = 1 << 20,
};

static const uint32_t end_mark = 0x06054b50, end64_mark = 0x06064b50, locator_mark = 0x07064b50,
                      entry_mark = 0x02014b50, local_mark = 0x04034b50;

enum { ENCRYPTED = 1 };

typedef struct {
    uint64_t at, size, count; /* file offset and bytes of the directory; number of its entries */
} Directory;

typedef struct {
    unsigned flags, method;
    uint32_t sum;
    uint64_t stored, size, header; /* header: file offset of the member's header */
    const char *name;              /* UTF-8 */
} Entry;

static Status damaged(Error *err, const char *what)
{
    return FAIL(err, ERR_CORRUPT, "a damaged zip archive: %s", what);
}

/* ---- finding the directory ---- */

/* Finds the last end record whose comment ends at the end of the file. Sets `*at` to its file offset and
 * copies it to `record`. */
static Status find_end(int fd, uint64_t size, uint64_t *at, uint8_t record[END], Arena *a, Error *err)
{
    const size_t tail = size < END + COMMENT ? (size_t)size : END + COMMENT;
    const ArenaMark mark = arena_mark(a);
    uint8_t *bytes = NEW(a, uint8_t, tail);
    TRY(arena_check(bytes, a, err));
    TRY(file_take(fd, size - tail, bytes, tail, err));
    for (size_t i = tail < END ? 0 : tail - END + 1; i-- > 0;)
        if (load_u32(bytes + i) == end_mark && load_u16(bytes + i + 20) == tail - i - END) {
            memcpy(record, bytes + i, END);
            *at = size - tail + i;
            arena_rewind(a, mark);
            return OK;
        }
    return damaged(err, "its end is missing");
}

/* If a zip64 locator precedes the end record at `*at`, reads the zip64 end record and sets `*at` to its
 * offset. */
static Status take_end64(int fd, uint64_t *at, Directory *d, Error *err)
{
    uint8_t locator[LOCATOR], record[END64];
    if (*at < LOCATOR)
        return OK;
    TRY(file_take(fd, *at - LOCATOR, locator, LOCATOR, err));
    if (load_u32(locator) != locator_mark)
        return OK;
    const uint64_t end64 = load_u64(locator + 8), limit = *at - LOCATOR;
    if (end64 > limit || limit - end64 < END64)
        return damaged(err, "its zip64 locator points nowhere");
    TRY(file_take(fd, end64, record, END64, err));
    if (load_u32(record) != end64_mark)
        return damaged(err, "its zip64 end");
    *d = (Directory){load_u64(record + 48), load_u64(record + 40), load_u64(record + 32)};
    *at = end64;
    return OK;
}

static Status find_directory(int fd, uint64_t size, Directory *d, Arena *a, Error *err)
{
    uint8_t record[END] = {0};
    uint64_t at = 0;
    TRY(find_end(fd, size, &at, record, a, err));
    *d = (Directory){load_u32(record + 16), load_u32(record + 12), load_u16(record + 10)};
    TRY(take_end64(fd, &at, d, err));
    if (d->at > at || d->size != at - d->at)
        return damaged(err, "its directory does not end where its end says");
    if (d->count > d->size / ENTRY || d->count > MEMBERS_MOST)
        return FAIL(err, ERR_CORRUPT, "a damaged zip archive: %llu members in a directory of %llu bytes",
                    (unsigned long long)d->count, (unsigned long long)d->size);
    return OK;
}

/* ---- entries ---- */

/* Replaces each 32-bit field of the entry that has all bits set by a 64-bit number from the extra field with
 * id 1 (zip64). */
static bool take_wide(Entry *e, Bytes extra)
{
    uint64_t *const field[] = {&e->size, &e->stored, &e->header};
    Reader all = reader_open(extra);
    while (reader_left(&all) >= 4) {
        const unsigned id = take_u16(&all);
        const size_t size = take_u16(&all);
        const uint8_t *data = take_bytes(&all, size);
        if (!data)
            return false;
        Reader r = reader_open((Bytes){data, size});
        for (size_t i = 0; id == 1 && i < countof(field); i++)
            if (*field[i] == UINT32_MAX)
                *field[i] = take_u64(&r);
        if (r.bad)
            return false;
    }
    return true;
}

static Status take_entry(Reader *r, Entry *e, Arena *a, Error *err)
{
    const uint8_t *fixed = take_bytes(r, ENTRY);
    if (!fixed || load_u32(fixed) != entry_mark)
        return damaged(err, "its directory");
    *e = (Entry){.flags = load_u16(fixed + 8),
                 .method = load_u16(fixed + 10),
                 .sum = load_u32(fixed + 16),
                 .stored = load_u32(fixed + 20),
                 .size = load_u32(fixed + 24),
                 .header = load_u32(fixed + 42)};
    const size_t name_size = load_u16(fixed + 28), extra_size = load_u16(fixed + 30), comment = load_u16(fixed + 32);
    const char *name = (const char *)take_bytes(r, name_size);
    const uint8_t *extra = take_bytes(r, extra_size);
    if (!take_bytes(r, comment) || !take_wide(e, (Bytes){extra, extra_size}))
        return damaged(err, "its directory");
    if (!name_size || !text_is_utf8(name, name_size))
        return damaged(err, "a name that is no UTF-8");
    e->name = text_slice(a, name, name_size);
    return arena_check(e->name, a, err);
}

static Status check_entry(const Entry *e, Error *err)
{
    enum { STORED = 0, DEFLATED = 8 };
    if (e->flags & ENCRYPTED)
        return FAIL(err, ERR_USAGE, "encrypted");
    if (e->method != STORED && e->method != DEFLATED)
        return FAIL(err, ERR_USAGE,
                    "packed by method %u; want stored or deflated, as np.savez and np.savez_compressed write",
                    e->method);
    if (e->method == STORED && e->stored != e->size)
        return FAIL(err, ERR_CORRUPT, "stored as %llu bytes, and says it has %llu",
                    (unsigned long long)e->stored, (unsigned long long)e->size);
    if (e->method == DEFLATED && e->size / INFLATE_MOST > e->stored)
        return FAIL(err, ERR_CORRUPT, "%llu bytes cannot unpack to %llu", (unsigned long long)e->stored,
                    (unsigned long long)e->size);
    return OK;
}

/* Sets *data to the file offset of the member's data, which follow its header, a name and extra fields. */
static Status find_data(int fd, const Entry *e, uint64_t limit, uint64_t *data, Error *err)
{
    uint8_t local[LOCAL];
    if (e->header > limit || limit - e->header < LOCAL)
        return damaged(err, "a member beyond its directory");
    TRY(file_take(fd, e->header, local, LOCAL, err));
    *data = e->header + LOCAL + load_u16(local + 26) + load_u16(local + 28);
    if (load_u32(local) != local_mark || *data > limit || e->stored > limit - *data)
        return damaged(err, "a member is not where its directory says");
    return OK;
}

/* ---- members of the archive ---- */

static Status list_member(ArrayFile *f, const Entry *e, uint64_t limit, Error *err)
{
    Array a = {.extent = {.stored = e->stored, .size = e->size, .deflated = e->method != 0, .summed = true, .sum = e->sum}};
    if (text_ends(e->name, "/"))
        return OK;
    if (!text_ends(e->name, ".npy"))
        return array_skip(f, (Skipped){e->name, "", 0}, err);
    TRY(check_entry(e, err));
    TRY(find_data(f->fd, e, limit, &a.extent.at, err));
    a.path = text_slice(f->arena, e->name, strlen(e->name) - strlen(".npy"));
    TRY(arena_check(a.path, f->arena, err));
    return list_array(f, &a, err);
}

Status npz_list(ArrayFile *f, Error *err)
{
    Directory d = {0};
    TRY(find_directory(f->fd, f->size, &d, f->arena, err));
    uint8_t *entries = NEW(f->arena, uint8_t, (size_t)d.size);
    TRY(arena_check(entries, f->arena, err));
    TRY(file_take(f->fd, d.at, entries, (size_t)d.size, err));
    Reader r = reader_open((Bytes){entries, (size_t)d.size});
    for (size_t i = 0; i < d.count; i++) {
        Entry e;
        TRY(take_entry(&r, &e, f->arena, err));
        if (!strcmp(e.name, "data.pkl") || text_ends(e.name, "/data.pkl"))
            return refuse_pickle(f->file, err);
        if (list_member(f, &e, d.at, err) != OK)
            return error_at(err, "%.200s", e.name);
    }
    return reader_done(&r) ? OK : damaged(err, "its directory has more bytes than entries");
}
