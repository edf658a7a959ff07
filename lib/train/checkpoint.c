/* checkpoint.c -- the folder of a run's files, and the checkpoints in it; see checkpoint.h. */
#include "train/checkpoint.h"

#include "base/checksum.h"
#include "dump/file_kind.h"
#include "train/train_parts.h"
#include "compress/spec.h"
#include "base/file.h"
#include "base/text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <dirent.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <sys/file.h>

/* ---- a folder of steps: the names of its files, its list, its lock ---- */

/* ---- names ---- */

char *step_file(const char *dir, size_t step, Arena *a)
{
    return text_format(a, "%s/step_%08zu.h5", dir, step);
}

/* Parses a name of the form step_%08zu.h5 and sets `*step` to its number. Returns false if the name has
 * another form. */
static bool number_of(const char *name, size_t *step)
{
    char again[64];
    char *end;
    if (strncmp(name, "step_", 5))
        return false;
    *step = (size_t)strtoull(name + 5, &end, 10);
    snprintf(again, sizeof again, "step_%08zu.h5", *step);
    return !strcmp(name, again);
}

static int is_step(const struct dirent *e)
{
    size_t ignored;
    return number_of(e->d_name, &ignored);
}

static int by_number(const struct dirent **x, const struct dirent **y)
{
    size_t a = 0, b = 0;
    number_of((*x)->d_name, &a);
    number_of((*y)->d_name, &b);
    return (a > b) - (a < b);
}

Status step_files(size_t **step, size_t *count, const char *dir, Arena *a, Error *err)
{
    struct dirent **found = NULL;
    const int files = scandir(dir, &found, is_step, by_number);
    if (files < 0 && errno == ENOMEM)
        return FAIL(err, ERR_MEMORY, "%s: out of memory for its list of files", dir);
    if (files < 0 && errno != ENOENT)
        return FAIL(err, ERR_IO, "%s: cannot be listed: %s", dir, strerror(errno));
    *count = files < 0 ? 0 : (size_t)files;
    *step = NEW(a, size_t, *count);
    for (size_t i = 0; i < *count; free(found[i++]))
        if (*step)
            number_of(found[i]->d_name, *step + i);
    free(found);
    return arena_check(*step, a, err);
}

Status step_files_remove(const char *dir, size_t first, Arena *a, Error *err)
{
    size_t *step, count;
    TRY(step_files(&step, &count, dir, a, err));
    for (size_t i = 0; i < count; i++) {
        const char *path = step_file(dir, step[i], a);
        TRY(arena_check(path, a, err));
        if (step[i] >= first && unlink(path))
            return FAIL(err, ERR_IO, "%s: cannot remove: %s", path, strerror(errno));
    }
    return OK;
}

/* ---- making the folder of steps ---- */

static Status step_folder_make(const char *dir, Arena *a, Error *err)
{
    char *path = text_copy(a, dir);
    TRY(arena_check(path, a, err));
    for (char *at = path + 1;; at++) {
        const char was = *at;
        if (was && was != '/')
            continue;
        *at = 0;
        if (mkdir(path, 0777) && errno != EEXIST)
            return FAIL(err, ERR_IO, "%s: cannot make this folder: %s", path, strerror(errno));
        if (!(*at = was))
            return OK;
    }
}

/* ---- locking ---- */

/* Removes the temporary files (outfile.h) of steps that a killed run has left in the folder, which is locked. */
static void remove_left(int folder)
{
    DIR *d = fdopendir(dup(folder));
    for (const struct dirent *e; d && (e = readdir(d));)
        if (!fnmatch(".step_*.h5.*.tmp", e->d_name, 0))
            unlinkat(folder, e->d_name, 0);
    if (d)
        closedir(d);
}

