/* bench_archive.c -- encode FILE -c SPEC -o FILE.atomo: writes the payloads of a dump to a file (app/frame.h); and
 * decode FILE.atomo -o FILE.h5: decodes them. Both call the codec with the same arguments and the same states.
 *
 * Vectors are encoded in the order of the dump, with the random numbers of repeat 0. A codec's state
 * continues from step to step, as in training with one worker. */
#include "bench_commands.h"

#include "app/frame.h"
#include "app/notes.h"
#include "app/patches.h"
#include "app/progress.h"
#include "base/host.h"
#include "compress/harness.h"
#include "compress/spec.h"
#include "exchange/states.h"
#include "measure/compare.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

typedef struct {
    const Codec *codec;
    uint64_t seed; /* used by encode only; decode reads the seed from the container */
    int threads;
    uint64_t memory;     /* most bytes for decoding; 0: no limit */
    uint64_t output_max; /* most bytes of tensors that decoding writes; 0: no limit */
    Progress progress;
    Error *err;

    /* sums so far */
    size_t vectors, tensors;
    uint64_t raw_bytes;     /* bytes of the vectors as float32 */
    uint64_t payload_bytes; /* bytes of the payloads of all rounds */

    const Codec *none; /* the codec `none`, for vectors that are sent as raw floats */
    CodecStates states;
    Arena *scratch; /* rewound for each vector */
    char *plan;     /* next record of `codec_plan`; NULL: the codec plans nothing */
} Archive;

static Status work_open(Archive *w, uint64_t elements_max, Arena *a)
{
    w->states = (CodecStates){.elements_max = elements_max, .one_shape = true};
    TRY(codec_open(&w->none, "none", a, w->err));
    w->scratch = arena_open(w->memory);
    return OK;
}

static void work_close(Archive *w)
{
    codec_states_forget(&w->states);
    arena_close(w->scratch);
}

static Call call_for(const Archive *w, const FrameRecord *r, const Shape *shape)
{
    return (Call){
        .self = r->raw ? w->none : w->codec,
        .shape = shape,
        .rng = rng_open(r->seed, r->repeat, r->worker, r->step, r->tensor),
        .rng_shared = rng_open(r->seed, r->repeat, RNG_EVERYONE, r->step, r->tensor),
        .workers = 1,
        .threads = w->threads,
        .scratch = w->scratch,
        .err = w->err,
    };
}

static Status count(Archive *w, const FrameRecord *r, size_t n)
{
    w->vectors++;
    w->tensors += r->members;
    w->raw_bytes += 4 * (uint64_t)n;
    for (int i = 0; i < r->rounds; i++)
        w->payload_bytes += r->round[i].size;
    if (!progress_tick(&w->progress, w->vectors, r->name))
        return FAIL(w->err, ERR_STOPPED, "stopped after %zu vector%s; no file was written", w->vectors, text_s(w->vectors));
    return OK;
}

/* ---- encoding ---- */

static Status describe(Archive *w, Dump *d, const Vector *v, FrameRecord *r)
{
    *r = (FrameRecord){
        .seed = w->seed,
        .worker = v->worker_address,
        .step = v->step_address,
        .tensor = rng_hash(v->name),
        .name = v->name,
        .raw = v->raw,
        .joined = v->joined,
        .member = NEW(w->scratch, FrameMember, v->members),
        .members = v->members,
    };
    TRY(arena_check(r->member, w->scratch, w->err));
    for (size_t m = 0; m < v->members; m++) {
        const TensorInfo *t = dump_tensor(d, v->member[m]);
        r->member[m] = (FrameMember){t->path, t->shape, t->attrs};
    }
    return OK;
}

static Status settle(Archive *w, Call *c, const float *x, const Message *m, void *state)
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

static Status open_vector(Archive *w, Dump *d, const Vector *v, FrameRecord *r, Call *c, void **state)
{
    TRY(describe(w, d, v, r));
    *c = call_for(w, r, &v->shape);
    TRY(codec_states_find(&w->states, c, v->worker_address, v->name, state));
    c->state = *state;
    return OK;
}

