/* test_library.c -- the public interface atomo.h. Every codec's payloads must equal those of the internal
 * interface. A step of several workers must equal a step of training (gradient_step). States must survive
 * saving and loading. Wrong calls and damaged bytes must be refused. */
#include "rig/every_codec.h"
#include "rig/library_rig.h"

#include "compress/wrapper.h"
#include "exchange/exchange.h"
#include "exchange/gradient.h"

#include <math.h>
#include <pthread.h>

/* ---- payloads of every codec ---- */

static atomo_layout layout_of(const Shape *shape, int worker, int workers)
{
    return (atomo_layout){.name = "tensor",
                          .rank = shape->rank,
                          .dim = shape->dim,
                          .seed = 5,
                          .worker = worker,
                          .workers = workers,
                          .threads = 1};
}

/* True if `payload`, from a call of the public interface, consists of the payloads of all rounds of `m` in
 * order. Each payload but the last is preceded by its size. */
static bool is_message(const Message *m, const uint8_t *payload, size_t size)
{
    Reader r = reader_open((Bytes){payload, size});
    for (int i = 0; i < m->rounds; i++) {
        const size_t part = i + 1 < m->rounds ? (size_t)take_varint(&r) : reader_left(&r);
        const uint8_t *data = take_bytes(&r, part);
        if (part != m->round[i].size || !data || (part && memcmp(data, m->round[i].data, part)))
            return false;
    }
    return reader_done(&r);
}

/* Checks that the payload fits into its own size, and that one byte less is refused, with nothing written
 * beyond it. */
static void room_is_heeded(Rig *rig, const Source *source, atomo_tensor *tensor, const float *x, Bytes payload)
{
    atomo_error err;
    size_t size = 0;
    char says[80];
    uint8_t *out = test_malloc(payload.size + 1);
    memset(out, 0xA5, payload.size + 1);
    good(atomo_encode(tensor, 7, x, out, payload.size, &size, &err), &err);
    CHECK_HERE(size == payload.size && !memcmp(out, payload.data, size) && out[size] == 0xA5);
    if (!size)
        return test_free(out);
    memset(out, 0xA5, size);
    snprintf(says, sizeof says, "wants %zu bytes, and has room for %zu", size, size - 1);
    refused(atomo_encode(tensor, 7, x, out, size - 1, &size, &err), ATOMO_USAGE, &err, says);
    CHECK_HERE(size == payload.size && out[size - 1] == 0xA5);
    test_free(out);
}

static void equals_codec(Rig *rig, const Source *source, const float *x)
{
    atomo_codec *codec;
    atomo_tensor *tensor;
    atomo_error err;
    const Shape shape = source_shape(source);
    const atomo_layout layout = layout_of(&shape, 2, 4);
    Message m;
    size_t size;
    if (shape.n > 5000 && spec_now % 3)
        return; /* one spec in three sends the longest vector */
    char *spec = codec_text(rig->codec, forever);
    good(atomo_codec_open(&codec, spec, &err), &err);
    CHECK_HERE(!strcmp(atomo_codec_spec(codec), spec));
    CHECK_HERE(!strcmp(atomo_codec_complete(codec), codec_complete(rig->codec, forever)));
    good(atomo_tensor_open(&tensor, codec, &layout, &err), &err);
    Call call = {.self = rig->codec,
                 .shape = &shape,
                 .rng = rng_open(5, 0, 2, 7, rng_hash("tensor")),
                 .rng_shared = rng_open(5, 0, RNG_EVERYONE, 7, rng_hash("tensor")),
                 .worker = 2,
                 .workers = 1,
                 .threads = 1,
                 .scratch = arena_open(0),
                 .err = &rig->err};
    Buf out = {.cap = codec_message_bound(&call)};
    call.state = codec_keeps_state(rig->codec)
                     ? NEW_ZERO(call.scratch, uint8_t, state_round(codec_state_size(&call)))
                     : NULL;
    out.data = test_malloc(out.cap);
    uint8_t *payload = test_malloc(atomo_encode_bound(tensor));
    float *want = test_malloc(4 * shape.n + 1), *got = test_malloc(4 * shape.n + 1);
    const Status sent = codec_send(&call, x, &out, &m);
    CHECK_HERE((Status)atomo_encode(tensor, 7, x, payload, atomo_encode_bound(tensor), &size, &err) == sent);
    if (sent == OK) {
        CHECK_HERE(is_message(&m, payload, size));
        room_is_heeded(rig, source, tensor, x, (Bytes){payload, size});
        check_ok(codec_receive(&call, &m, want), &rig->err);
        good(atomo_decode(tensor, 7, 2, payload, size, got, &err), &err);
        CHECK_HERE(!memcmp(want, got, 4 * shape.n));
    }
    test_free(out.data);
    test_free(payload);
    test_free(want);
    test_free(got);
    arena_close(call.scratch);
    atomo_tensor_close(tensor);
    atomo_codec_close(codec);
}

