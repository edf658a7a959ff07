/* archive.c -- encodes a dump to a container and decodes it (archive.h). Encoding and decoding call the
 * codec with the same arguments and the same states. */
#include "app/archive.h"
#include "exchange/states.h"
#include "measure/compare.h"
#include "compress/spec.h"

#include <string.h>

/* ---- encoding and decoding ---- */

typedef struct {
    const ArchiveJob *job;
    const Codec *none; /* the codec `none`, for vectors that are sent as raw floats */
    CodecStates states;
    Arena *scratch; /* rewound for each vector */
    char *plan;     /* next record of `codec_plan`; NULL: the codec plans nothing */
    ArchiveSum *sum;
    Error *err;
} Work;

static Status work_open(Work *w, const ArchiveJob *job, uint64_t elements_max, ArchiveSum *sum, Arena *a,
                        Error *err)
{
    *sum = (ArchiveSum){0};
    *w = (Work){
        .job = job, .states = {.elements_max = elements_max, .one_shape = true}, .sum = sum, .err = err};
    TRY(codec_open(&w->none, "none", a, err));
    w->scratch = arena_open(job->memory);
    return OK;
}

static void work_close(Work *w)
{
    codec_states_forget(&w->states);
    arena_close(w->scratch);
}

static Call call_for(const Work *w, const FrameRecord *r, const Shape *shape)
{
    return (Call){
        .self = r->raw ? w->none : w->job->codec,
        .shape = shape,
        .rng = rng_open(r->seed, r->repeat, r->worker, r->step, r->tensor),
        .rng_shared = rng_open(r->seed, r->repeat, RNG_EVERYONE, r->step, r->tensor),
        .workers = 1,
        .threads = w->job->threads,
        .scratch = w->scratch,
        .err = w->err,
    };
}

static Status count(Work *w, const FrameRecord *r, size_t n)
{
    w->sum->vectors++;
    w->sum->tensors += r->members;
    w->sum->raw_bytes += 4 * (uint64_t)n;
    for (int i = 0; i < r->rounds; i++)
        w->sum->payload_bytes += r->round[i].size;
    if (w->job->tick && !w->job->tick(w->job->tick_data, w->sum->vectors, r->name))
        return FAIL(w->err, ERR_STOPPED, "stopped after %zu vector%s; no file was written", w->sum->vectors,
                    text_s(w->sum->vectors));
    return OK;
}

/* ---- encoding ---- */

static Status describe(Dump *d, const Vector *v, const ArchiveJob *job, FrameRecord *r, Arena *a, Error *err)
{
    *r = (FrameRecord){
        .seed = job->seed,
        .worker = v->worker_address,
        .step = v->step_address,
        .tensor = rng_hash(v->name),
        .name = v->name,
        .raw = v->raw,
        .joined = v->joined,
        .member = NEW(a, FrameMember, v->members),
        .members = v->members,
    };
    TRY(arena_check(r->member, a, err));
    for (size_t m = 0; m < v->members; m++) {
        const TensorInfo *t = dump_tensor(d, v->member[m]);
        r->member[m] = (FrameMember){t->path, t->shape, t->attrs};
    }
    return OK;
}

static Status settle(Work *w, Call *c, const float *x, const Message *m, void *state)
{
    if (!codec_keeps_state(c->self))
        return OK;
    float *agreed = NEW(w->scratch, float, c->shape->n);
    TRY(arena_check(agreed, w->scratch, w->err));
    TRY(codec_receive(c, m, agreed));
    c->heard = m->round;
    c->round = m->rounds - 1;
    return codec_settle(c, x, m->round, agreed, state);
}

static Status open_vector(Work *w, Dump *d, const Vector *v, FrameRecord *r, Call *c, void **state)
{
    TRY(describe(d, v, w->job, r, w->scratch, w->err));
    *c = call_for(w, r, &v->shape);
    TRY(codec_states_find(&w->states, c, v->worker_address, v->name, state));
    c->state = *state;
    return OK;
}

/* The data of the callback `load`, with which `codec_plan` reads the vectors of a step. */
typedef struct {
    Dump *dump;
    const Vector **vector; /* the step's vectors that are not sent raw (`Step.count` entries) */
    size_t at;             /* index of the last vector loaded, for error messages */
    float *x;              /* room for the largest vector */
} Source;

