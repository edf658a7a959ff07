/* background.c -- implements background.h. */
#include "base/background.h"

#include <pthread.h>
#include <signal.h>
#include <time.h>

struct Background {
    void (*job)(void *data, size_t i);
    void *data;
    pthread_t thread;
    pthread_mutex_t lock; /* guards `posted`, `done` and `closing` */
    pthread_cond_t changed;
    size_t posted, done;
    bool closing;
    double waited;
};

static void *serve(void *arg)
{
    Background *b = arg;
    pthread_mutex_lock(&b->lock);
    for (;;) {
        while (b->done == b->posted && !b->closing)
            pthread_cond_wait(&b->changed, &b->lock);
        if (b->done == b->posted)
            break;
        const size_t i = b->done;
        pthread_mutex_unlock(&b->lock);
        b->job(b->data, i);
        pthread_mutex_lock(&b->lock);
        b->done++;
        pthread_cond_broadcast(&b->changed);
    }
    pthread_mutex_unlock(&b->lock);
    return NULL;
}

/* The thread blocks all signals, so that signals go to the program's other threads. */
static bool start(Background *b)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const bool started = pthread_create(&b->thread, NULL, serve, b) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

Status background_open(Background **out, void (*job)(void *data, size_t i), void *data, Arena *a, Error *err)
{
    Background *b = NEW_ZERO(a, Background, 1);
    *out = NULL;
    TRY(arena_check(b, a, err));
    b->job = job;
    b->data = data;
    pthread_mutex_init(&b->lock, NULL);
    pthread_cond_init(&b->changed, NULL);
    if (!start(b))
        return FAIL(err, ERR_MEMORY, "cannot start a thread");
    *out = b;
    return OK;
}

void background_close(Background *b)
{
    if (!b)
        return;
    pthread_mutex_lock(&b->lock);
    b->closing = true;
    pthread_cond_broadcast(&b->changed);
    pthread_mutex_unlock(&b->lock);
    pthread_join(b->thread, NULL);
    pthread_cond_destroy(&b->changed);
    pthread_mutex_destroy(&b->lock);
}

void background_post(Background *b)
{
    pthread_mutex_lock(&b->lock);
    b->posted++;
    pthread_cond_broadcast(&b->changed);
    pthread_mutex_unlock(&b->lock);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void background_wait(Background *b, size_t jobs)
{
    const double start_time = now();
    pthread_mutex_lock(&b->lock);
    while (b->done < jobs)
        pthread_cond_wait(&b->changed, &b->lock);
    pthread_mutex_unlock(&b->lock);
    b->waited += now() - start_time;
}

void background_restart(Background *b)
{
    pthread_mutex_lock(&b->lock);
    b->posted = b->done = 0;
    pthread_mutex_unlock(&b->lock);
}

double background_waited(const Background *b)
{
    return b->waited;
}
