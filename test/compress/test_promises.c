/* test_promises.c -- properties that every codec promises: the size of payloads, the same bytes in every run
 * and with any number of threads, and the refusal of damaged payloads.
 *
 * The environment variable TEST=name restricts the program to the test of this name. */
#include "rig/every_codec.h"
#include "compress/wrapper.h"
#include "compress/spec.h"

#include <ctype.h>

TEST(sources_are_pinned)
{
    float *x = NEW(forever, float, LARGEST);
    for (size_t s = 0; s < countof(sources); s++) {
        source_fill(&sources[s], x);
        const uint64_t hash = hash_bytes(x, source_shape(&sources[s]).n * sizeof *x);
        if (hash != sources[s].hash)
            print_error("source %s: hash 0x%016llx\n", sources[s].name, (unsigned long long)hash);
        check(hash == sources[s].hash);
    }
}

static size_t largest_payload(const Rig *rig)
{
    size_t stages = 0;
    for (const Codec *codec = rig->codec; codec; codec = codec->inner)
        stages += codec->ops->wraps ? codec->ops->promises & LIBRARY_BYTES ||
                                          (codec->ops->marks && codec_bare(codec->inner)) ||
                                          (codec->other && !codec_alone(codec))
                                    : !codec_bare(codec);
    return 4 * rig->shape.n + stages;
}

/* The payload of a codec without random numbers is the same whatever the repeat. */
static void draws_nothing(Rig *rig, const Source *source, const float *x)
{
    const size_t size = rig->payload.size;
    const uint64_t hash = digest(rig->payload.data, size);
    if (codec_traits(rig->codec) & RANDOM)
        return;
    check_ok(rig_encode(rig, x, 1), &rig->err);
    const bool repeats_are_equal = rig->payload.size == size && digest(rig->payload.data, size) == hash;
    CHECK_HERE(repeats_are_equal);
}

static void small_and_repeatable(Rig *rig, const Source *source, const float *x)
{
    const size_t size = rig->payload.size;
    const uint64_t hash = digest(rig->payload.data, size);
    CHECK_HERE(rig->message.round[rig->message.rounds - 1].size <= largest_payload(rig));
    if (rig->shape.n <= 5000) { /* for the longest vector, same_for_threads encodes again */
        check_ok(rig_encode(rig, x, 0), &rig->err);
        CHECK_HERE(rig->payload.size == size && digest(rig->payload.data, size) == hash);
    }
    check_ok(rig_decode(rig), &rig->err);
    CHECK_HERE(first_nonfinite(rig->decoded, rig->shape.n, NULL) == rig->shape.n);
}

/* An unbiased codec without the trait RANDOM must decode its input, up to rounding errors of float32. `decoded` has the
 * estimate. */
static void exact(Rig *rig, const Source *source, const float *x)
{
    const unsigned traits = codec_traits(rig->codec);
    double error = 0, norm2 = 0;
    if (traits & RANDOM || !(traits & UNBIASED))
        return;
    for (size_t i = 0; i < rig->shape.n; i++) {
        const double e = (double)rig->decoded[i] - (double)x[i];
        error += e * e;
        norm2 += (double)x[i] * (double)x[i];
    }
    const double limit = norm2 * (6 * 0x1p-24) * (6 * 0x1p-24);
    if (error > limit)
        print_error("error %.3g of a norm of %.3g\n", sqrt(error), sqrt(norm2));
    CHECK_HERE(error <= limit);
}

static void same_for_threads(Rig *rig, const Source *source, const float *x)
{
    const size_t size = rig->payload.size;
    const uint64_t hash = digest(rig->payload.data, size);
    check_ok(rig_decode(rig), &rig->err);
    const uint64_t decoded = digest(rig->decoded, rig->shape.n * sizeof(float));
    /* 2 threads have a block each of the long vector, 8 have parts of them or nothing to do */
    for (int threads = rig->shape.n > 5000 && !strpbrk(specs[spec_now], ":+") ? 2 : 8; threads <= 8; threads *= 4) {
        rig->call.threads = threads;
        check_ok(rig_encode(rig, x, 0), &rig->err);
        CHECK_HERE(rig->payload.size == size && digest(rig->payload.data, size) == hash);
        check_ok(rig_decode(rig), &rig->err);
        CHECK_HERE(digest(rig->decoded, rig->shape.n * sizeof(float)) == decoded);
    }
}

