/* fuzz_checkpoint.c -- fuzzes the loading of checkpoints. A checkpoint of a small network is saved and read once. For each
 * input, what the reader process would report of the file is modified: attributes, paths, shapes, elements, and failures.
 * Loading must fail with a reason, or restore the weights bit for bit. The linker puts the functions __wrap_dump_... of this
 * file in the place of those that read HDF5 (test/check.mk); test_dump_hostile.c damages the files themselves.
 *
 * Input: edits of seven bytes: what to modify, which one, position, and a value of four bytes. */
#include "compress/spec.h"
#include "train/train_parts.h"
#include "train/checkpoint.h"
#include "rig/tiny_data.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

Status __real_dump_open(Dump **out, const char *path, Arena *a, Error *err);
void __real_dump_close(Dump *d);
const AttrList *__real_dump_attrs(const Dump *d, const char *group);
size_t __real_dump_count(const Dump *d);
const TensorInfo *__real_dump_tensor(const Dump *d, size_t i);
Status __real_dump_read(Dump *d, size_t i, float *x, Error *err);
Status __wrap_dump_open(Dump **out, const char *path, Arena *a, Error *err);
void __wrap_dump_close(Dump *d);
const AttrList *__wrap_dump_attrs(const Dump *d, const char *group);
size_t __wrap_dump_count(const Dump *d);
size_t __wrap_dump_find(const Dump *d, const char *path, size_t near);
const TensorInfo *__wrap_dump_tensor(const Dump *d, size_t i);
Status __wrap_dump_read(Dump *d, size_t i, float *x, Error *err);

enum { EDIT = 7, EDITS_MOST = 32, TENSORS_MOST = 32, ATTRS_MOST = 64, TEXT_MOST = 100 };

/* What a file holds. */
typedef struct {
    TensorInfo tensor[TENSORS_MOST];
    char path[TENSORS_MOST][TEXT_MOST];
    float *x[TENSORS_MOST];
    size_t tensors;
    Attr attr[ATTRS_MOST];
    char name[ATTRS_MOST][TEXT_MOST], text[ATTRS_MOST][TEXT_MOST];
    size_t attrs;
    size_t unreadable; /* index of a tensor that cannot be read; TENSORS_MOST: none */
    bool closed;       /* the file cannot be opened */
} SavedFile;

static struct {
    Arena *arena;
    Trainer *trainer;
    Dataset images;
    TrainSetup setup;
    SavedFile model;    /* the checkpoint as it was saved */
    float *weights; /* (trainer_parameters) the weights in the checkpoint */
} saved;

static SavedFile now; /* the checkpoint as it is loaded */
static AttrList now_attrs;

/* ---- the functions that read HDF5 otherwise ---- */

Status __wrap_dump_open(Dump **out, const char *path, Arena *a, Error *err)
{
    (void)a;
    *out = (Dump *)(void *)&now;
    now_attrs = (AttrList){now.attr, now.attrs};
    return now.closed ? FAIL(err, ERR_CORRUPT, "%s: not HDF5", path) : OK;
}

void __wrap_dump_close(Dump *d)
{
    (void)d;
}

const AttrList *__wrap_dump_attrs(const Dump *d, const char *group)
{
    (void)d;
    return *group ? NULL : &now_attrs;
}

size_t __wrap_dump_count(const Dump *d)
{
    (void)d;
    return now.tensors;
}

size_t __wrap_dump_find(const Dump *d, const char *path, size_t near)
{
    (void)d;
    while (near < now.tensors && strcmp(now.tensor[near].path, path))
        near++;
    return near;
}

const TensorInfo *__wrap_dump_tensor(const Dump *d, size_t i)
{
    (void)d;
    return &now.tensor[i];
}

Status __wrap_dump_read(Dump *d, size_t i, float *x, Error *err)
{
    (void)d;
    if (i == now.unreadable)
        return FAIL(err, ERR_IO, "%s: cannot be read", now.tensor[i].path);
    memcpy(x, now.x[i], now.tensor[i].shape.n * sizeof *x);
    return OK;
}

/* ---- the checkpoint, saved and read once ---- */

static void keep(char to[TEXT_MOST], const char **text)
{
    if (!*text)
        return;
    snprintf(to, TEXT_MOST, "%s", *text);
    *text = to;
}

/* Points the texts of a copy to the copy. */
static void keep_texts(SavedFile *m)
{
    for (size_t i = 0; i < m->tensors; i++)
        keep(m->path[i], &m->tensor[i].path);
    for (size_t i = 0; i < m->attrs; i++) {
        keep(m->name[i], &m->attr[i].name);
        keep(m->text[i], &m->attr[i].text);
    }
}

static void read_saved(const char *path)
{
    SavedFile *m = &saved.model;
    Dump *d;
    Error err;
    if (__real_dump_open(&d, path, saved.arena, &err) != OK)
        abort();
    const AttrList *attrs = __real_dump_attrs(d, "");
    m->unreadable = TENSORS_MOST;
    m->tensors = __real_dump_count(d);
    m->attrs = attrs->count;
    if (m->tensors > TENSORS_MOST || m->attrs > ATTRS_MOST)
        abort();
    for (size_t i = 0; i < m->tensors; i++) {
        m->tensor[i] = *__real_dump_tensor(d, i);
        m->x[i] = NEW(saved.arena, float, m->tensor[i].shape.n);
        if (__real_dump_read(d, i, m->x[i], &err) != OK)
            abort();
    }
    memcpy(m->attr, attrs->item, m->attrs * sizeof *m->attr);
    keep_texts(m);
    __real_dump_close(d);
}

