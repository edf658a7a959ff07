/* background.h -- a thread that does jobs in order while its caller goes on. */
#ifndef ATOMO_BACKGROUND_H
#define ATOMO_BACKGROUND_H

#include "base/arena.h"

typedef struct Background Background;

/* Starts the thread. It calls job(data, i) for job i = 0, 1, ... Memory comes from `a`. ERR_MEMORY: the system
 * refuses a thread. */
Status background_open(Background **out, void (*job)(void *data, size_t i), void *data, Arena *a, Error *err);
void background_close(Background *b); /* waits for the jobs that have been posted; NULL is fine */

/* Lets the thread do the next job. The job sees all that the caller has written before. */
void background_post(Background *b);

/* Returns when the first `jobs` jobs are done; the caller then sees all that they have written. */
void background_wait(Background *b, size_t jobs);

/* Counts jobs from 0 again. All jobs that were posted must be done. */
void background_restart(Background *b);

/* Returns the seconds that the caller has spent in background_wait since background_open. */
double background_waited(const Background *b);

#endif
