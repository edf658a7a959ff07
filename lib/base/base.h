/* base.h -- status, error text and the two control-flow macros every file uses.
 *
 * A Status says whose fault a failure is; an Error carries the one line a person reads. Functions that can
 * fail return a Status and take an Error last. Context is added on the way up: the innermost text is "WHAT:
 * WHY", callers put their WHERE in front of it. */
#ifndef ATOMO_BASE_H
#define ATOMO_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum {
    OK,
    ERR_USAGE,   /* the user asked for what cannot be: exit 2 */
    ERR_IO,      /* the world: files, disks, pipes */
    ERR_CORRUPT, /* bytes that no writer of ours wrote */
    ERR_NUMERIC, /* NaN, Inf, no convergence */
    ERR_MEMORY,
    ERR_STOPPED, /* SIGINT or SIGTERM: exit 130 */
} Status;

typedef struct {
    Status status;
    char text[600]; /* one line, lower case, no full stop */
    char hint[300]; /* what mends it: a command or an option; may be empty */
} Error;

#define MUST_USE   __attribute__((warn_unused_result))
#define PRINTF(f)  __attribute__((format(printf, f, (f) + 1)))
#define countof(a) (sizeof(a) / sizeof((a)[0]))

/* Records the failure and returns its status: return FAIL(err, ERR_USAGE, "bits=%d: want 1 to 16", bits); */
#define FAIL(err, status, ...) error_set(err, status, __VA_ARGS__)
Status error_set(Error *err, Status status, const char *format, ...) PRINTF(3);

/* Puts "where: " in front of what is recorded; returns the recorded status. */
Status error_at(Error *err, const char *format, ...) PRINTF(2);

/* Sets the hint line; returns the recorded status. */
Status error_hint(Error *err, const char *format, ...) PRINTF(2);

/* Leaves the function when a step failed; the step has already said why. */
#define TRY(step)                                                                                            \
    do {                                                                                                     \
        Status status_ = (step);                                                                             \
        if (status_ != OK)                                                                                   \
            return status_;                                                                                  \
    } while (0)

#endif