TEST(payloads_equal_the_codecs)
{
    for_all(equals_codec, FOURTH_SPECS);
}

/* ---- a step of several workers against a step of training ---- */

enum { P = 4, STEPS = 5 };

static const char *const stepped[] = {
    "none",
    "qsgd:bits=4",
    "terngrad",
    "topk:ratio=0.1",
    "ef+topk:ratio=0.01",
    "ef+topk:ratio=0.1,share=leader",
    "ef:decay=0.999+chunktopk:k=3,transform=dct",
    "sign",
    "randk",
    "intsgd",
    "thc",
    "powersgd:rank=2",
    "cas",
    "dgc",
    "svd",
    "ef+powersgd:rank=1",
    "ef21+topk:ratio=0.1",
    "diana+qsgd",
    "eden",
    "countsketch",
    "induced:with=qsgd+topk",
};

typedef struct {
    atomo_codec *codec;
    atomo_tensor *tensor[P];
    float x[P][N], mean[P][N];
} Party;

static void team_open(Party *t, const char *spec, const Shape *shape)
{
    atomo_error err;
    good(atomo_codec_open(&t->codec, spec, &err), &err);
    for (int w = 0; w < P; w++) {
        const atomo_layout layout = layout_of(shape, w, P);
        good(atomo_tensor_open(&t->tensor[w], t->codec, &layout, &err), &err);
    }
}

static void team_close(Party *t)
{
    for (int w = 0; w < P; w++)
        atomo_tensor_close(t->tensor[w]);
    atomo_codec_close(t->codec);
}

static void team_train(Party *t, int64_t step, int first)
{
    atomo_error err;
    size_t size;
    good(atomo_train(t->tensor[first], step, t->x[first], &err), &err);
    const void *learned = atomo_learned(t->tensor[first], &size);
    for (int w = 0; w < P; w++)
        good(atomo_learn(t->tensor[w], learned, size, &err), &err);
}

/* Runs a step. Worker w sends nothing if bit w of `drops` is set. Returns the number of bytes sent. */
static size_t team_step(Party *t, int64_t step, unsigned drops)
{
    atomo_error err;
    const void *payload[P];
    size_t size[P], total = 0;
    int more = 1, senders = 0, first = P;
    for (int w = P; w-- > 0;)
        if (!(drops >> w & 1)) {
            senders++;
            first = w;
        }
    for (int w = 0; w < P; w++)
        draw(t->x[w], w, step);
    if (atomo_codec_traits(t->codec) & ATOMO_TRAINS)
        team_train(t, step, first);
    for (int w = 0; w < P; w++)
        good(atomo_step_begin(t->tensor[w], step, senders, t->mean[w], &err), &err);
    while (more) {
        for (int w = 0; w < P; w++)
            if (!(drops >> w & 1)) {
                good(atomo_step_send(t->tensor[w], t->x[w], &payload[w], &size[w], &err), &err);
                total += size[w];
            }
        for (int w = 0; w < P; w++) {
            for (int from = 0; from < P; from++)
                if (!(drops >> from & 1))
                    good(atomo_step_take(t->tensor[w], from, payload[from], size[from], &err), &err);
            good(atomo_step_end_round(t->tensor[w], &more, &err), &err);
        }
    }
    for (int w = 0; w < P; w++)
        good(atomo_step_finish(t->tensor[w], t->x[w], &err), &err);
    return total;
}

