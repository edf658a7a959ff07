/* test_golden.c -- compares codecs with stored payloads: a codec must write the same payload in every
 * version and on every machine.
 *
 * golden/CODEC.txt has a line for each spec and test vector: spec | vector | bytes | payload | decoded
 * vector. A payload of at most 48 bytes is stored in hexadecimal digits. A longer payload and the decoded
 * vector are stored as a 64-bit FNV-1a hash.
 *
 * A codec that calls BLAS, LAPACK or an FFT library has "-" in place of its hashes, as rounding errors differ
 * between machines. If a library compresses the payload, "-" replaces size and hash.
 *
 * golden/steps.list has a line for each step of a codec with a state: spec | vector | step | bytes that each worker
 * sent | hash of the payloads | hash of the workers' mean.
 *
 * golden/refuse/CODEC.txt has a line for each payload that the decoder must refuse: name spec shape payload # words of the
 * message. The payload is in hexadecimal digits; | stands between those of several rounds.
 *
 * `make golden` rewrites the files but for the refused; a person must review the difference. */
#include "rig/codec_rig.h"
#include "rig/more_specs.h"
#include "rig/sources.h"
#include "compress/spec.h"
#include "rig/share_training.h"
#include "exchange/exchange.h"
#include "exchange/states.h"

#define GOLDEN "test/golden"

enum { LINE = 512, HEX_MOST = 48 };

static bool writing;

static void describe(char line[LINE], const char *spec, const Source *source, const float *x)
{
    Rig rig;
    rig_open(&rig, spec, source_shape(source));
    const bool exact = codec_traits(rig.codec) & EXACT_BYTES,
               packed = codec_traits(rig.codec) & LIBRARY_BYTES;
    int used = snprintf(line, LINE, "%s | %s | ", codec_text(rig.codec, rig.forever), source->name);
    if (rig_encode(&rig, x, 0) != OK) {
        snprintf(line + used, LINE - (size_t)used, "refused");
        rig_close(&rig);
        return;
    }
    check_ok(rig_decode(&rig), &rig.err);
    if (packed)
        used += snprintf(line + used, LINE - (size_t)used, "- | ");
    /* low-rank-40x30 is a matrix of rank 2, constant-600 one of rank 1. Rounding errors add small singular values, so
     * the size of the payload depends on the machine. */
    else if (exact || (strcmp(source->name, "low-rank-40x30") &&
                       (strncmp(spec, "svd", 3) || strcmp(source->name, "constant-600"))))
        used += snprintf(line + used, LINE - (size_t)used, "%zu | ", rig.payload.size);
    else
        used += snprintf(line + used, LINE - (size_t)used, "- | ");
    if (exact && !packed && rig.payload.size <= HEX_MOST)
        for (size_t i = 0; i < rig.payload.size; i++)
            used += snprintf(line + used, LINE - (size_t)used, "%02x", rig.payload.data[i]);
    else if (exact && !packed)
        used += snprintf(line + used, LINE - (size_t)used, "#%016llx",
                         (unsigned long long)hash_bytes(rig.payload.data, rig.payload.size));
    else
        used += snprintf(line + used, LINE - (size_t)used, "-");
    floats_order(rig.decoded, rig.shape.n); /* so that the hash is the same on every machine */
    if (exact)
        snprintf(line + used, LINE - (size_t)used, " | #%016llx",
                 (unsigned long long)hash_bytes(rig.decoded, rig.shape.n * sizeof(float)));
    else
        snprintf(line + used, LINE - (size_t)used, " | -");
    rig_close(&rig);
}

static FILE *stored_open(const char *name)
{
    char path[128];
    snprintf(path, sizeof path, GOLDEN "/%s", name);
    FILE *file = fopen(path, writing ? "w" : "r");
    if (!file)
        print_error("%s is missing: make golden writes it\n", path);
    check(file != NULL);
    return file;
}

/* Compares the line with the file's next one, or writes it. */
static void stored_line(FILE *file, const char *line)
{
    char stored[LINE];
    if (writing) {
        fprintf(file, "%s\n", line);
        return;
    }
    if (!fgets(stored, sizeof stored, file))
        stored[0] = 0;
    stored[strcspn(stored, "\n")] = 0;
    if (strcmp(stored, line))
        print_error("stored: %s\nnow:    %s\n", stored, line);
    check(!strcmp(stored, line));
}

