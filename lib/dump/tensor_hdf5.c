/* tensor_hdf5.c -- reads dumps of every kind of file. Starts a reader process, which lists the file's
 * tensors and delivers their floats. This source file runs in the program's own process.
 *
 * Plain elements, contiguous and little-endian, are read from the file here, at the offset that the
 * reader gives, and so are float32 elements with a checksum. An offset from a hostile reader does no harm, as any bytes are floats. All other
 * tensors are unpacked by the reader into shared memory. This process creates and seals this memory, so the
 * reader can neither shrink nor grow it. All other data come from the reader as messages, which
 * tensor_stream.c parses. */
#include "base/confine.h"
#include "base/host.h"
#include "base/rng.h"
#include "dump/tensor_files.h"
#include "dump/tensor_hdf5.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PATIENCE = 60 };  /* seconds to wait for a message of the reader process */
enum { PART = 1 << 20 }; /* floats that are copied together */

struct Dump {
    const char *file;
    FileKind kind;
    Listing listing;
    pid_t reader;           /* 0: not running */
    pid_t owner;            /* the process whose child the reader is */
    int socket, memory, fd; /* fd: descriptor of the dump's file */
    uint64_t used;          /* bytes of address space that the reader process uses at its start */
    const float *x;         /* the shared memory */
    size_t room;
    uint8_t *inbox; /* bytes received; the elements `from` .. `to` - 1 are not yet parsed */
    size_t from, to;
    uint64_t draw; /* number of the sample that is read */
    Files *files; /* of a dump of several files, which has no reader; else NULL */
    Error death; /* the error that every call returns after the reader process has ended */
};

enum { INBOX = 4 + MESSAGE_MAX };

/* ---- messages ---- */

/* Ends the reader, and sets `*state` to how it ended. Its number may belong to another process by now, if the host waits
 * for all children itself, or if this process is a fork of the reader's parent: then there is nothing to end. */
static void end_reader(Dump *d, int *state)
{
    if (d->reader && waitpid(d->reader, state, WNOHANG) == 0) {
        kill(d->reader, SIGKILL);
        while (waitpid(d->reader, state, 0) < 0 && errno == EINTR)
            ;
    }
    d->reader = 0;
}

/* Ends the reader process, which has ended itself or was `slow`, and sets the error. */
static Status reader_lost(Dump *d, bool slow, Error *err)
{
    int state = 0;
    end_reader(d, &state);
    const char *reader = d->kind == FILE_HDF5 ? "the HDF5 library" : "the reader process";
    if (slow || (WIFSIGNALED(state) && WTERMSIG(state) == SIGXCPU))
        FAIL(err, ERR_CORRUPT, "%s: %s took too long over this file", d->file, reader);
    else if (WIFEXITED(state) && WEXITSTATUS(state) == CONFINE_NO_FILES)
        FAIL(err, ERR_IO, "%s: no reader process: %s", d->file, strerror(EMFILE));
    else if (WIFSIGNALED(state))
        FAIL(err, ERR_CORRUPT, "%s: %s failed on this file (signal %d)", d->file, reader, WTERMSIG(state));
    else
        FAIL(err, ERR_CORRUPT, "%s: %s failed on this file (exit %d)", d->file, reader, WEXITSTATUS(state));
    d->death = *err;
    return err->status;
}

/* Takes one message out of the inbox (the bytes received so far). Returns false if no message is complete. A
 * message that is too long is returned with size 0, which every parser refuses. */
static bool inbox_take(Dump *d, Bytes *message)
{
    if (d->to - d->from < 4)
        return false;
    const uint32_t size = load_u32(d->inbox + d->from);
    *message = (Bytes){d->inbox + d->from + 4, size > MESSAGE_MAX ? 0 : size};
    if (size <= MESSAGE_MAX && d->to - d->from - 4 < size)
        return false;
    d->from += 4 + message->size;
    return true;
}

static Status receive(Dump *d, double patience, Bytes *message, Error *err)
{
    const double deadline = clock_now() + patience;
    while (!inbox_take(d, message)) {
        memmove(d->inbox, d->inbox + d->from, d->to - d->from);
        d->to -= d->from;
        d->from = 0;
        const double left = deadline - clock_now();
        struct pollfd p = {.fd = d->socket, .events = POLLIN};
        const int ready = left > 0 ? poll(&p, 1, (int)(1000 * left) + 1) : 0;
        if (ready == 0)
            return reader_lost(d, true, err);
        const ssize_t part = ready < 0 ? -1 : recv(d->socket, d->inbox + d->to, INBOX - d->to, 0);
        if (part == 0 || (part < 0 && errno != EINTR))
            return reader_lost(d, false, err);
        d->to += part > 0 ? (size_t)part : 0;
    }
    return OK;
}