Status step_folder_lock(int *lock, const char *dir, Arena *a, Error *err)
{
    *lock = -1;
    TRY(step_folder_make(dir, a, err));
    const int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return FAIL(err, ERR_IO, "%s: cannot open this folder: %s", dir, strerror(errno));
    const bool locked = !flock(fd, LOCK_EX | LOCK_NB);
    if (!locked && errno == EWOULDBLOCK) {
        close(fd);
        return FAIL(err, ERR_IO, "%s: another run is at work there", dir);
    }
    if (locked)
        remove_left(fd);
    *lock = fd;
    return OK;
}

void step_folder_release(int lock)
{
    if (lock >= 0)
        close(lock);
}

bool step_folder_is_locked(const char *dir)
{
    const int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return false;
    const bool had = !flock(fd, LOCK_SH | LOCK_NB);
    close(fd);
    return !had;
}

/* ---- checkpoints ---- */

static const char schema[] = "atomo-checkpoint/1";

/* ---- the attributes of a checkpoint ---- */

/* Writes to `out` the attributes that a checkpoint must have to fit this run. Returns their number. */
static size_t own_attrs(const Trainer *t, Attr out[SETUP_MOST + 8])
{
    out[0] = attr_text("schema", schema);
    out[1] = attr_text("network", t->s.network);
    out[2] = attr_whole("initial", t->s.initial);
    return 3 + setup_attrs(&t->s, out + 3, t->arena);
}

static Status check_own(const Trainer *t, const AttrList *attrs, const char *path, Error *err)
{
    Attr own[SETUP_MOST + 8];
    const Status status = setup_check(own, own_attrs(t, own), attrs, path, "a checkpoint", err);
    if (status == ERR_USAGE)
        error_hint(err, "another run wrote it: give its options, or name another --train-dir");
    return status;
}

/* ---- the arrays that a step changes: weights, optimizer states, running statistics, codec states ---- */

static Status visit_slices(Trainer *t, int64_t worker, const char *folder, const SliceList *list, float *x, ArrayVisit visit,
                           void *data, Error *err)
{
    for (size_t i = 0; i < list->count && x; i++) {
        const Slice *s = &list->item[i];
        const ArenaMark mark = arena_mark(t->arena);
        const char *path = text_format(t->arena, "%s/%s", folder, s->name);
        TRY(arena_check(path, t->arena, err));
        TRY(visit(data, worker, path, &s->shape, x + s->offset, err));
        arena_rewind(t->arena, mark);
    }
    return OK;
}

/* Calls `visit` for each codec state of worker w. The bytes of a state are stored as an array of floats,
 * four bytes in each float. */
static Status visit_states(Trainer *t, size_t w, size_t fragment, ArrayVisit visit, void *data, Error *err)
{
    const CodecStates *states = gradient_states(t->fragment[fragment].exchange);
    for (size_t i = 0; i < states->count; i++) {
        const CodecState *s = &states->item[i];
        const Shape shape = shape_vector((s->size + 3) / 4);
        const ArenaMark mark = arena_mark(t->arena);
        if (s->worker != (int64_t)w || !shape.n)
            continue;
        const char *path = t->s.local.fragments > 1 ? text_format(t->arena, "state/%zu/%zu/%s", w, fragment, s->name)
                                                    : text_format(t->arena, "state/%zu/%s", w, s->name);
        TRY(arena_check(path, t->arena, err));
        TRY(visit(data, s->worker, path, &shape, s->state, err));
        arena_rewind(t->arena, mark);
    }
    return OK;
}

