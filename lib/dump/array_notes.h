/* array_notes.h -- attributes in a safetensors file. The attributes are pairs of texts NAME: VALUE in the
 * file's metadata.
 *
 * A pair NAME: VALUE is an attribute of the root group. A pair OBJECT@NAME: VALUE is an attribute of the group
 * or array OBJECT, if the file has one. A VALUE that looks like a number is a number: an integer ("-12") or a
 * real number ("0.1", "1e-05", "2.0", "nan", "-inf"). A text attribute that looks like a number, or begins with
 * a quote, is stored in quotes ("\"12\""). */
#ifndef ATOMO_ARRAY_NOTES_H
#define ATOMO_ARRAY_NOTES_H

#include "base/json.h"
#include "dump/array_file.h"

/* Sets f->note from `metadata`, the JSON object __metadata__, whose members are texts. f->array must be
 * complete. */
Status notes_from_metadata(ArrayFile *f, const Json *metadata, Error *err);

/* Returns the attributes of an object as a list in `room`, which has room for f->notes items. */
AttrList notes_of(const ArrayFile *f, const char *object, Attr *room);

/* Return the key and the value of an attribute's metadata pair, or NULL if memory runs out. */
char *note_key(const char *object, const Attr *attr, Arena *a);
char *note_value(const Attr *attr, Arena *a);

#endif