TEST(threads_do_not_change_a_byte)
{
    for_all(same_for_threads, LONG_SPECS);
}

/* Decodes a copy of the payload in a block of exactly its size, so that AddressSanitizer detects reads past the
 * end. */
static Status decode_copy(Rig *rig, const uint8_t *data, size_t size)
{
    uint8_t *copy = malloc(size ? size : 1);
    float *x = malloc((rig->shape.n + 1) * sizeof *x);
    memcpy(copy, data, size);
    const Status status = rig_decode_bytes(rig, copy, size, x);
    if (status == OK)
        check(first_nonfinite(x, rig->shape.n, NULL) == rig->shape.n);
    free(copy);
    free(x);
    return status;
}

/* Returns the distance of the positions to test in a payload: about 24 positions, or 5 for long vectors. */
static size_t stride_of(const Rig *rig, size_t size)
{
    return 1 + size / (rig->shape.n > 5000 ? 5 : 24);
}

/* Returns the next length of a prefix to test: `stride` bytes more, or one byte more within the last `end`
 * bytes. */
static size_t next_cut(size_t cut, size_t stride, size_t size, size_t end)
{
    const size_t close = size > end ? size - end : 0;
    return cut >= close ? cut + 1 : cut + stride < close ? cut + stride : close;
}

/* The first length of a prefix and the first bit to flip differ between specs and test vectors, so that together they
 * are at all distances from the start. */
static size_t first_place(const Codec *codec, const Source *source)
{
    const char *spec = codec_text(codec, forever);
    return hash_bytes(spec, strlen(spec)) % 1000003 + 7919 * (size_t)(source - sources);
}

static void refuses(Rig *rig, const Source *source, const float *x)
{
    (void)x;
    const Bytes last = rig->message.round[rig->message.rounds - 1];
    const size_t stride = stride_of(rig, last.size), end = rig->shape.n > 5000 ? 4 : 16;
    size_t size = first_place(rig->codec, source) % stride;
    CHECK_HERE(!last.size || decode_copy(rig, last.data, 0) == ERR_CORRUPT);
    for (; size < last.size; size = next_cut(size, stride, last.size, end))
        CHECK_HERE(decode_copy(rig, last.data, size) == ERR_CORRUPT);
    uint8_t *longer = malloc(last.size + 1);
    memcpy(longer, last.data, last.size);
    for (int tail = 0; tail < 256; tail += 255) {
        longer[last.size] = (uint8_t)tail;
        CHECK_HERE(decode_copy(rig, longer, last.size + 1) == ERR_CORRUPT);
    }
    free(longer);
}

