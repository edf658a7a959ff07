/* step_folder.h -- a folder of files step_%08d.h5, each there whole or not at all: a run's checkpoints, or its gradients so far.
 *
 * The run at work in it holds it; the hold ends with the process, however that ends. */
#ifndef ATOMO_STEP_FOLDER_H
#define ATOMO_STEP_FOLDER_H

#include "base/arena.h"

char *step_file(const char *dir, size_t step, Arena *a); /* its path */

/* The numbers of a folder's files, rising; none where there is no such folder. */
Status step_files(size_t **step, size_t *count, const char *dir, Arena *a, Error *err);

/* Whether `path` is called as one of those is, in `dir` or a folder directly in it; there or not yet. */
bool step_folder_names(const char *dir, const char *path, Arena *a);

Status step_folder_make(const char *dir, Arena *a, Error *err); /* with those above it */

/* Makes the folder and holds it as long as `hold` is open; what a killed run left unfinished in it goes. ERR_IO: another
 * process holds it. Where the file system has no locks, nothing holds. */
Status step_folder_hold(int *hold, const char *dir, Arena *a, Error *err);
void step_folder_release(int hold); /* negative is fine */

/* Whether a run is at work there. True where that cannot be known, for want of locks; false without a folder. */
bool step_folder_is_held(const char *dir);

#endif
