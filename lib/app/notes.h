/* notes.h -- notes on stderr about a dump that make a result easy to misread. */
#ifndef ATOMO_NOTES_H
#define ATOMO_NOTES_H

#include "app/progress.h"
#include "codec/codec.h"
#include "dump/groups.h"

/* Says how many datasets hold no floats, and which groups of the dump share their number (dump_twins). */
void notes_dump(const Dump *d, Progress *p);

/* Says that `codec`, of this name, starts without what it learns in earlier steps, if it learns and the vectors are of
 * one step. Returns whether it did. */
bool notes_cold(const Codec *codec, const char *name, const VectorList *list, Progress *p);

#endif
