/* parallel.c -- a pool of threads that work together on the pieces of one call of parallel_for.
 *
 * The calling thread works too. It runs all pieces alone if there is only one piece, if it asks for only one
 * thread, if the call is made from inside a piece of another call, if the pool works for a call of another
 * thread, or if no thread can be created. Results are the same in all cases. An idle thread spins for some
 * microseconds, about the time between two calls in one computation, and then sleeps. */
#include "base/parallel.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>

typedef struct {
    size_t pieces;
    void (*body)(void *data, size_t piece, size_t slot);
    void *data;
    bool (*stopped)(void); /* NULL: all pieces run */
    atomic_size_t next;    /* index of the first piece that no thread has started */
} Task;

enum { SPINS = 1000, MOST_THREADS = 1024 };

/* The pool is global, so that later calls can reuse its threads. */
static struct {
    pthread_mutex_t owner; /* locked by the thread whose call the pool is working on; guards `threads` */
    /* guards `task` and `slot`, and all writes to `openings` and `busy`; threads that spin read these two
     * without it */
    pthread_mutex_t lock;
    pthread_cond_t work, done; /* `work`: there are openings; `done`: no thread is busy */
    Task *task;
    int threads;         /* number of threads that the pool has created so far */
    size_t slot;         /* the slot number of the latest thread that joined the present call */
    atomic_int openings; /* how many more threads may join the present call */
    atomic_int busy;     /* how many threads have joined the present call and not finished */
} pool = {.owner = PTHREAD_MUTEX_INITIALIZER,
          .lock = PTHREAD_MUTEX_INITIALIZER,
          .work = PTHREAD_COND_INITIALIZER,
          .done = PTHREAD_COND_INITIALIZER};

static inline void relax(void)
{
#if defined __x86_64__ || defined __i386__
    __builtin_ia32_pause();
#endif
}

/* A stop belongs to the thread that heeds it: the results of other threads must be complete. It is no argument of
 * parallel_for, as the layers that call it neither know nor pass it on. */
static _Thread_local bool (*until)(void);

void parallel_until(bool (*stopped)(void))
{
    until = stopped;
}

static void work_on(Task *t, size_t slot)
{
    size_t piece;
    while ((piece = atomic_fetch_add_explicit(&t->next, 1, memory_order_relaxed)) < t->pieces &&
           !(t->stopped && t->stopped()))
        t->body(t->data, piece, slot);
}

static void *serve(void *unused)
{
    (void)unused;
    for (;;) {
        for (int i = 0; i < SPINS && !atomic_load_explicit(&pool.openings, memory_order_relaxed); i++)
            relax();
        pthread_mutex_lock(&pool.lock);
        while (!pool.openings)
            pthread_cond_wait(&pool.work, &pool.lock);
        pool.openings--;
        pool.busy++;
        Task *task = pool.task;
        const size_t slot = ++pool.slot;
        pthread_mutex_unlock(&pool.lock);
        work_on(task, slot);
        pthread_mutex_lock(&pool.lock);
        if (!--pool.busy)
            pthread_cond_signal(&pool.done);
        pthread_mutex_unlock(&pool.lock);
    }
    return NULL;
}

/* Resets the pool in the child process after fork. The pool's threads do not exist in the child, and its
 * locks may be locked by a thread that is gone. */
static void forget_threads(void)
{
    pthread_mutex_init(&pool.owner, NULL);
    pthread_mutex_init(&pool.lock, NULL);
    pthread_cond_init(&pool.work, NULL);
    pthread_cond_init(&pool.done, NULL);
    pool.threads = 0;
    pool.openings = pool.busy = 0;
}

static void expect_forks(void)
{
    pthread_atfork(NULL, NULL, forget_threads);
}

bool parallel_thread(pthread_t *thread, void *(*run)(void *), void *arg)
{
    sigset_t all, before;
    pthread_attr_t a;
    if (pthread_attr_init(&a))
        return false;
    pthread_attr_setstacksize(&a, PARALLEL_STACK);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const bool made = !pthread_create(thread, &a, run, arg);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&a);
    return made;
}

/* Creates threads until the pool has `wanted` threads or the system refuses to create more. */
static void create_threads(int wanted)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    if (pool.threads >= wanted)
        return;
    pthread_once(&once, expect_forks);
    for (pthread_t thread; pool.threads < wanted && parallel_thread(&thread, serve, NULL); pool.threads++)
        pthread_detach(thread);
}

static void share_out(Task *t, size_t slots)
{
    pthread_mutex_lock(&pool.lock);
    pool.task = t;
    pool.slot = 0;
    pool.openings = (int)slots - 1;
    pthread_cond_broadcast(&pool.work);
    pthread_mutex_unlock(&pool.lock);
    work_on(t, 0);
    pthread_mutex_lock(&pool.lock);
    pool.openings = 0;
    pthread_mutex_unlock(&pool.lock);
    for (int i = 0; i < SPINS && atomic_load_explicit(&pool.busy, memory_order_relaxed); i++)
        relax();
    pthread_mutex_lock(&pool.lock);
    while (pool.busy)
        pthread_cond_wait(&pool.done, &pool.lock);
    pthread_mutex_unlock(&pool.lock);
}

void parallel_for_slots(int threads, size_t pieces, void (*body)(void *data, size_t piece, size_t slot),
                        void *data)
{
    Task t = {.pieces = pieces, .body = body, .data = data, .stopped = until};
    const size_t slots = parallel_slots(threads < MOST_THREADS ? threads : MOST_THREADS, pieces);
    if (slots <= 1 || pthread_mutex_trylock(&pool.owner)) {
        work_on(&t, 0);
        return;
    }
    create_threads((int)slots - 1);
    if (pool.threads)
        share_out(&t, slots);
    else
        work_on(&t, 0);
    pthread_mutex_unlock(&pool.owner);
}

typedef struct {
    void (*body)(void *data, size_t piece);
    void *data;
} Plain;

static void run_plain(void *data, size_t piece, size_t slot)
{
    const Plain *p = data;
    (void)slot;
    p->body(p->data, piece);
}

void parallel_for(int threads, size_t pieces, void (*body)(void *data, size_t piece), void *data)
{
    if (threads > 1 && pieces > 1) {
        parallel_for_slots(threads, pieces, run_plain, &(Plain){body, data});
        return;
    }
    for (size_t piece = 0; piece < pieces && !(until && until()); piece++)
        body(data, piece);
}

int parallel_cores(void)
{
    cpu_set_t set;
    int n = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    return n > 0 ? n : 1;
}