typedef struct {
    GradientExchange *x;
    GradientTensor tensor;
    const Codec *codec;
    Arena *arena;
    float g[P][N], agreed[N];
} Reference;

static void reference_open(Reference *r, const char *spec, const Shape *shape, Shots shots)
{
    Error err;
    r->arena = arena_open(0);
    r->tensor = (GradientTensor){.name = "tensor", .shape = *shape};
    check_ok(codec_open(&r->codec, spec, r->arena, &err), &err);
    const GradientSpec all = {.codec = r->codec,
                              .senders = average_over_senders(AVERAGE_AUTO, r->codec),
                              .workers = P,
                              .seed = 5,
                              .threads = 1,
                              .tensor = &r->tensor,
                              .tensors = 1,
                              .way = shots ? NET_RING : NET_ALL,
                              .shots = shots};
    check_ok(gradient_open(&r->x, &all, &err), &err);
}

static void reference_step(Reference *r, int64_t step, unsigned drops, GradientBytes *bytes)
{
    Error err;
    float *g[P];
    double weight[P];
    bool sends[P];
    int senders = 0;
    for (int w = 0; w < P; w++)
        senders += sends[w] = !(drops >> w & 1);
    for (int w = 0; w < P; w++) {
        draw(g[w] = r->g[w], w, step);
        weight[w] = 1.0 / senders;
    }
    check_ok(gradient_step(r->x, (size_t)step, g, weight, sends, r->agreed, bytes, &err), &err);
}

/* `gradient_step` keeps all workers in one object; in the public interface every worker has its own object. The
 * estimates and the numbers of bytes must be equal. */
TEST(steps_equal_training)
{
    static const unsigned drops[STEPS] = {0, 0, 1, 0, 6};
    static Party team;
    static Reference reference;
    Shape shape;
    check(shape_make(&shape, 2, (const size_t[]){ROWS, COLS}));
    for (size_t k = 0; k < countof(stepped); k++) {
        team_open(&team, stepped[k], &shape);
        reference_open(&reference, stepped[k], &shape, SHOTS_NONE);
        /* with ef21 and diana, receivers need every worker's payload to update their states, so no worker drops out; those that lead
         * are the first ones, so that only the last may */
        const bool all = atomo_codec_traits(team.codec) & ATOMO_READS_STATE, led = strstr(stepped[k], "leader");
        for (int64_t step = 0; step < STEPS; step++) {
            GradientBytes bytes;
            const unsigned drop = all ? 0 : led && step ? 1u << (P - 1) : drops[step];
            const size_t sent = team_step(&team, step, drop);
            reference_step(&reference, step, drop, &bytes);
            for (int w = 0; w < P; w++)
                if (memcmp(team.mean[w], reference.agreed, sizeof reference.agreed)) {
                    print_error("%s, step %d: worker %d has another mean\n", stepped[k], (int)step, w);
                    check(false);
                }
            int senders = 0;
            for (int w = 0; w < P; w++)
                senders += !(drop >> w & 1);
            check((double)sent == bytes.payload * senders);
        }
        gradient_close(reference.x);
        arena_close(reference.arena);
        team_close(&team);
    }
}

/* ---- two shots ---- */

typedef struct {
    atomo_tensor *tensor[P];
    size_t first, count;
    int owner;
} Shard;

