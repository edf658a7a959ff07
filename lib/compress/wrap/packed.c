/* packed.c -- lossless wrappers: a general-purpose compressor, zstd or blosc, packs the inner codec's payload.
 *
 *     payload = form:8 = 0, inner codec's payload     or     form:8 = 1, packed bytes (if shorter)
 *
 * If a codec has several rounds, only the payload of the last round is packed, so that payloads of earlier
 * rounds can merge. Packed payloads do not merge. Packed bytes depend on the version of the compression
 * library. Decoded values do not. */
#include "compress/wrapper.h"

#include <blosc.h>
#include <math.h>
#include <zstd.h>
#include <zstd_errors.h>

/* The functions of a compression library; Compressor.family points to them. */
typedef struct Packer {
    /* Packs `in` to `out`, and sets *size to the number of bytes written, at most `cap`. Sets *size to 0 if the
     * packed bytes do not fit. ERR_MEMORY: the library is out of memory. */
    Status (*pack)(const Call *c, Bytes in, uint8_t *out, size_t cap, size_t *size);
    /* Returns the unpacked size that the packed bytes state, or 0 if `pack` cannot have written the bytes. */
    size_t (*claims)(Bytes in);
    /* Unpacks `in` to `size` bytes. Returns false if `in` is damaged or has another unpacked size. */
    bool (*unpack)(Bytes in, uint8_t *out, size_t size);
} Packer;

enum { STORED, PACKED_FORM };

static unsigned packed_traits(const Codec *codec)
{
    return codec_traits(codec->inner) & ~(unsigned)(LINEAR | MERGEABLE | FIXED_SIZE);
}

static const Packer *packer_of(const Call *c)
{
    return c->self->ops->family;
}

static size_t packed_bound(const Call *c)
{
    const Call inner = call_inner(c);
    return codec_bound(&inner) + is_last_round(c);
}

static Status packed_encode(const Call *c, const float *x, Buf *out)
{
    const Call inner = call_inner(c);
    const size_t start = out->size;
    if (!is_last_round(c))
        return codec_encode(&inner, x, out);
    buf_u8(out, STORED);
    TRY(codec_encode(&inner, x, out));
    if (c->streams)
        c->streams->mean_known = false; /* how far a payload packs depends on the draw */
    const Bytes plain = {out->data + start + 1, out->size - start - 1};
    if (plain.size < 2)
        return OK;
    size_t size;
    uint8_t *packed = NEW(c->scratch, uint8_t, plain.size - 1);
    TRY(arena_check(packed, c->scratch, c->err));
    TRY(packer_of(c)->pack(c, plain, packed, plain.size - 1, &size));
    if (size == 0)
        return OK;
    out->data[start] = PACKED_FORM;
    out->size = start + 1;
    buf_copy(out, packed, size);
    streams_bits(c->streams, NAN);
    return OK;
}

/* Sets *plain to the inner codec's payload: a part of `in` if stored unpacked, else unpacked into scratch
 * memory. */
static Status open_payload(const Call *c, Bytes in, Bytes *plain)
{
    const Packer *packer = packer_of(c);
    const Call inner = call_inner(c);
    if (in.size == 0 || in.data[0] > PACKED_FORM)
        return in.size ? payload_bad(c, "form %d", in.data[0]) : payload_bad(c, "it is empty");
    *plain = (Bytes){in.data + 1, in.size - 1};
    if (in.data[0] == STORED)
        return OK;
    const size_t size = packer->claims(*plain), most = codec_bound(&inner);
    if (size == 0)
        return payload_bad(c, "%zu bytes that are no packed payload", plain->size);
    if (size <= plain->size)
        return payload_bad(c, "%zu bytes packed into %zu, which no encoder does", size, plain->size);
    if (size > most)
        return payload_bad(c, "it unpacks to %zu bytes, want %zu or fewer", size, most);
    uint8_t *room = NEW(c->scratch, uint8_t, size);
    TRY(arena_check(room, c->scratch, c->err));
    if (!packer->unpack(*plain, room, size))
        return payload_bad(c, "%zu bytes that do not unpack", plain->size);
    *plain = (Bytes){room, size};
    return OK;
}

