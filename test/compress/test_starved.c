/* test_starved.c -- every codec with too little scratch memory: each call ends with ERR_MEMORY and gives back what it
 * has taken, and as soon as memory suffices the result is that of a call with plenty. */
#include "rig/every_codec.h"
#include "rig/starve.h"

enum { ROWS = 40, COLUMNS = 25, ELEMENTS = ROWS * COLUMNS };

typedef struct {
    Rig *rig;
    const float *x;
    Bytes sent;           /* the last round's payload, sent with plenty of memory */
    const float *decoded; /* its estimate */
    Bytes sum;            /* the payload merged with itself; empty: not for this codec */
    uint8_t *untrained, *state,
        *next; /* the state before codec_train, of this step, and after codec_settle */
    size_t state_size;
    bool cold; /* the first step, for which callers may leave Call.state out */
} Plenty;

typedef Status Work(const Plenty *p, Call *call);

static Status send(const Plenty *p, Call *call)
{
    Rig *rig = p->rig;
    Message message;
    rig->payload.size = 0;
    TRY(codec_send(call, p->x, &rig->payload, &message));
    const Bytes last = message.round[message.rounds - 1];
    check(last.size == p->sent.size && !memcmp(last.data, p->sent.data, last.size));
    return OK;
}

static Status receive(const Plenty *p, Call *call)
{
    Rig *rig = p->rig;
    TRY(codec_receive(call, &rig->message, rig->decoded));
    check(!memcmp(rig->decoded, p->decoded, ELEMENTS * sizeof *p->decoded));
    return OK;
}

static uint8_t *copy_state(const Plenty *p, const uint8_t *state)
{
    uint8_t *copy = NEW(p->rig->forever, uint8_t, p->state_size);
    return memcpy(copy, state, p->state_size);
}

static Status train(const Plenty *p, Call *call)
{
    uint8_t *state = copy_state(p, p->untrained);
    call->state = state;
    TRY(codec_train(call, p->x, state));
    check(!memcmp(state, p->state, p->state_size));
    return OK;
}

static Status settle(const Plenty *p, Call *call)
{
    uint8_t *state = copy_state(p, p->state);
    call->state = p->cold ? NULL : state;
    TRY(codec_settle(call, p->x, p->rig->message.round, p->decoded, state));
    check(!memcmp(state, p->next, p->state_size));
    return OK;
}

/* Codecs of several rounds are left out: their last merge needs those of the earlier rounds. */
static bool merges(const Codec *codec)
{
    return codec_adds(codec) && codec_rounds(codec) == 1;
}

static Status merge(const Plenty *p, Call *call)
{
    const Bytes in[] = {p->sent, p->sent};
    Buf out = {NEW(p->rig->forever, uint8_t, 8 * ELEMENTS + 4096), 0, 8 * ELEMENTS + 4096};
    if (!merges(call->self))
        return OK;
    TRY(codec_merge(call, in, 2, &out));
    check(out.size == p->sum.size && !memcmp(out.data, p->sum.data, out.size));
    return OK;
}

/* Calls `work` with more and more scratch memory, until it succeeds; returns the number of calls that failed. */
static size_t starve_work(const Plenty *p, Work *work)
{
    for (size_t limit = STARVE_FIRST, failures = 0;; failures++) {
        Call call = p->rig->call;
        Error err = {0};
        call.scratch = arena_open(limit);
        call.err = &err;
        const Status status = work(p, &call);
        check(arena_used(call.scratch) == 0);
        if (status != OK)
            limit =
                starve_more(codec_text(p->rig->codec, forever), limit, call.scratch, status, &err, SIZE_MAX);
        arena_close(call.scratch);
        if (status == OK)
            return failures;
    }
}

/* Runs a step with plenty of memory, on the state `untrained`. */
static void prepare(Plenty *p, uint8_t *untrained)
{
    Rig *rig = p->rig;
    p->untrained = untrained;
    p->state = copy_state(p, untrained);
    if (p->state_size)
        check_ok(codec_train(&rig->call, p->x, p->state), &rig->err);
    rig->call.state = p->state_size && !p->cold ? p->state : NULL;
    check_ok(rig_encode(rig, p->x, 0), &rig->err);
    check_ok(rig_decode(rig), &rig->err);
    const Bytes last = rig->message.round[rig->message.rounds - 1];
    uint8_t *sent = NEW(rig->forever, uint8_t, rig->payload.cap);
    float *decoded = NEW(rig->forever, float, ELEMENTS);
    memcpy(sent, rig->payload.data, rig->payload.size);
    for (int r = 0; r < rig->message.rounds; r++) /* `send` writes to rig->payload again */
        rig->message.round[r].data = sent + (rig->message.round[r].data - rig->payload.data);
    p->sent = (Bytes){sent + (last.data - rig->payload.data), last.size};
    p->decoded = memcpy(decoded, rig->decoded, ELEMENTS * sizeof *decoded);
    if (merges(rig->codec)) {
        Buf out = {NEW(rig->forever, uint8_t, 8 * ELEMENTS + 4096), 0, 8 * ELEMENTS + 4096};
        check_ok(codec_merge(&rig->call, (const Bytes[]){p->sent, p->sent}, 2, &out), &rig->err);
        p->sum = buf_bytes(&out);
    }
    p->next = copy_state(p, p->state);
    Call call = rig->call;
    call.state = p->cold ? NULL : p->next;
    if (p->state_size)
        check_ok(codec_settle(&call, p->x, rig->message.round, decoded, p->next), &rig->err);
}

static size_t starve_step(const Plenty *p)
{
    const size_t failures = starve_work(p, send) + starve_work(p, receive) + starve_work(p, merge);
    return p->state_size ? failures + starve_work(p, train) + starve_work(p, settle) : failures;
}

TEST(every_codec_reports_that_memory_is_short)
{
    size_t failures = 0;
    float *x = NEW(forever, float, ELEMENTS);
    for (size_t i = 0; i < ELEMENTS; i++)
        x[i] = i % 7 == 3 ? 0 : (float)((int)(rng_mix((uint32_t)i, 5) % 2001) - 1000) * 1e-3f;
    for (size_t k = 0; k < spec_count; k++) {
        Rig rig;
        Shape shape;
        check(shape_make(&shape, 2, (const size_t[]){ROWS, COLUMNS}));
        rig_open(&rig, specs[k], shape);
        Plenty p = {.rig = &rig, .x = x, .state_size = codec_state_size(&rig.call)};
        p.cold = !codec_trains(rig.codec);
        prepare(&p, NEW_ZERO(rig.forever, uint8_t, p.state_size));
        failures += starve_step(&p);
        if (p.state_size) {
            p.cold = false;
            prepare(&p, p.next);
            failures += starve_step(&p);
        }
        rig_close(&rig);
    }
    print_message("%zu calls without enough memory\n", failures);
    check(failures > spec_count);
}

CHECK_ALL(collect_specs, drop_specs)
