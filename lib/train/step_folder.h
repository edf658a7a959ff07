/* step_folder.h -- a folder of files step_%08d.h5, each complete or absent: a run's checkpoints or its saved
 * gradients.
 *
 * A run locks its folder. The lock ends with the process, even when the process is killed. */
#ifndef ATOMO_STEP_FOLDER_H
#define ATOMO_STEP_FOLDER_H

#include "base/text.h"

/* returns the path of a step's file; NULL: out of memory */
char *step_file(const char *dir, size_t step, Arena *a);

/* Returns false if the path's last part is not the name of a step's file. */
bool step_of_path(const char *path, size_t *step);

/* ERR_CORRUPT: something else than a file, such as a folder, has the name. OK if nothing has it. */
Status step_file_check(const char *path, Error *err);

/* Appends the folders with steps among `dir` and the folders in it, down to `depth` levels, with commas between them. */
void step_folders(TextBuf *out, const char *dir, int depth);

/* Lists the steps that have a file in the folder, ascending; the list is empty if there is no folder. Fails for a
 * folder that cannot be listed. */
Status step_files(size_t **step, size_t *count, const char *dir, Arena *a, Error *err);

Status step_folder_make(const char *dir, Arena *a, Error *err); /* makes the folder and its parents */

/* Makes the folder, locks it until `step_folder_release`, and removes unfinished files that a killed run
 * left in it. ERR_IO: another process has the lock. On a file system without locks every call succeeds. */
Status step_folder_lock(int *lock, const char *dir, Arena *a, Error *err);
void step_folder_release(int lock); /* negative is fine */

/* Returns true if a run has locked the folder, and always on a file system without locks. Returns false if
 * there is no folder. */
bool step_folder_is_locked(const char *dir);

#endif
