/* report_fields.c -- see report_fields.h. */
#include "report/report_fields.h"

#include "num/pareto.h"
#include "compress/rate.h"

#include <math.h>

/* ---- sweep ---- */

enum { RATE, PARETO, IS_UNBIASED, SWEEP_FIELDS };

static const Column sweep_columns[SWEEP_FIELDS] = {
    [RATE] = {"rate", NULL, 0},
    [PARETO] = {"pareto", "front", 0},
    [IS_UNBIASED] = {"unbiased", "unbiased", 0},
};
const Fields sweep_fields = {.column = sweep_columns, .count = SWEEP_FIELDS};

static bool is_unbiased(const Codec *codec)
{
    return codec_traits(codec) & UNBIASED;
}

static Value rate_of(const Codec *codec)
{
    Rate r;
    if (!rate_find(&r, codec) || isnan(rate_value(&r)))
        return value_none();
    const double v = rate_value(&r);
    return v == floor(v) && fabs(v) < 0x1p53 ? value_int((int64_t)v) : value_real(v);
}

static Status mark_place(Results *r, const Codec *const *codec, size_t place, ParetoPoint *point, Error *err)
{
    for (size_t k = 0; k < r->codecs; k++) {
        const bool whole = results_have(r, place, k) && !results_failed(r, place, k);
        point[k] = (ParetoPoint){
            .size = whole ? results_number(r, place, k, "bits_per_element") : NAN,
            .error = whole ? results_number(r, place, k, "relative_error") : NAN,
            .kind = whole && is_unbiased(codec[k]),
        };
    }
    TRY(pareto_mark(point, r->codecs, r->a, err));
    for (size_t k = 0; k < r->codecs; k++)
        if (results_have(r, place, k)) {
            results_set(r, place, k, RATE, rate_of(codec[k]));
            results_set(r, place, k, PARETO, value_bool(point[k].front));
            results_set(r, place, k, IS_UNBIASED, value_bool(is_unbiased(codec[k])));
        }
    return OK;
}

Status sweep_fill(Results *r, const Codec *const *codec, Error *err)
{
    ParetoPoint *point = NEW(r->a, ParetoPoint, r->codecs);
    if (!point)
        return arena_fail(r->a, err);
    for (size_t place = 0; place < r->places; place++)
        TRY(mark_place(r, codec, place, point, err));
    return OK;
}

/* ---- compare --equal-bits ---- */

enum { TARGET_BITS, REACHED, TARGET_FIELDS };

static const Column target_columns[TARGET_FIELDS] = {
    [TARGET_BITS] = {"target_bits", NULL, 0},
    [REACHED] = {"reached", "reached", 0},
};
const Fields target_fields = {.column = target_columns, .count = TARGET_FIELDS};

void target_fill(Results *r, double bits)
{
    for (size_t k = 0; k < r->codecs; k++) {
        const double whole = results_number(r, r->places - 1, k, "bits_per_element");
        const bool reached = fabs(whole / bits - 1) <= SIZE_TOLERANCE && /* false for NaN */
                             !results_failed(r, r->places - 1, k);
        for (size_t place = 0; place < r->places; place++)
            if (results_have(r, place, k)) {
                results_set(r, place, k, TARGET_BITS, value_real(bits));
                results_set(r, place, k, REACHED, value_bool(reached));
            }
    }
}

/* ---- merge ---- */

enum { WORKERS, SYNTHETIC, MERGE_MS, DECODE_EACH_MS, BYTES_UP, BYTES_MERGED, MERGE_FIELDS };

static const Column merge_columns[MERGE_FIELDS] = {
    [WORKERS] = {"workers", "workers", 0},    [SYNTHETIC] = {"synthetic", "synthetic", 0},
    [MERGE_MS] = {"merge_ms", "merge ms", 0}, [DECODE_EACH_MS] = {"decode_each_ms", "decode-each ms", 0},
    [BYTES_UP] = {"bytes_up", NULL, 0},       [BYTES_MERGED] = {"bytes_merged", "merged bytes", 0},
};
const Fields merge_fields = {
    .column = merge_columns, .count = MERGE_FIELDS, .leading = SYNTHETIC + 1, .timed = true};

static Value size_value(double bytes)
{
    return bytes == floor(bytes) ? value_int((int64_t)bytes) : value_real(bytes);
}

void merge_fill(Results *r, const Record *record, size_t workers, size_t synthetic)
{
    const size_t place = record->place, k = record->codec;
    const Tally *t = &record->tally;
    results_set(r, place, k, WORKERS, value_int((int64_t)workers));
    results_set(r, place, k, SYNTHETIC, value_int((int64_t)synthetic));
    if (!record->vectors)
        return;
    results_set(r, place, k, MERGE_MS, value_real(1e3 * t->merge / t->cells));
    results_set(r, place, k, DECODE_EACH_MS, value_real(1e3 * t->each / t->cells));
    results_set(r, place, k, BYTES_UP, size_value(t->bytes / t->cells));
    results_set(r, place, k, BYTES_MERGED, size_value(t->merged / t->cells));
}