static const float *load(void *data, size_t j, Error *err)
{
    Source *s = data;
    s->at = j;
    return vector_load(s->dump, s->vector[j], s->x, err) == OK ? s->x : NULL;
}

/* Calls `codec_plan` for one worker's vectors of one step. The first of them has index `first` in the list. */
static Status plan_cell(Work *w, Dump *d, const VectorList *list, size_t first, Arena *plans)
{
    size_t to = first, largest = 0;
    FrameRecord r;
    void *state;
    for (; to < list->count && compare_same_cell(&list->item[first], &list->item[to]); to++)
        largest = list->item[to].shape.n > largest ? list->item[to].shape.n : largest;
    Call *call = NEW(w->scratch, Call, to - first);
    Source source = {d, NEW(w->scratch, const Vector *, to - first), 0, NEW(w->scratch, float, largest)};
    Step step = {.call = call, .load = load, .data = &source};
    w->plan = arena_take(plans, to - first, codec_plan_size(w->job->codec));
    TRY(arena_check(call && source.vector && source.x, w->scratch, w->err));
    TRY(arena_check(w->plan, plans, w->err));
    for (size_t i = first; i < to; i++)
        if (!list->item[i].raw) {
            source.vector[step.count] = &list->item[i];
            TRY(open_vector(w, d, &list->item[i], &r, &call[step.count++], &state));
        }
    if (step.count && codec_plan(&step, w->plan) != OK)
        return error_at(w->err, "%.200s: %.200s", dump_file(d), source.vector[source.at]->name);
    return OK;
}

static Status encode_vector(Work *w, Dump *d, const Vector *v, FrameWriter *to)
{
    FrameRecord r;
    Call c;
    Message m = {.rounds = 0};
    void *state;
    TRY(open_vector(w, d, v, &r, &c, &state));
    if (w->plan && !v->raw) {
        c.plan = w->plan;
        w->plan += codec_plan_size(c.self);
    }
    Buf payload = {.cap = codec_message_bound(&c)};
    float *x = NEW(w->scratch, float, v->shape.n);
    payload.data = NEW(w->scratch, uint8_t, payload.cap);
    TRY(arena_check(x && payload.data, w->scratch, w->err));
    TRY(vector_load(d, v, x, w->err));
    if ((state && codec_train(&c, x, state) != OK) || codec_send(&c, x, &payload, &m) != OK)
        return error_at(w->err, "%.200s: %.200s", dump_file(d), r.member[0].path);
    r.rounds = m.rounds;
    for (int i = 0; i < m.rounds; i++)
        r.round[i] = m.round[i];
    TRY(frame_put(to, &r, w->err));
    if (settle(w, &c, x, &m, state) != OK)
        return error_at(w->err, "%.200s: %.200s", dump_file(d), r.member[0].path);
    return count(w, &r, v->shape.n);
}

/* True if a tensor of the list is inside the group; "" is the root. */
static bool holds(const Dump *d, const VectorList *list, const char *group)
{
    const size_t length = strlen(group);
    for (size_t v = 0; v < list->count; v++)
        for (size_t m = 0; m < list->item[v].members; m++) {
            const char *path = dump_tensor(d, list->item[v].member[m])->path;
            if (!length || (!strncmp(path, group, length) && path[length] == '/'))
                return true;
        }
    return false;
}

static Status put_groups(const Dump *d, const VectorList *list, FrameWriter *to, Error *err)
{
    for (size_t i = 0; i < dump_groups(d); i++) {
        const AttrList *attrs;
        const char *group = dump_group(d, i, &attrs);
        if (attrs->count && holds(d, list, group))
            TRY(frame_put_attrs(to, group, attrs, err));
    }
    return OK;
}

