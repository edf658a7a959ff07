/* notes.h -- prints notes on stderr about properties of a dump because of which a result could be misread, and refuses work
 * whose memory cannot suffice before it starts. */
#ifndef ATOMO_NOTES_H
#define ATOMO_NOTES_H

#include "app/progress.h"
#include "compress/codec.h"
#include "dump/groups.h"

/* Prints notes on the dump: how many datasets hold no floats, and how many step or worker groups have the same
 * number as another group; kernels whose layout is doubtful; groups that look like steps; and how many tensors were left
 * out of the list because they are not finite. `list` may be NULL. */
void notes_dump(const Dump *d, const VectorList *list, Progress *p);

/* Prints a note on each name of the literature among the specs, which must be valid. */
void notes_specs(const TextList *specs);

/* Prints a note if svd takes only the leading singular vectors of large tensors, though its spec does not say so. */
void notes_leading(const VectorList *list, const char *file, const Codec *const *codec, size_t codecs, Progress *p);

/* Returns memory_check of the largest vector of the list, which takes `each` bytes an element. */
Status memory_check_list(const VectorList *list, size_t each, const char *file, Error *err);

/* Returns ERR_MEMORY if `need` bytes are more than host_memory. The message names the file and its tensor with
 * `elements` elements. */
Status memory_check(uint64_t need, const char *file, const char *tensor, size_t elements, Error *err);

#endif
