/* test_promises.c -- every codec in the registry, in each of its modes, on every source: the promises of
 * compressor.h. A codec that is added is held to them without a word here. */
#include "codec_rig.h"
#include "draws.h"
#include "sources.h"

enum { SPECS_MAX = 512, LARGEST = 70001 };

static const char *specs[SPECS_MAX];
static size_t spec_count;
static Arena *forever;

/* Points of the parameter space that defaults and choices do not reach. */
static const char *const more_specs[] = {
    "entry:ratio=0.1",
    "entry:budget=2.5",
    "entry:bits=2",
    "entry:ratio=0.3,draw=systematic",
    "lq:q=1",
    "lq:q=0.5",
    "lq:q=inf",
    "gspar:density=0.3",
    "gspar:eps=0.5",
    "gspar:eps=1e-4",
    "gspar:eps=30",
    "randk:ratio=0.3",
    "randk:ratio=1",
    "randk:ratio=0.7,shared=off",
    "svd:rank=1.5",
    "svd:rank=0.5",
    "svd:rank=100",
    "wavelet:ratio=0.1,family=db2,levels=3",
    "wavelet:ratio=0.3,family=db4,levels=64,draw=systematic",
    "fourier:ratio=0.1",
    "fourier:ratio=0.2,dims=2",
    "dct:ratio=0.2,dims=2",
    "hadamard:ratio=0.1",
    "hadamard:ratio=0.3,draw=systematic",
    "svd:rank=1.5,vectors=qsgd,vbits=3",
    "svd:rank=100,vectors=qsgd,vbits=1",
    "svd:vectors=qsgd,vbits=16,reshape=square",
    "qsgd:levels=1,bucket=0",
    "qsgd:bits=8,code=fixed",
    "qsgd:bits=16",
    "qsgd:levels=5,bucket=100,norm=linf",
    "qsgd:bits=2,bucket=1",
    "qsgd:bits=3,bucket=0,code=elias-dense",
    "terngrad:clip=2.5",
    "ef:decay=0.5+qsgd:bits=8",
    "ef+svd:rank=2",
    "ef+ef+none",
    "joint:bits=0.1",
    "joint:bits=6",
    "joint:bits=0.01+entry",
    "joint:bits=3+entry:draw=systematic",
    "joint:bits=4+svd:vectors=qsgd",
    "joint:bits=31+svd:vectors=bf16",
    "joint:bits=3+dct:dims=2",
    "joint:bits=3+svd:draw=systematic,reshape=square",
    "ef+joint:bits=2",
    NULL,
};

static void add_spec(const char *spec)
{
    check(spec && spec_count < SPECS_MAX);
    specs[spec_count++] = spec;
}

/* The default of every codec, and each value of each choice; wrappers go round every codec that is none, those
 * that can stand alone round the ones they choose from. */
static int collect_specs(void **state)
{
    (void)state;
    forever = arena_open(0);
    for (size_t i = 0; compressors[i]; i++) {
        const Compressor *ops = compressors[i];
        for (size_t k = 0; ops->wraps && compressors[k]; k++)
            if (!compressors[k]->wraps && (!ops->alone[0] || compressors[k]->curve))
                add_spec(text_format(forever, "%s+%s", ops->name, compressors[k]->name));
        if (!ops->wraps || ops->alone[0])
            add_spec(ops->name);
        if (ops->wraps)
            continue;
        for (const Param *p = ops->params; p && p->key; p++) {
            static const char *const switches[] = {"off", "on", NULL};
            const char *const *names = p->type == PARAM_BOOL ? switches : p->choices;
            for (; names && *names; names++)
                if (strcmp(*names, p->fallback))
                    add_spec(text_format(forever, "%s:%s=%s", ops->name, p->key, *names));
        }
    }
    for (size_t i = 0; more_specs[i]; i++)
        add_spec(more_specs[i]);
    return 0;
}

