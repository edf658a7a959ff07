/* net_mpi.c -- implements net.h with MPI (MPI-3, for example Open MPI or MPICH). */
#include "exchange/net.h"

#ifdef ATOMO_MPI

#include "base/dynamic.h"

#include <limits.h>
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* ---- the functions and constants of MPI, loaded in a program that a launcher started. A program linked to the library
 * would load it, and the six libraries that Open MPI needs, at every start. ---- */

/* clang-format off */
#define MPI_FUNCTIONS(X)                                                                                     \
    X(Abort) X(Allgatherv) X(Bcast) X(Comm_free) X(Comm_rank) X(Comm_size) X(Comm_split_type) X(Finalize)    \
    X(Gatherv) X(Iallgatherv) X(Ibcast) X(Igatherv) X(Init_thread) X(Iprobe) X(Irecv) X(Isend) X(Recv)       \
    X(Testall) X(Wait) X(Waitall) X(Wtime)

/* Constants of Open MPI, such as MPI_BYTE, are addresses of its variables; those of MPICH are numbers. */
#ifdef OMPI_PREDEFINED_GLOBAL
#undef OMPI_PREDEFINED_GLOBAL
#define OMPI_PREDEFINED_GLOBAL(type, variable) mpi.variable
#define MPI_VARIABLES(X)                                                                                     \
    X(MPI_Comm, ompi_mpi_comm_world) X(MPI_Datatype, ompi_mpi_byte) X(MPI_Info, ompi_mpi_info_null)          \
    X(MPI_Request, ompi_request_null)
#else
#define MPI_VARIABLES(X)
#endif
/* clang-format on */

typedef struct {
#define FUNCTION(name) __typeof__(MPI_##name) *name;
    MPI_FUNCTIONS(FUNCTION)
#undef FUNCTION
#define VARIABLE(type, name) type name;
    MPI_VARIABLES(VARIABLE)
#undef VARIABLE
} Mpi;

/* mpi.Bcast is MPI's MPI_Bcast. Usable after mpi_ready. */
static Mpi mpi;

#define FUNCTION(name)       {"MPI_" #name, &mpi.name},
#define VARIABLE(type, name) {#name, &mpi.name},
static const LibrarySymbol symbols[] = {MPI_FUNCTIONS(FUNCTION) MPI_VARIABLES(VARIABLE)};
#undef FUNCTION
#undef VARIABLE

/* The plug-ins of Open MPI are not linked to it, but look for its functions among those of the program. */
static const SharedLibrary library = {
    .title = "MPI",
    .file = MPI_FILE,
    .package = MPI_PACKAGE,
    .symbol = symbols,
    .count = countof(symbols),
    .global = true,
};

/* Loads the MPI library unless it is loaded. */
static Status mpi_ready(Error *err)
{
    static void *handle;
    if (handle)
        return OK;
    return library_load(&library, &handle, err);
}

Status net_try(Error *err)
{
    return mpi_ready(err);
}

/* ---- the name of the library of this build. It is not called, so programs that print versions do not load it. ---- */

#define TEXT_OF(x) #x
#define NUMBER(x)  TEXT_OF(x)
#if defined OMPI_MAJOR_VERSION
static const char version[] =
    "Open MPI " NUMBER(OMPI_MAJOR_VERSION) "." NUMBER(OMPI_MINOR_VERSION) "." NUMBER(OMPI_RELEASE_VERSION);
#elif defined MPICH_VERSION
static const char version[] = "MPICH " MPICH_VERSION;
#else
static const char version[] = "MPI " NUMBER(MPI_VERSION) "." NUMBER(MPI_SUBVERSION);
#endif

const char *net_library(void)
{
    return version;
}

/* ---- ranks ---- */

/* MPI counts bytes with an int, so a message of more than CHUNK bytes is sent in pieces. */
enum { CHUNK = 1 << 30, TAG = 1, WORD_TAG = 2 };

/* A Net with the data that its MPI functions need. */
typedef struct {
    Net net;             /* must be first */
    int *count, *offset; /* (ranks) counts and offsets of collective functions */
    /* (ranks) the word that was told to each rank last, and its request: it may still be on its way */
    uint64_t *word;
    MPI_Request *telling;
} MpiNet;

static int least(size_t left)
{
    return left < CHUNK ? (int)left : CHUNK;
}

static size_t sum(const size_t *size, int from, int to)
{
    size_t all = 0;
    for (int r = from; r < to; r++)
        all += size[r];
    return all;
}

