/* bench_diff.c -- diff OLD NEW: writes the difference of two checkpoints as a dump. */
#include "bench_commands.h"

#include "app/notes.h"

typedef struct {
    Common common;
    DumpHints hints;
    double scale;
    Arena *a, *scratch;
    Error *err;
} Options;

typedef struct {
    Dump *old, *new;
    size_t *place; /* for each tensor of `new`: its place in `old`; dump_count: it has none */
    size_t count;  /* of tensors in both */
    uint64_t elements, changed;
} Pair;

/* Finds every tensor of `new` in `old`. */
static Status match(const Options *o, Pair *p)
{
    p->place = NEW(o->a, size_t, dump_count(p->new));
    TRY(arena_check(p->place, o->a, o->err));
    for (size_t i = 0, near = 0; i < dump_count(p->new); i++, near++) {
        const TensorInfo *t = dump_tensor(p->new, i);
        p->place[i] = dump_find(p->old, t->path, near);
        if (p->place[i] == dump_count(p->old))
            continue;
        near = p->place[i];
        p->count++;
        if (!shape_same(&dump_tensor(p->old, near)->shape, &t->shape))
            return FAIL(o->err, ERR_USAGE, "%s: %.200s has another shape than in %s", dump_file(p->new), t->path, dump_file(p->old));
    }
    return p->count ? OK : FAIL(o->err, ERR_USAGE, "%s and %s have no tensor in common", dump_file(p->old), dump_file(p->new));
}

/* Writes scale (new - old) of one tensor, computed in double. */
static Status write_tensor(const Options *o, Pair *p, size_t i, DumpWriter *to)
{
    const TensorInfo *t = dump_tensor(p->new, i);
    const size_t n = t->shape.n;
    const ArenaMark mark = arena_mark(o->scratch);
    TRY(memory_check(2 * sizeof(float) * (uint64_t)n, dump_file(p->new), t->path, n, o->err));
    float *x = NEW(o->scratch, float, n), *old = NEW(o->scratch, float, n);
    TRY(arena_check(x && old, o->scratch, o->err));
    TRY(dump_read(p->new, i, x, o->err));
    TRY(dump_read(p->old, p->place[i], old, o->err));
    for (size_t k = 0; k < n; k++) {
        p->changed += x[k] != old[k];
        x[k] = (float)(o->scale * ((double)x[k] - (double)old[k]));
    }
    p->elements += n;
    const Status status = dump_write(to, t->path, &t->shape, x, &t->attrs, o->err);
    arena_rewind(o->scratch, mark);
    return status;
}

static Status write_all(const Options *o, Pair *p, DumpWriter *to)
{
    Attr attr[] = {attr_text("schema", "atomo-gradients/1"), attr_text("gradient", "difference of two checkpoints"),
                   attr_text("old", dump_file(p->old)), attr_text("new", dump_file(p->new)), attr_real("scale", o->scale)};
    TRY(dump_write_attrs(to, "", &(AttrList){attr, countof(attr)}, o->err));
    Progress progress;
    Status status = OK;
    progress_open(&progress, "subtracting", "tensors", p->count, o->common.quiet);
    for (size_t i = 0, done = 0; status == OK && i < dump_count(p->new); i++) {
        if (p->place[i] == dump_count(p->old))
            continue;
        status = cli_stopped() ? FAIL(o->err, ERR_STOPPED, "diff: stopped") : write_tensor(o, p, i, to);
        progress_step(&progress, ++done);
    }
    progress_close(&progress);
    return status;
}

static Status diff(const Options *o, Pair *p)
{
    DumpWriter *to;
    TRY(match(o, p));
    TRY(dump_create(&to, o->common.output, o->err));
    dump_sign(to, "atomo-bench diff");
    TRY(dump_finish(to, write_all(o, p, to), o->err));
    printf("%s: %zu tensor%s, %llu elements, of which %llu differ\n", o->common.output, p->count, text_s(p->count),
           (unsigned long long)p->elements, (unsigned long long)p->changed);
    if (o->common.quiet)
        return OK;
    notes_dump(p->new, NULL, &(Progress){0});
    const size_t lone = dump_count(p->new) - p->count, gone = dump_count(p->old) - p->count;
    if (lone || gone)
        fprintf(stderr, "note: %zu tensor%s of %s and %zu of %s are in no pair and left out\n", gone, text_s(gone), dump_file(p->old), lone,
                dump_file(p->new));
    return OK;
}

static Status run(void *options, const TextList *arguments)
{
    Options *o = options;
    Pair p = {0};
    if (!o->common.output)
        return FAIL(o->err, ERR_USAGE, "diff: no output file; want -o FILE.h5");
    TRY(dump_open_as(&p.old, arguments->item[0], &o->hints, o->a, o->err));
    Status status = dump_open_as(&p.new, arguments->item[1], &o->hints, o->a, o->err);
    if (status == OK) {
        status = diff(o, &p);
        dump_close(p.new);
    }
    dump_close(p.old);
    return status;
}

int bench_diff(int argc, char **argv)
{
    Error err;
    Options o = {.scale = 1, .a = arena_open(0), .scratch = arena_open(0), .err = &err};
    const Option options[] = {
        OPTIONS_HINTS(&o.hints),
        OPTION(0, "scale", "X", &o.scale, "multiply the difference by X, such as -1 / learning rate", .low = -1e30, .high = 1e30),
        {0},
    };
    const Command command = {
        .program = "atomo-bench",
        .command = "diff",
        .usage = "OLD NEW -o FILE.h5",
        .brief = "write the difference of two checkpoints as a dump",
        .examples = "step_1000.safetensors step_2000.safetensors -o difference.h5\n"
                    "base/model.safetensors.index.json tuned/ -o difference.h5 --scale -1\n",
        .details =
            "FILE has scale (NEW - OLD) for every tensor that both have, as float32: a pseudo-gradient, which compare, advise and merge "
            "take. Attributes of its root say where it came from. OLD and NEW are files of any kind, folders of shards or their index.\n",
        .options = options,
        .common = &o.common,
        .takes = TAKES_OUTPUT | TAKES_KEEPS,
        .arguments_min = 2,
        .arguments_max = 2,
    };
    const int code = cli_run(&command, argc, argv, run, &o, o.a, &err);
    arena_close(o.scratch);
    return code;
}
