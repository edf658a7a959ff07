/* atoms_side.h -- the heavy or the light ones of a draw, for the files that write payloads: they go through a
 * draw block by block, as no list of all is held. */
#ifndef ATOMO_ATOMS_SIDE_H
#define ATOMO_ATOMS_SIDE_H

#include "compress/atoms/atoms.h"
#include "coder/indices.h"

typedef struct {
    const AtomDraw *draw;
    size_t n; /* atoms there are */
    bool heavy;
    AtomPiece room;
    size_t *index; /* room for a block's */
} AtomSide;

Status side_open(const Call *c, const AtomDraw *draw, size_t n, AtomSide *side);

/* How many of those kept are heavy. */
size_t side_count_heavy(const AtomSide *side);

/* Which they are, `count` of them. */
Status side_put(const Call *c, AtomSide *side, bool heavy, size_t count, Buf *out);

/* ERR_CORRUPT when a place out of n is in both sets. */
Status sides_apart(const Call *c, const Places *heavy, const Places *light, size_t n);

#endif
