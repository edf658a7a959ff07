/* sign.c -- signSGD: the sign of every element, and the majority of all workers' signs (Bernstein, Wang,
 * Azizzadenesheli, Anandkumar 2018).
 *
 *     kind:8 = 1  signs                                 planes.h: bit set where x < 0
 *     merged: kind:8 = 2  workers:varint  votes    how many workers sent minus, in as many bit planes as the
 *                                                  number `workers` has bits
 *
 * Zero counts as plus. A merged payload decodes to workers * (+1 or -1), the majority's sign, so that the mean
 * over workers is that sign. A tied vote decodes to 0. Decoding ties to +1 would bias the mean towards plus:
 * where the gradient is mostly noise, half of the votes of two workers are ties. */
#include "compress/compressor.h"
#include "base/parallel.h"
#include "coder/planes.h"

static size_t own_size(const Call *c)
{
    return 1 + signs_size(c->shape->n);
}

static bool goes_raw(const Call *c)
{
    return own_size(c) >= raw_size(c); /* only the empty tensor is sent raw */
}

static size_t bound(const Call *c)
{
    return goes_raw(c) ? raw_size(c) : own_size(c);
}

/* ---- one worker's signs: encoding and decoding ---- */

typedef struct {
    size_t n;
    const float *x;
    float *decoded;
    uint8_t *out;
    const uint8_t *in;
} SignJob;

static void put_block(void *data, size_t block)
{
    const SignJob *job = data;
    signs_put(job->x + block * BLOCK, block_size(job->n, block), job->out + block * (BLOCK / 8));
}

static void get_block(void *data, size_t block)
{
    const SignJob *job = data;
    signs_get(job->in + block * (BLOCK / 8), block_size(job->n, block), 1, -1, job->decoded + block * BLOCK);
}

static Status encode(const Call *c, const float *x, Buf *out)
{
    const size_t n = c->shape->n;
    if (goes_raw(c))
        return raw_put(c, x, out);
    buf_u8(out, PAYLOAD_METHOD);
    SignJob job = {.n = n, .x = x, .out = buf_room(out, signs_size(n))};
    parallel_for(c->threads, blocks_of(n), put_block, &job);
    streams_bits(c->streams, (double)n);
    return OK;
}

/* ---- votes ---- */

enum { VOTERS_MOST = (1 << 17) - 1, WIDE = 8 };

typedef struct {
    uint64_t voters;
    int width;           /* bits of a vote count */
    const uint8_t *vote; /* bit planes */
} Ballot;

static int width_of(uint64_t voters)
{
    int width = 1;
    while (voters >> width)
        width++;
    return width;
}

/* Checks length, number of workers and the padding of signs; get_votes or planes_add checks the votes. */
static Status ballot_open(const Call *c, Bytes in, Ballot *b)
{
    const size_t n = c->shape->n;
    Reader r = reader_open(in);
    const unsigned kind = take_u8(&r);
    TRY(payload_kind_or_merged(c, kind, goes_raw(c) ? PAYLOAD_RAW : PAYLOAD_METHOD));
    b->voters = kind == PAYLOAD_MERGED ? take_varint(&r) : 1;
    if (r.bad || b->voters == 0 || b->voters > VOTERS_MOST)
        return payload_bad(c, "a vote of %llu workers, want 1 to %d", (unsigned long long)b->voters,
                           VOTERS_MOST);
    b->width = width_of(b->voters);
    b->vote = take_bytes(&r, planes_size(n, b->width));
    if (!reader_done(&r))
        return payload_bad(c, "%zu bytes, want signs or votes of %zu elements", in.size, n);
    if (kind == PAYLOAD_METHOD && !signs_clean(b->vote, n))
        return payload_bad(c, "padding bits are set");
    return OK;
}

/* Reads the votes of elements [from, from + n). `from` is a multiple of 64, and n = 64 except at the tensor's
 * end. Returns false if a vote count exceeds the number of workers or padding bits are set. */
static bool get_votes(const Ballot *b, size_t from, size_t n, uint32_t *vote)
{
    uint8_t narrow[PLANE_GROUP];
    const uint8_t *in = b->vote + planes_size(from, b->width);
    bool good = b->width > WIDE ? planes_get32(in, n, b->width, vote) : planes_get8(in, n, b->width, narrow);
    for (size_t i = 0; i < n; i++) {
        vote[i] = b->width > WIDE ? vote[i] : narrow[i];
        good &= vote[i] <= b->voters;
    }
    return good;
}

