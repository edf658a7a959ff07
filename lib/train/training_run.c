/* training_run.c -- the loop over the steps; see training_run.h. */
#include "train/training_run.h"

#include "train/checkpoint.h"
#include "train/train_parts.h"

#include <math.h>

/* Returns true if the network is tested, and a checkpoint saved, after this step. */
static bool is_due(const Course *c, size_t step)
{
    return step == c->steps || (c->every && step % c->every == 0);
}

/* Returns true if the gradients of this step are saved. */
static bool is_dumped(const Trainer *t, const Course *c, size_t step)
{
    const size_t exchange = trainer_exchange(t, step);
    return c->dump_every && exchange && (exchange - 1) % c->dump_every == 0;
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

/* Tests the network after a step, and writes the step's gradients and record. */
static Status write_step(Trainer *t, const Course *c, bool dumps, StepRecord *r, Error *err)
{
    if (is_due(c, r->step) && t->s.test)
        TRY(test(t, r, err));
    if (dumps)
        TRY(gradient_dump_step(c->dump, t, r, err));
    return c->record(c->data, r, err);
}

/* Saves a checkpoint; on several ranks, rank 0 saves. */
static Status save(Trainer *t, const Course *c, Error *err)
{
    Status status = OK;
    trainer_collect(t, false);
    if (net_rank(t->s.net) == 0)
        status = checkpoint_save(t, c->dir, err);
    return net_agree(t->s.net, status, err);
}

/* Runs one step. Writes the step's record before its checkpoint, so that a run resumed from the checkpoint
 * finds all earlier records. */
static Status run_step(Trainer *t, const Course *c, bool *stops, Error *err)
{
    StepRecord r;
    Status status = trainer_step(t, &r, err);
    if (status == ERR_STOPPED) {
        *stops = true;
        return c->dir && t->step && !is_due(c, t->step) ? save(t, c, err) : OK;
    }
    TRY(status);
    const bool due = is_due(c, r.step), dumps = is_dumped(t, c, r.step);
    r.dumped = dumps;
    if (dumps || (due && t->s.test))
        trainer_collect(t, dumps);
    if (net_rank(t->s.net) == 0)
        status = write_step(t, c, dumps, &r, err);
    TRY(net_agree(t->s.net, status, err));
    net_broadcast(t->s.net, 0, &r.test, sizeof r.test);
    *stops = net_any(t->s.net, c->stopped && c->stopped()) &&
             (r.step < c->steps || (due && t->s.test && isnan(r.test.accuracy)));
    return c->dir && (due || *stops) ? save(t, c, err) : OK;
}

Status train_run(Trainer *t, const Course *c, Error *err)
{
    bool stops = net_any(t->s.net, c->stopped && c->stopped());
    while (t->step < c->steps && !stops)
        TRY(run_step(t, c, &stops, err));
    return stops ? FAIL(err, ERR_STOPPED, "stopped after step %zu of %zu", t->step, c->steps) : OK;
}
