/* test_calls.c -- calls of atomo.h in random order, with right and wrong arguments, on all codecs. Every call returns
 * ATOMO_OK or an error. Payloads are overwritten after each call. Whenever atomo_step_finish returns ATOMO_OK, each
 * round has taken the payloads of as many workers as the step has senders, and a new tensor that gets the same
 * payloads, and none of the other calls, has the same mean and the same state.
 *
 * Tensors that the caller has wrongly promised to be finite harm nothing either: only their payloads are undefined.
 *
 * CALLS=number sets how many calls each codec gets, SEED=number another order. */
#include "rig/library_rig.h"

#include "base/bytes.h"

enum { PARTY = 3, HIGH = 6, WIDE = 5, FEW = HIGH * WIDE, ROUNDS = 8, LOG = 64 };

typedef struct {
    uint8_t *data;
    size_t size;
} Text;

enum { SEND, TAKE, TAKE_MERGED, END_ROUND };

/* A call that the step in progress needs again when it is replayed. */
typedef struct {
    int what; /* SEND, TAKE, TAKE_MERGED or END_ROUND */
    int worker;
    Text payload;
} Entry;

typedef struct {
    const char *spec;
    atomo_codec *codec;
    atomo_tensor *t;
    Rng rng;
    uint64_t at; /* number of the next random word */
    float x[FEW], bad[FEW], mean[FEW];
    Text donor[PARTY][ROUNDS]; /* payloads of this step, each made by a worker alone */
    Text sent, start;          /* of this round; the state before the step */
    int rounds, round, senders, taken;
    bool begun, took[PARTY];
    unsigned party; /* bits of the workers that an earlier round has taken one by one; 0: none has */
    int64_t step;
    Entry entry[LOG];
    int entries;
    int finished;
} World;

static uint32_t roll(World *w, uint32_t sides)
{
    return rng_u32(&w->rng, USE_TEST, w->at++) % sides;
}

static Text copy_of(const void *data, size_t size)
{
    Text t = {malloc(size + !size), size};
    check(t.data);
    if (size)
        memcpy(t.data, data, size);
    return t;
}

static void drop(Text *t)
{
    free(t->data);
    *t = (Text){0};
}

/* ---- tensors ---- */

static atomo_tensor *new_tensor(const World *w, int worker)
{
    static const size_t dim[] = {HIGH, WIDE};
    const atomo_layout l = {
        .name = "w", .rank = 2, .dim = dim, .seed = 3, .worker = worker, .workers = PARTY, .threads = 1};
    atomo_tensor *t;
    atomo_error err;
    good(atomo_tensor_open(&t, w->codec, &l, &err), &err);
    return t;
}

static Text state_of(atomo_tensor *t)
{
    Text s = {NULL, atomo_state_size(t)};
    s.data = malloc(s.size);
    if (atomo_state_save(t, s.data, s.size, NULL) != ATOMO_OK)
        drop(&s); /* a failed step has lost the state */
    return s;
}

/* Makes payloads of all workers for the step. A codec that must be trained first has none. */
static void draw_donors(World *w)
{
    float x[FEW];
    for (int v = 0; v < PARTY; v++) {
        atomo_tensor *t = new_tensor(w, v);
        Text all = {malloc(atomo_encode_bound(t)), 0};
        for (size_t i = 0; i < FEW; i++)
            x[i] = (float)rng_normal(&w->rng, USE_TEST, w->at++);
        const bool made = atomo_encode(t, w->step, x, all.data, atomo_encode_bound(t), &all.size, NULL) == ATOMO_OK;
        Reader r = reader_open((Bytes){all.data, all.size});
        for (int i = 0; i < w->rounds; i++) {
            const size_t size = i + 1 < w->rounds ? (size_t)take_varint(&r) : reader_left(&r);
            drop(&w->donor[v][i]);
            w->donor[v][i] = copy_of(take_bytes(&r, size), made ? size : 0);
        }
        drop(&all);
        atomo_tensor_close(t);
    }
}

/* ---- the model of a step ---- */

static void forget_step(World *w)
{
    for (int i = 0; i < w->entries; i++)
        drop(&w->entry[i].payload);
    drop(&w->sent);
    w->entries = w->round = w->taken = 0;
    w->party = 0;
    w->begun = false;
    memset(w->took, 0, sizeof w->took);
}

static void note(World *w, int what, int worker, const void *data, size_t size)
{
    check(w->entries < LOG);
    w->entry[w->entries++] = (Entry){.what = what, .worker = worker, .payload = copy_of(data, size)};
}