static Status packed_decode(const Call *c, Bytes in, float *x)
{
    const Call inner = call_inner(c);
    Bytes plain;
    TRY(open_payload(c, in, &plain));
    return codec_decode(&inner, plain, x);
}

static Status packed_merge(const Call *c, const Bytes *in, size_t count, Buf *out)
{
    const Call inner = call_inner(c);
    if (is_last_round(c))
        return FAIL(c->err, ERR_USAGE, "%s: packed payloads do not merge", c->self->ops->name);
    return codec_merge(&inner, in, count, out);
}

static Status packed_settle(const Call *c, const float *x, const Bytes *sent, const float *agreed, void *state)
{
    Call inner = call_inner(c);
    Bytes own[ROUNDS_MAX], heard[ROUNDS_MAX];
    if (!codec_state_size(&inner))
        return OK;
    for (int r = 0; r < c->round; r++) {
        own[r] = sent[r];
        heard[r] = c->heard[r];
    }
    TRY(open_payload(c, sent[c->round], &own[c->round]));
    heard[c->round] = own[c->round];
    inner.heard = heard;
    return codec_settle(&inner, x, own, agreed, state);
}

static Status packed_check(const Codec *codec, Error *err)
{
    if (codec_learns_sums(codec->inner))
        return FAIL(err, ERR_USAGE,
                    "%s: %s needs the sum of all workers' payloads, which packed ones do not have",
                    codec->ops->name, codec->inner->ops->name);
    return OK;
}

static double packed_variance(const Call *c, const float *x)
{
    const Call inner = call_inner(c);
    return codec_variance(&inner, x);
}

static ErrorLaw packed_moments(const Call *c, const float *x, AtomMoments *m)
{
    const Call inner = call_inner(c);
    return codec_moments(&inner, x, m);
}

#define PACKED                                                                                               \
    .wraps = true, .marks = true, .promises = LIBRARY_BYTES, .traits = packed_traits, .bound = packed_bound, \
    .encode = packed_encode, .decode = packed_decode, .merge = packed_merge, .settle = packed_settle,        \
    .check = packed_check, .variance = packed_variance, .moments = packed_moments

/* ---- Blosc groups the bytes (or bits) of the same significance of the payload's four-byte words, and compresses the
 * result with BloscLZ, on one thread ---- */

typedef struct {
    int64_t level;
    int shuffle;
} Blosc;

static const char *const blosc_shuffles[] = {"byte", "bit", "off", NULL};
static const int blosc_modes[] = {BLOSC_SHUFFLE, BLOSC_BITSHUFFLE, BLOSC_NOSHUFFLE};

static const Param blosc_schema[] = {
    PARAM(Blosc, level, "5", 1, 9, "effort: 1 is fastest, 9 packs best"),
    PARAM_OF(Blosc, shuffle, "byte", blosc_shuffles,
             "whether bytes or bits of equal significance are grouped"),
    {0},
};

enum { WORD = sizeof(float), THREADS = 1, OWN_BLOCKS = 0 };

static Status blosc_pack(const Call *c, Bytes in, uint8_t *out, size_t cap, size_t *size)
{
    const Blosc *p = c->self->params;
    *size = 0;
    /* Blosc counts bytes in ints; a payload with more bytes than an int can count is stored unpacked */
    if (in.size > BLOSC_MAX_BUFFERSIZE)
        return OK;
    const int packed = blosc_compress_ctx((int)p->level, blosc_modes[p->shuffle], WORD, in.size, in.data, out, cap,
                                          BLOSC_BLOSCLZ_COMPNAME, OWN_BLOCKS, THREADS);
    if (packed < 0)
        return FAIL(c->err, ERR_MEMORY, "blosc: error %d", packed);
    *size = (size_t)packed;
    return OK;
}

/* Offsets of bytes in the header of a Blosc chunk: the version of the format, the flags, the size of a word.
 * The upper three bits of the flags are the compression method. */
enum { VERSION = 0, FLAGS = 2, TYPESIZE = 3, FORMAT_SHIFT = 5 };

static size_t blosc_claims(Bytes in)
{
    size_t size;
    if (blosc_cbuffer_validate(in.data, in.size, &size) < 0 || in.data[VERSION] != BLOSC_VERSION_FORMAT ||
        in.data[FLAGS] >> FORMAT_SHIFT != BLOSC_BLOSCLZ_FORMAT || in.data[TYPESIZE] != WORD)
        return 0;
    return size;
}