/* Runs a step of a shard; worker w sends nothing if bit w of `drops` is set. */
static void shard_step(Shard *s, Party *t, int64_t step, unsigned drops)
{
    atomo_error err;
    const void *payload[P], *mean;
    size_t size[P], mean_size;
    int senders = 0, more;
    for (int w = 0; w < P; w++)
        senders += !(drops >> w & 1);
    for (int w = 0; w < P; w++) {
        good(atomo_step_begin(s->tensor[w], step, senders, t->mean[w] + s->first, &err), &err);
        if (!(drops >> w & 1))
            good(atomo_step_send(s->tensor[w], t->x[w] + s->first, &payload[w], &size[w], &err), &err);
    }
    for (int w = 0; w < P; w++)
        if (!(drops >> w & 1))
            good(atomo_step_take(s->tensor[s->owner], w, payload[w], size[w], &err), &err);
    check(atomo_step_again(s->tensor[s->owner], &mean, &mean_size, &err) == ATOMO_USAGE);
    good(atomo_step_end_round(s->tensor[s->owner], &more, &err), &err);
    good(atomo_step_again(s->tensor[s->owner], &mean, &mean_size, &err), &err);
    void *copy = memcpy(malloc(mean_size), mean, mean_size); /* the owner's finish ends its memory */
    mean = copy;
    for (int w = 0; w < P; w++) {
        check(atomo_step_finish(s->tensor[w], t->x[w] + s->first, &err) == ATOMO_USAGE);
        check(atomo_step_hear(s->tensor[w], mean, mean_size - 1, &err) == ATOMO_CORRUPT);
        good(atomo_step_hear(s->tensor[w], mean, mean_size, &err), &err);
        good(atomo_step_finish(s->tensor[w], t->x[w] + s->first, &err), &err);
    }
    free(copy);
}

/* A tensor for each shard that is not empty. Returns their number. */
static int shards_open(Shard *s, const Party *t, const Shape *shape)
{
    atomo_error err;
    int count = 0;
    for (int i = 0; i < P; i++) {
        char name[40];
        const size_t first = atomo_shard(t->codec, shape->n, P, i), n = atomo_shard(t->codec, shape->n, P, i + 1) - first;
        if (!n)
            continue;
        s[count] = (Shard){.first = first, .count = n, .owner = i};
        snprintf(name, sizeof name, "tensor[%d]", i);
        for (int w = 0; w < P; w++) {
            atomo_layout layout = layout_of(shape, w, P);
            if (n < shape->n) {
                layout.name = name;
                layout.rank = 1;
                layout.dim = &s[count].count;
            }
            good(atomo_tensor_open(&s[count].tensor[w], t->codec, &layout, &err), &err);
        }
        count++;
    }
    return count;
}

TEST(two_shots_equal_training)
{
    static const char *const shot_specs[] = {"qsgd:bits=4,bucket=32", "topk:ratio=0.1", "ef+topk:ratio=0.05", "eden", "svd", "ef+minmax:bits=2,bucket=64"};
    static const unsigned drops[STEPS] = {0, 0, 1, 0, 6};
    static Party team;
    static Reference reference;
    Shape shape;
    check(shape_make(&shape, 2, (const size_t[]){ROWS, COLS}));
    for (size_t k = 0; k < countof(shot_specs); k++) {
        Shard shard[P];
        atomo_error err;
        good(atomo_codec_open(&team.codec, shot_specs[k], &err), &err);
        const int shards = shards_open(shard, &team, &shape);
        check(k == 1 || k == 2 ? shards == P : shards >= 1 && (k != 4 || shards == 1));
        reference_open(&reference, shot_specs[k], &shape, SHOTS_TWO);
        for (int64_t step = 0; step < STEPS; step++) {
            GradientBytes bytes;
            for (int w = 0; w < P; w++)
                draw(team.x[w], w, step);
            for (int i = 0; i < shards; i++)
                shard_step(&shard[i], &team, step, drops[step]);
            reference_step(&reference, step, drops[step], &bytes);
            for (int w = 0; w < P; w++)
                check(!memcmp(team.mean[w], reference.agreed, sizeof reference.agreed));
        }
        gradient_close(reference.x);
        arena_close(reference.arena);
        for (int i = 0; i < shards; i++)
            for (int w = 0; w < P; w++)
                atomo_tensor_close(shard[i].tensor[w]);
        atomo_codec_close(team.codec);
    }
}

static bool all_have_one_state(const char *spec)
{
    return !strncmp(spec, "powersgd", 8) || !strncmp(spec, "cas", 3);
}