/* Waits until the requests are done. MPI moves data only while it is called, so a patient rank calls it often. */
static void finish(const Net *n, int count, MPI_Request *request)
{
    enum { YIELDS = 20 };
    const struct timespec nap = {.tv_nsec = 20000};
    MPI_Status status[2]; /* not used; for MPICH's MPI_STATUSES_IGNORE, gcc warns of an overflow */
    int done = 0;
    if (!n->patient) {
        mpi.Waitall(count, request, status);
        return;
    }
    for (int tries = 0; mpi.Testall(count, request, &done, status), !done; tries++)
        if (tries < YIELDS)
            sched_yield();
        else
            nanosleep(&nap, NULL);
}

/* ---- messages between two ranks ---- */

/* Sends to one rank and receives from another at the same time. */
static void pass_on(Net *n, int to, const uint8_t *out, size_t out_size, int from, uint8_t *in,
                    size_t in_size)
{
    n->sent += out_size;
    n->received += in_size;
    for (size_t at = 0; at < out_size || at < in_size; at += CHUNK) {
        MPI_Request request[2];
        int count = 0;
        if (at < out_size)
            mpi.Isend(out + at, least(out_size - at), MPI_BYTE, to, TAG, MPI_COMM_WORLD, &request[count++]);
        if (at < in_size)
            mpi.Irecv(in + at, least(in_size - at), MPI_BYTE, from, TAG, MPI_COMM_WORLD, &request[count++]);
        finish(n, count, request);
    }
}

static void send_to(Net *n, int to, const uint8_t *data, size_t size)
{
    pass_on(n, to, data, size, 0, NULL, 0);
}

static void receive_from(Net *n, int from, uint8_t *data, size_t size)
{
    pass_on(n, 0, NULL, 0, from, data, size);
}

/* ---- gathering ---- */

/* Each rank passes on to the next rank, ranks - 1 times, the part that it received last. */
static void gather_ring(Net *n, uint8_t *data, const size_t *size)
{
    const int ranks = n->ranks, next = (n->rank + 1) % ranks, before = (n->rank + ranks - 1) % ranks;
    for (int i = 0; i < ranks - 1; i++) {
        const int out = (n->rank + ranks - i) % ranks, in = (n->rank + ranks - i - 1) % ranks;
        pass_on(n, next, data + sum(size, 0, out), size[out], before, data + sum(size, 0, in), size[in]);
    }
}

static void fill_counts(MpiNet *m, const size_t *size)
{
    int at = 0;
    for (int r = 0; r < m->net.ranks; r++) {
        m->count[r] = (int)size[r];
        m->offset[r] = at;
        at += m->count[r];
    }
}

static void gather_all(Net *n, uint8_t *data, const size_t *size)
{
    MpiNet *m = (MpiNet *)n;
    fill_counts(m, size);
    n->sent += size[n->rank];
    n->received += sum(size, 0, n->ranks) - size[n->rank];
    if (!n->patient) {
        mpi.Allgatherv(MPI_IN_PLACE, 0, MPI_BYTE, data, m->count, m->offset, MPI_BYTE, MPI_COMM_WORLD);
        return;
    }
    MPI_Request request;
    mpi.Iallgatherv(MPI_IN_PLACE, 0, MPI_BYTE, data, m->count, m->offset, MPI_BYTE, MPI_COMM_WORLD, &request);
    finish(n, 1, &request);
}

static void gather_root(Net *n, uint8_t *data, const size_t *size)
{
    MpiNet *m = (MpiNet *)n;
    fill_counts(m, size);
    const int rank = n->rank, count = rank ? m->count[rank] : 0;
    const void *own = rank ? data + m->offset[rank] : MPI_IN_PLACE;
    if (rank)
        n->sent += size[rank];
    else
        n->received += sum(size, 1, n->ranks);
    if (!n->patient) {
        mpi.Gatherv(own, count, MPI_BYTE, data, m->count, m->offset, MPI_BYTE, 0, MPI_COMM_WORLD);
        return;
    }
    MPI_Request request;
    mpi.Igatherv(own, count, MPI_BYTE, data, m->count, m->offset, MPI_BYTE, 0, MPI_COMM_WORLD, &request);
    finish(n, 1, &request);
}

static void gather(Net *n, NetWay way, uint8_t *data, const size_t *size)
{
    static void (*const ways[])(Net *, uint8_t *, const size_t *) = {
        [NET_ALL] = gather_all, [NET_RING] = gather_ring, [NET_TREE] = gather_root, [NET_ROOT] = gather_root};
    const double start = mpi.Wtime();
    if (sum(size, 0, n->ranks) > INT_MAX)
        way = NET_RING;
    ways[way](n, data, size);
    n->seconds += mpi.Wtime() - start;
}

/* ---- other functions ---- */

