/* compare_size.c -- computes the expected bits per element of a codec's payloads, and the rate that gives a wanted
 * number of bits.
 *
 * The payloads are those of compare.c, byte for byte, and so is the result: the metric bits_per_element_expected. Times
 * and errors are not measured. Only codecs with a state are decoded, in repeat 0 only, because the next state follows
 * from the estimate. */
#include "measure/compare_parts.h"

#include "compress/rate.h"
#include "compress/spec.h"

#include <string.h>

struct Sizer {
    const Comparison *c;
    Layout layout;
    float *x, *y;
    const Codec *none;
    CodecStates states; /* states of the current codec and worker */
    CellPlan plan;
    Arena *payloads, *scratch;
};

Status sizer_open(Sizer **out, const Comparison *c, Arena *a, Error *err)
{
    Sizer *s = *out = NEW_ZERO(a, Sizer, 1);
    TRY(arena_check(s, a, err));
    *s = (Sizer){.c = c,
                 .x = NEW(a, float, c->vectors->largest),
                 .y = arena_take(a, 1, lendable(c->vectors->largest)),
                 .payloads = arena_open(0),
                 .scratch = arena_open(0)};
    TRY(arena_check(s->x && s->y, a, err));
    TRY(codec_open(&s->none, "none", a, err));
    return layout_make(&s->layout, c, 0, a, err);
}

void sizer_close(Sizer *s)
{
    if (!s)
        return;
    codec_states_forget(&s->states);
    arena_close(s->payloads);
    arena_close(s->scratch);
}

/* ---- the payload size of one vector ---- */

/* Encodes all repeats from the same state. Repeat 0 comes last, because its payload gives the next state. The bytes that
 * a repeat's random draw adds to the mean payload (Streams.excess) do not count. */
static Status send_repeats(Sizer *s, Call *call, const Vector *v, void *state, size_t repeats, double *bytes)
{
    Message message;
    Buf payload = {.cap = codec_message_bound(call)};
    payload.data = NEW(s->payloads, uint8_t, payload.cap);
    TRY(arena_check(payload.data, s->payloads, call->err));
    *bytes = 0;
    if (state)
        TRY(codec_train(call, s->x, state)); /* with the random numbers of repeat 0 */
    for (size_t r = repeats; r-- > 0;) {
        if (comparison_stopped(s->c))
            return FAIL(call->err, ERR_STOPPED, "stopped");
        Streams streams = {0};
        trial_address(call, s->c, v, r);
        payload.size = 0;
        call->streams = &streams;
        /* y is needed only for decoding, so the codec gets its memory as scratch */
        arena_lend(s->scratch, s->y, lendable(v->shape.n));
        const Status status = codec_send(call, s->x, &payload, &message);
        arena_unlend(s->scratch);
        call->streams = NULL;
        TRY(status);
        *bytes += ((double)payload.size - streams.excess / 8) / (double)repeats;
    }
    if (!state)
        return OK;
    TRY(codec_receive(call, &message, s->y));
    return codec_settle(call, s->x, message.round, s->y, state);
}

typedef struct {
    double bytes, elements;
} Size;

/* Adds a vector's payload bytes and elements to the total. A vector on which the codec or its plan fails is
 * left out. Returns an error only if loading fails, memory runs out or the user stops the run. */
static Status add_vector(Sizer *s, const Codec *codec, size_t i, size_t repeats, Size *total, Error *err)
{
    const Vector *v = &s->c->vectors->item[i];
    const Codec *own = v->raw ? s->none : codec;
    const ArenaMark payloads = arena_mark(s->payloads), scratch = arena_mark(s->scratch);
    void *state;
    double bytes = 0;
    Error why;
    TRY(s->c->load(s->c->data, v, s->x, err));
    Call call = trial_call(s->c, own, v, NULL, s->scratch, err);
    TRY(codec_states_find(&s->states, &call, v->worker_address, v->name, &state));
    call.state = state;
    call.err = &why;
    call.plan = plan_take(&s->plan, v);
    const Status status =
        call.plan && s->plan.failed
            ? (why = *s->plan.why).status
            : send_repeats(s, &call, v, state, codec_traits(own) & RANDOM ? repeats : 1, &bytes);
    arena_rewind(s->payloads, payloads);
    arena_rewind(s->scratch, scratch);
    const bool ends = status == ERR_STOPPED || status == ERR_MEMORY;
    if (ends)
        *err = why;
    if (status == OK)
        *total = (Size){total->bytes + bytes, total->elements + (double)v->shape.n};
    return ends ? status : OK;
}

