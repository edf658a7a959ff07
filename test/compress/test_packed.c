/* test_packed.c -- the wrappers zstd and blosc, which compress the payload of another codec (the inner codec)
 * without loss: estimates, sizes, and payloads that no encoder writes. */
#include "rig/codec_rig.h"
#include "rig/sources.h"
#include "compress/spec.h"

#include <blosc.h>
#include <zstd.h>

enum { N = 20000, ROOM = 1 << 20 };

static const char *const backs[] = {"zstd", "blosc", "zstd:level=19", "blosc:shuffle=bit",
                                    "blosc:shuffle=off,level=9"};

static void normal(float *x, size_t n, uint64_t seed)
{
    const Rng rng = rng_open(seed, 0, 0, 0, rng_hash("packed test"));
    rng_normals(&rng, USE_TEST, 0, n, 1, x);
}

static void rig_back(Rig *rig, const char *back, const char *inner, Shape shape)
{
    char spec[64];
    snprintf(spec, sizeof spec, "%s+%s", back, inner);
    rig_open(rig, spec, shape);
}

static void rig_pair(Rig *packed, Rig *plain, const char *back, const char *inner, size_t n)
{
    rig_back(packed, back, inner, shape_vector(n));
    rig_open(plain, inner, shape_vector(n));
}

static void values_and_states_are_the_inner_codecs(void **state)
{
    (void)state;
    static const char *const inner[] = {"none",
                                        "ef+topk:ratio=0.01",
                                        "qsgd:bits=2,code=fixed",
                                        "ef+terngrad:share=on",
                                        "svd:rank=1",
                                        "strom",
                                        "ef21+scaledsign",
                                        "sign"};
    for (size_t b = 0; b < countof(backs); b++)
        for (size_t k = 0; k < countof(inner); k++) {
            Rig packed, plain;
            float x[2000];
            rig_pair(&packed, &plain, backs[b], inner[k], countof(x));
            const size_t size = codec_state_size(&plain.call);
            check(codec_state_size(&packed.call) == size && codec_keeps_state(packed.codec) == (size > 0));
            for (uint64_t s = 0; s < 3; s++) {
                Rig *const rigs[] = {&packed, &plain};
                normal(x, countof(x), s);
                for (size_t i = 0; i < 2; i++) {
                    check_ok(rig_encode(rigs[i], x, s), &rigs[i]->err);
                    check_ok(rig_decode(rigs[i]), &rigs[i]->err);
                    check_ok(codec_settle(&rigs[i]->call, x, rigs[i]->message.round, rigs[i]->decoded,
                                          rigs[i]->state),
                             &rigs[i]->err);
                }
                check(!memcmp(packed.decoded, plain.decoded, sizeof x) &&
                      packed.payload.size <= plain.payload.size + 1);
                check(!size || (!memcmp(packed.state, plain.state, size) &&
                                codec_residual(&packed.call) == codec_residual(&plain.call)));
            }
            const double v = codec_variance(&plain.call, x);
            check(isnan(v) ? isnan(codec_variance(&packed.call, x)) : v == codec_variance(&packed.call, x));
            rig_close(&packed);
            rig_close(&plain);
        }
}

static void what_does_not_shrink_is_sent_with_one_byte_more(void **state)
{
    (void)state;
    static const char *const inner[] = {"qsgd:bits=4", "natural", "none"};
    for (size_t b = 0; b < countof(backs); b++)
        for (size_t k = 0; k < countof(inner); k++) {
            Rig packed, plain;
            float x[100]; /* so few that hardly any bytes repeat */
            normal(x, countof(x), k);
            rig_pair(&packed, &plain, backs[b], inner[k], countof(x));
            check_ok(rig_encode(&packed, x, 0), &packed.err);
            check_ok(rig_encode(&plain, x, 0), &plain.err);
            if (packed.payload.data[0] == 0)
                check(packed.payload.size == plain.payload.size + 1 &&
                      !memcmp(packed.payload.data + 1, plain.payload.data, plain.payload.size));
            else
                check(packed.payload.data[0] == 1 && packed.payload.size <= plain.payload.size);
            rig_close(&packed);
            rig_close(&plain);
        }
}