Status archive_encode(Dump *d, const VectorList *list, const ArchiveJob *job, FrameWriter *to,
                      ArchiveSum *sum, Arena *a, Error *err)
{
    Work w;
    TRY(put_groups(d, list, to, err));
    TRY(work_open(&w, job, UINT64_MAX, sum, a, err));
    const bool plans = codec_plan_size(job->codec) > 0;
    Status status = OK;
    Arena *records = arena_open(0);
    const ArenaMark none = arena_mark(records);
    for (size_t v = 0; v < list->count && status == OK; v++) {
        const ArenaMark mark = arena_mark(w.scratch);
        if (plans && (v == 0 || !compare_same_cell(&list->item[v - 1], &list->item[v]))) {
            arena_rewind(records, none);
            status = plan_cell(&w, d, list, v, records);
            arena_rewind(w.scratch, mark);
        }
        if (status == OK)
            status = encode_vector(&w, d, &list->item[v], to);
        arena_rewind(w.scratch, mark);
    }
    arena_close(records);
    work_close(&w);
    return status;
}

/* ---- decoding ---- */

static uint64_t add_capped(uint64_t a, uint64_t b)
{
    return a < UINT64_MAX - b ? a + b : UINT64_MAX;
}

/* Decodes a payload to the estimate x. If the decoder reads the codec's state, also computes the next state. */
static Status receive(Work *w, Call *c, const FrameRecord *r, float *x)
{
    const bool replay = codec_traits(c->self) & DECODES_STATE;
    void *state = NULL;
    Message m = {.rounds = r->rounds};
    if (r->tensor != rng_hash(r->name))
        return FAIL(w->err, ERR_CORRUPT, "its random address is not that of its name");
    if (r->rounds != codec_rounds(c->self))
        return FAIL(w->err, ERR_CORRUPT, "%d rounds, %s has %d", r->rounds, c->self->ops->name,
                    codec_rounds(c->self));
    for (int i = 0; i < r->rounds; i++)
        m.round[i] = r->round[i];
    if (replay)
        TRY(codec_states_find(&w->states, c, r->worker, r->name, &state));
    c->state = state;
    TRY(codec_receive(c, &m, x));
    c->heard = m.round;
    c->round = m.rounds - 1;
    return replay ? codec_settle(c, NULL, m.round, x, state) : OK;
}

static Status decode_record(Work *w, const FrameReader *from, const FrameRecord *r, DumpWriter *to)
{
    const Shape shape = frame_shape(r);
    Call c = call_for(w, r, &shape);
    if (w->job->output_max && add_capped(w->sum->raw_bytes, 4 * (uint64_t)shape.n) > w->job->output_max) {
        FAIL(w->err, ERR_CORRUPT, "%.200s: %llu bytes that decode to more than %llu", from->name,
             (unsigned long long)from->size, (unsigned long long)w->job->output_max);
        return error_hint(w->err, "--max-output BYTES allows more, if you trust the file");
    }
    float *x = NEW(w->scratch, float, shape.n);
    TRY(arena_check(x, w->scratch, w->err));
    if (receive(w, &c, r, x) != OK)
        return error_at(w->err, "%.200s: at byte %llu: %.200s", from->name,
                        (unsigned long long)from->block, r->name);
    for (size_t m = 0; m < r->members; m++) {
        TRY(dump_write(to, r->member[m].path, &r->member[m].shape, x, &r->member[m].attrs, w->err));
        x += r->member[m].shape.n;
    }
    return count(w, r, shape.n);
}

static Status decode_next(Work *w, FrameReader *from, DumpWriter *to, bool *ended)
{
    FrameItem item;
    TRY(frame_next(from, &item, w->scratch, w->err));
    *ended = item.type == FRAME_END;
    if (item.type == FRAME_ATTRS)
        return dump_write_attrs(to, item.group, &item.attrs, w->err);
    return *ended ? OK : decode_record(w, from, &item.record, to);
}

Status archive_decode(FrameReader *from, const ArchiveJob *job, DumpWriter *to, ArchiveSum *sum, Arena *a,
                      Error *err)
{
    Work w;
    bool ended = false;
    const uint64_t states = frame_elements_limit(from->size), most = job->memory / 4;
    TRY(work_open(&w, job, most && most < states ? most : states, sum, a, err));
    Status status = OK;
    while (status == OK && !ended) {
        const ArenaMark mark = arena_mark(w.scratch);
        status = decode_next(&w, from, to, &ended);
        arena_rewind(w.scratch, mark);
    }
    work_close(&w);
    return status;
}