/* Runs the step again on a new tensor, with only the calls that were not refused. */
static void replay(World *w)
{
    float mean[FEW];
    const void *payload;
    size_t size;
    int more = 0;
    atomo_error err;
    atomo_tensor *t = new_tensor(w, 0);
    good(atomo_state_load(t, w->start.data, w->start.size, &err), &err);
    good(atomo_step_begin(t, w->step, w->senders, mean, &err), &err);
    for (int i = 0; i < w->entries; i++) {
        const Entry *e = &w->entry[i];
        if (e->what == SEND) {
            good(atomo_step_send(t, w->x, &payload, &size, &err), &err);
            check(size == e->payload.size && !memcmp(payload, e->payload.data, size));
        } else if (e->what == TAKE)
            good(atomo_step_take(t, e->worker, e->payload.data, e->payload.size, &err), &err);
        else if (e->what == TAKE_MERGED)
            good(atomo_step_take_merged(t, e->payload.data, e->payload.size, &err), &err);
        else
            good(atomo_step_end_round(t, &more, &err), &err);
    }
    good(atomo_step_finish(t, w->x, &err), &err);
    check(!memcmp(mean, w->mean, sizeof mean));
    Text a = state_of(t), b = state_of(w->t);
    check(a.size == b.size && !memcmp(a.data, b.data, a.size));
    drop(&a);
    drop(&b);
    atomo_tensor_close(t);
}

/* ---- calls ---- */

static void begin(World *w, int senders, float *mean)
{
    Text now = state_of(w->t);
    const atomo_status status = atomo_step_begin(w->t, w->step + 1, senders, mean, NULL);
    check((status == ATOMO_OK) == (mean && senders >= 1 && senders <= PARTY && now.data));
    if (status != ATOMO_OK)
        return drop(&now);
    forget_step(w);
    drop(&w->start);
    w->start = now;
    w->step++;
    w->senders = senders;
    w->begun = true;
    draw_donors(w);
    for (size_t i = 0; i < FEW; i++)
        w->x[i] = (float)rng_normal(&w->rng, USE_TEST, w->at++);
}

static void send(World *w, const float *x)
{
    const void *payload;
    size_t size;
    if (atomo_step_send(w->t, x, &payload, &size, NULL) != ATOMO_OK)
        return;
    check(x == w->x && w->begun && !w->sent.data);
    w->sent = copy_of(payload, size);
    note(w, SEND, 0, payload, size);
}

/* Passes a copy, and overwrites and frees it after the call. */
static void take(World *w, int worker, const Text *payload)
{
    Text lent = copy_of(payload->data, payload->size);
    const bool null = !payload->data || roll(w, 16) == 0;
    const atomo_status status = atomo_step_take(w->t, worker, null ? NULL : lent.data, lent.size, NULL);
    if (status == ATOMO_OK) {
        check(w->begun && worker >= 0 && worker < PARTY && !w->took[worker] && w->taken < w->senders);
        w->took[worker] = true;
        w->taken++;
        note(w, TAKE, worker, lent.data, lent.size);
    }
    memset(lent.data, 0xA5, lent.size);
    drop(&lent);
}

static void merge(World *w)
{
    const void *part[PARTY];
    size_t size[PARTY], merged = 0;
    const size_t count = roll(w, PARTY + 1), most = atomo_merge_bound(w->t, count), room = roll(w, 3) ? most : roll(w, 40);
    for (size_t i = 0; i < PARTY; i++) {
        const Text *d = &w->donor[i][w->round % w->rounds];
        part[i] = d->data;
        size[i] = d->size;
    }
    Text out = {malloc(room + !room), room};
    const bool outside = roll(w, 4) == 0;
    const atomo_status status = outside ? atomo_merge(w->t, w->step, part, size, count, out.data, room, &merged, NULL)
                                        : atomo_step_merge(w->t, part, size, count, out.data, room, &merged, NULL);
    if (status == ATOMO_OK && !outside) {
        check(count && merged <= room);
        if (atomo_step_take_merged(w->t, out.data, merged, NULL) == ATOMO_OK) {
            check(w->begun && !w->taken);
            w->taken = w->senders;
            note(w, TAKE_MERGED, 0, out.data, merged);
        }
    }
    memset(out.data, 0xA5, room);
    drop(&out);
}

static void end_round(World *w)
{
    int more = 0;
    const bool complete = w->begun && w->taken == w->senders;
    const atomo_status status = atomo_step_end_round(w->t, &more, NULL);
    check(status != ATOMO_OK || complete);
    if (status == ATOMO_OK) {
        unsigned party = 0;
        for (int v = 0; v < PARTY; v++)
            party |= (unsigned)w->took[v] << v;
        /* the same workers in all rounds, this one among them if it has sent */
        check(!party || ((!w->party || party == w->party) && (!w->sent.data || party & 1)));
        w->party |= party;
        note(w, END_ROUND, 0, NULL, 0);
        w->round++;
        w->taken = 0;
        memset(w->took, 0, sizeof w->took);
        drop(&w->sent);
        check((w->round < w->rounds) == more);
    } else if (status != ATOMO_USAGE) {
        forget_step(w);
    }
}

