/* blosc.c -- compresses another codec's payload with Blosc. Blosc groups the bytes (or bits) of the same
 * significance of the payload's four-byte words, and compresses the result with BloscLZ, on one thread. */
#include "compress/wrap/packed.h"

#include <blosc.h>

typedef struct {
    int64_t level;
    int shuffle;
} Blosc;

static const char *const shuffles[] = {"byte", "bit", "off", NULL};
static const int modes[] = {BLOSC_SHUFFLE, BLOSC_BITSHUFFLE, BLOSC_NOSHUFFLE};

static const Param schema[] = {
    PARAM(Blosc, level, "5", 1, 9, "effort: 1 is fastest, 9 packs best"),
    PARAM_OF(Blosc, shuffle, "byte", shuffles, "whether bytes or bits of equal significance are grouped"),
    {0},
};

enum { WORD = sizeof(float), THREADS = 1, OWN_BLOCKS = 0 };

static Status pack(const Call *c, Bytes in, uint8_t *out, size_t cap, size_t *size)
{
    const Blosc *p = c->self->params;
    *size = 0;
    /* Blosc counts bytes in ints; a payload with more bytes than an int can count is stored unpacked */
    if (in.size > BLOSC_MAX_BUFFERSIZE)
        return OK;
    const int packed = blosc_compress_ctx((int)p->level, modes[p->shuffle], WORD, in.size, in.data, out, cap,
                                          BLOSC_BLOSCLZ_COMPNAME, OWN_BLOCKS, THREADS);
    if (packed < 0)
        return FAIL(c->err, ERR_MEMORY, "blosc: error %d", packed);
    *size = (size_t)packed;
    return OK;
}

/* Offsets of bytes in the header of a Blosc chunk: the version of the format, the flags, the size of a word.
 * The upper three bits of the flags are the compression method. */
enum { VERSION = 0, FLAGS = 2, TYPESIZE = 3, FORMAT_SHIFT = 5 };

static size_t claims(Bytes in)
{
    size_t size;
    if (blosc_cbuffer_validate(in.data, in.size, &size) < 0 || in.data[VERSION] != BLOSC_VERSION_FORMAT ||
        in.data[FLAGS] >> FORMAT_SHIFT != BLOSC_BLOSCLZ_FORMAT || in.data[TYPESIZE] != WORD)
        return 0;
    return size;
}

static bool unpack(Bytes in, uint8_t *out, size_t size)
{
    return blosc_decompress_ctx(in.data, out, size, THREADS) == (int)size;
}

const Compressor compressor_blosc = {
    .name = "blosc",
    .brief = "Blosc (shuffle and BloscLZ) after any codec, lossless",
    .plain = "Shuffles the bytes of the payload of the codec behind it, compresses them with BloscLZ, and "
             "sends the shorter of the two. Nothing is lost.",
    .use_when = "you want a fast lossless baseline for floats: blosc+none.",
    .example = "atomo-bench synth -o g.h5 --law sparse\n"
               "atomo-bench compare g.h5 -c blosc+none -c zstd+none",
    .formula =
        "What the inner codec sends, as one Blosc chunk of four-byte words where that is shorter, else as it\n"
        "is. Bytes depend on the library's version (doctor names it), decoded values do not. For floats as\n"
        "they are write blosc+none. It cannot wrap powersgd, which needs the sum of all workers' payloads.",
    .paper = "Alted: Why Modern CPUs Are Starving and What Can Be Done about It, Computing in Science &\n"
             "Engineering 12(2), 2010",
    .params = schema,
    .params_size = sizeof(Blosc),
    .family = &(const Packer){pack, claims, unpack},
    PACKED,
};