TEST(states_survive)
{
    static Party one, other;
    Shape shape;
    atomo_error err;
    check(shape_make(&shape, 2, (const size_t[]){ROWS, COLS}));
    for (size_t k = 0; k < countof(stepped); k++) {
        team_open(&one, stepped[k], &shape);
        team_open(&other, stepped[k], &shape);
        team_step(&one, 0, 0);
        for (int w = 0; w < P; w++) {
            const size_t size = atomo_state_size(one.tensor[w]);
            uint8_t *saved = test_malloc(size);
            good(atomo_state_save(one.tensor[w], saved, size, &err), &err);
            good(atomo_state_load(other.tensor[w], saved, size, &err), &err);
            saved[size / 2] ^= 1;
            refused(atomo_state_load(other.tensor[w], saved, size, &err), ATOMO_CORRUPT, &err, "state");
            refused(atomo_state_load(other.tensor[w], saved, size - 1, &err), ATOMO_CORRUPT, &err, "state");
            saved[size / 2] ^= 1;
            if (all_have_one_state(stepped[k]))
                good(atomo_state_load(other.tensor[(w + 1) % P], saved, size, &err), &err);
            else
                refused(atomo_state_load(other.tensor[(w + 1) % P], saved, size, &err), ATOMO_USAGE, &err,
                        "the state is that of worker");
            saved[0] ^= 1;
            refused(atomo_state_load(other.tensor[w], saved, size, &err), ATOMO_CORRUPT, &err, "not a state");
            test_free(saved);
        }
        team_step(&one, 1, 0);
        team_step(&other, 1, 0);
        check(!memcmp(one.mean, other.mean, sizeof one.mean));
        team_close(&one);
        team_close(&other);
    }
}

/* For a single worker, atomo_encode, atomo_decode and atomo_advance must together do the same as a step. */
TEST(alone_is_a_step)
{
    static float x[N], mean[N], y[N];
    Shape shape;
    atomo_error err;
    check(shape_make(&shape, 2, (const size_t[]){ROWS, COLS}));
    for (size_t k = 0; k < countof(stepped); k++) {
        atomo_codec *codec;
        atomo_tensor *a, *b;
        const atomo_layout layout = layout_of(&shape, 0, 1);
        good(atomo_codec_open(&codec, stepped[k], &err), &err);
        good(atomo_tensor_open(&a, codec, &layout, &err), &err);
        good(atomo_tensor_open(&b, codec, &layout, &err), &err);
        uint8_t *out = test_malloc(atomo_encode_bound(b));
        for (int64_t step = 0; step < 3 && !(atomo_codec_traits(codec) & ATOMO_TRAINS); step++) {
            const void *payload;
            size_t size;
            int more = 1;
            draw(x, 0, step);
            good(atomo_step_begin(a, step, 1, mean, &err), &err);
            while (more) {
                good(atomo_step_send(a, x, &payload, &size, &err), &err);
                good(atomo_step_take(a, 0, payload, size, &err), &err);
                good(atomo_step_end_round(a, &more, &err), &err);
            }
            good(atomo_step_finish(a, x, &err), &err);
            good(atomo_encode(b, step, x, out, atomo_encode_bound(b), &size, &err), &err);
            good(atomo_decode(b, step, 0, out, size, y, &err), &err);
            good(atomo_advance(b, step, x, out, size, &err), &err);
            for (size_t i = 0; i < N; i++)
                if (fabsf(mean[i] - y[i]) > 1e-5f) {
                    print_error("%s, step %d, element %zu\n", stepped[k], (int)step, i);
                    check(false);
                }
        }
        test_free(out);
        atomo_tensor_close(a);
        atomo_tensor_close(b);
        atomo_codec_close(codec);
    }
}

