/* knots_parts.h -- what the files of the search for levels share (knots.h). */
#ifndef ATOMO_KNOTS_PARTS_H
#define ATOMO_KNOTS_PARTS_H

#include "vec/kernels.h"
#include "num/knots.h"

/* Sorts n numbers into room->key, different ones only, and room->rank; returns how many these are. */
size_t knots_sort(KnotsRoom *room, const float *x, size_t n);

/* x from the median on, and b: its slope between neighbours is the numbers below, less those at the median. */
void knots_measure(KnotsRoom *room, size_t n, size_t differ);

/* The levels whose places are given, the last one as often as is left; returns `levels`. Or those of all `differ` numbers. */
size_t knots_fill(const KnotsRoom *room, const uint16_t *place, size_t levels, float *level);
size_t knots_fill_all(const KnotsRoom *room, size_t differ, float *level);

#endif