static bool blosc_unpack(Bytes in, uint8_t *out, size_t size)
{
    return blosc_decompress_ctx(in.data, out, size, THREADS) == (int)size;
}

static const Compressor compressor_blosc = {
    .name = "blosc",
    .brief = "Blosc (shuffle and BloscLZ) after any codec, lossless",
    .plain = "Shuffles the bytes of the payload of the codec behind it, compresses them with BloscLZ, and "
             "sends the shorter of the two. Nothing is lost.",
    .use_when = "you want a fast lossless baseline for floats: blosc+none.",
    .example = "atomo-bench synth -o g.h5 --force --law sparse\n"
               "atomo-bench compare g.h5 -c blosc+none -c zstd+none",
    .formula =
        "What the inner codec sends, as one Blosc chunk of four-byte words where that is shorter, else as it\n"
        "is. Bytes depend on the library's version (doctor names it), decoded values do not. For floats as\n"
        "they are write blosc+none. It cannot wrap powersgd, which needs the sum of all workers' payloads.",
    .paper = "Alted: Why Modern CPUs Are Starving and What Can Be Done about It, Computing in Science &\n"
             "Engineering 12(2), 2010",
    .params = blosc_schema,
    .family = &(const Packer){blosc_pack, blosc_claims, blosc_unpack},
    PACKED,
};

/* ---- Zstandard (RFC 8878): one frame that states its content size, without checksum or dictionary, compressed on one
 * thread ---- */

typedef struct {
    int64_t level;
} Zstd;

static const Param zstd_schema[] = {
    PARAM(Zstd, level, "3", 1, 19, "effort: 1 is fastest, 19 packs best"),
    {0},
};

static Status zstd_pack(const Call *c, Bytes in, uint8_t *out, size_t cap, size_t *size)
{
    const int level = (int)((const Zstd *)c->self->params)->level;
    *size = ZSTD_compress(out, cap, in.data, in.size, level);
    if (!ZSTD_isError(*size))
        return OK;
    if (ZSTD_getErrorCode(*size) != ZSTD_error_dstSize_tooSmall)
        return FAIL(c->err, ERR_MEMORY, "zstd: %s", ZSTD_getErrorName(*size));
    *size = 0;
    return OK;
}

/* A frame begins with a magic number of MAGIC bytes and a byte of flags. FOREIGN masks the flags that `pack`
 * never sets. */
enum { MAGIC = 4, FOREIGN = 0x1f };

static size_t zstd_claims(Bytes in)
{
    if (in.size <= MAGIC || load_u32(in.data) != ZSTD_MAGICNUMBER || in.data[MAGIC] & FOREIGN ||
        ZSTD_findFrameCompressedSize(in.data, in.size) != in.size)
        return 0;
    const unsigned long long size = ZSTD_getFrameContentSize(in.data, in.size);
    return size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN ? 0 : (size_t)size;
}

static bool zstd_unpack(Bytes in, uint8_t *out, size_t size)
{
    return ZSTD_decompress(out, size, in.data, in.size) == size;
}

static const Compressor compressor_zstd = {
    .name = "zstd",
    .brief = "Zstandard after any codec, lossless",
    .plain = "Compresses the payload of the codec behind it with Zstandard, and sends the shorter of the "
             "two. Nothing is lost.",
    .use_when = "a payload still has patterns, or you want a general compressor as a baseline: zstd+none.",
    .example = "atomo-bench synth -o g.h5 --force --law sparse\n"
               "atomo-bench compare g.h5 -c zstd+none -c zstd+qsgd:code=fixed",
    .formula =
        "The inner codec's payload as one Zstandard frame if that is shorter, else unchanged.\n"
        "Bytes depend on the library's version (doctor names it), decoded values do not. For floats as they\n"
        "are write zstd+none. It cannot wrap powersgd, which needs the sum of all workers' payloads.",
    .paper = "Collet, Kucherawy, RFC 8878",
    .params = zstd_schema,
    .family = &(const Packer){zstd_pack, zstd_claims, zstd_unpack},
    PACKED,
};

const Compressor *const compressors_packed[] = {&compressor_zstd, &compressor_blosc, NULL};