static size_t group_size(size_t n, size_t from)
{
    return n - from < PLANE_GROUP ? n - from : PLANE_GROUP;
}

static Status merge(const Call *c, const Bytes *in, size_t count, Buf *out)
{
    const size_t n = c->shape->n;
    PlaneSet *part = NEW(c->scratch, PlaneSet, count);
    uint64_t voters = 0;
    TRY(arena_check(part, c->scratch, c->err));
    for (size_t w = 0; w < count; w++) {
        Ballot b = {0};
        TRY(ballot_open(c, in[w], &b));
        part[w] = (PlaneSet){b.vote, b.width, (uint32_t)b.voters};
        voters += b.voters;
        if (voters > VOTERS_MOST)
            return FAIL(c->err, ERR_NUMERIC, "sign: %llu workers vote, want at most %d",
                        (unsigned long long)voters, VOTERS_MOST);
    }
    buf_u8(out, PAYLOAD_MERGED);
    buf_varint(out, voters);
    const int width = width_of(voters);
    return planes_add(part, count, n, width, c->threads, buf_room(out, planes_size(n, width)))
               ? OK
               : payload_bad(c, "more votes than voters, or padding bits are set");
}

/* A worker's signs are bit planes of width 1; the vote counts of a merged payload have width_of(voters) planes. */
static Numbers numbers(const Call *c)
{
    const uint64_t voters = (uint64_t)c->workers;
    const bool whole = goes_raw(c) || voters > VOTERS_MOST;
    return whole ? (Numbers){0} : numbers_in_planes(c->shape->n, 1, width_of(voters), 1);
}

static Status decode(const Call *c, Bytes in, float *x)
{
    const size_t n = c->shape->n;
    Ballot b = {0};
    TRY(ballot_open(c, in, &b));
    if (in.data[0] == PAYLOAD_METHOD) {
        SignJob job = {.n = n, .in = b.vote, .decoded = x};
        parallel_for(c->threads, blocks_of(n), get_block, &job);
        return OK;
    }
    const float all = (float)b.voters;
    for (size_t from = 0; from < n; from += PLANE_GROUP) {
        uint32_t minus[PLANE_GROUP];
        const size_t size = group_size(n, from);
        if (!get_votes(&b, from, size, minus))
            return payload_bad(c, "more votes than voters, or padding bits are set");
        for (size_t i = 0; i < size; i++) {
            const uint64_t twice = 2 * (uint64_t)minus[i];
            x[from + i] = twice < b.voters ? all : twice > b.voters ? -all : 0;
        }
    }
    return OK;
}

const Compressor compressor_sign = {
    .name = "sign",
    .brief = "the sign of every element, one bit; workers vote",
    .plain = "Sends the sign of each element, one bit. The workers vote on each sign. Magnitudes are lost.",
    .use_when = "one bit an element is the limit, and the step size does not rely on magnitudes.",
    .example = "atomo-bench synth -o g.h5 --workers 4\n"
               "atomo-bench merge g.h5 -c sign --workers 4",
    .formula =
        "decode sgn(g_i), with sgn(0) = +1: two levels, so one bit an element says all.\n"
        "Merged payloads count the workers that said minus; they decode to\n"
        "workers * sgn(sum over workers of sgn(g_i)), a tie to 0, so that the mean over workers is the\n"
        "majority vote, +1 or -1, or 0. Biased, and without a scale: the step size is the optimiser's.",
    .paper =
        "Bernstein, Wang, Azizzadenesheli, Anandkumar: signSGD: Compressed Optimisation for Non-Convex\n"
        "Problems, ICML 2018; Bernstein, Zhao, Azizzadenesheli, Anandkumar: signSGD with Majority Vote is\n"
        "Communication Efficient and Fault Tolerant, ICLR 2019",
    .look = {HUE_SIGNS, 3, 4},
    .promises = MERGEABLE | EXACT_BYTES,
    .bound = bound,
    .encode = encode,
    .decode = decode,
    .merge = merge,
    .numbers = numbers,
};
