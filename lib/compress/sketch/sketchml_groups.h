/* sketchml_groups.h -- the elements of a tensor sorted into groups of bins, and a sketch of least bins for each. */
#ifndef ATOMO_SKETCHML_GROUPS_H
#define ATOMO_SKETCHML_GROUPS_H

#include "compress/sketch/sketchml.h"

typedef struct {
    int64_t quantiles, rows, groups;
    double cols;
    int keys;
} Sketchml;

enum { ROWS_MOST = 8, GROUPS_MOST = TWO_SIDES * BINS_MOST, MEMBERS_RUN = 1024 };

static inline const Sketchml *sketchml_of(const Call *c)
{
    return c->self->params;
}

typedef struct {
    size_t count, cols;
    size_t first, bins; /* of the side's bins */
    int side, width;    /* bits of a cell */
    uint32_t *key;
    uint8_t *bin;  /* (count) */
    uint8_t *cell; /* (rows, cols) */
} Group;

typedef struct {
    Group group[GROUPS_MOST];
    uint16_t of[TWO_SIDES * BINS_MOST]; /* the group of each side's bins */
    size_t count;
} Groups;

/* Runs of bins, without members yet. */
void groups_cut(Groups *groups, const Bins *bins, const Sketchml *p);

/* Members of a group, and with them the cells of a row. */
void group_size(Group *g, const Sketchml *p, size_t count);

/* Every element that is not zero in its group, with its bin, and every group's cells filled. */
Status groups_fill(Groups *groups, const Call *c, const float *x, const Bins *bins);

/* How many of the group's members from i on, MEMBERS_RUN at most, are in the same block; `at` gets their places there. */
size_t group_run(const Group *g, size_t i, uint32_t at[MEMBERS_RUN]);

/* The buckets of a row for n places of a block. */
void group_buckets(const Group *g, const Call *c, size_t row, size_t block, const uint32_t *at, size_t n,
                   uint32_t *bucket);

#endif