/* ---- opening ---- */

/* Tells the file's kind by its first bytes; refuses files of unknown kind and pickles. */
static Status check_kind(int fd, uint64_t size, FileKind *kind, const char *path, Error *err)
{
    if (file_kind(fd, size, kind, err) != OK)
        return error_at(err, "%s", path);
    if (*kind == FILE_PICKLE) {
        refuse_pickle(path, err);
        return error_at(err, "%s", path);
    }
    return *kind == FILE_UNKNOWN ? refuse_unknown_kind(fd, size, path, err) : OK;
}

static Status open_file(const char *path, int *opened, FileKind *kind, uint64_t *size, Error *err)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat info;
    if (fd < 0 || fstat(fd, &info)) {
        const int why = errno;
        if (fd >= 0)
            close(fd);
        FAIL(err, ERR_IO, "%s: cannot be opened: %s", path, strerror(why));
        return strcmp(path, "-")
                   ? ERR_IO
                   : error_hint(err, "gradients are read from files alone; report and plot read "
                                     "results from standard input");
    }
    *size = (uint64_t)info.st_size;
    Status status = OK;
    if (!S_ISREG(info.st_mode))
        status = FAIL(err, ERR_IO, "%s: %s, want a file", path,
                      S_ISDIR(info.st_mode) ? "a directory" : "not a regular file");
    else
        status = check_kind(fd, *size, kind, path, err);
    if (status == OK)
        *opened = fd;
    else
        close(fd);
    return status;
}