static int drop_specs(void **state)
{
    (void)state;
    arena_close(forever);
    return 0;
}

typedef void Property(Rig *rig, const Source *source, const float *x);

/* Runs the property for every spec and source; ERR_NUMERIC is a fair answer to the huge source alone. */
static void for_all(Property *property, bool statistics)
{
    float *x = NEW(forever, float, LARGEST);
    for (size_t k = 0; k < spec_count; k++)
        for (size_t s = 0; s < countof(sources); s++) {
            Rig rig;
            if (statistics && !sources[s].smooth)
                continue;
            rig_open(&rig, specs[k], source_shape(&sources[s]));
            source_fill(&sources[s], x);
            const Status status = rig_encode(&rig, x, 0);
            if (status == OK)
                property(&rig, &sources[s], x);
            else if (status != ERR_NUMERIC || strncmp(sources[s].name, "huge", 4)) {
                print_error("%s on %s: %s\n", specs[k], sources[s].name, rig.err.text);
                check(status == OK);
            }
            rig_close(&rig);
        }
}

#define SAY_WHERE(rig, source)                                                                               \
    (print_error("in %s on %s\n", codec_text((rig)->codec, forever), (source)->name))
#define CHECK_HERE(condition)                                                                                \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            SAY_WHERE(rig, source);                                                                          \
            check(condition);                                                                                \
        }                                                                                                    \
    } while (0)

static void sources_are_pinned(void **state)
{
    (void)state;
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
        stages += !codec->ops->wraps && strcmp(codec->ops->name, "none");
    return 4 * rig->shape.n + stages;
}

static void small_and_repeatable(Rig *rig, const Source *source, const float *x)
{
    const size_t size = rig->payload.size;
    const uint64_t hash = hash_bytes(rig->payload.data, size);
    CHECK_HERE(rig->message.round[rig->message.rounds - 1].size <= largest_payload(rig));
    check_ok(rig_encode(rig, x, 0), &rig->err);
    CHECK_HERE(rig->payload.size == size && hash_bytes(rig->payload.data, size) == hash);
    check_ok(rig_decode(rig), &rig->err);
    CHECK_HERE(first_nonfinite(rig->decoded, rig->shape.n, NULL) == rig->shape.n);
}

static void no_payload_is_larger_than_raw_and_repeats_are_equal(void **state)
{
    (void)state;
    for_all(small_and_repeatable, false);
}

static void same_for_threads(Rig *rig, const Source *source, const float *x)
{
    const size_t size = rig->payload.size;
    const uint64_t hash = hash_bytes(rig->payload.data, size);
    check_ok(rig_decode(rig), &rig->err);
    const uint64_t decoded = hash_bytes(rig->decoded, rig->shape.n * sizeof(float));
    for (int threads = 2; threads <= 8; threads *= 4) {
        rig->call.threads = threads;
        check_ok(rig_encode(rig, x, 0), &rig->err);
        CHECK_HERE(rig->payload.size == size && hash_bytes(rig->payload.data, size) == hash);
        check_ok(rig_decode(rig), &rig->err);
        CHECK_HERE(hash_bytes(rig->decoded, rig->shape.n * sizeof(float)) == decoded);
    }
}

static void threads_do_not_change_a_byte(void **state)
{
    (void)state;
    for_all(same_for_threads, false);
}

/* The bytes are copied to their own allocation, so that AddressSanitizer sees a read past their end. */
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

static void refuses(Rig *rig, const Source *source, const float *x)
{
    (void)x;
    const Bytes last = rig->message.round[rig->message.rounds - 1];
    const size_t stride = 1 + last.size / 300; /* every prefix of short ones, some of long ones */
    for (size_t size = 0; size < last.size; size += size + stride < last.size ? stride : 1)
        CHECK_HERE(decode_copy(rig, last.data, size) == ERR_CORRUPT);
    uint8_t *longer = malloc(last.size + 1);
    memcpy(longer, last.data, last.size);
    for (int tail = 0; tail < 256; tail += 255) {
        longer[last.size] = (uint8_t)tail;
        CHECK_HERE(decode_copy(rig, longer, last.size + 1) == ERR_CORRUPT);
    }
    free(longer);
}

