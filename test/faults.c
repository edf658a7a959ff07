/* faults.c -- a library preloaded by torture.py. It makes C library calls of the tested program fail. Calls by
 * other libraries and by the loader do not fail.
 *
 * FAULT_CLASS names a class of calls, and FAULT_AT=N the N-th call of this class, counted from 1. FAULT_MODE is
 * one of four. `once`: only that call fails. `on`: that call and all later calls fail. `eintr`: that call fails
 * with EINTR. `short`: that call transfers half of the bytes. When the program ends, the shim writes to the
 * file FAULT_LOG a line "class count" for every class, and a line "live N", where N memory blocks were not
 * freed. */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <poll.h>
#include <pthread.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum Class { ALLOC, OPEN, READ, WRITE, SYNC, RENAME, CLOSE, MMAP, FORK, PIPE, MEMFD, CLASSES };
static const char *const names[CLASSES] = {"alloc", "open", "read", "write", "sync", "rename",
                                           "close", "mmap", "fork", "pipe",  "memfd"};

static struct {
    uintptr_t from, to; /* addresses of the program's code */
    int class;
    long at;
    char mode;
    pid_t first; /* process id of the program, the only process that writes the log */
    const char *log;
} set;
static atomic_long count[CLASSES], live;

static int find_program(struct dl_phdr_info *info, size_t size, void *unused)
{
    (void)size, (void)unused;
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_LOAD && info->dlpi_phdr[i].p_flags & PF_X) {
            set.from = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
            set.to = set.from + info->dlpi_phdr[i].p_memsz;
        }
    return 1; /* the loop stops after the first object, which is the program itself */
}

__attribute__((constructor)) static void begin(void)
{
    const char *class = getenv("FAULT_CLASS"), *at = getenv("FAULT_AT"), *mode = getenv("FAULT_MODE");
    set.class = -1;
    for (int i = 0; class && i < CLASSES; i++)
        if (!strcmp(class, names[i]))
            set.class = i;
    set.at = at ? atol(at) : 0;
    set.mode = mode ? *mode : 'o';
    if (mode && !strcmp(mode, "on"))
        set.mode = 'n';
    set.log = getenv("FAULT_LOG");
    set.first = getpid();
    unsetenv("LD_PRELOAD"); /* processes that the program starts run without this shim */
    dl_iterate_phdr(find_program, NULL);
}

__attribute__((destructor)) static void end(void)
{
    FILE *f = set.log && getpid() == set.first ? fopen(set.log, "w") : NULL;
    for (int i = 0; f && i < CLASSES; i++)
        fprintf(f, "%s %ld\n", names[i], count[i]);
    if (f) {
        fprintf(f, "live %ld\n", live);
        fclose(f);
    }
}

static bool own(const void *caller)
{
    return (uintptr_t)caller >= set.from && (uintptr_t)caller < set.to;
}

/* Counts a call and returns how it fails: 0 not at all, 1 with an error, 'e' with EINTR, 's' by transferring
 * half of the bytes. */
static int fault(const void *caller, enum Class class)
{
    if (!own(caller))
        return 0;
    const long n = ++count[class];
    if (set.class != (int)class || set.at == 0 || n < set.at || (n > set.at && set.mode != 'n'))
        return 0;
    return set.mode == 'e' || set.mode == 's' ? set.mode : 1;
}

#define NEXT(name) ((__typeof__(name) *)dlsym(RTLD_NEXT, #name))
#define CALLER     __builtin_return_address(0)

static int failed(int how, int error)
{
    errno = how == 'e' ? EINTR : error;
    return -1;
}

/* ---- memory ---- */

extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t),
    *__libc_memalign(size_t, size_t);
extern void __libc_free(void *);

static void *counted(const void *caller, void *p)
{
    live += own(caller) && p;
    return p;
}

void *malloc(size_t n)
{
    if (fault(CALLER, ALLOC))
        return errno = ENOMEM, NULL;
    return counted(CALLER, __libc_malloc(n));
}

void *calloc(size_t n, size_t size)
{
    if (fault(CALLER, ALLOC))
        return errno = ENOMEM, NULL;
    return counted(CALLER, __libc_calloc(n, size));
}

void *aligned_alloc(size_t alignment, size_t n)
{
    if (fault(CALLER, ALLOC))
        return errno = ENOMEM, NULL;
    return counted(CALLER, __libc_memalign(alignment, n));
}