static Status start_reader(Dump *d, Error *err)
{
    int ends[2];
    d->memory = memfd_create("tensor", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (d->memory < 0)
        return FAIL(err, ERR_IO, "%s: no shared memory: %s", d->file, strerror(errno));
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
        return FAIL(err, ERR_IO, "%s: no socket pair: %s", d->file, strerror(errno));
    d->socket = ends[0];
    d->used = confine_space();
    d->owner = getpid();
    d->reader = fork();
    if (d->reader == 0)
        reader_run(ends[1], d->memory, d->file, d->kind, d->listing.file_size, &d->listing.hints);
    close(ends[1]);
    if (d->reader > 0)
        return OK;
    d->reader = 0;
    return FAIL(err, ERR_IO, "%s: no reader process: %s", d->file, strerror(errno));
}

static Status list(Dump *d, Error *err)
{
    while (!d->listing.ended) {
        Bytes message;
        TRY(receive(d, PATIENCE, &message, err));
        if (listing_take(&d->listing, message, err) != OK)
            return error_at(err, "%s", d->file);
    }
    if (d->listing.tensors == 0) {
        FAIL(err, ERR_CORRUPT, "%s: holds no float datasets (%zu of other types)", d->file,
             d->listing.skipped);
        const LeftOut *out = &d->listing.left_out;
        if (out->count)
            return error_hint(err, "%.100s is of type %s%s", out->path, out->type,
                              text_ends(out->type, "V2") ? ": --void bfloat16 if that is what it holds" : "");
        return d->kind == FILE_HDF5
                   ? error_hint(err, "h5ls -r FILE, of the package hdf5-tools, shows what it holds")
                   : err->status;
    }
    return listing_finish(&d->listing, err) == OK ? OK : error_at(err, "%s", d->file);
}

/* ---- several files: each is read by a dump of its own, with its own reader process, of which OPEN_MOST run at a time ---- */

enum { OPEN_MOST = 32 };

static Status part_open(Files *f, Part *p)
{
    p->used = ++f->clock;
    if (p->dump)
        return OK;
    Part *oldest = NULL;
    for (size_t i = 0; f->open >= OPEN_MOST && i < f->count; i++)
        if (f->part[i].dump && (!oldest || f->part[i].used < oldest->used))
            oldest = &f->part[i];
    if (oldest) {
        dump_close(oldest->dump);
        arena_close(oldest->arena);
        oldest->dump = NULL;
        oldest->arena = NULL;
        f->open--;
    }
    TRY(dump_open_as(&p->dump, p->path, &f->hints, p->arena ? p->arena : f->arena, f->err));
    f->open++;
    return OK;
}

static Status join_group(Listing *l, const char *path, const AttrList *attrs, Error *err)
{
    l->group = items_more(l->group, l->groups, &l->group_room, sizeof *l->group, l->arena);
    TRY(arena_check(l->group, l->arena, err));
    l->group[l->groups++] = (ListedGroup){path, *attrs};
    return OK;
}

/* Adds the groups of a file: those of the first file, and what the names of files make of the root of each. */
static Status join_groups(Files *f, const Part *p, Listing *l)
{
    const AttrList none = {0}, *attrs;
    for (size_t i = 0; p == f->part && i < dump_groups(p->dump); i++) {
        const char *path = dump_group(p->dump, i, &attrs);
        if (!*path || (!p->group[0] && !p->group[1]))
            TRY(join_group(l, path, attrs, f->err));
    }
    const char *both = p->group[0] && p->group[1] ? text_format(l->arena, "%s/%s", p->group[0], p->group[1]) : NULL;
    const char *paths[] = {p->group[0] ? p->group[0] : p->group[1], both};
    for (size_t k = 0; k < countof(paths) && paths[k]; k++) {
        bool known = false;
        for (size_t g = 0; g < l->groups && !known; g++)
            known = !strcmp(l->group[g].path, paths[k]);
        if (!known)
            TRY(join_group(l, paths[k], k || !both ? dump_attrs(p->dump, "") : &none, f->err));
    }
    return OK;
}

static Status join_tensor(const Files *f, size_t part, size_t place, Listing *l)
{
    const Part *p = &f->part[part];
    Listed t = {.info = *dump_tensor(p->dump, place), .number = l->tensors, .at = NOWHERE, .part = part, .place = place};
    TensorInfo *info = &t.info;
    if (p->group[0] && !info->step_group) {
        info->step_group = p->group[0];
        info->step = p->number[0];
    }
    if (p->group[1] && !info->worker_group) {
        info->worker_group = p->group[1];
        info->worker = p->number[1];
    }
    if (p->group[0] || p->group[1])
        info->path = text_format(l->arena, "%s%s%s%s%s", info->step_group ? info->step_group : "", info->step_group ? "/" : "",
                                 info->worker_group ? info->worker_group : "", info->worker_group ? "/" : "", info->name);
    l->tensor = items_more(l->tensor, l->tensors, &l->tensor_room, sizeof t, l->arena);
    TRY(arena_check(l->tensor && info->path, l->arena, f->err));
    l->tensor[l->tensors++] = t;
    return OK;
}

/* Where each file holds steps of its own, the files cannot be steps, too, but workers; and the other way round. */
static Status refuse_twins(const Files *f, const Listing *l, const char *path)
{
    const Listed *t = l->tensor;
    while (t->info.path != path)
        t++;
    const Part *p = &f->part[t->part];
    const bool steps = t->info.step_group && t->info.step_group != p->group[0],
               workers = t->info.worker_group && t->info.worker_group != p->group[1];
    FAIL(f->err, ERR_CORRUPT, "%s and others: two tensors of the name %.200s", f->part[0].path, path);
    return steps == workers ? ERR_CORRUPT
                            : error_hint(f->err, "each file has %s of its own: --%s-as files", steps ? "steps" : "workers",
                                         steps ? "workers" : "steps");
}

static Status check_twins(const Files *f, const Listing *l)
{
    const char **path = NEW(l->arena, const char *, l->tensors);
    TRY(arena_check(path, l->arena, f->err));
    for (size_t i = 0; i < l->tensors; i++)
        path[i] = l->tensor[i].info.path;
    const char *twin = sort_names(path, l->tensors);
    return twin ? refuse_twins(f, l, twin) : OK;
}

static Status join(Files *f, Listing *l)
{
    for (size_t k = 0; k < f->count; k++) {
        Part *p = &f->part[k];
        TRY(part_open(f, p));
        const LeftOut *out = dump_left_out(p->dump);
        l->skipped += dump_skipped(p->dump);
        if (!l->left_out.count)
            l->left_out = (LeftOut){.type = out->type, .path = out->path};
        l->left_out.count += out->count;
        l->left_out.elements += out->elements;
        TRY(join_groups(f, p, l));
        for (size_t i = 0; i < dump_count(p->dump); i++)
            TRY(join_tensor(f, k, i, l));
    }
    if (f->named > l->tensors + l->skipped)
        return FAIL(f->err, ERR_CORRUPT, "%s: its index names %zu tensors, but the files have only %zu", f->part[0].path, f->named,
                    l->tensors + l->skipped);
    TRY(check_twins(f, l));
    return listing_join(l, f->err);
}

static Status files_open(Files **out, const char *path, Listing *l, Error *err)
{
    Files *f = *out = NEW_ZERO(l->arena, Files, 1);
    TRY(arena_check(f, l->arena, err));
    f->arena = l->arena;
    f->hints = l->hints;
    TRY(files_find(f, path, err));
    f->hints.files = (TextList){0}; /* of each file's own dump */
    return join(f, l);
}

static void files_close(Files *f)
{
    for (size_t i = 0; f && i < f->count; i++) {
        dump_close(f->part[i].dump);
        arena_close(f->part[i].arena);
    }
}

static Status files_read(Files *f, size_t part, size_t place, uint64_t draw, float *x, Error *err)
{
    Part *p = &f->part[part];
    f->err = err;
    if (!p->dump && !p->arena)
        p->arena = arena_open(0); /* the first listing stays, as tensors point into it */
    TRY(part_open(f, p));
    p->dump->draw = draw;
    if (place >= dump_count(p->dump))
        return FAIL(err, ERR_IO, "%s: was changed while it was read", p->path);
    return dump_read(p->dump, place, x, err);
}

Status dump_open(Dump **out, const char *path, Arena *a, Error *err)
{
    return dump_open_as(out, path, &(DumpHints){0}, a, err);
}

Status dump_open_as(Dump **out, const char *path, const DumpHints *hints, Arena *a, Error *err)
{
    uint64_t size = 0;
    int fd = -1;
    Dump *d = NEW_ZERO(a, Dump, 1);
    TRY(arena_check(d && (d->file = text_copy(a, path)) && (d->inbox = NEW(a, uint8_t, INBOX)), a, err));
    d->socket = d->memory = d->fd = -1;
    const bool several = files_several(path, hints);
    if (!several)
        TRY(open_file(path, &fd, &d->kind, &size, err));
    d->fd = fd;
    d->listing = (Listing){.arena = a, .hints = *hints, .file_size = size};
    Status status = several ? files_open(&d->files, path, &d->listing, err) : start_reader(d, err);
    if (status == OK && !several)
        status = list(d, err);
    if (status != OK)
        dump_close(d);
    else
        *out = d;
    return status;
}

void dump_close(Dump *d)
{
    if (!d)
        return;
    end_reader(d, &(int){0});
    files_close(d->files);
    if (d->x)
        munmap((void *)(uintptr_t)d->x, d->room);
    if (d->socket >= 0)
        close(d->socket);
    if (d->memory >= 0)
        close(d->memory);
    if (d->fd >= 0)
        close(d->fd);
    *d = (Dump){.socket = -1, .memory = -1, .fd = -1};
}

/* ---- contents ---- */

const char *dump_file(const Dump *d)
{
    return d->file;
}

size_t dump_files(const Dump *d, const char **as)
{
    *as = d->files ? d->files->as : NULL;
    return d->files ? d->files->count : 0;
}

const char *dump_tensor_file(const Dump *d, size_t i)
{
    return d->files ? d->files->part[d->listing.tensor[i].part].path : d->file;
}

Status dump_stat(const Dump *d, int64_t *bytes, struct timespec *changed, Error *err)
{
    *bytes = 0;
    *changed = (struct timespec){0};
    for (size_t i = 0; i < (d->files ? d->files->count : 1); i++) {
        const char *path = d->files ? d->files->part[i].path : d->file;
        struct stat now;
        if (stat(path, &now))
            return FAIL(err, ERR_IO, "%s: cannot be found any more", path);
        *bytes += now.st_size;
        const struct timespec t = now.st_mtim;
        if (t.tv_sec > changed->tv_sec || (t.tv_sec == changed->tv_sec && t.tv_nsec > changed->tv_nsec))
            *changed = t;
    }
    return OK;
}

size_t dump_count(const Dump *d)
{
    return d->listing.tensors;
}

uint64_t dump_plain_at(const Dump *d, size_t i)
{
    return d->files ? NOWHERE : d->listing.tensor[i].at;
}

int dump_descriptor(const Dump *d)
{
    return d->fd;
}

const TensorInfo *dump_tensor(const Dump *d, size_t i)
{
    return &d->listing.tensor[i].info;
}

size_t dump_find(const Dump *d, const char *path, size_t near)
{
    const size_t count = dump_count(d);
    for (size_t i = 0; i < count; i++)
        if (!strcmp(dump_tensor(d, (near + i) % count)->path, path))
            return (near + i) % count;
    return count;
}

size_t dump_skipped(const Dump *d)
{
    return d->listing.skipped;
}

const LeftOut *dump_left_out(const Dump *d)
{
    return &d->listing.left_out;
}

const AttrList *dump_attrs(const Dump *d, const char *group)
{
    return listing_attrs(&d->listing, group);
}

size_t dump_groups(const Dump *d)
{
    return d->listing.groups;
}

const char *dump_group(const Dump *d, size_t i, const AttrList **attrs)
{
    *attrs = &d->listing.group[i].attrs;
    return d->listing.group[i].path;
}

/* ---- reading ---- */

static Status share_memory(Dump *d, Error *err)
{
    size_t largest = 1;
    for (size_t i = 0; i < dump_count(d); i++)
        if (d->listing.tensor[i].at == NOWHERE && d->listing.tensor[i].whole > largest)
            largest = d->listing.tensor[i].whole;
    const size_t bytes = largest * sizeof(float);
    const bool sized = !ftruncate(d->memory, (off_t)bytes) &&
                       fcntl(d->memory, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) >= 0;
    void *x = sized ? mmap(NULL, bytes, PROT_READ, MAP_SHARED, d->memory, 0) : MAP_FAILED;
    if (x == MAP_FAILED)
        return FAIL(err, ERR_MEMORY, "%s: no %zu bytes of shared memory: %s", d->file, bytes,
                    strerror(errno));
    d->x = x;
    d->room = bytes;
    return OK;
}

/* Copies n floats, which the file has from element `at` on, to their places in x. */
static void put_part(const Listed *t, const float *part, size_t at, size_t n, float *x)
{
    if (t->info.layout == LAYOUT_HWIO)
        layout_transpose(&t->info.shape, part, at, n, x);
    else
        memcpy(x + at, part, n * sizeof *part);
}

/* Frees the pages that lie within the array, whose contents are about to be overwritten. */
static void free_pages(float *x, size_t bytes)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), at = (uintptr_t)x,
                    end = (at + bytes) / page * page;
    const uintptr_t first = (at + page - 1) / page * page;
    if (first < end)
        madvise((void *)first, end - first, MADV_DONTNEED);
}