static void stored_close(FILE *file)
{
    if (!writing)
        check(fgetc(file) == EOF);
    fclose(file);
}

/* The vector of a source, which is drawn once. */
static const float *vector_of(size_t s)
{
    static float *x[countof(sources)];
    if (!x[s]) {
        x[s] = malloc((source_shape(&sources[s]).n + 1) * sizeof(float));
        check(x[s]);
        source_fill(&sources[s], x[s]);
    }
    return x[s];
}

static void one_spec(FILE *file, const char *spec)
{
    char line[LINE];
    for (size_t s = 0; s < countof(sources); s++) {
        describe(line, spec, &sources[s], vector_of(s));
        stored_line(file, line);
    }
}

static bool is_of(const char *spec, const Compressor *ops)
{
    const size_t length = strlen(ops->name);
    return !strncmp(spec, ops->name, length) && strchr(":+", spec[length]);
}

/* Tests the codec with its defaults, with each value of each parameter that is a choice, and with its specs in
 * more_specs.h. */
static void one_codec(const Compressor *ops)
{
    Arena *a = arena_open(0);
    FILE *file = stored_open(text_format(a, "%s.txt", ops->name));
    const char *name = ops->wraps && !ops->alone[0] ? text_format(a, "%s+none", ops->name) : ops->name;
    one_spec(file, name);
    for (const Param *p = ops->params; p && p->key && !ops->wraps; p++) {
        static const char *const switches[] = {"off", "on", NULL};
        const char *const *value = p->type == PARAM_BOOL   ? switches
                                   : p->type == PARAM_TEXT ? NULL
                                                           : p->choices;
        for (; value && *value; value++)
            if (strcmp(*value, p->fallback))
                one_spec(file, text_format(a, "%s:%s=%s", ops->name, p->key, *value));
    }
    for (size_t i = 0; i < countof(more_specs); i++)
        if (more_specs[i].stored && is_of(more_specs[i].spec, ops))
            one_spec(file, more_specs[i].spec);
    stored_close(file);
    arena_close(a);
}

TEST(payloads_are_what_they_were)
{
    for (size_t i = 0; compressor_number(i); i++)
        one_codec(compressor_number(i));
}

/* ---- three steps of codecs with a state ---- */

enum { WORKERS = 3, DROPPED = WORKERS - 1, STEPS = 3, STEP_LARGEST = 64 * 48 };

/* Specs with a state: every codec that has one, wrappers round payloads that merge and that do not. */
static const char *const stateful[] = {"ef+topk:ratio=0.1",
                                       "ef:decay=0.5+sign",
                                       "ef+qsgd:bits=2",
                                       "ef+intsgd",
                                       "ef+powersgd:rank=2",
                                       "ef21+topk:ratio=0.1",
                                       "ef21:alpha=0.5+minmax:bits=2",
                                       "ef21:alpha=0.5+diana+randk:ratio=0.3",
                                       "diana+qsgd:bits=2",
                                       "diana+intsgd:bits=4",
                                       "diana+natural",
                                       "diana+eden:bits=1",
                                       "diana:alpha=0.1+randk:ratio=0.3",
                                       "dgc:ratio=0.05,sample=0.1",
                                       "dgc:ratio=0.1,momentum=0",
                                       "strom:tau=0.5",
                                       "powersgd:rank=1,iters=2",
                                       "powersgd:rank=2",
                                       "cas:min=20,clusters=3",
                                       "ef+cas:min=20,bits=3.2,allocate=density",
                                       "induced:with=randk:ratio=0.3+ef+topk:ratio=0.1"};

static const char *const stepped[] = {"laplace-8x4x3x3", "normal-64x48", "heavy-1009"};

typedef struct {
    Arena *a, *payloads;
    Error err;
    Shape shape;
    const Source *source;
    CodecStates states;
    Exchange x;
    ExchangeWorker worker[WORKERS];
    float g[WORKERS][STEP_LARGEST], y[STEP_LARGEST];
    Bytes sent[WORKERS][ROUNDS_MAX];
} Team;

