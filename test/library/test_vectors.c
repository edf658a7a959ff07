/* test_vectors.c -- the test vectors in test/vectors, with which other implementations can be tested: for each
 * compressor a small tensor, its payload and the decoded floats. This library must decode the stored payloads
 * to the stored floats, and write the stored payloads.
 *
 * `make golden` rewrites the files. A difference means that the format of payloads has changed, and needs a
 * line in docs/FORMAT.md. */
#include "rig/check.h"

#include "atomo.h"
#include "base/bytes.h"
#include "base/json.h"
#include "base/rng.h"
#include "compress/spec.h"

#include <math.h>
#include <stdlib.h>

enum { ROWS = 13, COLS = 12, N = ROWS * COLS, STEP = 3, WORKER = 1, SEED = 7, ROUNDS = 8 };

static const char name[] = "layer.weight";

/* specs besides the compressors' own names */
static const char *const more[] = {
    "ef+topk",        "ef21+topk",        "diana+qsgd",         "induced:with=qsgd+topk", "zstd+qsgd",
    "blosc+qsgd",     "qsgd:bits=2",      "qsgd:code=rans",     "qsgd:code=fixed",
    "topk:ratio=0.3", "svd:vectors=qsgd", "terngrad:code=rans", "entry:ratio=0.3"};

/* Returns the spec with this index: first the compressors' names, then the specs in `more`. Returns "" for a
 * wrapper that needs a codec to wrap, and NULL after the last spec. */
static const char *spec_at(size_t index)
{
    size_t i = 0;
    atomo_codec *codec;
    for (const char *spec; (spec = atomo_compressor(i, NULL)); i++)
        if (i == index)
            return atomo_codec_open(&codec, spec, NULL) == ATOMO_OK ? (atomo_codec_close(codec), spec) : "";
    return index - i < countof(more) ? more[index - i] : NULL;
}

static void draw(float *x)
{
    const Rng rng = rng_open(1, 0, 0, 0, 0);
    for (size_t i = 0; i < N; i++) {
        const double z = rng_normal(&rng, USE_TEST, i);
        x[i] = i % 7 == 3 ? 0 : (float)(z * z * z);
    }
}

/* ---- hexadecimal text ---- */

static void put_hex(FILE *to, const void *data, size_t size)
{
    const uint8_t *byte = data;
    fputc('"', to);
    for (size_t i = 0; i < size; i++)
        fprintf(to, "%02x", byte[i]);
    fputc('"', to);
}

static size_t take_hex(const char *text, uint8_t *to, size_t room)
{
    size_t size = strlen(text) / 2;
    check(size <= room && strlen(text) % 2 == 0);
    for (size_t i = 0; i < size; i++)
        to[i] = (uint8_t)strtoul((const char[]){text[2 * i], text[2 * i + 1], 0}, NULL, 16);
    return size;
}

/* Floats are little-endian in the files. */
static void put_floats(FILE *to, const float *x)
{
    uint8_t byte[4 * N];
    floats_store(byte, x, N);
    put_hex(to, byte, sizeof byte);
}

static void take_floats(float *x, const char *text)
{
    uint8_t byte[4 * N];
    check(take_hex(text, byte, sizeof byte) == sizeof byte);
    floats_load(x, byte, N);
}

/* ---- one test vector of a spec ---- */

typedef struct {
    atomo_codec *codec;
    atomo_tensor *tensor;
    atomo_error err;
    float x[N], decoded[N];
    uint8_t *payload[ROUNDS];
    size_t size[ROUNDS];
    int rounds;
} Case;

static void must(Case *c, atomo_status status)
{
    if (status != ATOMO_OK)
        print_error("%s\n", c->err.text);
    check(status == ATOMO_OK);
}

static void case_open(Case *c, const char *spec)
{
    static const size_t dim[] = {ROWS, COLS};
    const atomo_layout layout = {.name = name,
                                 .rank = 2,
                                 .dim = dim,
                                 .seed = SEED,
                                 .worker = WORKER,
                                 .workers = WORKER + 1,
                                 .threads = 1};
    *c = (Case){0};
    must(c, atomo_codec_open(&c->codec, spec, &c->err));
    must(c, atomo_tensor_open(&c->tensor, c->codec, &layout, &c->err));
    c->rounds = atomo_codec_rounds(c->codec);
}

static void case_close(Case *c)
{
    for (int i = 0; i < c->rounds; i++)
        free(c->payload[i]);
    atomo_tensor_close(c->tensor);
    atomo_codec_close(c->codec);
}