static void what_repeats_shrinks(void **state)
{
    (void)state;
    static float x[N];
    for (size_t b = 0; b < countof(backs); b++) {
        Rig rig;
        Streams streams = {0};
        for (size_t i = 0; i < N; i++)
            x[i] = (float)(i % 50);
        rig_back(&rig, backs[b], "none", shape_vector(N));
        rig.call.streams = &streams;
        check_ok(rig_encode(&rig, x, 0), &rig.err);
        check(rig.payload.data[0] == 1 && rig.payload.size < N / 10);
        /* zstd and blosc do not report the entropy of their streams */
        check(streams.reported && isnan(streams.entropy_bits));
        rig_close(&rig);
    }
}

/* The byte shuffle of Blosc puts the bytes with the exponents together, which repeat more than the
 * mantissas. */
static void a_shuffle_helps_with_floats(void **state)
{
    (void)state;
    static float x[N];
    size_t size[2];
    static const char *const specs[] = {"blosc+none", "blosc:shuffle=off+none"};
    normal(x, N, 1);
    for (size_t k = 0; k < 2; k++) {
        Rig rig;
        rig_open(&rig, specs[k], shape_vector(N));
        check_ok(rig_encode(&rig, x, 0), &rig.err);
        size[k] = rig.payload.size;
        rig_close(&rig);
    }
    check((double)size[0] < 0.95 * 4 * N && size[1] > 4 * N - N / 10);
}

static void same_bytes_for_any_number_of_threads(void **state)
{
    (void)state;
    static float x[200000];
    for (size_t i = 0; i < countof(x); i++)
        x[i] = (float)(i % 999);
    for (size_t b = 0; b < countof(backs); b++) {
        Rig rig;
        rig_back(&rig, backs[b], "bf16", shape_vector(countof(x)));
        uint64_t hash = 0;
        for (int threads = 1; threads <= 8; threads *= 2) {
            rig.call.threads = threads;
            check_ok(rig_encode(&rig, x, 0), &rig.err);
            const uint64_t now = hash_bytes(rig.payload.data, rig.payload.size);
            check(threads == 1 || now == hash);
            hash = now;
        }
        rig_close(&rig);
    }
}

static void what_needs_all_workers_sum_is_not_packed(void **state)
{
    (void)state;
    static const char *const specs[] = {"zstd+powersgd", "blosc+ef+powersgd", "induced+powersgd"};
    Error err;
    const Codec *codec;
    Arena *a = arena_open(0);
    for (size_t k = 0; k < countof(specs); k++)
        check(codec_open(&codec, specs[k], a, &err) == ERR_USAGE && strstr(err.text, "sum"));
    arena_close(a);
}

static void packed_payloads_do_not_merge(void **state)
{
    (void)state;
    static const char *const specs[] = {"zstd+none", "blosc+randk", "zstd+sign", "ef+zstd+none"};
    for (size_t k = 0; k < countof(specs); k++) {
        Rig rig;
        rig_open(&rig, specs[k], shape_vector(8));
        check(!(codec_traits(rig.codec) & (LINEAR | MERGEABLE)) && codec_traits(rig.codec) & LIBRARY_BYTES);
        Buf out = {rig.payload.data, 0, rig.payload.cap};
        check(codec_merge(&rig.call, NULL, 0, &out) == ERR_USAGE);
        rig_close(&rig);
    }
}

/* ---- hand-made payloads that attack the decoder ---- */

typedef struct {
    Rig rig;
    uint8_t bytes[ROOM];
    size_t size;
} Hostile;

static Hostile *hostile_open(const char *spec, size_t n)
{
    Hostile *h = malloc(sizeof *h);
    rig_open(&h->rig, spec, shape_vector(n));
    h->rig.message.rounds = 1;
    h->bytes[0] = 1;
    h->size = 1;
    return h;
}