static void finish(World *w, const float *x)
{
    const atomo_status status = atomo_step_finish(w->t, x, NULL);
    if (status == ATOMO_OK) {
        check(w->begun && w->round == w->rounds);
        if (x == w->x)
            replay(w);
        w->finished++;
    }
    if (status != ATOMO_USAGE)
        forget_step(w);
}

static void damage(World *w, Text *t)
{
    if (!t->size)
        return;
    if (roll(w, 2))
        t->size = roll(w, (uint32_t)t->size);
    else
        t->data[roll(w, (uint32_t)t->size)] ^= (uint8_t)(1 + roll(w, 255));
}

static void take_anything(World *w)
{
    const Text *from = &w->donor[roll(w, PARTY)][roll(w, (uint32_t)w->rounds)];
    Text t = copy_of(from->data, from->size);
    if (roll(w, 2))
        damage(w, &t);
    take(w, (int)roll(w, PARTY + 2) - 1, &t);
    drop(&t);
}

/* Calls that no step has to do with, or that discard it. */
static void call_aside(World *w)
{
    float y[FEW];
    const size_t bound = atomo_encode_bound(w->t), room = roll(w, 2) ? bound : roll(w, (uint32_t)bound + 1);
    Text out = {malloc(room + !room), room};
    size_t size = 0;
    const float *x = roll(w, 8) ? w->x : w->bad;
    atomo_status status = atomo_encode(w->t, w->step, x, out.data, room, &size, NULL);
    check(status != ATOMO_OK || (x == w->x && size <= room));
    out.size = status == ATOMO_OK ? size : 0;
    if (roll(w, 2))
        damage(w, &out);
    (void)atomo_decode(w->t, w->step, (int)roll(w, PARTY + 2) - 1, out.data, out.size, roll(w, 16) ? y : NULL, NULL);
    status = atomo_advance(w->t, w->step, w->x, out.data, out.size, NULL);
    check(!w->begun || status != ATOMO_OK || !(atomo_codec_traits(w->codec) & ATOMO_STATEFUL));
    drop(&out);
}

static void call_state(World *w)
{
    Text s = state_of(w->t);
    if (s.data && roll(w, 3) == 0)
        damage(w, &s);
    if (atomo_state_load(w->t, s.data, s.size, NULL) == ATOMO_OK) {
        forget_step(w);
        drop(&w->start);
        w->start = state_of(w->t);
    }
    drop(&s);
}

static void call_training(World *w)
{
    size_t size;
    if (atomo_train(w->t, w->step, roll(w, 4) ? w->x : w->bad, NULL) == ATOMO_OK)
        forget_step(w);
    const void *learned = atomo_learned(w->t, &size);
    Text t = copy_of(learned, size);
    if (roll(w, 2))
        damage(w, &t);
    if (atomo_learn(w->t, t.data, t.size, NULL) == ATOMO_OK)
        forget_step(w);
    drop(&t);
}

static void reopen(World *w)
{
    atomo_tensor_close(w->t);
    w->t = new_tensor(w, 0);
    forget_step(w);
    drop(&w->start);
    w->start = state_of(w->t);
}

static void call_randomly(World *w)
{
    switch (roll(w, 12)) {
    case 0:
        return begin(w, (int)roll(w, PARTY + 3) - 1, roll(w, 8) ? w->mean : NULL);
    case 1:
        return send(w, (const float *const[]){w->x, w->bad, w->mean, NULL}[roll(w, 4)]);
    case 2:
        return finish(w, (const float *const[]){w->x, w->bad, NULL}[roll(w, 3)]);
    case 3:
        return end_round(w);
    case 4:
        return merge(w);
    case 5:
        return call_state(w);
    case 6:
        return roll(w, 4) ? call_aside(w) : reopen(w);
    case 7:
        return call_training(w);
    case 8:
        return call_aside(w);
    default:
        return take_anything(w);
    }
}

/* The call that brings the step on. */
static void call_next(World *w)
{
    if (!w->begun)
        return begin(w, 1 + (int)roll(w, PARTY), w->mean);
    if (w->round == w->rounds)
        return finish(w, w->x);
    if (w->taken == w->senders)
        return end_round(w);
    if (!w->sent.data && !w->took[0] && roll(w, 2))
        return send(w, w->x);
    for (int v = 0; v < PARTY; v++)
        if (!w->took[v])
            return take(w, v, v == 0 && w->sent.data ? &w->sent : &w->donor[v][w->round]);
}

