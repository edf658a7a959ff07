/* train_targets.c -- the accuracies that a run is to reach, and at which step, after what time and bytes it did. */
#include "train_records.h"

#include <math.h>
#include <string.h>

enum { STEPS_TO, SECONDS_TO, BYTES_TO, TARGET_FIELDS };
static const char *const forms[TARGET_FIELDS] = {
    [STEPS_TO] = "steps_to_", [SECONDS_TO] = "sim_seconds_to_", [BYTES_TO] = "bytes_to_"};

Status records_targets(Records *r, const char *list)
{
    for (const char *at = list, *next; at && *at; at = next ? next + 1 : NULL) {
        char item[32];
        double accuracy;
        next = strchr(at, ',');
        snprintf(item, sizeof item, "%.*s", next ? (int)(next - at < 31 ? next - at : 31) : 31, at);
        if (!text_to_real(item, &accuracy) || !(accuracy > 0 && accuracy <= 1))
            return FAIL(
                r->job->err, ERR_USAGE,
                "--target-accuracy %.60s: \"%s\": want numbers above 0 and up to 1 with commas between them",
                list, item);
        if (r->targets == TARGETS_MOST)
            return FAIL(r->job->err, ERR_USAGE, "--target-accuracy: more than %d numbers", TARGETS_MOST);
        r->target[r->targets++].accuracy = accuracy;
    }
    return OK;
}

Status targets_columns(Records *r)
{
    _Static_assert((int)TARGET_FIELDS == (int)TARGET_COLUMNS, "a column to each field");
    for (size_t i = 0; i < r->targets; i++)
        for (size_t k = 0; k < TARGET_FIELDS; k++) {
            char number[32];
            const char *name =
                text_format(r->job->a, "%s%s", forms[k], text_double(number, r->target[i].accuracy));
            if (!name)
                return arena_fail(r->job->a, r->job->err);
            r->column[r->columns++] = (Column){name, name, 0};
        }
    return OK;
}

void targets_begin(Records *r)
{
    for (size_t i = 0; i < r->targets; i++)
        r->target[i].reached = false;
}

void targets_note(Records *r, const StepRecord *s)
{
    for (Target *t = r->target; t < r->target + r->targets; t++)
        if (!t->reached && s->test.accuracy >= t->accuracy) {
            t->reached = true;
            t->step = s->step;
            t->seconds = r->partial ? NAN : r->sim;
            t->bytes = r->partial ? NAN : r->bytes;
        }
}

void targets_put(const Records *r, Value *row)
{
    for (size_t i = 0; i < r->targets; i++) {
        const Target *t = &r->target[i];
        Value *at = row + STEP_COLUMNS + TARGET_FIELDS * i;
        at[STEPS_TO] = t->reached ? value_int((int64_t)t->step) : value_none();
        at[SECONDS_TO] = t->reached ? value_real(t->seconds) : value_none();
        at[BYTES_TO] = t->reached ? value_real(t->bytes) : value_none();
    }
}