/* In round i, each rank sends to the rank i places behind it and receives from the rank i places before it. */
static void scatter(Net *n, const uint8_t *out, const size_t *out_size, uint8_t *in, const size_t *in_size)
{
    const int ranks = n->ranks, own = n->rank;
    const double start = mpi.Wtime();
    if (out_size[own])
        memcpy(in + sum(in_size, 0, own), out + sum(out_size, 0, own), out_size[own]);
    for (int i = 1; i < ranks; i++) {
        const int to = (own + i) % ranks, from = (own + ranks - i) % ranks;
        pass_on(n, to, out + sum(out_size, 0, to), out_size[to], from, in + sum(in_size, 0, from),
                in_size[from]);
    }
    n->seconds += mpi.Wtime() - start;
}

static void broadcast(Net *n, int root, uint8_t *data, size_t size)
{
    const double start = mpi.Wtime();
    *(n->rank == root ? &n->sent : &n->received) += size;
    for (size_t at = 0; at < size; at += CHUNK) {
        MPI_Request request;
        if (n->patient) {
            mpi.Ibcast(data + at, least(size - at), MPI_BYTE, root, MPI_COMM_WORLD, &request);
            finish(n, 1, &request);
        } else {
            mpi.Bcast(data + at, least(size - at), MPI_BYTE, root, MPI_COMM_WORLD);
        }
    }
    n->seconds += mpi.Wtime() - start;
}

static void move(Net *n, int from, int to, uint8_t *data, size_t size)
{
    const double start = mpi.Wtime();
    if (n->rank == from)
        send_to(n, to, data, size);
    if (n->rank == to)
        receive_from(n, from, data, size);
    n->seconds += mpi.Wtime() - start;
}

/* ---- words ---- */

static void tell(Net *n, int to, uint64_t word)
{
    MpiNet *m = (MpiNet *)n;
    mpi.Wait(&m->telling[to], MPI_STATUS_IGNORE);
    m->word[to] = word;
    n->sent += sizeof word;
    mpi.Isend(&m->word[to], sizeof word, MPI_BYTE, to, WORD_TAG, MPI_COMM_WORLD, &m->telling[to]);
}

static uint64_t hear(Net *n, int from)
{
    const double start = mpi.Wtime();
    uint64_t word;
    mpi.Recv(&word, sizeof word, MPI_BYTE, from < 0 ? MPI_ANY_SOURCE : from, WORD_TAG, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
    n->received += sizeof word;
    n->seconds += mpi.Wtime() - start;
    return word;
}

static bool told(Net *n)
{
    int there;
    (void)n;
    mpi.Iprobe(0, WORD_TAG, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
    return there;
}

static void end(Net *n, int code)
{
    MpiNet *m = (MpiNet *)n;
    fflush(NULL);
    if (code)
        mpi.Abort(MPI_COMM_WORLD, code);
    for (int r = 0; r < n->ranks; r++)
        mpi.Wait(&m->telling[r], MPI_STATUS_IGNORE);
    mpi.Finalize();
}

/* ---- opening ---- */

/* Returns the number of ranks on this machine. */
static int count_neighbours(void)
{
    MPI_Comm here;
    int count;
    mpi.Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here);
    mpi.Comm_size(here, &count);
    mpi.Comm_free(&here);
    return count;
}

static Status refuse_launcher(Error *err)
{
    FAIL(err, ERR_USAGE, "started as one of several processes, but %s sees only this one", net_library());
    return error_hint(err, "use the launcher of the MPI library that this program was built with");
}

Status net_open(Net **out, Arena *a, Error *err)
{
    int level;
    *out = NULL;
    if (!net_launched())
        return OK;
    TRY(mpi_ready(err));
    MpiNet *m = NEW_ZERO(a, MpiNet, 1);
    TRY(arena_check(m, a, err));
    mpi.Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &level);
    Net *n = &m->net;
    n->serialized = level >= MPI_THREAD_SERIALIZED;
    mpi.Comm_rank(MPI_COMM_WORLD, &n->rank);
    mpi.Comm_size(MPI_COMM_WORLD, &n->ranks);
    if (n->ranks == 1)
        return refuse_launcher(err);
    n->neighbours = count_neighbours();
    n->gather = gather;
    n->scatter = scatter;
    n->broadcast = broadcast;
    n->move = move;
    n->tell = tell;
    n->hear = hear;
    n->told = told;
    n->end = end;
    m->count = NEW(a, int, (size_t)n->ranks);
    m->offset = NEW(a, int, (size_t)n->ranks);
    n->room = NEW(a, size_t, (size_t)n->ranks);
    n->flag = NEW(a, bool, (size_t)n->ranks);
    m->word = NEW(a, uint64_t, (size_t)n->ranks);
    m->telling = NEW(a, MPI_Request, (size_t)n->ranks);
    for (int r = 0; m->telling && r < n->ranks; r++)
        m->telling[r] = MPI_REQUEST_NULL;
    *out = n;
    return arena_check(m->count && m->offset && m->word && m->telling && n->room && n->flag, a, err);
}

#endif