Status checkpoint_visit(Trainer *t, ArrayVisit visit, void *data, Error *err)
{
    const SliceList *parameters = model_parameters(t->model);
    TRY(visit_slices(t, -1, "weights", parameters, t->weights, visit, data, err));
    TRY(visit_slices(t, -1, "velocity", parameters, t->velocity, visit, data, err));
    TRY(visit_slices(t, -1, "square", parameters, t->square, visit, data, err));
    TRY(visit_slices(t, -1, "mean", parameters, t->s.local.late ? t->agreed : NULL, visit, data, err));
    for (size_t w = 0; w < t->s.workers; w++) {
        static const char *const names[] = {"", "/weights", "/velocity", "/square"};
        const InnerState none = {0}, *s = t->inner ? &t->inner[w] : &none;
        float *const parts[] = {t->running[w], s->weights, s->velocity, s->square};
        for (size_t i = 0; i < countof(parts); i++) {
            const ArenaMark mark = arena_mark(t->arena);
            const char *folder = text_format(t->arena, "%s/%zu%s", i ? "inner" : "running", w, names[i]);
            TRY(arena_check(folder, t->arena, err));
            TRY(visit_slices(t, (int64_t)w, folder, i ? parameters : model_running(t->model), parts[i], visit, data, err));
            arena_rewind(t->arena, mark);
        }
        for (size_t f = 0; f < t->s.local.fragments; f++)
            TRY(visit_states(t, w, f, visit, data, err));
    }
    return OK;
}

/* ---- saving ---- */

typedef struct {
    DumpWriter *to;
    Dump *from;
    uint64_t sum;
} Passing;

static Status save_array(void *data, int64_t worker, const char *path, const Shape *shape, float *x, Error *err)
{
    Passing *p = data;
    (void)worker;
    p->sum = checksum_floats(x, shape->n, p->sum);
    return dump_write(p->to, path, shape, x, NULL, err);
}

static Status save_all(Trainer *t, DumpWriter *to, Error *err)
{
    Passing p = {.to = to};
    Attr attr[SETUP_MOST + 8];
    const ArenaMark mark = arena_mark(t->arena);
    TRY(checkpoint_visit(t, save_array, &p, err));
    size_t count = own_attrs(t, attr);
    attr[count++] = attr_whole("step", t->step);
    attr[count++] = attr_whole("checksum", p.sum);
    TRY(dump_write_attrs(to, "", &(AttrList){attr, count}, err));
    arena_rewind(t->arena, mark);
    return OK;
}

Status checkpoint_save(Trainer *t, const char *dir, Error *err)
{
    const ArenaMark mark = arena_mark(t->arena);
    DumpWriter *to;
    TRY(step_folder_make(dir, t->arena, err));
    const char *path = step_file(dir, t->step, t->arena);
    TRY(arena_check(path, t->arena, err));
    TRY(dump_create(&to, path, err));
    const Status status = dump_finish(to, save_all(t, to, err), err);
    arena_rewind(t->arena, mark);
    return status;
}

/* ---- loading ---- */

static Status load_array(void *data, int64_t worker, const char *path, const Shape *shape, float *x, Error *err)
{
    Passing *p = data;
    (void)worker;
    const size_t i = dump_find(p->from, path, 0);
    if (i == dump_count(p->from))
        return FAIL(err, ERR_CORRUPT, "%s is missing", path);
    const size_t n = dump_tensor(p->from, i)->shape.n;
    if (n != shape->n)
        return FAIL(err, ERR_CORRUPT, "%s: %zu elements, want %zu", path, n, shape->n);
    TRY(dump_read(p->from, i, x, err));
    p->sum = checksum_floats(x, n, p->sum);
    return OK;
}

static bool is_checkpoint(const AttrList *attrs)
{
    const Attr *sign = attr_find(attrs, "schema");
    return sign && sign->type == ATTR_TEXT &&
           !strncmp(sign->text, schema, sizeof schema - 2); /* of any version */
}

static Status load_all(Trainer *t, Dump *from, const char *path, Error *err)
{
    Passing p = {.from = from};
    if (!is_checkpoint(dump_attrs(from, "")))
        return FAIL(err, ERR_CORRUPT, "%s: is no checkpoint", path);
    TRY(check_own(t, dump_attrs(from, ""), path, err));
    const Attr *step = attr_find(dump_attrs(from, ""), "step"), *sum = attr_find(dump_attrs(from, ""), "checksum");
    if (!step || step->type != ATTR_INT || step->whole < 0 || !sum || sum->type != ATTR_INT)
        return FAIL(err, ERR_CORRUPT, "%s: no step or no checksum", path);
    if (checkpoint_visit(t, load_array, &p, err) != OK)
        return error_at(err, "%s", path);
    if (p.sum != (uint64_t)sum->whole)
        return FAIL(err, ERR_CORRUPT, "%s: wrong checksum of its arrays", path);
    t->step = (size_t)step->whole;
    t->ordered = 0;
    return OK;
}

