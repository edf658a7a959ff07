/* stop.c -- implements stop.h. */
#include "app/stop.h"

#include "base/outfile.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

enum { PATIENCE_MS = 300, AGAIN_MS = 20 };

/* State of the process: a signal handler cannot be given a pointer to data. */
static struct {
    pthread_once_t once;
    bool watched;                /* the watching thread runs */
    volatile sig_atomic_t early; /* a signal came before that thread ran */
    sem_t woken;
    pthread_mutex_t lock;      /* guards the members below */
    int (*finish)(void *data); /* NULL: outside the guarded part */
    void *data;
} stop = {.once = PTHREAD_ONCE_INIT, .lock = PTHREAD_MUTEX_INITIALIZER};

static _Thread_local bool finishing; /* this thread calls stop.finish */

static void wait_ms(long ms)
{
    struct timespec left = {ms / 1000, ms % 1000 * 1000000};
    while (nanosleep(&left, &left) && errno == EINTR)
        ;
}

/* Waits for a signal, and for the main thread to obey it. Then finishes the command as soon as it may. */
static void *watch(void *nothing)
{
    while (sem_wait(&stop.woken) && errno == EINTR)
        ;
    wait_ms(PATIENCE_MS);
    for (;; wait_ms(AGAIN_MS)) {
        pthread_mutex_lock(&stop.lock);
        if (stop.finish) {
            finishing = true;
            const int code = stop.finish(stop.data);
            outfile_abandon_all();
            _exit(code);
        }
        pthread_mutex_unlock(&stop.lock);
    }
    return nothing;
}

static void start(void)
{
    sigset_t all, was;
    pthread_t thread;
    if (sem_init(&stop.woken, 0, 0))
        return;
    /* The new thread blocks all signals, so that a signal interrupts a call of the main thread. */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &was);
    stop.watched = !pthread_create(&thread, NULL, watch, NULL);
    pthread_sigmask(SIG_SETMASK, &was, NULL);
    if (stop.watched)
        pthread_detach(thread);
    if (stop.early)
        sem_post(&stop.woken);
}

void stop_wake(void)
{
    const int error = errno;
    if (stop.watched)
        sem_post(&stop.woken);
    else
        stop.early = true;
    errno = error;
}

void stop_guard(int (*finish)(void *data), void *data)
{
    pthread_once(&stop.once, start);
    pthread_mutex_lock(&stop.lock);
    stop.finish = finish;
    stop.data = data;
    pthread_mutex_unlock(&stop.lock);
}

void stop_unguard(void)
{
    if (!finishing)
        stop_guard(NULL, NULL);
}

void stop_hold(void)
{
    pthread_mutex_lock(&stop.lock);
}

void stop_release(void)
{
    pthread_mutex_unlock(&stop.lock);
}
