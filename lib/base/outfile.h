/* outfile.h -- writes a file that appears whole or not at all.
 *
 * Output goes to the temporary file .NAME.PID.tmp in the target's directory. outfile_commit flushes it to the disk and
 * renames it to the target. A process that is killed (SIGKILL) leaves it behind. A target that is not a regular file (a pipe,
 * a device) is written in place. The paths "-" and /dev/stdout are standard output. If the target is a symbolic link, the
 * file that it points to is replaced or created. */
#ifndef ATOMO_OUTFILE_H
#define ATOMO_OUTFILE_H

#include "base/arena.h"

#include <stdio.h>

typedef struct {
    FILE *to;
    char *path;      /* for error messages: the path that the caller gave, or "standard output" */
    char *target;    /* the path that the caller's path leads to, after following symbolic links */
    char *temporary; /* path of the temporary file until commit; NULL: the target is written in place */
    bool replaces;   /* the target exists, and outfile_commit gives its mode to the new file */
    unsigned mode;
    int failed; /* errno of the first write that failed */
} OutFile;

Status outfile_open(OutFile *f, const char *path, Arena *a, Error *err);
/* Like outfile_open, for a caller that opens the temporary file by its name (f->temporary). A target that is not a regular
 * file has no such name (NULL), and is not opened. */
Status outfile_open_named(OutFile *f, const char *path, Arena *a, Error *err);

/* Checks that the file can be written, before the work that produces its contents begins. Leaves no file
 * behind. A target that is not a regular file is not opened. */
Status outfile_check(const char *path, Arena *a, Error *err);
bool outfile_is_stdout(const char *path); /* true for "-", "/dev/stdout" and its other names */
/* Flushes the directory entry of the file at `path` to the disk. Reports no errors. */
void outfile_sync_directory(const char *path);
/* Writes bytes; a failure is reported later, by outfile_commit. */
void outfile_bytes(OutFile *f, const void *data, size_t size);
/* Finishes the temporary file and renames it to the target; on failure removes it. f is closed in any case. */
Status outfile_commit(OutFile *f, Error *err);
/* Writes a whole file with these bytes. */
Status outfile_save(const char *path, const void *data, size_t size, Arena *a, Error *err);
/* closes and removes the temporary file; does nothing if f is not open */
void outfile_abandon(OutFile *f);
/* Removes all temporary files, for a process that ends; a signal handler may call it. */
void outfile_abandon_all(void);

/* Length of the directory in the path of a file, with the slash; 0 without a directory. */
size_t path_directory(const char *path);

#endif