Status checkpoint_load(Trainer *t, const char *path, Error *err)
{
    Arena *a = arena_open(0);
    const ArenaMark mark = arena_mark(t->arena);
    Dump *from = NULL;
    Status status = dump_open(&from, path, a, err);
    if (status == OK)
        status = load_all(t, from, path, err);
    dump_close(from);
    arena_rewind(t->arena, mark);
    arena_close(a);
    return status;
}

/* ---- reading the setup from a checkpoint ---- */

typedef struct {
    const AttrList *attrs;
    const char *missing; /* an attribute that is not there, or has a value that there is not; NULL: none */
} Reading;

static const char *known_text(Reading *k, const char *name)
{
    const Attr *a = attr_find(k->attrs, name);
    if (a && a->type == ATTR_TEXT)
        return a->text;
    k->missing = name;
    return "";
}

static size_t known_whole(Reading *k, const char *name)
{
    const Attr *a = attr_find(k->attrs, name);
    if (a && a->type == ATTR_INT && a->whole >= 0)
        return (size_t)a->whole;
    k->missing = name;
    return 0;
}

static Status take_setup(TrainSetup *s, const char **dataset, size_t *images, const AttrList *attrs, const char *path,
                         Arena *a, Error *err)
{
    Reading k = {.attrs = attrs};
    const char *spec = known_text(&k, "compressor");
    s->network = text_copy(a, known_text(&k, "network"));
    *dataset = text_copy(a, known_text(&k, "dataset"));
    *images = known_whole(&k, "images");
    s->initial = known_whole(&k, "initial");
    s->seed = known_whole(&k, "seed");
    for (const Setting *of = train_settings; of->name; of++)
        if ((of->use & SETTING_KEPT) && !setting_take(of, s, attr_find(attrs, of->name)))
            k.missing = of->name;
    const char *again = known_text(&k, "quantised_again");
    s->owner_feedback = !strcmp(known_text(&k, "owner_feedback"), "on");
    if (k.missing)
        return FAIL(err, ERR_CORRUPT, "%s: no attribute %s: not a checkpoint", path, k.missing);
    if (strcmp(again, "no") && setup_read_topology(s, again, a, err) != OK)
        return error_at(err, "%s", path);
    return s->network && *dataset ? codec_open(&s->codec, spec, a, err) : arena_fail(a, err);
}

Status checkpoint_setup(TrainSetup *s, const char **dataset, size_t *images, const char *path, Arena *a,
                        Error *err)
{
    Dump *from;
    TRY(dump_open(&from, path, a, err));
    const Status status = take_setup(s, dataset, images, dump_attrs(from, ""), path, a, err);
    dump_close(from);
    return status;
}

/* ---- resuming ---- */

Status checkpoint_resume(Trainer *t, const char *dir, void (*note)(void *data, const char *text), void *data,
                         Error *err)
{
    const ArenaMark mark = arena_mark(t->arena);
    size_t *step, count;
    char line[1000];
    TRY(step_files(&step, &count, dir, t->arena, err));
    while (count-- > 0) {
        const char *path = step_file(dir, step[count], t->arena);
        TRY(arena_check(path, t->arena, err));
        const Status status = checkpoint_load(t, path, err);
        if (status == OK || status == ERR_USAGE || status == ERR_MEMORY) {
            arena_rewind(t->arena, mark);
            return status;
        }
        snprintf(line, sizeof line, "%s; %s", err->text,
                 count ? "trying the checkpoint before it" : "there is none before it");
        note(data, line);
    }
    trainer_reset(t);
    snprintf(line, sizeof line, "%s: no checkpoint to resume from: the run starts from the beginning", dir);
    note(data, line);
    arena_rewind(t->arena, mark);
    return OK;
}