/* Copies the tensor from the shared memory. Frees the pages of large shared memory part by part, so that the
 * tensor is not in memory twice. */
static void take_shared(const Dump *d, const Listed *t, float *x)
{
    const size_t n = t->info.whole, from = t->slice * n;
    for (size_t at = 0; at < n; at += PART) {
        const size_t left = n - at, part = left < PART ? left : PART;
        put_part(t, d->x + from + at, at, part, x);
        if (d->room > SHARED_KEEP)
            fallocate(d->memory, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)((from + at) * sizeof(float)),
                      (off_t)(PART * sizeof(float)));
    }
}

static Status read_unpacked(Dump *d, const Listed *t, float *x, Error *err)
{
    const size_t bytes = t->whole * sizeof(float);
    uint8_t request[REQUEST_SIZE];
    Bytes answer;
    if (d->owner != getpid())
        return FAIL(err, ERR_USAGE, "%s: was opened before this process was forked: open it here", d->file);
    if (!d->x)
        TRY(share_memory(d, err));
    const uint64_t most = d->used ? d->used + 8 * d->room + ((uint64_t)1 << 30) : 0;
    confine_child(d->reader, most, 8 + bytes / (1 << 20)); /* HDF5 converts uncommon types at only a few MB/s */
    if (bytes > SHARED_KEEP)
        free_pages(x, t->info.whole * sizeof(float));
    store_u64(request, t->number);
    store_u64(request + 8, d->room);
    ssize_t sent;
    while ((sent = send(d->socket, request, sizeof request, MSG_NOSIGNAL)) < 0 && errno == EINTR)
        ;
    if (sent != sizeof request)
        return reader_lost(d, false, err);
    TRY(receive(d, (double)PATIENCE + (double)bytes / (1 << 20), &answer, err));
    if (answer.size != 1 || *answer.data != 'D')
        return message_error(answer, err);
    take_shared(d, t, x);
    return OK;
}