/* ---- the payload size of all vectors ---- */

static Status add_cell(Sizer *s, const Codec *codec, const Cell *cell, size_t repeats, Size *total,
                       Error *err)
{
    const ArenaMark mark = arena_mark(s->payloads);
    const Planner p = {
        .c = s->c, .codec = codec, .x = s->x, .y = s->y, .states = &s->states, .scratch = s->scratch};
    TRY(plan_make(&s->plan, &p, cell, s->payloads, err));
    for (size_t i = cell->from; i < cell->to; i++)
        TRY(add_vector(s, codec, i, repeats, total, err));
    arena_rewind(s->payloads, mark);
    return OK;
}

Status sizer_bits(Sizer *s, const Codec *codec, size_t repeats, double *bits, Error *err)
{
    const Layout *l = &s->layout;
    const Vector *v = s->c->vectors->item;
    Size total = {0};
    Status status = OK;
    for (size_t k = 0; status == OK && k < l->cells; k++) {
        const Cell *cell = &l->cell[l->order[k]];
        if (k == 0 || v[cell->from].worker_address != v[l->cell[l->order[k - 1]].from].worker_address)
            codec_states_forget(&s->states);
        status = add_cell(s, codec, cell, repeats, &total, err);
    }
    *bits = total.elements > 0 ? 8 * total.bytes / total.elements : NAN;
    return status;
}

/* ---- finding the rate that gives a wanted payload size ---- */

typedef struct {
    Sizer *s;
    const Codec *codec;
    Rate rate;
    size_t repeats;
    Arena *a;
} Turned;

/* Computes the bits per element at a rate. Sets `*bits` to NaN, which ends the search, if the codec refuses
 * the rate or fails on all vectors, or if all payloads are empty. */
static Status size_at(void *data, double rate, double *bits, Error *err)
{
    const Turned *t = data;
    const ArenaMark mark = arena_mark(t->a);
    const Codec *codec;
    Error why;
    *bits = NAN;
    const Status status = rate_set(&codec, t->codec, &t->rate, rate, t->a, &why) == OK
                              ? sizer_bits(t->s, codec, t->repeats, bits, err)
                              : OK;
    arena_rewind(t->a, mark);
    if (*bits == 0)
        *bits = NAN;
    return status;
}

/* The search aims closer than SIZE_TOLERANCE, so that a mean over few repeats that is taken as reached is near the
 * expected size. The first search of `sizer_solve` computes at most ROUGH_TRIES sizes, and stops within the relative
 * tolerance ROUGH. */
#define AIM (SIZE_TOLERANCE / 4)
enum { ROUGH_TRIES = 5 };
#define ROUGH 0.03

/* For random codecs, searches first with repeat 0 only, then with all repeats, from the rate that the first
 * search found. */
Status sizer_solve(Sizer *s, const Codec **out, const Codec *codec, double bits, unsigned *tries, Arena *a,
                   Error *err)
{
    Turned t = {.s = s, .codec = codec, .repeats = s->c->repeats, .a = a};
    *tries = 0;
    *out = codec;
    if (!rate_find(&t.rate, codec, true))
        return OK;
    Solve problem = {.target = bits,
                     .tolerance = AIM,
                     .whole = t.rate.key->type == PARAM_INT,
                     .of = size_at,
                     .data = &t};
    Solution found = {.slope = NAN};
    rate_range(&t.rate, &problem.low, &problem.high, &found.at);
    if (t.repeats > 1 && codec_traits(codec) & RANDOM) {
        t.repeats = 1;
        problem.most = ROUGH_TRIES;
        problem.tolerance = ROUGH;
        TRY(solve_search(&problem, &found, err));
        *tries += found.tries;
        t.repeats = s->c->repeats;
        problem.most = 0;
        problem.tolerance = AIM;
    }
    if (isnan(found.at))
        return OK;
    TRY(solve_search(&problem, &found, err));
    *tries += found.tries;
    return isnan(found.at) ? OK : rate_set(out, codec, &t.rate, found.at, a, err);
}
