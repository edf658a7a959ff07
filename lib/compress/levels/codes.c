/* codes.c -- writes and reads levels and signs in one of several codes (codes.h). Blocks of 2^16 elements are
 * quantised and packed, or unpacked and dequantised, in any order. */
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

/* ---- fixed width: each block is packed while it is in the cache ---- */

typedef struct {
    const Codes *codes;
    uint8_t *out;
    const uint8_t *in;
    Levels levels;
    LevelsSize *size;
    const char **why; /* for each block: NULL, or the reason why the block is refused */
} CodesJob;

static void put_planes(void *data, size_t block)
{
    const CodesJob *job = data;
    const size_t n = block_size(job->codes->c->shape->n, block);
    const int width = plane_width(job->codes);
    uint8_t *out = job->out + plane_bytes(job->codes, block * BLOCK);
    if (codes_wide(job->codes)) {
        uint32_t code[BLOCK];
        job->codes->quantise(job->codes->data, block, code);
        planes_put32(code, n, width, out);
    } else {
        uint8_t code[BLOCK];
        job->codes->quantise(job->codes->data, block, code);
        planes_put8(code, n, width, out);
    }
}

static void get_planes(void *data, size_t block)
{
    const CodesJob *job = data;
    const size_t n = block_size(job->codes->c->shape->n, block);
    const int width = plane_width(job->codes);
    const uint8_t *in = job->in + plane_bytes(job->codes, block * BLOCK);
    if (codes_wide(job->codes)) {
        uint32_t code[BLOCK];
        job->why[block] = planes_get32(in, n, width, code)
                              ? job->codes->dequantise(job->codes->data, block, code)
                              : "padding bits are set";
    } else {
        uint8_t code[BLOCK];
        job->why[block] = planes_get8(in, n, width, code)
                              ? job->codes->dequantise(job->codes->data, block, code)
                              : "padding bits are set";
    }
}

/* ---- Elias codes. The choice of the sparse or the dense stream depends on the sizes of all blocks, so all
 * blocks are measured before any block is written. Codes of one byte are stored between measuring and writing.
 * 32-bit codes would take four times the memory, so they are computed twice. ---- */

static void measure_block(void *data, size_t block)
{
    const CodesJob *job = data;
    uint32_t code[BLOCK];
    Levels l = job->levels;
    if (l.code) {
        l.make(l.data, block, (uint8_t *)l.code + block * BLOCK);
    } else {
        l.code = code;
        l.first = block * BLOCK;
        l.make(l.data, block, code);
    }
    job->size[block] = levels_measure(&l, block);
}

static void quantise_block(const void *data, size_t block, void *code)
{
    const CodesJob *job = data;
    job->codes->quantise(job->codes->data, block, code);
}

static void dequantise_block(const void *data, size_t block, const void *code)
{
    const CodesJob *job = data;
    job->why[block] = job->codes->dequantise(job->codes->data, block, code);
}

static Levels levels_of(const CodesJob *job)
{
    const Codes *codes = job->codes;
    return (Levels){.n = codes->c->shape->n,
                    .run = codes->run,
                    .s = codes->s,
                    .bits = level_bits(codes->s),
                    .data = job,
                    .make = quantise_block,
                    .take = dequantise_block};
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
    if (!levels_wide(&job->levels) && !(job->levels.code = NEW(c->scratch, uint8_t, c->shape->n)))
        return arena_fail(c->scratch, c->err);
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
    const size_t n = c->shape->n, most = (size_t)LEVELS_AT_ONCE * BLOCK;
    const unsigned form = kind == CODE_ELIAS    ? take_u8(r)
                          : kind == CODE_SPARSE ? LEVELS_SPARSE
                                                : LEVELS_DENSE;
    if (r->bad || form >= LEVELS_FORMS)
        return payload_bad(c, "neither sparse nor dense");
    const size_t left = reader_left(r);
    const uint8_t *in = take_bytes(r, left);
    LevelsStream *stream = NEW(c->scratch, LevelsStream, blocks_of(n));
    char *room = NEW(c->scratch, char, levels_room(n < most ? n : most, job->codes->s));
    job->levels = levels_of(job);
    TRY(arena_check(room && stream, c->scratch, c->err));
    if (!levels_get(&job->levels, (LevelsForm)form, c->threads, stream, room, (Bytes){in, left}))
        return payload_bad(c, "damaged %s streams", form == LEVELS_SPARSE ? "sparse" : "dense");
    return OK;
}