/* Encodes x, and decodes the payloads in `given`, or the new payloads if `given` is NULL. */
static void run(Case *c, const Case *given)
{
    int more_rounds = 1;
    must(c, atomo_step_begin(c->tensor, STEP, 1, c->decoded, &c->err));
    for (int i = 0; more_rounds; i++) {
        const void *payload;
        must(c, atomo_step_send(c->tensor, c->x, &payload, &c->size[i], &c->err));
        c->payload[i] = malloc(c->size[i] + 1);
        memcpy(c->payload[i], payload, c->size[i]);
        if (given)
            must(c, atomo_step_take(c->tensor, WORKER, given->payload[i], given->size[i], &c->err));
        else
            must(c, atomo_step_take(c->tensor, WORKER, payload, c->size[i], &c->err));
        must(c, atomo_step_end_round(c->tensor, &more_rounds, &c->err));
    }
    must(c, atomo_step_finish(c->tensor, c->x, &c->err));
}

static void write_case(FILE *to, Case *c, bool first)
{
    const unsigned traits = atomo_codec_traits(c->codec);
    fprintf(
        to,
        "%s{\"spec\": \"%s\",\n \"shape\": [%d, %d], \"seed\": %d, \"step\": %d, \"worker\": %d, \"tensor\": \"%s\",\n",
        first ? "[" : ",\n\n", atomo_codec_spec(c->codec), ROWS, COLS, SEED, STEP, WORKER, name);
    fprintf(to, " \"exact\": %s,\n \"values\": ", traits & ATOMO_EXACT_BYTES ? "true" : "false");
    put_floats(to, c->x);
    fprintf(to, ",\n \"payloads\": [");
    for (int i = 0; i < c->rounds; i++) {
        fputs(i ? ", " : "", to);
        put_hex(to, c->payload[i], c->size[i]);
    }
    fprintf(to, "],\n \"decoded\": ");
    put_floats(to, c->decoded);
    fputc('}', to);
}

static const char path[] = "test/vectors/vectors.json";

static void write_vectors(void)
{
    FILE *to = fopen(path, "w");
    Case c;
    check(to);
    bool first = true;
    for (size_t i = 0; spec_at(i); i++) {
        if (!*spec_at(i))
            continue;
        case_open(&c, spec_at(i));
        draw(c.x);
        run(&c, NULL);
        write_case(to, &c, first);
        first = false;
        case_close(&c);
    }
    fputs("]\n", to);
    check(!fclose(to));
}

static const char *text_of(const Json *object, const char *member)
{
    const Json *found = json_member(object, member);
    check(found && found->type == JSON_TEXT);
    return found->text;
}

static void check_case(const Json *stored)
{
    static Case want, got;
    const char *spec = text_of(stored, "spec");
    case_open(&want, spec);
    case_open(&got, spec);
    take_floats(got.x, text_of(stored, "values"));
    take_floats(want.decoded, text_of(stored, "decoded"));
    int rounds = 0;
    for (const Json *p = json_member(stored, "payloads")->first; p; p = p->next, rounds++) {
        const size_t most = strlen(p->text);
        want.payload[rounds] = malloc(most + 1);
        want.size[rounds] = take_hex(p->text, want.payload[rounds], most);
    }
    check(rounds == want.rounds);
    run(&got, &want);
    const bool exact = json_member(stored, "exact")->on;
    for (int i = 0; i < rounds && exact; i++)
        if (got.size[i] != want.size[i] || memcmp(got.payload[i], want.payload[i], got.size[i])) {
            print_error("%s: the payload differs from the stored one\n", spec);
            check(false);
        }
    for (size_t i = 0; i < N; i++)
        if (exact ? memcmp(&got.decoded[i], &want.decoded[i], 4) != 0
                  : !(fabsf(got.decoded[i] - want.decoded[i]) <= 1e-5f * (1 + fabsf(want.decoded[i])))) {
            print_error("%s: element %zu decodes to %g, stored %g\n", spec, i, (double)got.decoded[i],
                        (double)want.decoded[i]);
            check(false);
        }
    case_close(&want);
    case_close(&got);
}

TEST(stored_vectors_hold)
{
    if (getenv("ATOMO_WRITE_VECTORS"))
        write_vectors();
    Arena *a = arena_open(0);
    Error err;
    FILE *from = fopen(path, "r");
    check(from);
    char *text = NEW(a, char, 1 << 22);
    const size_t size = fread(text, 1, 1 << 22, from);
    fclose(from);
    const Json *all;
    check_ok(json_read(&all, text, size, a, &err), &err);
    size_t cases = 0, specs = 0;
    for (const Json *c = all->first; c; c = c->next) {
        const char *left_out = compressor_left_out(text_of(c, "spec"));
        if (left_out) {
            print_message("skip: the vector of %s, which is not in this build\n", left_out);
            continue;
        }
        check_case(c);
        cases++;
    }
    for (size_t i = 0; spec_at(i); i++)
        specs += *spec_at(i) != 0;
    check(cases == specs); /* every spec must have a test vector; `make golden` adds missing ones */
    arena_close(a);
}

CHECK_ALL(NULL, NULL)