void free(void *p)
{
    live -= own(CALLER) && p;
    __libc_free(p);
}

/* ---- files ---- */

#define MODE_OF(flags)                                                                                       \
    va_list args;                                                                                            \
    va_start(args, flags);                                                                                   \
    const mode_t mode = (flags) & (O_CREAT | O_TMPFILE) ? va_arg(args, mode_t) : 0;                          \
    va_end(args)

int open(const char *path, int flags, ...)
{
    MODE_OF(flags);
    const int how = fault(CALLER, OPEN);
    return how ? failed(how, EMFILE) : NEXT(open)(path, flags, mode);
}

FILE *fopen(const char *path, const char *mode)
{
    const int how = fault(CALLER, OPEN);
    return how ? (failed(how, EMFILE), NULL) : NEXT(fopen)(path, mode);
}

FILE *fdopen(int fd, const char *mode)
{
    return fault(CALLER, OPEN) ? (errno = ENOMEM, NULL) : NEXT(fdopen)(fd, mode);
}

DIR *opendir(const char *path)
{
    return fault(CALLER, OPEN) ? (errno = EMFILE, NULL) : NEXT(opendir)(path);
}

DIR *fdopendir(int fd)
{
    return fault(CALLER, OPEN) ? (errno = ENOMEM, NULL) : NEXT(fdopendir)(fd);
}

int scandir(const char *path, struct dirent ***list, int (*filter)(const struct dirent *),
            int (*compare)(const struct dirent **, const struct dirent **))
{
    const int how = fault(CALLER, OPEN);
    return how ? failed(how, EMFILE) : NEXT(scandir)(path, list, filter, compare);
}

int mkdir(const char *path, mode_t mode)
{
    return fault(CALLER, OPEN) ? failed(1, ENOSPC) : NEXT(mkdir)(path, mode);
}

char *mkdtemp(char *path)
{
    return fault(CALLER, OPEN) ? (errno = ENOSPC, NULL) : NEXT(mkdtemp)(path);
}

int dup(int fd)
{
    return fault(CALLER, OPEN) ? failed(1, EMFILE) : NEXT(dup)(fd);
}

/* Only calls that make a descriptor fail. */
int fcntl(int fd, int command, ...)
{
    va_list args;
    va_start(args, command);
    const long value = va_arg(args, long);
    va_end(args);
    if (command == F_DUPFD_CLOEXEC && fault(CALLER, OPEN))
        return failed(1, EMFILE);
    return NEXT(fcntl)(fd, command, value);
}

int close(int fd)
{
    const int how = fault(CALLER, CLOSE);
    const int done = NEXT(close)(fd);
    return how ? failed(how, EIO) : done;
}

int fclose(FILE *f)
{
    const int how = fault(CALLER, CLOSE);
    const int done = NEXT(fclose)(f);
    return how ? failed(1, EIO), EOF : done;
}

static size_t half(int how, size_t n)
{
    return how == 's' && n > 1 ? n / 2 : n;
}

#define MAY_BE_SHORT(class, name, error, n, ...)                                                             \
    const int how = fault(CALLER, class);                                                                    \
    if (how == 1 || how == 'e')                                                                              \
        return failed(how, error);                                                                           \
    n = half(how, n);                                                                                        \
    return NEXT(name)(__VA_ARGS__)

ssize_t read(int fd, void *to, size_t n)
{
    MAY_BE_SHORT(READ, read, EIO, n, fd, to, n);
}

ssize_t pread(int fd, void *to, size_t n, off_t at)
{
    MAY_BE_SHORT(READ, pread, EIO, n, fd, to, n, at);
}

ssize_t recv(int fd, void *to, size_t n, int flags)
{
    MAY_BE_SHORT(READ, recv, ECONNRESET, n, fd, to, n, flags);
}

ssize_t write(int fd, const void *from, size_t n)
{
    MAY_BE_SHORT(WRITE, write, ENOSPC, n, fd, from, n);
}

ssize_t send(int fd, const void *from, size_t n, int flags)
{
    MAY_BE_SHORT(WRITE, send, EPIPE, n, fd, from, n, flags);
}

static void mark(FILE *f)
{
    f->_flags |= 0x20; /* sets the error flag of glibc's FILE, so that ferror returns true */
}

size_t fread(void *to, size_t size, size_t n, FILE *f)
{
    if (fault(CALLER, READ) == 1)
        return mark(f), errno = EIO, 0;
    return NEXT(fread)(to, size, n, f);
}

