/* codes.c -- writes and reads levels and signs in one of several codes (codes.h), in blocks of 2^16 elements. */
#include "compress/levels/codes.h"
#include "coder/planes.h"

static int plane_width(const Codes *codes)
{
    return level_bits(codes->s) + !codes->unsigned_levels;
}

static size_t plane_bytes(const Codes *codes, size_t n)
{
    return planes_size(n, plane_width(codes));
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

size_t codes_most(const Codes *codes)
{
    const size_t n = codes->c->shape->n;
    if (codes->kind == CODE_FIXED)
        return plane_bytes(codes, n);
    if (codes->kind == CODE_RANS)
        return symbols_most(n, plane_width(codes));
    const size_t sparse = levels_most(n, codes->run, codes->s, LEVELS_SPARSE),
                 dense = levels_most(n, codes->run, codes->s, LEVELS_DENSE);
    if (codes->kind == CODE_ELIAS)
        return 1 + (sparse < dense ? sparse : dense);
    return codes->kind == CODE_SPARSE ? sparse : dense;
}

void *codes_array(const Codes *codes)
{
    return arena_take(codes->c->scratch, codes->c->shape->n, codes_wide(codes) ? sizeof(uint32_t) : 1);
}

typedef struct {
    const Codes *codes;
    void *code;
    uint8_t *out;
    const uint8_t *in;
    bool *bad; /* for each block: true if padding bits are set */
    Levels levels;
    LevelsSize *size;
} CodesJob;

/* ---- fixed width ---- */

void codes_pack(const Codes *codes, size_t block, const void *code, uint8_t *planes)
{
    const size_t n = block_size(codes->c->shape->n, block);
    uint8_t *out = planes + plane_bytes(codes, block * BLOCK);
    if (codes_wide(codes))
        planes_put32(code, n, plane_width(codes), out);
    else
        planes_put8(code, n, plane_width(codes), out);
}

bool codes_unpack(const Codes *codes, size_t block, const uint8_t *planes, void *code)
{
    const size_t n = block_size(codes->c->shape->n, block);
    const uint8_t *in = planes + plane_bytes(codes, block * BLOCK);
    return codes_wide(codes) ? planes_get32(in, n, plane_width(codes), code) : planes_get8(in, n, plane_width(codes), code);
}

static void put_planes(void *data, size_t block)
{
    const CodesJob *job = data;
    codes_pack(job->codes, block, codes_block(job->codes, job->code, block), job->out);
}

static void get_planes(void *data, size_t block)
{
    const CodesJob *job = data;
    job->bad[block] = !codes_unpack(job->codes, block, job->in, codes_block(job->codes, job->code, block));
}

static Status put_fixed(CodesJob *job, Buf *out)
{
    const Call *c = job->codes->c;
    job->out = buf_room(out, plane_bytes(job->codes, c->shape->n));
    parallel_for(c->threads, blocks_of(c->shape->n), put_planes, job);
    return OK;
}

static Status get_fixed(CodesJob *job, Reader *r)
{
    const Call *c = job->codes->c;
    const size_t n = c->shape->n, want = plane_bytes(job->codes, n);
    if (reader_left(r) != want)
        return payload_bad(c, "%zu bytes of planes, want %zu", reader_left(r), want);
    job->in = take_bytes(r, want);
    job->bad = NEW(c->scratch, bool, blocks_of(n));
    TRY(arena_check(job->bad, c->scratch, c->err));
    parallel_for(c->threads, blocks_of(n), get_planes, job);
    for (size_t b = 0; b < blocks_of(n); b++)
        if (job->bad[b])
            return payload_bad(c, "block %zu: padding bits are set", b);
    return OK;
}

/* ---- Elias codes. The choice of the sparse or the dense stream depends on the sizes of all blocks, so all
 * blocks are measured before any block is written. ---- */

static void measure_block(void *data, size_t block)
{
    const CodesJob *job = data;
    job->size[block] = levels_measure(&job->levels, block);
}

static Levels levels_of(const CodesJob *job)
{
    const Codes *codes = job->codes;
    return (Levels){.n = codes->c->shape->n,
                    .run = codes->run,
                    .s = codes->s,
                    .bits = level_bits(codes->s),
                    .code = job->code};
}

static Status put_elias(CodesJob *job, Buf *out)
{
    const Call *c = job->codes->c;
    const CodeKind kind = job->codes->kind;
    const size_t blocks = blocks_of(c->shape->n);
    job->levels = levels_of(job);
    job->size = NEW(c->scratch, LevelsSize, blocks);
    LevelsStream *stream = NEW(c->scratch, LevelsStream, blocks);
    TRY(arena_check(job->size && stream, c->scratch, c->err));
    parallel_for(c->threads, blocks, measure_block, job);
    const size_t sparse = levels_bytes(&job->levels, job->size, LEVELS_SPARSE),
                 dense = levels_bytes(&job->levels, job->size, LEVELS_DENSE);
    const LevelsForm form =
        kind == CODE_SPARSE || (kind == CODE_ELIAS && sparse <= dense) ? LEVELS_SPARSE : LEVELS_DENSE;
    if (kind == CODE_ELIAS)
        buf_u8(out, (uint8_t)form);
    uint8_t *room = buf_room(out, form == LEVELS_SPARSE ? sparse : dense);
    levels_put(&job->levels, job->size, form, c->threads, stream, room);
    return OK;
}

static Status get_elias(CodesJob *job, Reader *r)
{
    const Call *c = job->codes->c;
    const CodeKind kind = job->codes->kind;
    const unsigned form = kind == CODE_ELIAS    ? take_u8(r)
                          : kind == CODE_SPARSE ? LEVELS_SPARSE
                                                : LEVELS_DENSE;
    if (r->bad || form >= LEVELS_FORMS)
        return payload_bad(c, "neither sparse nor dense");
    const size_t left = reader_left(r);
    const uint8_t *in = take_bytes(r, left);
    LevelsStream *stream = NEW(c->scratch, LevelsStream, blocks_of(c->shape->n));
    job->levels = levels_of(job);
    TRY(arena_check(stream, c->scratch, c->err));
    if (!levels_get(&job->levels, (LevelsForm)form, c->threads, stream, (Bytes){in, left}))
        return payload_bad(c, "damaged %s streams", form == LEVELS_SPARSE ? "sparse" : "dense");
    return OK;
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

Status codes_put(const Codes *codes, void *code, Buf *out)
{
    CodesJob job = {.codes = codes, .code = code};
    return codes->kind == CODE_RANS    ? put_symbols(&job, out)
           : codes->kind == CODE_FIXED ? put_fixed(&job, out)
                                       : put_elias(&job, out);
}

Status codes_get(const Codes *codes, Reader *r, void *code)
{
    CodesJob job = {.codes = codes, .code = code};
    return codes->kind == CODE_RANS    ? get_symbols(&job, r)
           : codes->kind == CODE_FIXED ? get_fixed(&job, r)
                                       : get_elias(&job, r);
}

Status codes_report(const Codes *codes, const void *code)
{
    const Call *c = codes->c;
    const size_t n = c->shape->n;
    const int bits = level_bits(codes->s);
    const bool wide = codes_wide(codes);
    if (codes->kind == CODE_RANS) /* codes_put has reported the entropy of symbols */
        return OK;
    uint64_t *count = NEW_ZERO(c->scratch, uint64_t, codes->s + 1), signs = 0;
    TRY(arena_check(count, c->scratch, c->err));
    for (size_t i = 0; i < n; i++) {
        const uint32_t one = wide ? ((const uint32_t *)code)[i] : ((const uint8_t *)code)[i];
        count[one & ((1u << bits) - 1)]++;
        signs += one != 0;
    }
    streams_symbols(c->streams, count, codes->s + 1);
    if (!codes->unsigned_levels)
        streams_bits(c->streams, (double)signs);
    return OK;
}
