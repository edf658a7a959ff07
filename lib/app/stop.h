/* stop.h -- ends the process within a second of a stop signal, even while the main thread is in a call that cannot look
 * at cli_stopped(), such as the singular values of a large matrix.
 *
 * The main thread names a function that finishes the command without it. If the main thread has not left the guarded part
 * 0.3 s after the signal, another thread calls that function and ends the process. */
#ifndef ATOMO_STOP_H
#define ATOMO_STOP_H

#include "base/base.h"

/* Begins the guarded part. `finish` writes what there is and returns the exit code; it runs on another
 * thread, and only while the main thread is within the guarded part and not between stop_hold and
 * stop_release. If that thread cannot be created, nothing is guarded. */
void stop_guard(int (*finish)(void *data), void *data);
/* Ends the guarded part; the programs call this also before an output gets its name (outfile_naming), so that `finish`
 * never says that no file was written when one was. */
void stop_unguard(void);

/* Between stop_hold and stop_release the main thread may change the data that `finish` reads: `finish` does not run
 * then. */
void stop_hold(void);
void stop_release(void);

/* Called by the handler of stop signals. */
void stop_wake(void);

#endif