/* ---- symbols ---- */

static bool dequantise_symbols(const void *data, size_t block, const void *code)
{
    const CodesJob *job = data;
    dequantise_block(data, block, code);
    return !job->why[block];
}

static Symbols symbols_of(const CodesJob *job)
{
    const Codes *codes = job->codes;
    return (Symbols){.n = codes->c->shape->n,
                     .width = plane_width(codes),
                     .threads = codes->c->threads,
                     .data = job,
                     .make = quantise_block,
                     .take = dequantise_symbols};
}

/* If `dequantise` refused a block, returns OK: codes_get then reports the reason. */
static Status get_symbols(const CodesJob *job, Reader *r)
{
    const Call *c = job->codes->c;
    const Symbols s = symbols_of(job);
    const char *why;
    const size_t left = reader_left(r);
    const Status status = symbols_get(&s, (Bytes){take_bytes(r, left), left}, c->scratch, c->err, &why);
    for (size_t b = 0; b < blocks_of(c->shape->n) && status == ERR_CORRUPT; b++)
        if (job->why[b])
            return OK;
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

Status codes_put(const Codes *codes, Buf *out)
{
    CodesJob job = {.codes = codes};
    const size_t n = codes->c->shape->n;
    if (codes->kind == CODE_RANS)
        return put_symbols(&job, out);
    if (codes->kind != CODE_FIXED)
        return put_elias(&job, out);
    job.out = buf_room(out, plane_bytes(codes, n));
    parallel_for(codes->c->threads, blocks_of(n), put_planes, &job);
    return OK;
}

Status codes_get(const Codes *codes, Reader *r)
{
    const Call *c = codes->c;
    const size_t n = c->shape->n, want = plane_bytes(codes, n);
    CodesJob job = {.codes = codes, .why = NEW_ZERO(c->scratch, const char *, blocks_of(n))};
    TRY(arena_check(job.why, c->scratch, c->err));
    if (codes->kind == CODE_RANS) {
        TRY(get_symbols(&job, r));
    } else if (codes->kind == CODE_FIXED) {
        if (reader_left(r) != want)
            return payload_bad(c, "%zu bytes of planes, want %zu", reader_left(r), want);
        job.in = take_bytes(r, want);
        parallel_for(c->threads, blocks_of(n), get_planes, &job);
    } else {
        TRY(get_elias(&job, r));
    }
    for (size_t b = 0; b < blocks_of(n); b++)
        if (job.why[b])
            return payload_bad(c, "block %zu: %s", b, job.why[b]);
    return OK;
}

Status codes_report(const Codes *codes)
{
    const Call *c = codes->c;
    const size_t n = c->shape->n;
    const int bits = level_bits(codes->s);
    if (codes->kind == CODE_RANS) /* codes_put has reported the entropy of symbols */
        return OK;
    uint64_t *count = NEW_ZERO(c->scratch, uint64_t, codes->s + 1), signs = 0;
    uint32_t *code = NEW(c->scratch, uint32_t, BLOCK);
    TRY(arena_check(count && code, c->scratch, c->err));
    for (size_t b = 0; b < blocks_of(n); b++) {
        codes->quantise(codes->data, b, code);
        for (size_t i = 0; i < block_size(n, b); i++) {
            const uint32_t one = codes_wide(codes) ? code[i] : ((const uint8_t *)code)[i];
            count[one & ((1u << bits) - 1)]++;
            signs += one != 0;
        }
    }
    streams_symbols(c->streams, count, codes->s + 1);
    if (!codes->unsigned_levels)
        streams_bits(c->streams, (double)signs);
    return OK;
}
