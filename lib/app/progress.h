/* progress.h -- a progress bar on stderr: name, items done, rate, time left, and the item that was worked on
 * last. The bar is drawn at most ten times a second. It is drawn only if stderr is a terminal, the work has
 * lasted over a second, and --quiet was not given. */
#ifndef ATOMO_PROGRESS_H
#define ATOMO_PROGRESS_H

#include "base/base.h"

typedef struct {
    const char *what, *unit; /* what is done to which items: "comparing", "records" */
    char at[96];             /* the item that was worked on last; may be empty */
    uint64_t total, done;
    uint64_t old;          /* items of `done` that an earlier run did; the rate does not count them */
    double started, drawn; /* seconds on the monotonic clock */
    bool enabled, visible;
} Progress;

void progress_open(Progress *p, const char *what, const char *unit, uint64_t total, bool quiet);
void progress_at(Progress *p, const char *format, ...) PRINTF(2); /* sets p->at */
void progress_step(Progress *p, uint64_t done);                   /* done: items done so far, of `total` */
/* A Tick: calls progress_at and progress_step of the Progress `p`; returns false once cli_stopped() is true. */
bool progress_tick(void *p, uint64_t done, const char *at);
void progress_note(Progress *p, const char *format, ...) PRINTF(2); /* prints a line above the bar */
void progress_close(Progress *p);                                   /* erases the bar */

#endif