static void prefixes_and_appended_bytes_are_refused(void **state)
{
    (void)state;
    for_all(refuses, false);
}

static void survives_flips(Rig *rig, const Source *source, const float *x)
{
    (void)x;
    const Bytes last = rig->message.round[rig->message.rounds - 1];
    uint8_t *bytes = malloc(last.size + 1);
    memcpy(bytes, last.data, last.size);
    const size_t stride = 1 + 8 * last.size / 250;
    for (size_t bit = 0; bit < 8 * last.size; bit += stride) {
        bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
        const Status status = decode_copy(rig, bytes, last.size);
        CHECK_HERE(status == OK || status == ERR_CORRUPT);
        bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    free(bytes);
}

static void flipped_bits_are_refused_or_decode_to_finite_numbers(void **state)
{
    (void)state;
    for_all(survives_flips, false);
}

static void pure(Rig *rig, const Source *source, const float *x)
{
    const size_t size = codec_state_size(&rig->call);
    for (size_t i = 0; i < size; i += 4)
        store_f32((uint8_t *)rig->state + i, 0.125f);
    const uint64_t state = hash_bytes(rig->state, size), input = hash_bytes(x, rig->shape.n * sizeof *x);
    if (rig_encode(rig, x, 3) != OK)
        return; /* the huge source again */
    check_ok(rig_decode(rig), &rig->err);
    CHECK_HERE(hash_bytes(rig->state, size) == state);
    CHECK_HERE(hash_bytes(x, rig->shape.n * sizeof *x) == input);
}

static void encode_and_decode_change_neither_state_nor_input(void **state)
{
    (void)state;
    for_all(pure, false);
}

static void prints_back(Rig *rig, const Source *source, const float *x)
{
    const Codec *again;
    const char *text = codec_text(rig->codec, forever);
    (void)x;
    check_ok(codec_open(&again, text, forever, &rig->err), &rig->err);
    CHECK_HERE(!strcmp(codec_text(again, forever), text));
}

static void canonical_specs_open_to_themselves(void **state)
{
    (void)state;
    for_all(prints_back, false);
}

/* decode(merge(a, b)) == decode(a) + decode(b). */
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
    check_ok(rig_encode_as(rig, x, 0, 1), &rig->err); /* the same step of another worker */
    check_ok(rig_decode(rig), &rig->err);
    const Bytes both[] = {one, buf_bytes(&rig->payload)};
    Buf merged = {NEW(rig->forever, uint8_t, 2 * rig->payload.cap), 0, 2 * rig->payload.cap};
    check_ok(codec_merge(&rig->call, both, 2, &merged), &rig->err);
    float *sum = NEW(rig->forever, float, n);
    check_ok(rig_decode_bytes(rig, merged.data, merged.size, sum), &rig->err);
    for (size_t i = 0; i < n; i++)
        CHECK_HERE(fabs((double)sum[i] - ((double)first[i] + (double)rig->decoded[i])) <=
                   4e-7 * (fabs((double)first[i]) + fabs((double)rig->decoded[i])) +
                       0x1p-148 /* denormals */);
}

static void merged_payloads_of_linear_codecs_decode_to_the_sum(void **state)
{
    (void)state;
    for_all(adds, false);
}

/* Enough draws to see a 1 % bias (1.08e6 V1), within what a test may cost. */
static size_t repeats_for(double gain_sd, size_t n)
{
    const double wanted = 1.08e6 * gain_sd * gain_sd, most = 1.5e6 / (double)(n + 300);
    return (size_t)fmax(200, fmin(wanted, most));
}

