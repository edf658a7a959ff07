/* notes.c -- implements notes.h. */
#include "app/notes.h"

#include "base/host.h"
#include "compress/atoms/svd_parts.h"
#include "compress/spec.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static bool is_untransposed(const TensorInfo *t)
{
    return t->untransposed;
}

/* Returns the number of tensors for which `holds` is true, and sets *first to the first of them. */
static size_t count_those(const Dump *d, bool (*holds)(const TensorInfo *t), const TensorInfo **first)
{
    size_t count = 0;
    for (size_t i = 0; i < dump_count(d); i++)
        if (holds(dump_tensor(d, i)) && !count++)
            *first = dump_tensor(d, i);
    return count;
}

/* Prints a note on kernels that may have been written as [h, w, in, out] and are read as [out, in, h, w]. */
static void note_kernels(const Dump *d, Progress *p)
{
    const TensorInfo *first = NULL;
    if (!count_those(d, layout_doubtful, &first))
        return;
    const size_t *dim = first->shape.dim;
    progress_note(
        p,
        "note: %s: kernels such as %s (%zux%zux%zux%zu) may be height x width x in x out, as in Keras, and "
        "are read as out x in x height x width; --layout hwio if they are, else --layout oihw",
        dump_file(d), first->path, dim[0], dim[1], dim[2], dim[3]);
}

/* Prints a note on kernels of one or three dimensions, whose axes keep their order although it may be that of Keras. */
static void note_untransposed(const Dump *d, Progress *p)
{
    const TensorInfo *first = NULL;
    const size_t count = count_those(d, is_untransposed, &first);
    if (count)
        progress_note(
            p,
            "note: %s: %s, a kernel of %d axes, is read as it is stored, as out x in x ... (kernels like this: %zu); "
            "--layout hwio transposes kernels of four axes only, so transpose those of Keras before they are saved; "
            "--layout oihw if they are out x in x ...",
            dump_file(d), first->path, first->shape.rank, count);
}

/* True for a whole tensor of neither a step nor a worker, whose first axis may count steps. */
static bool may_stack(const TensorInfo *t)
{
    return !t->step_group && !t->worker_group && t->shape.rank >= 2 && t->whole == t->shape.n;
}

/* Prints a note on groups that look like steps and are read as parts of tensor names. */
static void note_steps(const Dump *d, Progress *p)
{
    Arena *scratch = arena_open(0);
    const TensorInfo *first = dump_tensor(d, 0);
    const char *guess = first->step_group ? "" : steps_guess(first->path, scratch);
    size_t stacked = 0;
    while (stacked < dump_count(d) && may_stack(dump_tensor(d, stacked)) && dump_tensor(d, stacked)->shape.dim[0] == first->shape.dim[0])
        stacked++;
    if (stacked > 1 && stacked == dump_count(d))
        progress_note(p, "note: %s: the first axis of every tensor has %zu elements; --steps-axis 0 if it counts steps", dump_file(d),
                      first->shape.dim[0]);
    if (guess && *guess)
        progress_note(
            p,
            "note: %s: the groups of %s look like a step, and are read as a part of the tensor's name; "
            "--steps-from '%s'",
            dump_file(d), first->path, guess);
    guess = first->worker_group ? "" : workers_guess(first->name, scratch);
    if (guess && *guess)
        progress_note(p, "note: %s: the group of %s looks like a worker, and is read as a part of the tensor's name; --workers-from '%s'",
                      dump_file(d), first->path, guess);
    arena_close(scratch);
}

/* Prints a note on numbers that are left out: of types that have no floats here, or of two bytes without a type. */
static void note_left_out(const Dump *d, Progress *p)
{
    const LeftOut *out = dump_left_out(d);
    uint64_t all = out->elements;
    for (size_t i = 0; i < dump_count(d); i++)
        all += dump_tensor(d, i)->whole;
    if (out->count)
        progress_note(p, "note: %s: %llu of %llu elements are left out: %s of type %s%s%s", dump_file(d),
                      (unsigned long long)out->elements, (unsigned long long)all, out->path, out->type,
                      out->count > 1 ? " and others" : "", text_ends(out->type, "V2") ? "; --void bfloat16 if that is what they are" : "");
}

void notes_dump(const Dump *d, const VectorList *list, Progress *p)
{
    const char *as;
    const size_t files = dump_files(d, &as);
    if (files > 1)
        progress_note(p, "note: %s: %zu files are read as %s", dump_file(d), files, as);
    const size_t skipped = dump_skipped(d) - dump_left_out(d)->count;
    if (skipped)
        progress_note(p, "note: %s: %zu dataset%s without floats %s left out", dump_file(d), skipped,
                      text_s(skipped), text_are(skipped));
    note_left_out(d, p);
    note_kernels(d, p);
    note_untransposed(d, p);
    note_steps(d, p);
    if (list && list->skipped)
        progress_note(p, "note: %s: %zu tensor%s with NaN or Inf %s left out", dump_file(d), list->skipped,
                      text_s(list->skipped), text_are(list->skipped));
}

void notes_specs(const TextList *specs)
{
    Error ignored;
    Arena *a = arena_open(0);
    const Codec **codec;
    size_t count = 0;
    if (codec_list(&codec, &count, specs, a, &ignored) != OK)
        count = 0;
    for (size_t i = 0; i < count; i++) {
        const char *spec = codec[i]->alias ? codec_text(codec[i], a) : NULL;
        if (spec)
            fprintf(stderr, "note: %s is %s here\n", codec[i]->typed, spec);
    }
    arena_close(a);
}

/* Returns the codec svd within `codec` if it chooses its method by the shape; NULL: there is none. */
static const Codec *svd_within(const Codec *codec)
{
    const Codec *found = NULL;
    for (; codec && !found; codec = codec->inner)
        found = !strcmp(codec->ops->name, "svd") ? codec : svd_within(codec->other);
    return found && ((const Svd *)found->params)->method == SVD_AUTO ? found : NULL;
}

void notes_leading(const VectorList *list, const char *file, const Codec *const *codec, size_t codecs, Progress *p)
{
    const Codec *svd = NULL;
    size_t large = 0;
    for (size_t k = 0; k < codecs && !svd; k++)
        svd = svd_within(codec[k]);
    for (size_t i = 0; i < list->count && svd; i++)
        large += svd_takes_leading(svd, &list->item[i].shape);
    if (large)
        progress_note(p,
                      "note: %s: svd takes the leading singular vectors of %zu tensor%s with more than %d rows and columns, "
                      "unbiased at 1.1 to 1.4 times the variance, or more where over 64 singular values are large; method=gram takes all, slowly",
                      file, large, text_s(large), SVD_SIDE_MOST);
}

Status memory_check(uint64_t need, const char *file, const char *tensor, size_t elements, Error *err)
{
    const uint64_t most = host_memory();
    if (need <= most)
        return OK;
    FAIL(err, ERR_MEMORY, "%.200s: its %zu elements take %.4g GB of memory, want at most the %.4g GB of this machine",
                tensor, elements, 1e-9 * (double)need, 1e-9 * (double)most);
    return error_at(err, "%s", file);
}

Status memory_check_list(const VectorList *list, size_t each, const char *file, Error *err)
{
    const Vector *largest = list->item;
    for (size_t i = 1; i < list->count; i++)
        largest = list->item[i].shape.n > largest->shape.n ? &list->item[i] : largest;
    return largest ? memory_check(each * (uint64_t)largest->shape.n, file, largest->name, largest->shape.n, err) : OK;
}