static void survives_flips(Rig *rig, const Source *source, const float *x)
{
    (void)x;
    const Bytes last = rig->message.round[rig->message.rounds - 1];
    uint8_t *bytes = malloc(last.size + 1);
    memcpy(bytes, last.data, last.size);
    const size_t stride = stride_of(rig, 8 * last.size);
    for (size_t bit = first_place(rig->codec, source) % stride; bit < 8 * last.size; bit += stride) {
        bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
        const Status status = decode_copy(rig, bytes, last.size);
        CHECK_HERE(status == OK || status == ERR_CORRUPT);
        bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    free(bytes);
}

static void pure(Rig *rig, const Source *source, const float *x)
{
    const size_t size = codec_state_size(&rig->call);
    for (size_t i = 0; i < size; i += 4)
        store_f32((uint8_t *)rig->state + i, 0.125f);
    const uint64_t state = digest(rig->state, size), input = digest(x, rig->shape.n * sizeof *x);
    if (rig_encode(rig, x, 3) != OK)
        return; /* encoding may fail, as on the test vector `huge` with elements +-FLT_MAX */
    check_ok(rig_decode(rig), &rig->err);
    CHECK_HERE(digest(rig->state, size) == state);
    CHECK_HERE(digest(x, rig->shape.n * sizeof *x) == input);
}

TEST(canonical_specs_open_to_themselves)
{
    Error err;
    const Codec *codec, *again;
    for (size_t k = 0; k < spec_count; k++) {
        check_ok(codec_open(&codec, specs[k], forever, &err), &err);
        const char *text = codec_text(codec, forever);
        check_ok(codec_open(&again, text, forever, &err), &err);
        if (strcmp(codec_text(again, forever), text))
            print_error("%s: %s\n", specs[k], text);
        assert_string_equal(codec_text(again, forever), text);
    }
}

TEST(complete_specs_open_to_the_same_codec_and_print_themselves)
{
    Error err;
    const Codec *codec, *again;
    for (size_t k = 0; k < spec_count; k++) {
        check_ok(codec_open(&codec, specs[k], forever, &err), &err);
        const char *text = codec_complete(codec, forever);
        for (const Codec *c = codec; c; c = codec_alone(c) ? NULL : c->inner)
            for (const Param *p = c->ops->params; p && p->key; p++)
                check(!p->fallback || p->group || strstr(text, text_format(forever, "%s=", p->key)));
        check_ok(codec_open(&again, text, forever, &err), &err);
        assert_string_equal(codec_complete(again, forever), text);
        assert_string_equal(codec_text(again, forever), codec_text(codec, forever));
    }
}

/* Returns the spec with the names before its first key in capitals. */
static const char *in_capitals(const char *spec)
{
    char *text = text_copy(forever, spec);
    for (char *at = text; *at && *at != ':'; at++)
        *at = (char)toupper((unsigned char)*at);
    return text;
}

static void keeps_the_first_spelling(const char *first, const char *second)
{
    Error err;
    const Codec **codec;
    const char *both[] = {first, second};
    size_t count;
    const ArenaMark mark = arena_mark(forever);
    check_ok(codec_list(&codec, &count, &(TextList){both, 2}, forever, &err), &err);
    assert_int_equal(count, 1);
    assert_string_equal(codec_typed(codec[0], forever), first);
    arena_rewind(forever, mark);
}

TEST(specs_are_kept_as_typed_and_equal_ones_are_one)
{
    Error err;
    const Codec *codec;
    for (size_t k = 0; k < spec_count; k++) {
        const char *spec = specs[k], *other = in_capitals(spec), *in_ef = text_format(forever, "ef+%s", spec);
        keeps_the_first_spelling(spec, other);
        keeps_the_first_spelling(other, spec);
        check_ok(codec_open(&codec, spec, forever, &err), &err);
        keeps_the_first_spelling(codec_complete(codec, forever), spec);
        if (codec_open(&codec, in_ef, forever, &err) == OK) /* else the codec does not go into a wrapper */
            keeps_the_first_spelling(text_format(forever, "EF:decay=1.0+%s", other), in_ef);
    }
}

/* Workers with equal gradients send equal payloads if all random numbers are shared. If not, two workers' payloads
 * differ on some vector: `differed`. This is checked for codecs with their defaults; other parameters can leave
 * nothing to draw, such as svd:rank=100. */
static bool differed;
static void shares_draws(Rig *rig, const Source *source, const float *x)
{
    const bool shared = codec_traits(rig->codec) & SHARED_DRAWS;
    if (rig_encode_as(rig, x, 0, 0) != OK)
        return; /* encoding may fail, as on the test vector `huge` with elements +-FLT_MAX */
    const size_t size = rig->payload.size;
    const uint64_t sent = digest(rig->payload.data, size);
    check_ok(rig_encode_as(rig, x, 0, 1), &rig->err);
    const bool equal = rig->payload.size == size && digest(rig->payload.data, size) == sent;
    CHECK_HERE(equal || !shared);
    differed |= !equal;
}

TEST(workers_send_the_same_exactly_if_they_share_all_draws)
{
    float *x[countof(sources)];
    for (size_t s = 0; s < countof(sources); s++)
        source_fill(&sources[s], x[s] = NEW(forever, float, LARGEST));
    for (size_t k = 0; k < spec_count; k++) {
        const Codec *codec;
        Error err;
        check_ok(codec_open(&codec, specs[k], forever, &err), &err);
        const unsigned traits = codec_traits(codec);
        if (!(traits & RANDOM))
            continue;
        differed = false;
        for (size_t s = 0; s < countof(sources) && !differed; s++)
            run_one(shares_draws, specs[k], &sources[s], x[s]);
        const bool as_promised = differed || traits & SHARED_DRAWS || strpbrk(specs[k], ":+");
        check_that_at(as_promised, specs[k], __FILE__, __LINE__);
    }
}

/* Checks that decode(merge(a, b)) = decode(a) + decode(b) up to rounding errors, if the codec is LINEAR. */
static void adds(Rig *rig, const Source *source, const float *x)
{
    const size_t n = rig->shape.n;
    if (!(codec_traits(rig->codec) & LINEAR) || rig->message.rounds > 1 || !strncmp(source->name, "huge", 4))
        return;
    float *first = NEW(rig->forever, float, n);
    uint8_t *copy = NEW(rig->forever, uint8_t, rig->payload.size);
    check_ok(rig_decode(rig), &rig->err);
    memcpy(first, rig->decoded, n * sizeof *first);
    memcpy(copy, rig->payload.data, rig->payload.size);
    const Bytes one = {copy, rig->payload.size};
    check_ok(rig_encode_as(rig, x, 0, 1), &rig->err); /* worker 1 encodes the same vector in the same step */
    check_ok(rig_decode(rig), &rig->err);
    const Bytes both[] = {one, buf_bytes(&rig->payload)};
    const size_t room = 2 * rig->payload.cap + 64; /* 64 bytes for the headers of wrappers */
    Buf merged = {NEW(rig->forever, uint8_t, room), 0, room};
    check_ok(codec_merge(&rig->call, both, 2, &merged), &rig->err);
    float *sum = NEW(rig->forever, float, n);
    check_ok(rig_decode_bytes(rig, merged.data, merged.size, sum), &rig->err);
    for (size_t i = 0; i < n; i++)
        CHECK_HERE(fabs((double)sum[i] - ((double)first[i] + (double)rig->decoded[i])) <=
                   4e-7 * (fabs((double)first[i]) + fabs((double)rig->decoded[i])) +
                       0x1p-148 /* denormals */);
}

/* All tests of one payload, in one pass, since encoding takes most of the time. Payloads of other specs than a codec's
 * default are either cut or have bits flipped, those of short vectors both. */
static void keeps_promises(Rig *rig, const Source *source, const float *x)
{
    const bool is_short = rig->shape.n <= 300;
    if (is_short || takes_part(spec_now, source_now, EVEN_SPECS))
        refuses(rig, source, x);
    if (is_short || takes_part(spec_now, source_now, ODD_SPECS))
        survives_flips(rig, source, x);
    small_and_repeatable(rig, source, x);
    exact(rig, source, x);
    draws_nothing(rig, source, x);
    adds(rig, source, x);
    if (takes_part(spec_now, source_now, EVEN_SPECS))
        pure(rig, source, x);
}

TEST(payloads_keep_all_promises)
{
    for_all(keeps_promises, SHORT_SPECS);
}

int main(void)
{
    cmocka_set_test_filter(getenv("TEST"));
    return check_run(collect_specs, drop_specs) ? 1 : 0;
}