TEST(merged_payloads_decode_to_the_sum)
{
    static Party team;
    static float sum[N], y[N];
    Shape shape;
    atomo_error err;
    check(shape_make(&shape, 2, (const size_t[]){ROWS, COLS}));
    for (size_t k = 0; k < countof(stepped); k++) {
        /* payloads of cas can be merged only after its tables have been trained, so cas is skipped here */
        if (!strcmp(stepped[k], "cas"))
            continue;
        team_open(&team, stepped[k], &shape);
        void *payload[P];
        size_t size[P], merged_size;
        memset(sum, 0, sizeof sum);
        for (int w = 0; w < P; w++) {
            draw(team.x[w], w, 0);
            payload[w] = test_malloc(atomo_encode_bound(team.tensor[w]));
            good(atomo_encode(team.tensor[w], 0, team.x[w], payload[w], atomo_encode_bound(team.tensor[w]), &size[w],
                              &err),
                 &err);
            good(atomo_decode(team.tensor[0], 0, w, payload[w], size[w], y, &err), &err);
            for (size_t i = 0; i < N; i++)
                sum[i] += y[i];
        }
        uint8_t *merged = test_malloc(atomo_merge_bound(team.tensor[0], P));
        const atomo_status status =
            atomo_merge(team.tensor[0], 0, (const void *const *)payload, size, P, merged,
                        atomo_merge_bound(team.tensor[0], P), &merged_size, &err);
        const unsigned traits = atomo_codec_traits(team.codec);
        if (!(traits & (ATOMO_LINEAR | ATOMO_MERGEABLE)) || atomo_codec_rounds(team.codec) > 1) {
            refused(status, ATOMO_USAGE, &err, "merge");
        } else {
            good(status, &err);
            refused(atomo_merge(team.tensor[0], 0, (const void *const *)payload, size, P, merged,
                                merged_size - 1, &(size_t){0}, &err),
                    ATOMO_USAGE, &err, "has room for");
            uint8_t *grown = test_malloc(merged_size + size[0]); /* the first payload, with room for the merge */
            memcpy(grown, payload[0], size[0]);
            size_t again;
            good(atomo_merge(team.tensor[0], 0, (const void *[]){grown, payload[1], payload[2], payload[3]}, size,
                             P, grown, merged_size, &again, &err),
                 &err);
            check(again == merged_size && !memcmp(grown, merged, again));
            test_free(grown);
            good(atomo_decode(team.tensor[0], 0, 0, merged, merged_size, y, &err), &err);
            for (size_t i = 0; i < N && traits & ATOMO_LINEAR; i++)
                check(fabsf(sum[i] - y[i]) <= 1e-3f * (1 + fabsf(sum[i])));
        }
        for (int w = 0; w < P; w++)
            test_free(payload[w]);
        test_free(merged);
        team_close(&team);
    }
}

/* Payloads are merged by recursive doubling (all-reduce). All workers must end with the same bytes, which
 * must decode to nearly the estimate of an all-gather. */
TEST(payloads_merge_on_their_way)
{
    static Party team, gathered;
    Shape shape;
    atomo_error err;
    check(shape_make(&shape, 2, (const size_t[]){ROWS, COLS}));
    for (size_t k = 0; k < countof(stepped); k++) {
        team_open(&team, stepped[k], &shape);
        team_open(&gathered, stepped[k], &shape);
        const bool adds = atomo_codec_traits(team.codec) & (ATOMO_LINEAR | ATOMO_MERGEABLE);
        for (int64_t step = 0; adds && step < 2; step++) {
            uint8_t *now[P], *next[P];
            size_t size[P], merged[P];
            int more = 1;
            team_step(&gathered, step, 0);
            memcpy(team.x, gathered.x, sizeof team.x);
            if (atomo_codec_traits(team.codec) & ATOMO_TRAINS)
                team_train(&team, step, 0);
            for (int w = 0; w < P; w++) {
                good(atomo_step_begin(team.tensor[w], step, P, team.mean[w], &err), &err);
                now[w] = test_malloc(atomo_merge_bound(team.tensor[w], 2));
                next[w] = test_malloc(atomo_merge_bound(team.tensor[w], 2));
            }
            while (more) {
                for (int w = 0; w < P; w++) {
                    const void *payload;
                    good(atomo_step_send(team.tensor[w], team.x[w], &payload, &size[w], &err), &err);
                    memcpy(now[w], payload, size[w]);
                }
                for (int far = 1; far < P; far *= 2) {
                    for (int w = 0; w < P; w++) {
                        const int low = w & far ? w ^ far : w, high = low ^ far;
                        good(atomo_step_merge(team.tensor[w], (const void *[]){now[low], now[high]},
                                              (size_t[]){size[low], size[high]}, 2, next[w],
                                              atomo_merge_bound(team.tensor[w], 2), &merged[w], &err),
                             &err);
                    }
                    for (int w = 0; w < P; w++)
                        memcpy(now[w], next[w], size[w] = merged[w]);
                }
                for (int w = 0; w < P; w++) {
                    good(atomo_step_take_merged(team.tensor[w], now[w], size[w], &err), &err);
                    good(atomo_step_end_round(team.tensor[w], &more, &err), &err);
                }
            }
            for (int w = 0; w < P; w++) {
                good(atomo_step_finish(team.tensor[w], team.x[w], &err), &err);
                check(!memcmp(team.mean[w], team.mean[0], sizeof team.mean[0]));
                test_free(now[w]);
                test_free(next[w]);
            }
            for (size_t i = 0; i < N; i++)
                if (!(fabsf(team.mean[0][i] - gathered.mean[0][i]) <= 2e-4f)) {
                    print_error("%s, step %d, element %zu\n", stepped[k], (int)step, i);
                    check(false);
                }
        }
        team_close(&team);
        team_close(&gathered);
    }
}

