/* checkpoint.h -- saves a trainer's state after a step, as step_%08d.h5 in a folder. Each file is complete
 * or absent.
 *
 * Weights, velocities, AdamW's averages of squares, running statistics and codec states are stored in the groups
 * /weights, /velocity, /square, /running/WORKER and /state/WORKER (four bytes of a state in one float). With local
 * steps, /inner/WORKER has each worker's own weights and optimizer state, and /mean the mean that is to be applied
 * later. The attributes are the setup, the step, and a checksum of all arrays. */
#ifndef ATOMO_CHECKPOINT_H
#define ATOMO_CHECKPOINT_H

#include "train/train.h"

/* ---- a folder of files step_%08d.h5, each complete or absent: a run's checkpoints or its saved gradients. A run locks
 * its folder. The lock ends with the process, even when the process is killed. ---- */

/* returns the path of a step's file; NULL: out of memory */
char *step_file(const char *dir, size_t step, Arena *a);

/* Lists the steps that have a file in the folder, ascending; the list is empty if there is no folder. Fails for a
 * folder that cannot be listed. */
Status step_files(size_t **step, size_t *count, const char *dir, Arena *a, Error *err);

/* Removes the files of steps from number `first` on. */
Status step_files_remove(const char *dir, size_t first, Arena *a, Error *err);

/* Makes the folder, locks it until `step_folder_release`, and removes what a killed run has left of unfinished files. ERR_IO: another
 * process has the lock. On a file system without locks every call succeeds. */
Status step_folder_lock(int *lock, const char *dir, Arena *a, Error *err);
void step_folder_release(int lock); /* negative is fine */

/* Returns true if a run has locked the folder, and always on a file system without locks. Returns false if
 * there is no folder. */
bool step_folder_is_locked(const char *dir);

/* ---- checkpoints ---- */

/* Calls `visit` for each array that a step changes: the weights, the states of the optimizer (both of worker -1), and each
 * worker's running statistics, own weights and codec states, as far as this process has them. `path`: its name in a checkpoint. */
typedef Status (*ArrayVisit)(void *data, int64_t worker, const char *path, const Shape *shape, float *x, Error *err);
Status checkpoint_visit(Trainer *t, ArrayVisit visit, void *data, Error *err);

Status checkpoint_save(Trainer *t, const char *dir, Error *err); /* makes the folder */

/* Restores the trainer's state from a file. Returns ERR_USAGE if the file belongs to another setup. After
 * any other error, the trainer must load another file or be reset before its next step. */
Status checkpoint_load(Trainer *t, const char *path, Error *err);

/* Fills `s` from a checkpoint with all settings that the weights depend on, except the images. Sets
 * `dataset` to the data set's name and `images` to its number of training images. Memory for texts and the
 * codec comes from `a`. */
Status checkpoint_setup(TrainSetup *s, const char **dataset, size_t *images, const char *path, Arena *a,
                        Error *err);

/* Loads the newest undamaged checkpoint in the folder, or resets the trainer if there is none. Calls `note`
 * with a line of text for each damaged file, and if training starts from the beginning. */
Status checkpoint_resume(Trainer *t, const char *dir, void (*note)(void *data, const char *text), void *data,
                         Error *err);

#endif
