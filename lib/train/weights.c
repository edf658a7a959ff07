/* weights.c -- implements weights.h. */
#include "train/weights.h"

#include "base/text.h"
#include "dump/tensor.h"
#include "math/blockwise.h"

#include <string.h>

typedef struct {
    Dump *dump;
    Arena *a;
    Error *err;
    bool *used; /* (dump_count) tensors that have been read, or need not be */
} Source;

/* Returns the index of the tensor `name` of a module, or of a checkpoint in the group `folder`; dump_count: there is
 * none. */
static size_t find(const Source *s, const char *folder, const char *name)
{
    const size_t length = strlen(folder), count = dump_count(s->dump);
    for (size_t i = 0; i < count; i++) {
        const TensorInfo *t = dump_tensor(s->dump, i);
        if (!strcmp(t->display, name) ||
            (!strncmp(t->name, folder, length) && !strcmp(t->name + length, name)))
            return i;
    }
    return count;
}

static char *sides(Arena *a, const Shape *shape)
{
    TextBuf out = {.arena = a};
    for (int i = 0; i < shape->rank; i++)
        text_addf(&out, "%s%zu", i ? "x" : "", shape->dim[i]);
    return text_done(&out);
}

static Status read_slice(Source *s, size_t i, const Slice *to, float *x)
{
    const TensorInfo *t = dump_tensor(s->dump, i);
    if (!shape_same(&t->shape, &to->shape)) {
        const char *have = sides(s->a, &t->shape), *want = sides(s->a, &to->shape);
        return have && want ? FAIL(s->err, ERR_CORRUPT, "%s: %s, want %s", to->name, have, want)
                            : arena_fail(s->a, s->err);
    }
    TRY(dump_read(s->dump, i, x, s->err));
    const size_t bad = first_nonfinite(x, to->shape.n, NULL);
    s->used[i] = true;
    return bad == to->shape.n ? OK
                              : FAIL(s->err, ERR_CORRUPT, "%s: element %zu is not finite", to->name, bad);
}

static Status read_slices(Source *s, const SliceList *list, const char *folder, bool all, float *x)
{
    for (size_t i = 0; i < list->count; i++) {
        const Slice *to = &list->item[i];
        const size_t at = find(s, folder, to->name);
        if (at < dump_count(s->dump))
            TRY(read_slice(s, at, to, x + to->offset));
        else if (all)
            return FAIL(s->err, ERR_CORRUPT, "no tensor %s", to->name);
    }
    return OK;
}

/* nanoGPT's state holds the token embedding a second time, as the output weights. */
static Status check_tied(Source *s, const SliceList *list, const float *weights)
{
    const size_t tied = find(s, "", "lm_head.weight");
    const Slice *wte = list->item;
    while (wte < list->item + list->count && strcmp(wte->name, "transformer.wte.weight") != 0)
        wte++;
    if (tied == dump_count(s->dump) || wte == list->item + list->count)
        return OK;
    float *x = NEW(s->a, float, wte->shape.n);
    TRY(arena_check(x, s->a, s->err));
    const Slice as = {.name = "lm_head.weight", .shape = wte->shape};
    TRY(read_slice(s, tied, &as, x));
    return memcmp(x, weights + wte->offset, wte->shape.n * sizeof *x) == 0
               ? OK
               : FAIL(s->err, ERR_CORRUPT, "lm_head.weight differs from %s, want tied weights", wte->name);
}

/* A tensor that is neither read nor known would be a part of another network: a bias where the network has none. */
static Status check_rest(const Source *s)
{
    static const char *const others[] = {"velocity/", "square/", "running/", "inner/", "state/"};
    for (size_t i = 0; i < dump_count(s->dump); i++) {
        const TensorInfo *t = dump_tensor(s->dump, i);
        bool known = s->used[i] || text_ends(t->name, ".attn.bias");
        for (size_t k = 0; k < countof(others); k++)
            known = known || !strncmp(t->name, others[k], strlen(others[k]));
        if (!known) {
            FAIL(s->err, ERR_CORRUPT, "%s: no tensor of the network", t->path);
            return error_hint(s->err,
                              "--network must be the network that the weights are of, as gpt-nano:bias=on");
        }
    }
    return OK;
}

static Status read_all(Source *s, const Model *m, float *weights, float *running)
{
    s->used = NEW_ZERO(s->a, bool, dump_count(s->dump) + 1);
    TRY(arena_check(s->used, s->a, s->err));
    TRY(read_slices(s, model_parameters(m), "weights/", true, weights));
    TRY(read_slices(s, model_running(m), "running/0/", false, running));
    TRY(check_tied(s, model_parameters(m), weights));
    return check_rest(s);
}

Status weights_hint(Error *err)
{
    return error_hint(
        err, "--weights takes a checkpoint, as DIR/step_00000100.h5 of --train-dir DIR, or the tensors of a "
             "module in a .safetensors, .npz or HDF5 file");
}

Status weights_read(const Model *m, const char *path, float *weights, float *running, Error *err)
{
    Source s = {.a = arena_open(0), .err = err};
    Status status = dump_open(&s.dump, path, s.a, err);
    if (status == ERR_CORRUPT || (status == ERR_IO && !*err->hint)) {
        weights_hint(err); /* ERR_USAGE has a hint of its own: how to convert a pickle */
    } else if (status == OK) {
        status = read_all(&s, m, weights, running);
        if (status != OK)
            error_at(err, "%s", path);
    }
    dump_close(s.dump);
    arena_close(s.a);
    return status;
}