/* ---- wrong calls ---- */

TEST(wrong_calls_are_refused)
{
    static float x[N], y[N];
    atomo_codec *codec = NULL;
    atomo_tensor *t = NULL;
    atomo_error err;
    Shape shape;
    int more;
    size_t size;
    const void *payload;
    check(shape_make(&shape, 2, (const size_t[]){ROWS, COLS}));
    refused(atomo_codec_open(&codec, "qsdg", &err), ATOMO_USAGE, &err, "qsgd");
    check(!codec && atomo_codec_open(&codec, "qsdg", NULL) == ATOMO_USAGE);
    good(atomo_codec_open(&codec, "qsgd", &err), &err);
    atomo_layout l = layout_of(&shape, 4, 4);
    refused(atomo_tensor_open(&t, codec, &l, &err), ATOMO_USAGE, &err, "worker=4");
    l = layout_of(&shape, 0, 0);
    refused(atomo_tensor_open(&t, codec, &l, &err), ATOMO_USAGE, &err, "workers=0");
    l = layout_of(&shape, 0, 2);
    l.rank = 9;
    refused(atomo_tensor_open(&t, codec, &l, &err), ATOMO_USAGE, &err, "rank 9");
    l = layout_of(&shape, 0, 2);
    l.name = NULL;
    refused(atomo_tensor_open(&t, codec, &l, &err), ATOMO_USAGE, &err, "name");
    check(!t);
    l.name = "fc";
    good(atomo_tensor_open(&t, codec, &l, &err), &err);
    uint8_t *out = test_malloc(atomo_encode_bound(t));
    refused(atomo_step_send(t, x, &payload, &size, &err), ATOMO_USAGE, &err, "atomo_step_begin");
    refused(atomo_step_take(t, 0, out, 1, &err), ATOMO_USAGE, &err, "atomo_step_begin");
    refused(atomo_step_finish(t, x, &err), ATOMO_USAGE, &err, "atomo_step_end_round");
    refused(atomo_step_begin(t, 0, 3, y, &err), ATOMO_USAGE, &err, "senders=3");
    good(atomo_step_begin(t, 0, 2, y, &err), &err);
    refused(atomo_step_end_round(t, &more, &err), ATOMO_USAGE, &err, "0 of 2");
    good(atomo_step_send(t, x, &payload, &size, &err), &err);
    good(atomo_step_take(t, 0, payload, size, &err), &err);
    refused(atomo_step_take(t, 0, payload, size, &err), ATOMO_USAGE, &err, "already");
    refused(atomo_step_take(t, 2, payload, size, &err), ATOMO_USAGE, &err, "worker=2");
    refused(atomo_step_finish(t, x, &err), ATOMO_USAGE, &err, "atomo_step_end_round");
    refused(atomo_decode(t, 0, 0, payload, size - 1, y, &err), ATOMO_CORRUPT, &err, "fc");
    refused(atomo_decode(t, 0, 0, NULL, 0, y, &err), ATOMO_CORRUPT, &err, "fc");
    refused(atomo_learn(t, out, 3, &err), ATOMO_CORRUPT, &err, "want 0");
    x[7] = NAN;
    refused(atomo_encode(t, 0, x, out, atomo_encode_bound(t), &size, &err), ATOMO_NUMERIC, &err, "fc: element 7");
    refused(atomo_step_send(t, x, &payload, &size, &err), ATOMO_NUMERIC, &err, "fc: element 7");
    test_free(out);
    atomo_tensor_close(t);
    atomo_codec_close(codec);
    atomo_tensor_close(NULL);
    atomo_codec_close(NULL);
}

