/* training_run.c -- the loop over the steps; see training_run.h. */
#include "nn/training_run.h"

#include "nn/checkpoint.h"
#include "nn/train_parts.h"

#include <math.h>

/* Returns true if the network is tested, and a checkpoint saved, after this step. */
static bool is_due(const Course *c, size_t step)
{
    return step == c->steps || (c->every && step % c->every == 0);
}

/* A test that is stopped has no result; the resumed run repeats the test. */
static Status test(Trainer *t, StepRecord *r, Error *err)
{
    const Status status = trainer_test(t, t->s.test, &r->test, err);
    if (status != ERR_STOPPED)
        return status;
    r->test = (MeanScore){NAN, NAN};
    return OK;
}

/* Runs one step. Writes the step's record before its checkpoint, so that a run resumed from the checkpoint
 * finds all earlier records. */
static Status run_step(Trainer *t, const Course *c, bool *stops, Error *err)
{
    StepRecord r;
    const Status status = trainer_step(t, &r, err);
    if (status == ERR_STOPPED) {
        *stops = true;
        return c->dir && t->step && !is_due(c, t->step) ? checkpoint_save(t, c->dir, err) : OK;
    }
    TRY(status);
    const bool due = is_due(c, r.step);
    if (due && t->s.test)
        TRY(test(t, &r, err));
    if (c->dump && (r.step - 1) % c->dump_every == 0)
        TRY(gradient_dump_step(c->dump, t, &r, err));
    TRY(c->record(c->data, &r, err));
    *stops =
        c->stopped && c->stopped() && (r.step < c->steps || (due && t->s.test && isnan(r.test.accuracy)));
    return c->dir && (due || *stops) ? checkpoint_save(t, c->dir, err) : OK;
}

Status train_run(Trainer *t, const Course *c, Error *err)
{
    bool stops = c->stopped && c->stopped();
    while (t->step < c->steps && !stops)
        TRY(run_step(t, c, &stops, err));
    return stops ? FAIL(err, ERR_STOPPED, "stopped after step %zu of %zu", t->step, c->steps) : OK;
}
