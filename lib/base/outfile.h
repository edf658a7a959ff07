/* outfile.h -- writes a file that appears whole or not at all.
 *
 * Output goes to a temporary file in the target's directory. outfile_commit flushes the temporary file to the disk
 * and renames it to the target. If the file system permits, the temporary file has no name before commit, so that a
 * killed process leaves nothing behind. A target that is not a regular file (/dev/stdout, a pipe) is written in
 * place. If the target is a symbolic link, the file that it points to is replaced or created. */
#ifndef ATOMO_OUTFILE_H
#define ATOMO_OUTFILE_H

#include "base/arena.h"

#include <stdio.h>

typedef struct {
    FILE *to;
    char *path;      /* the path that the caller gave, for error messages */
    char *target;    /* the path that the caller's path leads to, after following symbolic links */
    char *temporary; /* path of the temporary file until commit; NULL: the target is written in place */
    bool nameless;   /* the temporary file has no name yet: it vanishes when the process ends */
    bool replaces;   /* the target exists; at commit the new file gets its mode */
    unsigned mode;
    int failed; /* errno of the first write that failed */
} OutFile;

Status outfile_open(OutFile *f, const char *path, Arena *a, Error *err);
/* Does as outfile_open does for callers that open f->temporary themselves, so the temporary file has a name. */
Status outfile_open_named(OutFile *f, const char *path, Arena *a, Error *err);

/* Checks that the file can be written, before the work that produces its contents begins. Leaves no file behind, and
 * does not open a target that is not a regular file. */
Status outfile_check(const char *path, Arena *a, Error *err);
/* True when both paths lead to the same file, which need not exist yet. */
bool outfile_same(const char *path, const char *other, Arena *a);
/* Flushes the directory entry of the file at `path` to the disk; when the file system cannot, this is not an
 * error. */
void outfile_sync_directory(const char *path);
/* Write a text, or bytes; outfile_commit reports a failure. */
void outfile_text(OutFile *f, const char *text);
void outfile_bytes(OutFile *f, const void *data, size_t size);
/* Finishes the file and puts it in the target's place; on failure nothing is left behind. f is closed in any case. */
Status outfile_commit(OutFile *f, Error *err);
/* closes and removes the temporary file; does nothing if the file is not open */
void outfile_abandon(OutFile *f);

#endif
