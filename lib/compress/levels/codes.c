/* codes.c -- writes and reads levels and signs in one of several codes (codes.h), in blocks of 2^16 elements. */
#include "compress/levels/codes.h"
#include "coder/planes.h"

static int plane_width(const Codes *codes)
{
    return level_bits(codes->s) + !codes->unsigned_levels;
}

/* True: a code takes the same bits wherever it is, so that each piece is packed by itself. */
static bool packs(const Codes *codes)
{
    return codes->kind == CODE_FIXED || codes->kind == CODE_TRITS;
}

static size_t packed_bytes(const Codes *codes, size_t n)
{
    return codes->kind == CODE_TRITS ? trits_size(n) : planes_size(n, plane_width(codes));
}

bool codes_wide(const Codes *codes)
{
    return plane_width(codes) > CODE_BYTE_BITS + 1;
}

size_t codes_run_end(const Codes *codes, size_t i, size_t to)
{
    const size_t left = codes->run - i % codes->run;
    return left < to - i ? i + left : to;
}

static LevelsForm levels_form(const Codes *codes)
{
    return codes->kind == CODE_ELIAS ? LEVELS_SHORTER : codes->kind == CODE_SPARSE ? LEVELS_SPARSE : LEVELS_DENSE;
}

size_t codes_most(const Codes *codes)
{
    const size_t n = codes->c->shape->n;
    if (packs(codes))
        return packed_bytes(codes, n);
    if (codes->kind == CODE_RANS)
        return symbols_most(n, plane_width(codes));
    return levels_most(n, codes->run, codes->s, levels_form(codes));
}

typedef struct {
    const Codes *codes;
    CodesFill *fill;
    CodesUse *use;
    const void *data; /* the first argument of `fill` and `use` */
    void *code;       /* (n) the codes; NULL: each piece of codes is packed or unpacked while it is in the cache */
    uint8_t *out;      /* where packed codes are written; NULL: they are not packed */
    const uint8_t *in; /* where packed codes are read; NULL: they are not packed */
    const char **why;  /* for each piece: NULL, or why it is refused */
} CodesJob;

/* ---- pieces of the tensor ---- */

/* Random numbers belong to blocks. A piece of trits is a whole number of groups of trits instead. */
static size_t piece_size(const Codes *codes)
{
    return codes->kind == CODE_TRITS ? 64 * TRIT_GROUP : BLOCK;
}

static size_t pieces_of(const Codes *codes)
{
    const size_t n = codes->c->shape->n, size = piece_size(codes);
    return n / size + (n % size != 0);
}

static size_t piece_from(const Codes *codes, size_t piece, size_t *n)
{
    const size_t from = piece * piece_size(codes), left = codes->c->shape->n - from;
    *n = left < piece_size(codes) ? left : piece_size(codes);
    return from;
}

static void *code_at(const CodesJob *job, size_t i)
{
    return (char *)job->code + i * (codes_wide(job->codes) ? sizeof(uint32_t) : 1);
}

static void pack(const Codes *codes, size_t from, size_t n, const void *code, uint8_t *out)
{
    out += packed_bytes(codes, from);
    if (codes->kind == CODE_TRITS)
        trits_put(code, n, out);
    else
        planes_put(code, codes_wide(codes), n, plane_width(codes), out);
}

static const char *unpack(const Codes *codes, size_t from, size_t n, const uint8_t *in, void *code)
{
    in += packed_bytes(codes, from);
    if (codes->kind == CODE_TRITS)
        return trits_get(in, n, code) ? NULL : "trits that no encoder writes";
    return planes_get(in, n, plane_width(codes), code, codes_wide(codes)) ? NULL : "padding bits are set";
}

static void put_piece(void *data, size_t piece)
{
    const CodesJob *job = data;
    uint32_t own[BLOCK];
    size_t n;
    const size_t from = piece_from(job->codes, piece, &n);
    char *code = job->code ? code_at(job, from) : (void *)own;
    const size_t width = codes_wide(job->codes) ? sizeof(uint32_t) : 1;
    for (size_t i = 0, some; i < n; i += some) { /* pieces of trits need not begin or end with a block */
        const size_t left = BLOCK - (from + i) % BLOCK;
        some = left < n - i ? left : n - i;
        job->fill(job->data, from + i, some, code + width * i);
    }
    if (job->out)
        pack(job->codes, from, n, code, job->out);
}

static void get_piece(void *data, size_t piece)
{
    const CodesJob *job = data;
    uint32_t own[BLOCK];
    size_t n;
    const size_t from = piece_from(job->codes, piece, &n);
    void *code = job->code ? code_at(job, from) : own;
    const char *why = job->in ? unpack(job->codes, from, n, job->in, code) : NULL;
    job->why[piece] = why ? why : job->use(job->data, from, n, code);
}

static Status take_packed(CodesJob *job, Reader *r)
{
    const Codes *codes = job->codes;
    const size_t want = packed_bytes(codes, codes->c->shape->n);
    if (reader_left(r) != want)
        return payload_bad(codes->c, "%zu bytes of %s, want %zu", reader_left(r),
                           codes->kind == CODE_TRITS ? "trits" : "planes", want);
    job->in = take_bytes(r, want);
    return OK;
}

