/* outfile.h -- a file that appears whole or not at all.
 *
 * What is written goes to a temporary file beside the target, and takes its place at commit after it is on
 * the disk. Until then it has no name where the file system allows, so that a kill leaves nothing. A target that is no regular file (/dev/stdout, a pipe) is written in place; one that is a
 * symbolic link keeps being one, also where it leads to nothing yet. */
#ifndef ATOMO_OUTFILE_H
#define ATOMO_OUTFILE_H

#include "base/arena.h"

#include <stdio.h>

typedef struct {
    FILE *to;
    char *path;      /* as it was named, for messages */
    char *target;    /* where it really lands */
    char *temporary; /* where it is until then; NULL: written in place */
    bool nameless;   /* it has no name yet, and goes with the process */
    bool replaces;   /* there is a file already, and this one takes its mode at commit */
    unsigned mode;
    int failed; /* errno of the first write that failed */
} OutFile;

Status outfile_open(OutFile *f, const char *path, Arena *a, Error *err);
Status outfile_open_named(OutFile *f, const char *path, Arena *a,
                          Error *err); /* for whoever opens f->temporary */
/* Whether it could be opened, before the work that is to fill it: nothing is left, and nothing that is no regular file is
 * touched. */
Status outfile_check(const char *path, Arena *a, Error *err);
/* Whether both paths lead to one file, which need not be there yet. */
bool outfile_same(const char *path, const char *other, Arena *a);
/* Writes a text; a failure is remembered with its reason, which commit tells. */
void outfile_text(OutFile *f, const char *text);
Status outfile_commit(OutFile *f,
                      Error *err); /* closes it, whatever happens; on failure nothing is left behind */
void outfile_abandon(OutFile *f);  /* a file that was never opened, or is closed, is fine */

#endif