static void team_open(Team *t, const char *spec, const Source *source)
{
    const Codec *codec;
    *t = (Team){.a = arena_open(0), .payloads = arena_open(0), .source = source, .shape = source_shape(source)};
    check_ok(codec_open(&codec, spec, t->a, &t->err), &t->err);
    check(codec_keeps_state(codec) && codec_traits(codec) & EXACT_BYTES);
    t->x = (Exchange){
        .call = {.self = codec, .shape = &t->shape, .threads = 1, .scratch = arena_open(0), .err = &t->err},
        .seed = RIG_SEED,
        .tensor = rng_hash(source->name),
        .keep = true,
        .y = t->y,
        .payloads = t->payloads};
    for (size_t w = 0; w < WORKERS; w++) {
        t->worker[w].index = w;
        check_ok(codec_states_find(&t->states, &t->x.call, (int64_t)w, source->name, &t->worker[w].state), &t->err);
    }
}

static void team_close(Team *t)
{
    codec_states_forget(&t->states);
    arena_close(t->x.call.scratch);
    arena_close(t->payloads);
    arena_close(t->a);
}

/* Fills the gradients, and learns the state of codecs that learn it before a step. */
static void begin_step(Team *t, size_t senders)
{
    for (size_t w = 0; w < WORKERS; w++) {
        const Rng rng = rng_open(1, 0, (int64_t)w, t->x.step, rng_hash(t->source->name));
        t->source->fill(&rng, &t->shape, t->g[w]);
    }
    arena_rewind(t->payloads, (ArenaMark){0});
    t->x.call.workers = (int)senders;
    check_ok(exchange_train(&t->x, &t->worker[0], t->g[0]), &t->err);
    for (size_t w = 1; w < WORKERS; w++)
        share_training(&t->x, &t->worker[0], &t->worker[w]);
    check_ok(exchange_begin(&t->x), &t->err);
}

/* Runs one step of the workers 0 .. senders - 1; the others drop out. */
static void run_step(Team *t, size_t senders)
{
    Exchange *x = &t->x;
    begin_step(t, senders);
    for (int r = 0; r < x->rounds; r++) {
        for (size_t w = 0; w < senders; w++) {
            check_ok(exchange_send(x, &t->worker[w], t->g[w], &t->sent[w][r]), &t->err);
            check_ok(exchange_take(x, &t->worker[w], t->sent[w][r]), &t->err);
        }
        check_ok(exchange_end_round(x), &t->err);
    }
    check_ok(exchange_receive(x), &t->err);
    for (size_t w = 0; w < WORKERS; w++)
        check_ok(w < senders ? exchange_settle(x, &t->worker[w], t->g[w], t->sent[w])
                             : exchange_settle_dropped(x, &t->worker[w], t->g[w]),
                 &t->err);
}

static void describe_step(char line[LINE], const Team *t, size_t senders)
{
    uint64_t hash = 1;
    int used = snprintf(line, LINE, "%s | %s | %d |", codec_text(t->x.call.self, t->a), t->source->name,
                        (int)t->x.step);
    for (size_t w = 0; w < senders; w++) {
        size_t size = 0;
        for (int r = 0; r < t->x.rounds; r++) {
            hash = hash * UINT64_C(0x9e3779b97f4a7c15) ^ hash_bytes(t->sent[w][r].data, t->sent[w][r].size);
            size += t->sent[w][r].size;
        }
        used += snprintf(line + used, LINE - (size_t)used, " %zu", size);
    }
    snprintf(line + used, LINE - (size_t)used, " | #%016llx | #%016llx", (unsigned long long)hash,
             (unsigned long long)hash_bytes(t->y, t->shape.n * sizeof(float)));
}

/* In the second step the last worker drops out. */
static void three_steps(FILE *file, const char *spec, const Source *source)
{
    static Team team;
    char line[LINE];
    team_open(&team, spec, source);
    for (team.x.step = 0; team.x.step < STEPS; team.x.step++) {
        const size_t senders = team.x.step == 1 ? DROPPED : WORKERS;
        run_step(&team, senders);
        floats_order(team.y, team.shape.n);
        describe_step(line, &team, senders);
        stored_line(file, line);
    }
    team_close(&team);
}

