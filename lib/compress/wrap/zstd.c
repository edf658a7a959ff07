/* zstd.c -- packs any codec's payload with Zstandard (RFC 8878): one frame that states its content size,
 * without checksum or dictionary, compressed on one thread. */
#include "compress/wrap/packed.h"

#include <zstd.h>
#include <zstd_errors.h>

typedef struct {
    int64_t level;
} Zstd;

static const Param schema[] = {
    PARAM(Zstd, level, "3", 1, 19, "effort: 1 is fastest, 19 packs best"),
    {0},
};

static Status pack(const Call *c, Bytes in, uint8_t *out, size_t cap, size_t *size)
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

static size_t claims(Bytes in)
{
    if (in.size <= MAGIC || load_u32(in.data) != ZSTD_MAGICNUMBER || in.data[MAGIC] & FOREIGN ||
        ZSTD_findFrameCompressedSize(in.data, in.size) != in.size)
        return 0;
    const unsigned long long size = ZSTD_getFrameContentSize(in.data, in.size);
    return size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN ? 0 : (size_t)size;
}

static bool unpack(Bytes in, uint8_t *out, size_t size)
{
    return ZSTD_decompress(out, size, in.data, in.size) == size;
}

const Compressor compressor_zstd = {
    .name = "zstd",
    .brief = "Zstandard after any codec, lossless",
    .plain = "Compresses the payload of the codec behind it with Zstandard, and sends the shorter of the "
             "two. Nothing is lost.",
    .use_when = "a payload still has patterns, or you want a general compressor as a baseline: zstd+none.",
    .example = "atomo-bench synth -o g.h5 --law sparse\n"
               "atomo-bench compare g.h5 -c zstd+none -c zstd+qsgd:code=fixed",
    .formula =
        "The inner codec's payload as one Zstandard frame if that is shorter, else unchanged.\n"
        "Bytes depend on the library's version (doctor names it), decoded values do not. For floats as they\n"
        "are write zstd+none. It cannot wrap powersgd, which needs the sum of all workers' payloads.",
    .paper = "Collet, Kucherawy, RFC 8878",
    .params = schema,
    .params_size = sizeof(Zstd),
    .family = &(const Packer){pack, claims, unpack},
    PACKED,
};