/* The data of the callback `load_planned`, with which `codec_plan` reads the vectors of a step. */
typedef struct {
    Dump *dump;
    const Vector **vector; /* the step's vectors that are not sent raw (`Step.count` entries) */
    size_t at;             /* index of the last vector loaded, for error messages */
    float *x;              /* room for the largest vector */
} Source;

static const float *load_planned(void *data, size_t j, Error *err)
{
    Source *s = data;
    s->at = j;
    return vector_load(s->dump, s->vector[j], s->x, err) == OK ? s->x : NULL;
}

/* Calls `codec_plan` for one worker's vectors of one step. The first of them has index `first` in the list. */
static Status plan_cell(Archive *w, Dump *d, const VectorList *list, size_t first, Arena *plans)
{
    size_t to = first, largest = 0;
    FrameRecord r;
    void *state;
    for (; to < list->count && compare_same_cell(&list->item[first], &list->item[to]); to++)
        largest = list->item[to].shape.n > largest ? list->item[to].shape.n : largest;
    Call *call = NEW(w->scratch, Call, to - first);
    Source source = {d, NEW(w->scratch, const Vector *, to - first), 0, NEW(w->scratch, float, largest)};
    Step step = {.call = call, .load = load_planned, .data = &source};
    w->plan = arena_take(plans, to - first, codec_plan_size(w->codec));
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

static Status encode_vector(Archive *w, Dump *d, const Vector *v, FrameWriter *to)
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

/* Writes to the file the attributes of the groups that contain tensors of `list`, and a record for every
 * vector. The caller then commits the file. */
static Status archive_encode(Archive *w, Dump *d, const VectorList *list, FrameWriter *to, Arena *a)
{
    TRY(put_groups(d, list, to, w->err));
    TRY(work_open(w, UINT64_MAX, a));
    const bool plans = codec_plan_size(w->codec) > 0;
    Status status = OK;
    Arena *records = arena_open(0);
    const ArenaMark none = arena_mark(records);
    for (size_t v = 0; v < list->count && status == OK; v++) {
        const ArenaMark mark = arena_mark(w->scratch);
        if (plans && (v == 0 || !compare_same_cell(&list->item[v - 1], &list->item[v]))) {
            arena_rewind(records, none);
            status = plan_cell(w, d, list, v, records);
            arena_rewind(w->scratch, mark);
        }
        if (status == OK)
            status = encode_vector(w, d, &list->item[v], to);
        arena_rewind(w->scratch, mark);
    }
    arena_close(records);
    work_close(w);
    return status;
}

/* ---- decoding ---- */

/* Decodes a payload to the estimate x. If the decoder reads the codec's state, also computes the next state. */
static Status receive(Archive *w, Call *c, const FrameRecord *r, float *x)
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

static Status decode_record(Archive *w, const FrameReader *from, const FrameRecord *r, DumpWriter *to)
{
    const Shape shape = frame_shape(r);
    Call c = call_for(w, r, &shape);
    if (w->output_max && w->raw_bytes + 4 * (uint64_t)shape.n > w->output_max) { /* no sum of vectors in memory overflows */
        FAIL(w->err, ERR_CORRUPT, "%.200s: %llu bytes that decode to more than %llu", from->name,
             (unsigned long long)from->size, (unsigned long long)w->output_max);
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

static Status decode_next(Archive *w, FrameReader *from, DumpWriter *to, bool *ended)
{
    FrameItem item;
    TRY(frame_next(from, &item, w->scratch, w->err));
    *ended = item.type == FRAME_END;
    if (item.type == FRAME_ATTRS)
        return dump_write_attrs(to, item.group, &item.attrs, w->err);
    return *ended ? OK : decode_record(w, from, &item.record, to);
}

/* Decodes a container to a dump with the same paths, shapes and attributes. `w->codec` must be the codec
 * that the container names. The caller then commits the dump. */
static Status archive_decode(Archive *w, FrameReader *from, DumpWriter *to, Arena *a)
{
    bool ended = false;
    const uint64_t states = frame_elements_limit(from->size), most = w->memory / 4;
    TRY(work_open(w, most && most < states ? most : states, a));
    Status status = OK;
    while (status == OK && !ended) {
        const ArenaMark mark = arena_mark(w->scratch);
        status = decode_next(w, from, to, &ended);
        arena_rewind(w->scratch, mark);
    }
    work_close(w);
    return status;
}

/* ==== encode ==== */

typedef struct {
    Common common;
    const char *base;
    TextList specs;
    GroupSpec groups;
    DumpHints hints;
    int grouping;
    int64_t min_elements;
    Arena *a;
    Error *err;
} Encode;

static Status write_container(const Encode *o, Dump *d, const VectorList *list, const Codec *codec)
{
    FrameWriter *to;
    Archive w = {.codec = codec, .seed = (uint64_t)o->common.seed, .threads = (int)o->common.threads, .err = o->err};
    const char *spec = codec_text(codec, o->a);
    TRY(arena_check(spec, o->a, o->err));
    TRY(frame_create(&to, o->common.output, spec, list->count, o->a, o->err));
    progress_open(&w.progress, "encoding", "tensors", list->count, o->common.quiet);
    Status status = archive_encode(&w, d, list, to, o->a);
    if (status == ERR_STOPPED)
        error_at(o->err, "encode");
    progress_close(&w.progress);
    uint64_t size = 0;
    if (status == OK)
        status = frame_commit(to, &size, o->err);
    else
        frame_abandon(to);
    TRY(status);
    const bool piped = !strcmp(o->common.output, "-");
    fprintf(piped ? stderr : stdout,
            "%s: %s, %zu tensor%s, %llu -> %llu payload bytes, ratio %.4g; %llu bytes %s\n",
            piped ? "standard output" : o->common.output, codec->typed, w.tensors, text_s(w.tensors),
            (unsigned long long)w.raw_bytes, (unsigned long long)w.payload_bytes,
            (double)w.raw_bytes / (double)(w.payload_bytes ? w.payload_bytes : 1),
            (unsigned long long)size, piped ? "in all" : "on disk");
    notes_dump(d, list, &w.progress);
    return OK;
}

/* A patch is of a whole file, and as large as that: refuses the options that choose or limit. `names` ends in NULL. */
static Status refuse_for_patch(const Common *common, const char *const *names, Error *err)
{
    for (; *names; names++)
        if (cli_given(common, *names))
            return FAIL(err, ERR_USAGE, "--%s: a patch is of a whole file; want no --%s with --base", *names, *names);
    return OK;
}

static Status run_encode(void *options, const TextList *arguments)
{
    Encode *o = options;
    const Codec *codec;
    VectorList list;
    Dump *d;
    if (o->specs.count != (o->base ? 0 : 1))
        return FAIL(o->err, ERR_USAGE, "encode: %s; want one -c SPEC, or --base OLD",
                    o->base ? "a codec and a base" :
                    o->specs.count ? "several codecs, and a file holds one's payloads" : "no codec");
    if (!o->common.output)
        return FAIL(o->err, ERR_USAGE, "encode: no output file; want -o FILE.atomo");
    if (!strcmp(o->common.output, "-") && isatty(STDOUT_FILENO))
        return FAIL(o->err, ERR_USAGE,
                    "encode: -o -: a terminal cannot show payloads; want a pipe or a file");
    if (o->base && arguments->count > 1)
        return FAIL(o->err, ERR_USAGE, "encode: several files, and a patch is of one");
    if (o->base) {
        static const char *const whole[] = {"tensor", "step", "worker", "layout", "steps-from", "workers-from", "steps-axis", "steps-as",
                                            "workers-as", "void", "group", "min-elements", "skip-nonfinite", "seed", NULL};
        TRY(refuse_for_patch(&o->common, whole, o->err));
        return patch_encode(&(PatchJob){o->base, o->common.output, (int)o->common.threads, o->common.quiet, o->a, o->err}, arguments->item[0]);
    }
    TRY(codec_open(&codec, o->specs.item[0], o->a, o->err));
    notes_specs(&o->specs);
    o->hints.files = *arguments;
    TRY(dump_open_as(&d, arguments->item[0], &o->hints, o->a, o->err));
    o->groups.grouping = (Grouping)o->grouping;
    o->groups.min_elements = (size_t)o->min_elements;
    Status status = groups_make(&list, d, &o->groups, o->a, o->err);
    if (status == OK)
        status = memory_check_list(&list, sizeof(float), dump_file(d), o->err);
    if (status == OK)
        status = write_container(o, d, &list, codec);
    dump_close(d);
    return status;
}

int bench_encode(int argc, char **argv)
{
    Error err;
    Encode o = {.a = arena_open(0), .err = &err};
    const Option options[] = {
        OPTION_CODEC(&o.specs, "the codec; atomo-bench list shows all"),
        OPTION(0, "base", "OLD", &o.base, "write what changed in FILE since OLD, without loss, instead of payloads"),
        OPTIONS_SELECTION(&o.groups.selection),
        OPTIONS_HINTS(&o.hints),
        OPTION(0, "group", "G", &o.grouping,
               "compress each tensor, each kind of tensors, or all as one vector", .choices = grouping_names),
        OPTION(0, "min-elements", "N", &o.min_elements, "send tensors of fewer elements as floats",
               .high = 1e15),
        OPTION(0, "skip-nonfinite", NULL, &o.groups.skip_nonfinite, "leave tensors with NaN or Inf out"),
        {0},
    };
    const Command command = {
        .program = "atomo-bench",
        .command = "encode",
        .usage = "FILE... -c SPEC|--base OLD -o FILE.atomo",
        .brief = "write the payloads of a dump to a file; decode reads them back",
        .examples = "FILE -c qsgd:bits=4 -o gradients.atomo\n"
                    "new.safetensors --base old.safetensors -o patch.atomo\n",
        .details =
            "-o - writes the payloads to standard output. They are those of compare's first repeat with the same --seed, each worker by itself. A codec with a "
            "state carries it from step to step, in the order of the file.\n"
            "With --base, FILE.atomo is a patch: what changed in weights of 16 bits (bfloat16, half precision) since OLD, which has the same tensors. "
            "decode --base OLD restores every bit of them, and refuses an OLD with other weights. Floats of other sizes are in the patch, too, less well compressed; integers are not.\n",
        .options = options,
        .common = &o.common,
        .takes = TAKES_SEED | TAKES_THREADS | TAKES_OUTPUT | TAKES_KEEPS,
        .arguments_min = 1,
        .arguments_max = -1,
    };
    return cli_run(&command, argc, argv, run_encode, &o, o.a, &err);
}

/* ==== decode ==== */

typedef struct {
    Common common;
    const char *base;
    Bytecount output_max, memory;
    Arena *a;
    Error *err;
} Decode;

/* Returns the limit on the decoded size of an .atomo file of `file_size` bytes, when --max-output sets no
 * other limit. */
static uint64_t usual_most(uint64_t file_size)
{
    enum { ALWAYS = 64 << 20, EACH = 1024 };
    return file_size > UINT64_MAX / (2 * EACH) ? UINT64_MAX : ALWAYS + EACH * file_size;
}

static Status write_dump(const Decode *o, FrameReader *from, const Codec *codec)
{
    DumpWriter *to;
    Archive w = {.codec = codec,
                 .threads = (int)o->common.threads,
                 .memory = o->memory.bytes,
                 .output_max = o->output_max.bytes ? o->output_max.bytes : usual_most(from->size),
                 .err = o->err};
    TRY(dump_create(&to, o->common.output, o->err));
    dump_sign(to, "atomo-bench decode");
    progress_open(&w.progress, "decoding", "tensors", from->records, o->common.quiet);
    Status status = archive_decode(&w, from, to, o->a);
    if (status == ERR_STOPPED)
        error_at(o->err, "decode");
    progress_close(&w.progress);
    if (status == ERR_MEMORY) {
        if (strncmp(o->err->text, from->name, strlen(from->name)) != 0)
            error_at(o->err, "%.200s", from->name);
        error_hint(o->err, "--memory BYTES allows more, if you trust the file");
    }
    status = dump_finish(to, status, o->err);
    TRY(status);
    printf("%s: %s, %zu tensor%s, %llu payload bytes -> %llu\n", o->common.output, from->spec,
           w.tensors, text_s(w.tensors), (unsigned long long)w.payload_bytes, (unsigned long long)w.raw_bytes);
    return OK;
}

/* Copies standard input to a temporary file: the reader of payloads seeks, and a pipe cannot seek. */
static Status open_stdin(FrameReader **from, Arena *a, Error *err)
{
    static const char name[] = "standard input";
    char piece[1 << 14];
    FILE *copy = tmpfile();
    if (!copy)
        return FAIL(err, ERR_IO, "%s: cannot make a temporary file: %s", name, strerror(errno));
    errno = 0;
    for (size_t got; (got = fread(piece, 1, sizeof piece, stdin)) > 0;)
        if (fwrite(piece, 1, got, copy) != got)
            break;
    if (!ferror(stdin) && !ferror(copy) && !fflush(copy) && !fseek(copy, 0, SEEK_SET))
        return frame_open_file(from, copy, name, a, err);
    FAIL(err, ERR_IO, "%s: cannot copy it to a temporary file: %s", name, strerror(errno));
    fclose(copy);
    return ERR_IO;
}

static Status run_decode(void *options, const TextList *arguments)
{
    const Decode *o = options;
    const char *path = arguments->item[0];
    const Codec *codec;
    FrameReader *from;
    if (!o->common.output)
        return FAIL(o->err, ERR_USAGE, "decode: no output file; want -o FILE.h5");
    if (o->base)
        TRY(refuse_for_patch(&o->common, (const char *const[]){"max-output", "memory", NULL}, o->err));
    TRY(strcmp(path, "-") ? frame_open(&from, path, o->a, o->err) : open_stdin(&from, o->a, o->err));
    const bool patch = !strcmp(from->spec, PATCH_SPEC);
    const PatchJob job = {o->base, o->common.output, (int)o->common.threads, o->common.quiet, o->a, o->err};
    Status status = patch && !o->base   ? FAIL(o->err, ERR_USAGE, "a patch; want --base OLD, the file that it was made with")
                    : !patch && o->base ? FAIL(o->err, ERR_USAGE, "has payloads of %.100s, no patch; want no --base", from->spec)
                    : patch             ? OK
                                        : codec_open(&codec, from->spec, o->a, o->err);
    if (status == ERR_USAGE && !patch && !o->base) {
        status = o->err->status = ERR_CORRUPT; /* an invalid spec is the file's error, not the user's */
        o->err->hint[0] = '\0';
    }
    if (status != OK)
        error_at(o->err, "%.200s", path);
    else
        status = patch ? patch_decode(&job, from) : write_dump(o, from, codec);
    frame_close(from);
    return status;
}

int bench_decode(int argc, char **argv)
{
    Error err;
    Decode o = {.a = arena_open(0), .err = &err, .memory = {host_memory() / 2}};
    const Option options[] = {
        OPTION(0, "base", "OLD", &o.base, "the file that a patch of encode --base was made with"),
        OPTION(0, "max-output", "BYTES", &o.output_max,
               "most bytes of tensors; without it 64M and 1024 for each byte of the file"),
        OPTION(0, "memory", "BYTES", &o.memory, "most memory for decoding"),
        {0},
    };
    const Command command = {
        .program = "atomo-bench",
        .command = "decode",
        .usage = "FILE.atomo [--base OLD] -o FILE.h5",
        .brief = "decode a file of payloads, written by encode, to a dump",
        .examples = "gradients.atomo -o decoded.h5\n"
                    "patch.atomo --base old.safetensors -o new.safetensors\n",
        .details =
            "Paths, shapes and attributes are those of the encoded dump. FILE.atomo may be -, standard input. A file that decodes to more than "
            "--max-output, or takes more than --memory, is refused, and nothing is written.\n"
            "A patch gives OLD with the weights of the new file: its format, names, types and metadata are those of OLD, so its name must end as that of OLD.\n",
        .options = options,
        .common = &o.common,
        .takes = TAKES_THREADS | TAKES_OUTPUT | TAKES_KEEPS,
        .arguments_min = 1,
        .arguments_max = 1,
    };
    return cli_run(&command, argc, argv, run_decode, &o, o.a, &err);
}