static bool is_stepped(const char *codec)
{
    for (size_t i = 0; i < countof(stateful); i++)
        for (const char *at = strstr(stateful[i], codec); at; at = strstr(at + 1, codec))
            if ((at == stateful[i] || at[-1] == '+') && strchr(":+", at[strlen(codec)]))
                return true;
    return false;
}

TEST(three_steps_of_every_codec_with_a_state_are_what_they_were)
{
    FILE *file = stored_open("steps.list");
    for (size_t i = 0; i < countof(stateful); i++)
        for (size_t s = 0; s < countof(sources); s++)
            for (size_t k = 0; k < countof(stepped); k++)
                if (!strcmp(sources[s].name, stepped[k]))
                    three_steps(file, stateful[i], &sources[s]);
    stored_close(file);
    for (size_t i = 0; compressor_number(i); i++)
        check(!compressor_number(i)->state_size || is_stepped(compressor_number(i)->name));
}

/* ---- refusals ---- */

enum { PAYLOADS_MOST = 4096, REFUSED_LINE = 3 * PAYLOADS_MOST };

/* What a line has: the payloads of the rounds, one after the other, round r from from[r] on. */
typedef struct {
    char spec[128], why[128];
    Shape shape;
    uint8_t bytes[PAYLOADS_MOST];
    size_t size, from[ROUNDS_MAX];
    int rounds;
} Refused;

static void refused_read(Refused *r, const char *line)
{
    char shape[64];
    size_t dim[4] = {0};
    unsigned byte;
    int used;
    *r = (Refused){0};
    check(sscanf(line, "%*s %127s %63[0-9x]%n", r->spec, shape, &used) == 2);
    check(shape_make(&r->shape, sscanf(shape, "%zux%zux%zux%zu", &dim[0], &dim[1], &dim[2], &dim[3]), dim));
    for (line += used + 1; *line != '#'; line += strspn(line, " |")) {
        check(*line && r->rounds < ROUNDS_MAX);
        r->from[r->rounds++] = r->size;
        for (; sscanf(line, "%2x", &byte) == 1 && r->size < sizeof r->bytes; line += 2)
            r->bytes[r->size++] = (uint8_t)byte;
    }
    check(sscanf(line, "# %127[^\n]", r->why) == 1);
}

/* Tests that the decoder refuses the payloads, and says why. */
static void refuse_one(const char *path, const char *line)
{
    static Refused r;
    Rig rig;
    refused_read(&r, line);
    if (compressor_left_out(r.spec)) {
        print_message("skip: %s: this build lacks %s\n", path, compressor_left_out(r.spec));
        return;
    }
    rig_open(&rig, r.spec, r.shape);
    rig.message = (Message){.rounds = r.rounds};
    for (int i = 0; i + 1 < r.rounds; i++)
        rig.message.round[i] = (Bytes){r.bytes + r.from[i], r.from[i + 1] - r.from[i]};
    const size_t last = r.rounds ? r.from[r.rounds - 1] : 0, size = r.size - last;
    /* The payload is copied, so that AddressSanitizer detects reads past its end. */
    uint8_t *copy = malloc(size + 1);
    memcpy(copy, r.bytes + last, size);
    const Status status = rig_decode_bytes(&rig, copy, size, rig.decoded);
    const bool refused = status == ERR_CORRUPT && strstr(rig.err.text, r.why);
    if (!refused)
        print_error("%s: %s%s\n", path, line, status == OK ? "accepted" : rig.err.text);
    check(refused);
    free(copy);
    rig_close(&rig);
}

TEST(payloads_that_no_encoder_writes_are_refused)
{
    char line[REFUSED_LINE], path[128];
    for (size_t i = 0; compressor_number(i); i++) {
        snprintf(path, sizeof path, GOLDEN "/refuse/%s.txt", compressor_number(i)->name);
        FILE *file = fopen(path, "r");
        while (file && fgets(line, sizeof line, file))
            refuse_one(path, line);
        if (file)
            fclose(file);
    }
}

int main(int argc, char **argv)
{
    writing = argc > 1 && !strcmp(argv[1], "--write");
    return check_run(NULL, NULL) ? 1 : 0;
}
