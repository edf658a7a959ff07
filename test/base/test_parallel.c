/* test_parallel.c -- `parallel_for` runs the pieces (numbered calls) of a loop on a pool of threads. Threads
 * that run at the same time have different slot numbers. */
#include "base/parallel.h"
#include "rig/check.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PIECES = 5000 };

typedef struct {
    atomic_int runs[PIECES];
    atomic_int inside[64]; /* per slot: the number of threads that now run a piece */
    atomic_bool shared;    /* true if two threads ran with one slot at the same time */
    size_t slots;
    bool nested;
} Record;

static void count_inner(void *data, size_t piece)
{
    atomic_fetch_add((atomic_int *)data, (int)piece);
}

static void note(void *data, size_t piece, size_t slot)
{
    Record *r = data;
    if (slot >= r->slots || atomic_fetch_add(&r->inside[slot], 1))
        r->shared = true;
    if (r->nested) {
        atomic_int sum = 0;
        parallel_for(4, 10, count_inner, &sum);
        if (sum != 45)
            r->shared = true;
    }
    atomic_fetch_add(&r->runs[piece], 1);
    atomic_fetch_sub(&r->inside[slot], 1);
}

static bool runs_all(int threads, size_t pieces, bool nested)
{
    static _Thread_local Record r;
    memset(&r, 0, sizeof r);
    r.slots = parallel_slots(threads, pieces);
    r.nested = nested;
    parallel_for_slots(threads, pieces, note, &r);
    for (size_t i = 0; i < PIECES; i++)
        if (r.runs[i] != (i < pieces))
            return false;
    return !r.shared;
}

TEST(each_piece_runs_once_and_no_two_threads_share_a_slot)
{
    for (int threads = 0; threads <= 64; threads += threads < 8 ? 1 : 28)
        for (size_t pieces = 0; pieces <= PIECES; pieces = 3 * pieces + 1)
            check(runs_all(threads, pieces, false));
    for (int again = 0; again < 2000; again++)
        check(runs_all(2 + again % 3, 5, false));
}

TEST(a_call_inside_a_piece_runs_on_its_thread)
{
    check(runs_all(4, 300, true));
}

static void *call_often(void *failed)
{
    for (int i = 0; i < 300; i++)
        if (!runs_all(3, 50, i % 2))
            *(atomic_bool *)failed = true;
    return NULL;
}

TEST(two_callers_at_once_both_get_their_pieces_run)
{
    atomic_bool failed = false;
    pthread_t other;
    assert_int_equal(pthread_create(&other, NULL, call_often, &failed), 0);
    call_often(&failed);
    pthread_join(other, NULL);
    assert_false(failed);
}

/* Returns only once two threads are inside this function at the same time. */
static void meet(void *data, size_t piece)
{
    (void)piece;
    atomic_int *present = data;
    atomic_fetch_add(present, 1);
    while (*present < 2)
        usleep(100);
}

static void two_threads_meet(void)
{
    atomic_int present = 0;
    parallel_for(2, 2, meet, &present);
}

static int code_of_child(void (*limit)(void))
{
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        if (limit)
            limit();
        _exit(runs_all(4, 1000, true) ? 0 : 1);
    }
    int status = -1;
    check(child > 0 && waitpid(child, &status, 0) == child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 256;
}

TEST(a_child_of_fork_has_threads_of_its_own)
{
    check(runs_all(4, 1000, false)); /* starts the pool of the parent; fork does not copy threads */
    assert_int_equal(code_of_child(two_threads_meet), 0);
}

static atomic_int asked;

static bool stops_soon(void)
{
    return atomic_fetch_add(&asked, 1) >= 100;
}

static void *run_on_another_thread(void *unused)
{
    (void)unused;
    check(runs_all(4, PIECES, false));
    return NULL;
}

TEST(a_stop_leaves_pieces_out_only_on_the_thread_that_heeds_it)
{
    pthread_t thread;
    for (int threads = 1; threads <= 8; threads *= 2) {
        atomic_int sum = 0;
        asked = 0;
        parallel_until(stops_soon);
        parallel_for(threads, PIECES, count_inner, &sum);
        check(sum > 0 && sum < 100 * PIECES); /* 100 pieces have run; their numbers are below PIECES */
        check(asked <= 100 + threads);
        sum = 0;
        parallel_for(threads, PIECES, count_inner, &sum);
        check(sum == 0);
        pthread_create(&thread, NULL, run_on_another_thread, NULL);
        pthread_join(thread, NULL);
        parallel_until(NULL);
        check(runs_all(threads, PIECES, false));
    }
}

CHECK_ALL(NULL, NULL)
