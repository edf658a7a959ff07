/* setup.h -- a training setup as attributes of the files that a run leaves, and holding files to it. */
#ifndef ATOMO_NN_SETUP_H
#define ATOMO_NN_SETUP_H

#include "nn/train.h"

enum { SETUP_MOST = 24 };

static inline Attr attr_whole(const char *name, uint64_t v)
{
    return (Attr){.name = name, .type = ATTR_INT, .whole = (int64_t)v};
}

static inline Attr attr_real(const char *name, double v)
{
    return (Attr){.name = name, .type = ATTR_REAL, .real = v};
}

static inline Attr attr_text(const char *name, const char *v)
{
    return (Attr){.name = name, .type = ATTR_TEXT, .text = v};
}

const Attr *attr_find(const AttrList *list,
                      const char *name); /* NULL: none of this name; a NULL list is empty */

/* What a run's weights depend on, but for the network: how many. */
size_t setup_attrs(const TrainSetup *s, Attr out[SETUP_MOST], Arena *a);

/* Whether a file's attributes are `own`, and maybe more. ERR_CORRUPT: one is not there, so it is not `what`; ERR_USAGE: of
 * another setup. */
Status setup_same(const Attr *own, size_t count, const AttrList *theirs, const char *path, const char *what,
                  Error *err);

#endif
