/* library_door.c -- how every function of atomo.h that computes something begins and ends.
 *
 * A result must not depend on what the host program has set for the calling thread, and the host must find again
 * what it has set. So a call computes in the default floating-point environment (rounding to nearest, subnormal
 * numbers, no traps, the x87's full precision) and in the C locale, and cannot be cancelled. Threads that a call
 * creates inherit this environment. */
#include "library/library_parts.h"

#include "num/linalg.h"

#include <pthread.h>

void library_enter(Visit *v, atomo_error *err)
{
    *v = (Visit){.err = err ? (Error *)err : &v->unread};
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &v->cancel);
    library_return(v);
}

atomo_status library_leave(Visit *v, Status status)
{
    library_call_host(v);
    pthread_setcancelstate(v->cancel, NULL);
    return (atomo_status)status;
}

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

/* Only one call may use a tensor at a time: a second one, of another thread or in a child process that was made
 * during the first, is refused. */
bool library_enter_tensor(Visit *v, atomo_tensor *t, atomo_error *err)
{
    library_enter(v, err);
    if (!t || atomic_exchange(&t->busy, true)) {
        library_leave(v, t ? FAIL(v->err, ERR_USAGE, "%s: another call uses this tensor", t->name)
                           : FAIL(v->err, ERR_USAGE, "the tensor is NULL"));
        return false;
    }
    v->mark = arena_mark(t->scratch);
    t->exchange.call.err = v->err;
    if (!(codec_traits(t->codec->codec) & EXACT_BYTES))
        linalg_borrow();
    return true;
}

atomo_status library_leave_tensor(Visit *v, atomo_tensor *t, Status status)
{
    if (!(codec_traits(t->codec->codec) & EXACT_BYTES))
        linalg_return();
    arena_rewind(t->scratch, v->mark);
    atomic_store(&t->busy, false);
    return library_leave(v, status);
}
