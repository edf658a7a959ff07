/* library_door.c -- how every function of atomo.h that computes something begins and ends.
 *
 * A result must not depend on what the host program has set for the calling thread, and the host must find again
 * what it has set. So a call computes in the default floating-point environment (rounding to nearest, subnormal
 * numbers, no traps, the x87's full precision) and in the C locale, and cannot be cancelled. Threads that a call
 * creates inherit this environment.
 *
 * Codecs keep whole blocks on the stack. Where the caller's stack has no room for them (a thread with a small stack,
 * a coroutine), the call computes on a thread of its own, for which the caller waits. */
#include "library/library_parts.h"

#include "base/parallel.h"
#include "math/linalg.h"

#include <pthread.h>

enum { STACK_LEAST = PARALLEL_STACK / 4 };

/* ---- the host's settings ---- */

void library_call_host(Visit *v)
{
    uselocale(v->locale);
    fesetenv(&v->floats);
}

void library_return(Visit *v)
{
    fegetenv(&v->floats);
    fesetenv(FE_DFL_ENV);
    v->locale = uselocale(newlocale(LC_ALL_MASK, "C", (locale_t)0)); /* a constant of the C library: nothing to free */
}

/* ---- the stack ---- */

static bool stack_suffices(void)
{
    static _Thread_local uintptr_t low, high; /* of the calling thread's stack */
    const uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    pthread_attr_t a;
    if (!low && !pthread_getattr_np(pthread_self(), &a)) {
        void *start;
        size_t size;
        if (!pthread_attr_getstack(&a, &start, &size)) {
            low = (uintptr_t)start;
            high = low + size;
        }
        pthread_attr_destroy(&a);
    }
    return here < high && here > low && here - low >= STACK_LEAST;
}

typedef struct {
    LibraryBody *body;
    void *arg;
    Error *err;
    Status status;
} Work;

static void *work(void *data)
{
    Work *w = data;
    Visit v = {.err = w->err};
    library_return(&v);
    w->status = w->body(w->arg, &v);
    library_call_host(&v);
    return NULL;
}

atomo_status library_call(LibraryBody *body, void *arg, atomo_error *err)
{
    Error unread;
    Work w = {.body = body, .arg = arg, .err = err ? (Error *)err : &unread};
    pthread_t thread;
    int cancel;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
    if (stack_suffices())
        work(&w);
    else if (parallel_thread(&thread, work, &w))
        pthread_join(thread, NULL);
    else
        w.status = FAIL(w.err, ERR_MEMORY, "no thread with a stack of %d KiB, of which the caller's has too little left",
                        PARALLEL_STACK / 1024);
    pthread_setcancelstate(cancel, NULL);
    return (atomo_status)w.status;
}

/* ---- calls on a tensor ---- */

typedef struct {
    TensorBody *body;
    atomo_tensor *tensor;
    const Order *order;
} TensorCall;

/* Only one call may use a tensor at a time: a second one, of another thread or in a child process that was made
 * during the first, is refused. */
static Status on_tensor(void *arg, Visit *v)
{
    const TensorCall *c = arg;
    atomo_tensor *t = c->tensor;
    if (!t)
        return FAIL(v->err, ERR_USAGE, "the tensor is NULL");
    if (atomic_exchange(&t->busy, true))
        return FAIL(v->err, ERR_USAGE, "%s: another call uses this tensor", t->name);
    const bool blas = !(codec_traits(t->codec->codec) & EXACT_BYTES);
    const ArenaMark mark = arena_mark(t->scratch);
    t->exchange.call.err = v->err;
    if (blas)
        linalg_borrow();
    const Status status = c->body(t, c->order, v->err);
    if (blas)
        linalg_return();
    arena_rewind(t->scratch, mark);
    atomic_store(&t->busy, false);
    return status;
}

atomo_status library_call_tensor(TensorBody *body, atomo_tensor *t, const Order *order, atomo_error *err)
{
    return library_call(on_tensor, &(TensorCall){body, t, order}, err);
}
