/* test_background.c -- a second thread does posted jobs in order, and the caller waits for them. */
#include "base/parallel.h"
#include "rig/check.h"

#include <pthread.h>

enum { JOBS = 1000 };

typedef struct {
    pthread_t caller;
    size_t in[JOBS];          /* written by the caller before it posts job i */
    size_t seen[JOBS], count; /* in[i] as job i saw it, and the number of jobs done */
    bool own_thread;
} Log;

static void note(void *data, size_t i)
{
    Log *log = data;
    log->own_thread = log->own_thread || pthread_equal(pthread_self(), log->caller);
    log->seen[i] = i == log->count ? log->in[i] : 0;
    log->count++;
}

static void check_jobs(Background *b, Log *log)
{
    for (size_t i = 0; i < JOBS; i++) {
        log->in[i] = i + 7;
        background_post(b);
        if (i % 100 == 0) {
            background_wait(b, i / 2 + 1);
            check(log->seen[i / 2] == i / 2 + 7);
        }
    }
    background_wait(b, JOBS);
    check(log->count == JOBS && !log->own_thread);
    for (size_t i = 0; i < JOBS; i++)
        check(log->seen[i] == i + 7);
}

static void jobs_run_in_order_in_another_thread(void **state)
{
    Arena *a = arena_open(0);
    Error err;
    Background *b;
    Log log = {.caller = pthread_self()};
    check_ok(background_open(&b, note, &log, a, &err), &err);
    check_jobs(b, &log);
    check(background_waited(b) > 0);
    background_restart(b);
    log = (Log){.caller = pthread_self()};
    check_jobs(b, &log);
    background_close(b);
    arena_close(a);
}

static void closing_waits_for_posted_jobs(void **state)
{
    Arena *a = arena_open(0);
    Error err;
    Background *b;
    Log log = {.caller = pthread_self()};
    check_ok(background_open(&b, note, &log, a, &err), &err);
    for (size_t i = 0; i < JOBS; i++)
        background_post(b);
    background_close(b);
    check(log.count == JOBS);
    background_close(NULL);
    arena_close(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(jobs_run_in_order_in_another_thread),
                                       cmocka_unit_test(closing_waits_for_posted_jobs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