size_t fwrite(const void *from, size_t size, size_t n, FILE *f)
{
    if (fault(CALLER, WRITE) == 1)
        return mark(f), errno = ENOSPC, 0;
    return NEXT(fwrite)(from, size, n, f);
}

int fputs(const char *text, FILE *f)
{
    if (fault(CALLER, WRITE) == 1)
        return mark(f), errno = ENOSPC, EOF;
    return NEXT(fputs)(text, f);
}

int puts(const char *text)
{
    if (fault(CALLER, WRITE) == 1)
        return mark(stdout), errno = ENOSPC, EOF;
    return NEXT(puts)(text);
}

char *fgets(char *to, int size, FILE *f)
{
    if (fault(CALLER, READ) == 1)
        return mark(f), errno = EIO, NULL;
    return NEXT(fgets)(to, size, f);
}

int fflush(FILE *f)
{
    if (f && fault(CALLER, WRITE) == 1)
        return mark(f), errno = ENOSPC, EOF;
    return NEXT(fflush)(f);
}

int fsync(int fd)
{
    const int how = fault(CALLER, SYNC);
    return how ? failed(how, EIO) : NEXT(fsync)(fd);
}

int sync_file_range(int fd, off64_t from, off64_t size, unsigned flags)
{
    const int how = fault(CALLER, SYNC);
    return how ? failed(how, EIO) : NEXT(sync_file_range)(fd, from, size, flags);
}

int fdatasync(int fd)
{
    const int how = fault(CALLER, SYNC);
    return how ? failed(how, EIO) : NEXT(fdatasync)(fd);
}

int rename(const char *from, const char *to)
{
    const int how = fault(CALLER, RENAME);
    return how ? failed(1, EACCES) : NEXT(rename)(from, to);
}

int linkat(int a, const char *from, int b, const char *to, int flags)
{
    const int how = fault(CALLER, RENAME);
    return how ? failed(1, EACCES) : NEXT(linkat)(a, from, b, to, flags);
}

/* ---- faults of memory maps, processes and pipes ---- */

void *mmap(void *at, size_t n, int prot, int flags, int fd, off_t offset)
{
    return fault(CALLER, MMAP) ? (errno = ENOMEM, MAP_FAILED) : NEXT(mmap)(at, n, prot, flags, fd, offset);
}

pid_t fork(void)
{
    return fault(CALLER, FORK) ? failed(1, EAGAIN) : NEXT(fork)();
}

int posix_spawnp(pid_t *child, const char *file, const posix_spawn_file_actions_t *actions,
                 const posix_spawnattr_t *attributes, char *const *arguments, char *const *environment)
{
    return fault(CALLER, FORK) ? EAGAIN
                               : NEXT(posix_spawnp)(child, file, actions, attributes, arguments, environment);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *),
                   void *argument)
{
    return fault(CALLER, FORK) ? EAGAIN : NEXT(pthread_create)(thread, attributes, start, argument);
}

/* Only a signal interrupts this call; it does not fail. */
pid_t waitpid(pid_t child, int *status, int options)
{
    const int how = fault(CALLER, FORK);
    return how == 'e' ? failed(how, 0) : NEXT(waitpid)(child, status, options);
}

int pipe2(int ends[2], int flags)
{
    return fault(CALLER, PIPE) ? failed(1, EMFILE) : NEXT(pipe2)(ends, flags);
}

int socketpair(int domain, int type, int protocol, int ends[2])
{
    return fault(CALLER, PIPE) ? failed(1, EMFILE) : NEXT(socketpair)(domain, type, protocol, ends);
}

int poll(struct pollfd *fds, nfds_t n, int milliseconds)
{
    const int how = fault(CALLER, PIPE);
    return how ? failed(how, ENOMEM) : NEXT(poll)(fds, n, milliseconds);
}

int memfd_create(const char *name, unsigned flags)
{
    return fault(CALLER, MEMFD) ? failed(1, EMFILE) : NEXT(memfd_create)(name, flags);
}

int fallocate(int fd, int mode, off_t from, off_t size)
{
    const int how = fault(CALLER, MEMFD);
    return how ? failed(how, ENOSPC) : NEXT(fallocate)(fd, mode, from, size);
}

int ftruncate(int fd, off_t size)
{
    const int how = fault(CALLER, MEMFD);
    return how ? failed(how, ENOSPC) : NEXT(ftruncate)(fd, size);
}