/* Returns the number of steps that were finished. */
static int run(const char *spec, uint64_t seed, int calls)
{
    static World w;
    atomo_error err;
    w = (World){.spec = spec, .rng = rng_open(seed, 0, 0, 0, rng_hash(spec))};
    good(atomo_codec_open(&w.codec, spec, &err), &err);
    w.rounds = atomo_codec_rounds(w.codec);
    w.t = new_tensor(&w, 0);
    w.start = state_of(w.t);
    for (size_t i = 0; i < FEW; i++) {
        w.x[i] = (float)i;
        w.bad[i] = (float)(i == 7 ? NAN : 1);
    }
    for (int i = 0; i < calls; i++)
        if (roll(&w, 3))
            call_next(&w);
        else
            call_randomly(&w);
    forget_step(&w);
    drop(&w.start);
    for (int v = 0; v < PARTY; v++)
        for (int i = 0; i < w.rounds; i++)
            drop(&w.donor[v][i]);
    atomo_tensor_close(w.t);
    atomo_codec_close(w.codec);
    return w.finished;
}

static uint64_t number(const char *name, uint64_t otherwise)
{
    const char *value = getenv(name);
    return value ? strtoull(value, NULL, 10) : otherwise;
}

TEST(calls_in_any_order_are_safe)
{
    const uint64_t seed = number("SEED", 1), calls = number("CALLS", 400);
    int finished = 0, specs = 0;
    for (size_t i = 0; library_spec(i); i++)
        if (*library_spec(i)) {
            finished += run(library_spec(i), seed, (int)calls);
            specs++;
        }
    print_message("%d steps of %d codecs finished\n", finished, specs);
    check(finished > specs);
}

/* ---- tensors that are not finite, unchecked ---- */

/* Fills x with normal numbers, and with wrong ones at places of one kind. */
static void spoil(float *x, size_t n, int kind, int place)
{
    static const float wrong[] = {NAN, INFINITY, -INFINITY, 3.4e38f, -3.4e38f};
    const Rng rng = rng_open(9, 0, 0, 0, 0);
    rng_normals(&rng, USE_TEST, 0, n, 1, x);
    for (size_t i = 0; i < n; i++) {
        const bool here[] = {true, i == 0, i + 1 == n, i % 7 == 3, i == n / 2, i >= n / 2};
        if (here[place])
            x[i] = wrong[(size_t)kind < countof(wrong) ? (size_t)kind : i % countof(wrong)];
    }
}

static void pass_through(atomo_tensor *t, const atomo_codec *codec, int64_t step, const float *x, float *y)
{
    const size_t room = atomo_encode_bound(t);
    uint8_t *out = malloc(room);
    const void *payload;
    size_t size;
    int more = 1;
    if (atomo_codec_traits(codec) & ATOMO_TRAINS)
        (void)atomo_train(t, step, x, NULL);
    if (atomo_encode(t, step, x, out, room, &size, NULL) == ATOMO_OK &&
        atomo_decode(t, step, 0, out, size, y, NULL) == ATOMO_OK)
        (void)atomo_advance(t, step, x, out, size, NULL);
    free(out);
    (void)atomo_step_begin(t, step, 1, y, NULL);
    while (more && atomo_step_send(t, x, &payload, &size, NULL) == ATOMO_OK &&
           atomo_step_take(t, 0, payload, size, NULL) == ATOMO_OK)
        if (atomo_step_end_round(t, &more, NULL) != ATOMO_OK)
            return;
    (void)atomo_step_finish(t, x, NULL);
}

TEST(unchecked_tensors_are_safe)
{
    enum { LONGEST = 1100 };
    static const size_t sizes[] = {1, 40, LONGEST};
    static float x[LONGEST], y[LONGEST];
    for (size_t i = 0; library_spec(i); i++)
        for (size_t k = 0; k < countof(sizes) && *library_spec(i); k++) {
            const size_t dim[] = {sizes[k] / (k ? 20 : 1), k ? 20 : 1};
            const atomo_layout l = {
                .name = "w", .rank = 2, .dim = dim, .seed = 3, .workers = 1, .threads = 1, .unchecked = 1};
            atomo_codec *codec;
            atomo_error err;
            good(atomo_codec_open(&codec, library_spec(i), &err), &err);
            for (int kind = 0; kind < 6; kind++)
                for (int place = 0; place < 6; place++) {
                    atomo_tensor *t;
                    good(atomo_tensor_open(&t, codec, &l, &err), &err);
                    spoil(x, sizes[k], kind, place);
                    for (int64_t step = 0; step < 2; step++)
                        pass_through(t, codec, step, x, y);
                    atomo_tensor_close(t);
                }
            atomo_codec_close(codec);
        }
}

CHECK_ALL(NULL, NULL)
