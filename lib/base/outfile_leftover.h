/* outfile_leftover.h -- names of temporary files, and removal of those that killed processes have left.
 *
 * The temporary files of DIRECTORY/FILE are DIRECTORY/.FILE.PID-ATTEMPT.tmp, where PID is the process that writes
 * it. A writer locks its file (flock) until the file has its final name. HDF5 locks the files that it writes, unless
 * the environment variable HDF5_USE_FILE_LOCKING is FALSE. */
#ifndef ATOMO_OUTFILE_LEFTOVER_H
#define ATOMO_OUTFILE_LEFTOVER_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

/* Length of the directory in the path of a file, with the slash; 0 without a directory. */
size_t path_directory(const char *path);
/* Writes the name of this process's temporary file of `target` to `out`. */
void leftover_name(const char *target, int attempt, char out[PATH_MAX]);
/* Removes the temporary files of `target` that no process writes: regular files of this user, not locked, whose
 * PID is not that of another process of this host, and for which is_open(path), asked about files with this
 * process's PID, is false. Reports no errors. */
void leftover_sweep(const char *target, bool (*is_open)(const char *path));

#endif
