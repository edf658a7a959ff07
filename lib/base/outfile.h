/* outfile.h -- a file that appears whole or not at all.
 *
 * Output goes to a temporary file beside the target. Commit flushes it to the disk and renames it to the target.
 * Where the file system allows, the temporary file has no name before commit, so that a killed process leaves
 * nothing. A target that is no regular file (/dev/stdout, a pipe) is written in place. A target that is a symbolic
 * link stays one: the file it points to is replaced or created. */
#ifndef ATOMO_OUTFILE_H
#define ATOMO_OUTFILE_H

#include "base/arena.h"

#include <stdio.h>

typedef struct {
    FILE *to;
    char *path;      /* as the caller named it, for messages */
    char *target;    /* the path behind symbolic links */
    char *temporary; /* path until commit; NULL: written in place */
    bool nameless;   /* the temporary file has no name yet: it ends with the process */
    bool replaces;   /* the target exists, and gives the new file its mode at commit */
    unsigned mode;
    int failed; /* errno of the first write that failed */
} OutFile;

Status outfile_open(OutFile *f, const char *path, Arena *a, Error *err);
/* outfile_open for callers that open f->temporary themselves, so that it must have a name. */
Status outfile_open_named(OutFile *f, const char *path, Arena *a, Error *err);

/* Checks that the file can be opened, before the work whose output it is to hold. Leaves nothing behind, and does not
 * open a target that is no regular file. */
Status outfile_check(const char *path, Arena *a, Error *err);
/* True when both paths lead to the same file, which need not exist yet. */
bool outfile_same(const char *path, const char *other, Arena *a);
/* Writes a text; outfile_commit reports a failure. */
void outfile_text(OutFile *f, const char *text);
/* Closes the file in any case; on failure nothing is left behind. */
Status outfile_commit(OutFile *f, Error *err);
void outfile_abandon(OutFile *f); /* a file that was never opened, or is closed, is allowed */

#endif
