/* base.h -- status, error text and the two control-flow macros FAIL and TRY; and what every file may need of sizes.
 *
 * A Status says what kind of failure happened; an Error holds the Status and a message for the user. A
 * function that can fail returns a Status and has an Error as its last parameter. The function that finds
 * the failure writes "WHAT: WHY". Its callers put the name of a file or tensor in front (error_at). */
#ifndef ATOMO_BASE_H
#define ATOMO_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum {
    OK,
    ERR_USAGE,   /* a wrong option, spec or argument: exit 2 */
    ERR_IO,      /* files, disks, pipes */
    ERR_CORRUPT, /* bytes that no encoder or writer of this library produces */
    ERR_NUMERIC, /* the data hold NaN or infinities, or a computation did not converge */
    ERR_MEMORY,
    ERR_STOPPED, /* the user stopped the program by SIGINT, SIGTERM or SIGHUP: exit 130 */
} Status;

typedef struct {
    Status status;
    char text[600]; /* the message: one line, lower case, no full stop */
    char hint[300]; /* a command or an option that helps the user; may be empty */
} Error;

/* Called during long work: `done` items are finished, the last is called `at`. False: the work ends with ERR_STOPPED. */
typedef bool (*Tick)(void *data, uint64_t done, const char *at);

#define MUST_USE   __attribute__((warn_unused_result))
#define PRINTF(f)  __attribute__((format(printf, f, (f) + 1)))
#define countof(a) (sizeof(a) / sizeof((a)[0]))

static inline size_t size_least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static inline size_t size_most(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* How many parts of `most` make up n; the last may be smaller. */
static inline size_t size_parts(size_t n, size_t most)
{
    return n / most + (n % most != 0);
}

/* Records the failure and returns its status: return FAIL(err, ERR_USAGE, "bits=%d: want 1 to 16", bits); */
#define FAIL(err, status, ...) error_set(err, status, __VA_ARGS__)
Status error_set(Error *err, Status status, const char *format, ...) PRINTF(3);

/* Puts the formatted text and ": " in front of the recorded text; returns the recorded status. */
Status error_at(Error *err, const char *format, ...) PRINTF(2);

/* Sets err->hint; returns the status recorded in err. */
Status error_hint(Error *err, const char *format, ...) PRINTF(2);

/* Evaluates `step`; if the step fails, returns its status from the calling function. */
#define TRY(step)                                                                                            \
    do {                                                                                                     \
        Status status_ = (step);                                                                             \
        if (status_ != OK)                                                                                   \
            return status_;                                                                                  \
    } while (0)

#endif