/* ---- Elias codes ---- */

static Levels levels_of(const CodesJob *job)
{
    const Codes *codes = job->codes;
    return (Levels){.n = codes->c->shape->n,
                    .run = codes->run,
                    .s = codes->s,
                    .bits = level_bits(codes->s),
                    .code = job->code};
}

static Status put_elias(const CodesJob *job, Buf *out)
{
    const Call *c = job->codes->c;
    const Levels l = levels_of(job);
    return levels_put(&l, levels_form(job->codes), c->threads, c->scratch, c->err, out);
}

static Status get_elias(const CodesJob *job, Reader *r)
{
    const Call *c = job->codes->c;
    const Levels l = levels_of(job);
    const char *why;
    const Status status = levels_get(&l, levels_form(job->codes), c->threads, r, c->scratch, c->err, &why);
    return status == ERR_CORRUPT ? payload_bad(c, "%s", why) : status;
}

/* ---- symbols ---- */

static Symbols symbols_of(const CodesJob *job)
{
    const Codes *codes = job->codes;
    return (Symbols){.n = codes->c->shape->n,
                     .width = plane_width(codes),
                     .threads = codes->c->threads,
                     .code = job->code};
}

static Status get_symbols(const CodesJob *job, Reader *r)
{
    const Call *c = job->codes->c;
    const Symbols s = symbols_of(job);
    const char *why;
    const size_t left = reader_left(r);
    const Status status = symbols_get(&s, (Bytes){take_bytes(r, left), left}, c->scratch, c->err, &why);
    return status == ERR_CORRUPT ? payload_bad(c, "%s", why) : status;
}

static Status put_symbols(const CodesJob *job, Buf *out)
{
    const Call *c = job->codes->c;
    double entropy = 0;
    Symbols s = symbols_of(job);
    s.entropy = c->streams ? &entropy : NULL;
    TRY(symbols_put(&s, out, c->scratch, c->err));
    streams_bits(c->streams, entropy);
    return OK;
}

/* ---- all kinds of codes ---- */

/* Takes memory for all codes, unless they are packed and nobody else needs them. */
static Status take_array(CodesJob *job, bool needed)
{
    const Call *c = job->codes->c;
    if (packs(job->codes) && !needed)
        return OK;
    job->code = arena_take(c->scratch, c->shape->n, codes_wide(job->codes) ? sizeof(uint32_t) : 1);
    return arena_check(job->code, c->scratch, c->err);
}

/* Adds the entropy of levels and signs to c->streams. Does nothing for rans: put_symbols has already added its
 * entropy. Bytes are counted in four tables, as a count must not wait for the one before it. */
static Status report(const Codes *codes, const void *code)
{
    const Call *c = codes->c;
    const size_t n = c->shape->n;
    const uint32_t level = (1u << level_bits(codes->s)) - 1;
    if (codes->kind == CODE_RANS)
        return OK;
    uint64_t *count = NEW_ZERO(c->scratch, uint64_t, level + 1), bytes[4][256] = {0}, signs = 0;
    TRY(arena_check(count, c->scratch, c->err));
    for (size_t i = 0; i < n && codes_wide(codes); i++) {
        const uint32_t one = ((const uint32_t *)code)[i];
        count[one & level]++;
        signs += one != 0;
    }
    for (size_t i = 0; i < n && !codes_wide(codes); i++)
        bytes[i % 4][((const uint8_t *)code)[i]]++;
    for (uint32_t one = 0; one < 256; one++) {
        const uint64_t all = bytes[0][one] + bytes[1][one] + bytes[2][one] + bytes[3][one];
        count[one & level] += all;
        signs += one ? all : 0;
    }
    streams_symbols(c->streams, count, codes->s + 1);
    if (!codes->unsigned_levels)
        streams_bits(c->streams, (double)signs);
    return OK;
}

Status codes_put(const Codes *codes, CodesFill *fill, const void *data, Buf *out)
{
    const Call *c = codes->c;
    CodesJob job = {.codes = codes, .fill = fill, .data = data};
    TRY(take_array(&job, c->streams));
    job.out = packs(codes) ? buf_room(out, codes_most(codes)) : NULL;
    parallel_for(c->threads, pieces_of(codes), put_piece, &job);
    if (!job.out)
        TRY(codes->kind == CODE_RANS ? put_symbols(&job, out) : put_elias(&job, out));
    return c->streams ? report(codes, job.code) : OK;
}

Status codes_get(const Codes *codes, CodesUse *use, const void *data, Reader *r)
{
    const Call *c = codes->c;
    CodesJob job = {.codes = codes, .use = use, .data = data};
    job.why = NEW(c->scratch, const char *, pieces_of(codes));
    TRY(arena_check(job.why, c->scratch, c->err));
    TRY(take_array(&job, false));
    TRY(packs(codes)                ? take_packed(&job, r)
        : codes->kind == CODE_RANS ? get_symbols(&job, r)
                                   : get_elias(&job, r));
    parallel_for(c->threads, pieces_of(codes), get_piece, &job);
    for (size_t i = 0; i < pieces_of(codes); i++)
        if (job.why[i])
            return payload_bad(c, "block %zu: %s", i * piece_size(codes) / BLOCK, job.why[i]);
    return OK;
}
