/* steps.h -- groups of a dump that hold steps but are not called "step": `epoch3/iter17/conv1.weight`.
 *
 * A glob with one part for each level of groups, as "epoch*" and "iter*" joined by a slash, names these groups. The
 * number of a step is the last number in the name of the innermost group. If two steps then have the same number,
 * the numbers of all levels are joined, each padded with zeros to the longest of its level: epoch 3, iteration 17
 * of at most 468 is 3017. */
#ifndef ATOMO_STEPS_H
#define ATOMO_STEPS_H

#include "dump/tensor_stream.h"

/* If the beginning of *path matches the glob, removes it from *path, and sets *group to it and *number to the
 * last number in it. Otherwise changes nothing. */
Status steps_take(const char **path, const char *glob, const char **group, int64_t *number, Arena *a,
                  Error *err);

/* Joins the numbers of all levels for the steps of the list if two of them have the same number. The tensors
 * are sorted by step. Steps whose number is in an attribute keep it. Returns true if two steps had the same
 * number. */
bool steps_join_numbers(Listing *l);

/* Returns the number that the attribute `step` of the group gives; NULL: there is none. */
const int64_t *steps_attribute(const Listing *l, const char *group);

/* Returns a glob for the groups of a path that look like steps, as "epoch3" and "iter17" do. "": there are none;
 * NULL: out of memory. */
const char *steps_guess(const char *path, Arena *a);

#endif