static void refused(Hostile *h, const char *why)
{
    const size_t peak = arena_peak(h->rig.scratch);
    const Status status = rig_decode_bytes(&h->rig, h->bytes, h->size, h->rig.decoded);
    if (status != ERR_CORRUPT || !strstr(h->rig.err.text, why))
        print_error("%s, want %s\n", status == OK ? "accepted" : h->rig.err.text, why);
    check(status == ERR_CORRUPT && strstr(h->rig.err.text, why));
    /* decoding a damaged payload must not take much memory */
    check(arena_peak(h->rig.scratch) <= peak + 4 * h->rig.shape.n + 4096);
    rig_close(&h->rig);
    free(h);
}

static void add_zstd(Hostile *h, const void *data, size_t size, bool checksum, bool sized)
{
    ZSTD_CCtx *z = ZSTD_createCCtx();
    ZSTD_CCtx_setParameter(z, ZSTD_c_checksumFlag, checksum);
    ZSTD_CCtx_setParameter(z, ZSTD_c_contentSizeFlag, sized);
    const size_t put = ZSTD_compress2(z, h->bytes + h->size, ROOM - h->size, data, size);
    check(!ZSTD_isError(put));
    h->size += put;
    ZSTD_freeCCtx(z);
}

static void frames_that_no_encoder_writes_are_refused(void **state)
{
    (void)state;
    static const uint8_t zeros[4 * N + 8];
    Hostile *h;
    /* a frame that decompresses to more bytes than the payload of the inner codec may have */
    h = hostile_open("zstd+none", N);
    add_zstd(h, zeros, 4 * N + 2, false, true);
    refused(h, "it unpacks to 80002 bytes");
    h = hostile_open("zstd+none", N); /* a frame that decompresses to one float too few */
    add_zstd(h, zeros, 4 * N - 4, false, true);
    refused(h, "79996 bytes, want 80000");
    h = hostile_open("zstd+none", N); /* two frames with half of the elements each */
    add_zstd(h, zeros, 2 * N, false, true);
    add_zstd(h, zeros, 2 * N, false, true);
    refused(h, "no packed payload");
    h = hostile_open("zstd+none", N); /* further bytes after the frame */
    add_zstd(h, zeros, 4 * N, false, true);
    h->bytes[h->size++] = 0;
    refused(h, "no packed payload");
    h = hostile_open("zstd+none", N);
    add_zstd(h, zeros, 4 * N, true, true);
    refused(h, "no packed payload");
    h = hostile_open("zstd+none", N);
    add_zstd(h, zeros, 4 * N, false, false);
    refused(h, "no packed payload");
    h = hostile_open("zstd+none", N); /* a frame whose header states a wrong decompressed size */
    add_zstd(h, zeros, 4 * N, false, true);
    store_u32(h->bytes + 6, 4 * N - 4);
    refused(h, "do not unpack");
    h = hostile_open("zstd+none", N); /* a skippable frame before the valid one */
    store_u32(h->bytes + 1, ZSTD_MAGIC_SKIPPABLE_START);
    store_u32(h->bytes + 5, 0);
    h->size = 9;
    add_zstd(h, zeros, 4 * N, false, true);
    refused(h, "no packed payload");
    h = hostile_open("zstd+none", 2); /* a frame longer than its decompressed bytes */
    add_zstd(h, zeros, 8, false, true);
    refused(h, "which no encoder does");
    h = hostile_open("zstd+none", 2);
    h->bytes[0] = 2;
    refused(h, "form 2");
}

static void add_blosc(Hostile *h, const void *data, size_t size, size_t word, const char *format)
{
    const int put = blosc_compress_ctx(5, BLOSC_SHUFFLE, word, size, data, h->bytes + h->size, ROOM - h->size,
                                       format, 0, 1);
    check(put > 0);
    h->size += (size_t)put;
}