static void save_checkpoint(void)
{
    char dir[] = "/tmp/atomo-fuzz-XXXXXX";
    Error err = {0};
    StepRecord r;
    Arena *a = saved.arena = arena_open(0);
    saved.images = tiny_data(SPLIT_TRAIN, 20, a);
    saved.setup = (TrainSetup){.network = "softmax",
                               .train = &saved.images,
                               .workers = 2,
                               .aggregate = 2,
                               .batch = 4,
                               .test_batch = 4,
                               .optimizer = {.lr = 0.01, .momentum = 0.9, .decay = 0.9, .every = 3},
                               .seed = 5,
                               .threads = 1};
    if (!mkdtemp(dir) || codec_open(&saved.setup.codec, "ef+topk", a, &err) != OK ||
        trainer_open(&saved.trainer, &saved.setup, &err) != OK ||
        trainer_step(saved.trainer, &r, &err) != OK || checkpoint_save(saved.trainer, dir, &err) != OK)
        abort();
    const size_t parameters = trainer_parameters(saved.trainer);
    saved.weights = NEW(a, float, parameters);
    memcpy(saved.weights, saved.trainer->weights, parameters * sizeof(float));
    const char *path = step_file(dir, 1, a);
    read_saved(path);
    unlink(path);
    rmdir(dir);
}

/* ---- edits ---- */

/* The element that an edit has changed, and its value before. */
typedef struct {
    float *at, was;
} Undo;

static void edit_text(char *text, uint8_t at, uint32_t value)
{
    const size_t size = strlen(text);
    if (value >> 8 & 1)
        text[at % (size + 1)] = '\0';
    else if (size)
        text[at % size] = (char)value;
}

static Undo flip(float *at, uint32_t mask)
{
    const Undo undo = {at, *at};
    uint32_t bits;
    memcpy(&bits, at, sizeof bits);
    bits ^= mask;
    memcpy(at, &bits, sizeof bits);
    return undo;
}

static Undo edit_tensor(uint8_t what, size_t i, uint8_t at, uint32_t value)
{
    TensorInfo *t = &now.tensor[i];
    switch (what) {
    case 0:
        return flip(&now.x[i][((uint32_t)at << 8 ^ value >> 24) % saved.model.tensor[i].shape.n], value);
    case 1:
        edit_text(now.path[i], at, value);
        break;
    case 2: /* fewer elements, as no more are in memory */
        t->shape = shape_vector(value % (saved.model.tensor[i].shape.n + 1));
        break;
    case 3:
        now.tensors--;
        now.tensor[i] = now.tensor[now.tensors];
        now.x[i] = now.x[now.tensors];
        break;
    case 4:
        t->path = now.tensor[at % now.tensors].path;
        break;
    default:
        now.unreadable = i;
    }
    return (Undo){0};
}

static void edit_attr(uint8_t what, size_t i, uint8_t at, uint32_t value)
{
    Attr *attr = &now.attr[i];
    switch (what) {
    case 0:
        attr->whole ^= (int64_t)((uint64_t)value << at % 33);
        break;
    case 1:
        attr->real = value / 7.0 - 1e8;
        break;
    case 2:
        attr->type = value % 3;
        attr->text = attr->text ? attr->text : "text";
        break;
    case 3:
        *attr = now.attr[--now.attrs];
        break;
    case 4:
        edit_text(now.name[i], at, value);
        break;
    default:
        edit_text(now.text[i], at, value);
    }
}

static Undo edit(const uint8_t *e)
{
    const uint32_t value = (uint32_t)e[3] | (uint32_t)e[4] << 8 | (uint32_t)e[5] << 16 | (uint32_t)e[6] << 24;
    if (e[0] == 255)
        now.closed = true;
    else if (e[0] & 1 && now.tensors)
        return edit_tensor(e[0] >> 1 & 7, e[1] % now.tensors, e[2], value);
    else if (now.attrs)
        edit_attr(e[0] >> 1 & 7, e[1] % now.attrs, e[2], value);
    return (Undo){0};
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Error err = {0};
    Undo undo[EDITS_MOST];
    size_t edits = 0;
    if (!saved.arena)
        save_checkpoint();
    now = saved.model;
    keep_texts(&now);
    for (; edits < EDITS_MOST && (edits + 1) * EDIT <= size; edits++)
        undo[edits] = edit(data + edits * EDIT);
    trainer_reset(saved.trainer);
    const Status status = checkpoint_load(saved.trainer, "file.h5", &err);
    const size_t bytes = trainer_parameters(saved.trainer) * sizeof(float);
    if (status == OK && memcmp(saved.trainer->weights, saved.weights, bytes) != 0)
        abort();
    if (status != OK && (!*err.text || !edits))
        abort();
    while (edits-- > 0)
        if (undo[edits].at)
            *undo[edits].at = undo[edits].was;
    return 0;
}