/* Reads the plain elements `from` .. from + n - 1 of a tensor to x, in the order of the file. */
static Status read_plain(const Dump *d, const Listed *t, size_t from, size_t n, float *x, Error *err)
{
    enum { PIECE = 1 << 14 };
    uint8_t raw[PIECE];
    const size_t item = array_item_bytes[t->info.type], most = PIECE / item;
    if (t->info.type == ARRAY_F32) {
        TRY(file_take(d->fd, t->at + 4 * (uint64_t)from, x, 4 * n, err));
        floats_order(x, n);
        return OK;
    }
    for (size_t at = 0; at < n; at += most) {
        const size_t some = n - at < most ? n - at : most;
        TRY(file_take(d->fd, t->at + (from + at) * item, raw, some * item, err));
        array_convert(t->info.type, false, raw, some, x + at);
    }
    return OK;
}

/* Returns whether the tensor was read here and has its checksum. If not, the reader says what is wrong. */
static bool read_summed(const Dump *d, const Listed *t, float *x)
{
    Error ignored;
    const size_t bytes = t->whole * sizeof *x;
    if (!t->summed_at || t->info.type != ARRAY_F32 || t->info.layout == LAYOUT_HWIO || t->whole != t->info.whole ||
        file_take(d->fd, t->summed_at, x, bytes, &ignored) != OK || crc32_add(t->before, x, bytes) != t->sum)
        return false;
    floats_order(x, t->whole);
    return true;
}