TEST(compressors_are_listed)
{
    size_t count = 0;
    const char *brief;
    for (const char *name; (name = atomo_compressor(count, &brief)); count++)
        check(!strcmp(name, compressor_number(count)->name) && *brief);
    check(!compressor_number(count) && !atomo_compressor(count + 5, NULL));
    for (size_t i = 0; i < count; i++) {
        size_t keys = 0;
        for (atomo_key k; atomo_compressor_key(i, keys, &k); keys++)
            check(!strcmp(k.key, compressor_number(i)->params[keys].key) && *k.type && *k.range && *k.meaning);
        check(!compressor_number(i)->params || !compressor_number(i)->params[keys].key);
    }
    atomo_key none;
    check(!atomo_compressor_key(count, 0, &none) && !atomo_compressor_key(count + 5, 0, &none));
    check(atomo_interface() == ATOMO_INTERFACE && *atomo_version());
}

/* ---- threads ---- */

typedef struct {
    const char *spec;
    bool same;
} Lane;

static void *run_lane(void *data)
{
    Lane *lane = data;
    static const size_t dim[] = {ROWS, COLS};
    float *x = test_malloc(sizeof(float[N])), *y = test_malloc(sizeof(float[N]));
    atomo_codec *codec;
    atomo_tensor *t;
    size_t size;
    uint64_t first = 0;
    lane->same = true;
    draw(x, 1, 1);
    for (int turn = 0; turn < 8; turn++) {
        const atomo_layout l = {.name = "t", .rank = 2, .dim = dim, .seed = 1, .workers = 1, .threads = 2};
        lane->same &= atomo_codec_open(&codec, lane->spec, NULL) == ATOMO_OK;
        lane->same &= atomo_tensor_open(&t, codec, &l, NULL) == ATOMO_OK;
        uint8_t *out = malloc(atomo_encode_bound(t));
        lane->same &= atomo_encode(t, 1, x, out, atomo_encode_bound(t), &size, NULL) == ATOMO_OK;
        lane->same &= atomo_decode(t, 1, 0, out, size, y, NULL) == ATOMO_OK;
        uint64_t hash = size;
        for (size_t i = 0; i < size; i++)
            hash = (hash ^ out[i]) * UINT64_C(1099511628211);
        lane->same &= turn == 0 || hash == first;
        first = turn == 0 ? hash : first;
        free(out);
        atomo_tensor_close(t);
        atomo_codec_close(codec);
    }
    test_free(x);
    test_free(y);
    return NULL;
}

TEST(threads_do_not_meet)
{
    static const char *const lanes[] = {"qsgd",     "svd",       "fourier", "ef+topk:ratio=0.01",
                                        "powersgd", "zstd+qsgd", "dct"};
    Lane lane[countof(lanes)];
    pthread_t thread[countof(lanes)];
    for (size_t i = 0; i < countof(lanes); i++) {
        lane[i].spec = lanes[i];
        check(!pthread_create(&thread[i], NULL, run_lane, &lane[i]));
    }
    for (size_t i = 0; i < countof(lanes); i++) {
        check(!pthread_join(thread[i], NULL));
        check(lane[i].same);
    }
}

CHECK_ALL(collect_specs, drop_specs)
