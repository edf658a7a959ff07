/* notes.h -- prints notes on stderr about properties of a dump because of which a result could be misread. */
#ifndef ATOMO_NOTES_H
#define ATOMO_NOTES_H

#include "app/progress.h"
#include "compress/codec.h"
#include "dump/groups.h"

/* Prints notes on the dump: how many datasets hold no floats, and how many step or worker groups have the same
 * number as another group; kernels whose layout is doubtful; and groups that look like steps. */
void notes_dump(const Dump *d, Progress *p);

/* Prints a note if the codec learns from step to step but all vectors are of one step, so that the codec has
 * learned nothing when it encodes them. `name` is the codec's name in the note. Returns true if the note was
 * printed. */
bool notes_cold(const Codec *codec, const char *name, const VectorList *list, Progress *p);

/* Prints a note on each name of the literature among the specs, and on each codec that several of them name, as equal codecs
 * are measured once. The specs must be valid. */
void notes_specs(const TextList *specs);

#endif
