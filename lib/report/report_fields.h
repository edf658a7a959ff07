/* report_fields.h -- the fields that sweep, merge, and compare --equal-bits add to a comparison's records. */
#ifndef ATOMO_REPORT_FIELDS_H
#define ATOMO_REPORT_FIELDS_H

#include "report/report_compare.h"

/* rate: what sets the codec's size, null where nothing does. pareto: on the front of relative_error against
 * bits_per_element, among the unbiased or among the other codecs, of this record's step, worker and tensor; a
 * record without figures, or with some left out, is on none. unbiased: what the codec promises. */
extern const Fields sweep_fields;
Status sweep_fill(Results *r, const Codec *const *codec, Error *err);

/* target_bits; reached: the codec comes to that many bits per element over the whole selection, within
 * SIZE_TOLERANCE. */
extern const Fields target_fields;
void target_fill(Results *r, double bits);

/* merge: workers; synthetic, how many of their gradients are made up; merge_ms, decode_each_ms, bytes_up, bytes_merged
 * as measured, null where there is no aggregate. */
extern const Fields merge_fields;
void merge_fill(Results *r, const Record *record, size_t workers, size_t synthetic);

#endif