static void chunks_that_no_encoder_writes_are_refused(void **state)
{
    (void)state;
    static const uint8_t zeros[4 * N + 8];
    Hostile *h;
    h = hostile_open("blosc+none", N);
    add_blosc(h, zeros, 4 * N + 2, 4, "blosclz");
    refused(h, "it unpacks to 80002 bytes");
    h = hostile_open("blosc+none", N);
    add_blosc(h, zeros, 4 * N - 4, 4, "blosclz");
    refused(h, "79996 bytes, want 80000");
    h = hostile_open("blosc+none", N);
    add_blosc(h, zeros, 2 * N, 4, "blosclz");
    add_blosc(h, zeros, 2 * N, 4, "blosclz");
    refused(h, "no packed payload");
    h = hostile_open("blosc+none", N);
    add_blosc(h, zeros, 4 * N, 4, "blosclz");
    h->bytes[h->size++] = 0;
    refused(h, "no packed payload");
    /* a chunk whose header counts further bytes after the compressed data */
    h = hostile_open("blosc+none", N);
    add_blosc(h, zeros, 4 * N, 4, "blosclz");
    h->bytes[h->size++] = 0;
    store_u32(h->bytes + 1 + 12, (uint32_t)h->size - 1);
    /* the offset of the first block, after the header of 16 bytes, now points one byte too far */
    h->bytes[1 + 16]++;
    refused(h, "do not unpack");
    h = hostile_open("blosc+none", N);
    add_blosc(h, zeros, 4 * N, 8, "blosclz");
    refused(h, "no packed payload");
    h = hostile_open("blosc+none", N);
    add_blosc(h, zeros, 4 * N, 4, "lz4");
    refused(h, "no packed payload");
    h = hostile_open("blosc+none", 2);
    add_blosc(h, zeros, 8, 4, "blosclz");
    refused(h, "which no encoder does");
    h = hostile_open("blosc+none", 2);
    refused(h, "no packed payload");
}

/* Each damaged payload is in a block of exactly its size, so that ASan detects reads past the end. */
static void damage_is_refused_or_decodes_to_finite_numbers(void **state)
{
    (void)state;
    static const char *const specs[] = {"zstd+none", "blosc+none", "blosc:shuffle=bit+none", "zstd+sign",
                                        "blosc:level=9+bf16"};
    const Rng rng = rng_open(3, 0, 0, 0, rng_hash("damage"));
    uint64_t word = 0;
    for (size_t k = 0; k < countof(specs); k++) {
        Rig rig;
        float x[4000];
        for (size_t i = 0; i < countof(x); i++)
            x[i] = (float)(i % 61) - 3 * (float)(i % 7);
        rig_open(&rig, specs[k], shape_vector(countof(x)));
        check_ok(rig_encode(&rig, x, 0), &rig.err);
        const size_t size = rig.payload.size;
        check(rig.payload.data[0] == 1);
        for (int r = 0; r < 4000; r++) {
            const uint64_t draw = rng_u64(&rng, USE_TEST, word++);
            const size_t kept = draw % 4 ? size : 1 + (size_t)(draw >> 40) % size;
            uint8_t *copy = malloc(kept);
            memcpy(copy, rig.payload.data, kept);
            for (uint64_t edits = 1 + (draw >> 4) % 3; edits; edits--) {
                const uint64_t at = rng_u64(&rng, USE_TEST, word++);
                copy[(at >> 8) % (at & 1 ? kept : kept < 40 ? kept : 40)] ^= (uint8_t)(1 + (at >> 2) % 255);
            }
            const Status status = rig_decode_bytes(&rig, copy, kept, rig.decoded);
            check(status == ERR_CORRUPT ||
                  (status == OK && first_nonfinite(rig.decoded, countof(x), NULL) == countof(x)));
            free(copy);
        }
        rig_close(&rig);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(values_and_states_are_the_inner_codecs),
    cmocka_unit_test(what_does_not_shrink_is_sent_with_one_byte_more),
    cmocka_unit_test(what_repeats_shrinks),
    cmocka_unit_test(a_shuffle_helps_with_floats),
    cmocka_unit_test(same_bytes_for_any_number_of_threads),
    cmocka_unit_test(what_needs_all_workers_sum_is_not_packed),
    cmocka_unit_test(packed_payloads_do_not_merge),
    cmocka_unit_test(frames_that_no_encoder_writes_are_refused),
    cmocka_unit_test(chunks_that_no_encoder_writes_are_refused),
    cmocka_unit_test(damage_is_refused_or_decodes_to_finite_numbers),
};

CHECK_MAIN(tests)
