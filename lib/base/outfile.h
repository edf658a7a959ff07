/* outfile.h -- writes a file that appears whole or not at all.
 *
 * Output goes to a temporary file in the target's directory. outfile_commit flushes the temporary file to the
 * disk and renames it to the target. If the file system permits, the temporary file has no name before commit,
 * so that a killed process leaves nothing behind. If no target exists, commit names the file in one call; else a
 * kill between naming and renaming it may leave a temporary file, as may a kill before commit where files always
 * have names. outfile_open removes such files of the same target. A target that is not a regular file (a pipe, a device) is
 * written in place. The paths "-" and /dev/stdout are standard output. If the target is a symbolic link, the
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
    bool nameless;   /* the temporary file has no name yet, so it vanishes if the process ends */
    bool replaces;   /* the target exists, and outfile_commit gives its mode to the new file */
    unsigned mode;
    int failed; /* errno of the first write that failed */
} OutFile;

Status outfile_open(OutFile *f, const char *path, Arena *a, Error *err);
/* Like outfile_open, but the temporary file has a name (f->temporary), so that the caller can open the file by
 * this name. A target that is not a regular file has no such name (NULL), and is not opened. */
Status outfile_open_named(OutFile *f, const char *path, Arena *a, Error *err);

/* Checks that the file can be written, before the work that produces its contents begins. Leaves no file
 * behind. A target that is not a regular file is not opened. */
Status outfile_check(const char *path, Arena *a, Error *err);
bool outfile_is_stdout(const char *path); /* true for "-", "/dev/stdout" and its other names */
/* True when the paths `path` and `other` lead to the same file, which need not exist yet. */
bool outfile_same(const char *path, const char *other, Arena *a);
/* Flushes the directory entry of the file at `path` to the disk. Reports no errors. */
void outfile_sync_directory(const char *path);
/* Writes bytes; a failure is reported later, by outfile_commit. */
void outfile_bytes(OutFile *f, const void *data, size_t size);
/* Writes to the disk, piece by piece, what outfile_commit would write at once: a process cannot end while it waits for the
 * disk. A failure is in f->failed, and reported later, by outfile_commit. */
void outfile_sync(OutFile *f);
/* Finishes the temporary file and renames it to the target; on failure removes it. f is closed in any case. */
Status outfile_commit(OutFile *f, Error *err);
/* Writes a whole file with these bytes. */
Status outfile_save(const char *path, const void *data, size_t size, Arena *a, Error *err);
/* Empties a file that will be abandoned: a caller that has opened it by its name calls this before closing it. */
void outfile_empty(const OutFile *f);
/* Called before a finished file gets its name; NULL: nothing is. It belongs to the process; the programs set it. */
extern void (*outfile_naming)(void);
/* closes and removes the temporary file; does nothing if f is not open */
void outfile_abandon(OutFile *f);
/* Removes all temporary files that have a name, for a process that ends at once. Afterwards no file can be opened or
 * committed: the calling thread ends the process. */
void outfile_abandon_all(void);

#endif