static void unbiased(Rig *rig, const Source *source, const float *x)
{
    const unsigned traits = codec_traits(rig->codec);
    if (!(traits & RANDOM) || rig->shape.n > 5000)
        return;
    const double expected = codec_variance(&rig->call, x);
    if (rig->codec->ops->variance && isnan(expected) && traits & UNBIASED)
        return; /* the codec says that x is beyond its range: it saturates */
    const Draws pilot = draws_take(rig, x, 60, 1);
    if (expected > 50 * pilot.norm2 * (double)rig->shape.n)
        return; /* hardly ever anything but zero: 1e-30 in half precision. The closed form is all there is to see */
    const Draws d = draws_take(rig, x, repeats_for(pilot.gain_error * sqrt(60), rig->shape.n), 1);
    if (traits & UNBIASED) {
        if (!draws_gain_is_one(&d))
            print_error("gain %.8f, standard error %.2g, %zu draws\n", d.gain, d.gain_error, d.repeats);
        CHECK_HERE(draws_gain_is_one(&d));
        if (!draws_energy_is_right(&d))
            print_error("bias ratio %.6f, nu %.0f, %zu draws\n", d.bias_ratio, d.freedom, d.repeats);
        CHECK_HERE(draws_energy_is_right(&d));
    }
    if (!isnan(expected)) {
        if (!draws_variance_is(&d, expected))
            print_error("mse %.8g, closed form %.8g, standard error %.2g\n", d.mse, expected, d.mse_error);
        CHECK_HERE(draws_variance_is(&d, expected));
    }
}

static void unbiased_codecs_are_and_closed_forms_hold(void **state)
{
    (void)state;
    for_all(unbiased, true);
}

static bool holds(const TextList *list, const char *name)
{
    for (size_t i = 0; i < list->count; i++)
        if (!strcmp(list->item[i], name))
            return true;
    return false;
}

/* A codec that multiplied everything by 1.01 would be caught. */
static void a_bias_of_one_percent_is_caught(void **state)
{
    (void)state;
    float *x = NEW(forever, float, LARGEST);
    const Source *source = &sources[0];
    TextList seen = {NEW(forever, const char *, spec_count), 0}; /* one mode of each codec is enough */
    for (size_t k = 0; k < spec_count; k++) {
        Rig rig;
        rig_open(&rig, specs[k], source_shape(source));
        source_fill(source, x);
        const unsigned traits = codec_traits(rig.codec);
        if (traits & UNBIASED && traits & RANDOM && !holds(&seen, rig.codec->ops->name)) {
            seen.item[seen.count++] = rig.codec->ops->name;
            const Draws pilot = draws_take(&rig, x, 60, 1);
            const double v1 = pilot.gain_error * pilot.gain_error * 60;
            const Draws d = draws_take(&rig, x, (size_t)fmax(200, fmin(1.08e6 * v1, 40000)), 1.01);
            if (draws_gain_is_one(&d))
                print_error("%s: gain %.6f passed for 1, standard error %.2g\n", specs[k], d.gain,
                            d.gain_error);
            check(!draws_gain_is_one(&d));
        }
        rig_close(&rig);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sources_are_pinned),
        cmocka_unit_test(no_payload_is_larger_than_raw_and_repeats_are_equal),
        cmocka_unit_test(threads_do_not_change_a_byte),
        cmocka_unit_test(prefixes_and_appended_bytes_are_refused),
        cmocka_unit_test(flipped_bits_are_refused_or_decode_to_finite_numbers),
        cmocka_unit_test(encode_and_decode_change_neither_state_nor_input),
        cmocka_unit_test(canonical_specs_open_to_themselves),
        cmocka_unit_test(merged_payloads_of_linear_codecs_decode_to_the_sum),
        cmocka_unit_test(unbiased_codecs_are_and_closed_forms_hold),
        cmocka_unit_test(a_bias_of_one_percent_is_caught),
    };
    return cmocka_run_group_tests(tests, collect_specs, drop_specs) ? 1 : 0;
}