static Status read_whole(Dump *d, const Listed *t, float *x, Error *err)
{
    const size_t n = t->info.whole;
    if (t->at == NOWHERE)
        return read_summed(d, t, x) ? OK : read_unpacked(d, t, x, err);
    if (t->info.layout != LAYOUT_HWIO)
        return read_plain(d, t, 0, n, x, err);
    Arena *scratch = arena_open(0);
    float *part = NEW(scratch, float, n < PART ? n : PART);
    Status status = part ? OK : arena_fail(scratch, err);
    for (size_t at = 0; status == OK && at < n; at += PART) {
        const size_t some = n - at < PART ? n - at : PART;
        status = read_plain(d, t, at, some, part, err);
        if (status == OK)
            put_part(t, part, at, some, x);
    }
    arena_close(scratch);
    return status;
}

void dump_draw(Dump *d, uint64_t number)
{
    d->draw = number;
}

/* Reads the slices along the first axis that the draw takes, each with the same probability, in the order of the file; of a vector,
 * elements in a row. `whole`: all elements of a tensor that is not plain; else NULL. */
static Status take_sample(const Dump *d, const Listed *t, const float *whole, float *x, Error *err)
{
    const bool vector = t->info.shape.rank == 1;
    const size_t n = t->info.shape.n, each = vector ? n : n / t->info.shape.dim[0], slices = t->info.whole / each;
    const size_t thin = d->listing.hints.thin > 1 ? (size_t)d->listing.hints.thin : 1;
    const Rng rng = rng_open(d->draw, 0, t->info.worker_address, t->info.step_address, rng_hash(t->info.name));
    size_t drawn = 0, done = 0, at = vector ? (size_t)(rng_unit(&rng, USE_DATA, 0) * (double)(t->info.whole - thin * n + 1)) : 0;
    for (size_t i = 0; done < n; i++, at += each) {
        const size_t left = (size_t)d->listing.hints.sample - drawn;
        if (!vector && (rng_unit(&rng, USE_DATA, i) * (double)(slices - i) >= (double)left || drawn++ % thin))
            continue;
        if (whole)
            memcpy(x + done, whole + at, each * sizeof *x);
        else
            TRY(read_plain(d, t, at, each, x + done, err));
        done += each;
    }
    return OK;
}

static Status read_sample(Dump *d, const Listed *t, float *x, Error *err)
{
    if (t->at != NOWHERE)
        return take_sample(d, t, NULL, x, err);
    Arena *scratch = arena_open(0);
    float *whole = NEW(scratch, float, t->info.whole);
    Status status = whole ? read_unpacked(d, t, whole, err) : arena_fail(scratch, err);
    if (status == OK)
        status = take_sample(d, t, whole, x, err);
    arena_close(scratch);
    return status;
}

Status dump_read(Dump *d, size_t i, float *x, Error *err)
{
    const Listed *t = &d->listing.tensor[i];
    if (t->info.shape.n == 0)
        return OK;
    if (d->files)
        return files_read(d->files, t->part, t->place, d->draw, x, err);
    if (!d->reader) {
        *err = d->death;
        return err->status;
    }
    const Status status = (t->info.whole > t->info.shape.n ? read_sample : read_whole)(d, t, x, err);
    /* `reader_lost` has put the file's name into the error */
    if (status == OK || !d->reader)
        return status;
    error_at(err, "%s", t->info.path);
    return error_at(err, "%s", d->file);
}
