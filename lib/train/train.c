/* train.c -- runs one training step of all simulated workers, from images to new weights. */
#include "train/train.h"

#include "train/train_parts.h"
#include "train/weights.h"
#include "base/checksum.h"
#include "base/parallel.h"
#include "measure/timing.h"
#include "math/blockwise.h"
#include "compress/spec.h"
#include "compress/compressor.h"

#include <math.h>
#include <string.h>

/* ---- the images of each step, and the steps that end with an exchange ---- */

/* The images of a step: order[place .. place + count - 1], where `order` lists the epoch's images in
 * shuffled order. `epoch` and `place` count from 0. */
typedef struct {
    size_t epoch, place, count;
} Portion;

/* A last step with fewer images than workers is left out. */
size_t trainer_epoch_steps(const Trainer *t)
{
    const size_t rest = t->s.train->count % t->s.batch;
    return t->s.train->count / t->s.batch + (rest >= t->s.workers);
}

static Portion portion_of(const Trainer *t, size_t step)
{
    const size_t steps = trainer_epoch_steps(t), place = (step - 1) % steps * t->s.batch;
    const size_t left = t->s.train->count - place;
    return (Portion){(step - 1) / steps, place, left < t->s.batch ? left : t->s.batch};
}

/* Returns the images of a step that worker w takes. */
static Portion portion_share(const Portion *all, size_t workers, size_t w)
{
    const size_t from = all->count * w / workers, to = all->count * (w + 1) / workers;
    return (Portion){all->epoch, all->place + from, to - from};
}

size_t round_images(const Trainer *t, size_t step, size_t w)
{
    const size_t h = t->s.local.steps ? t->s.local.steps : 1;
    size_t images = 0;
    for (size_t i = step > h ? step - h + 1 : 1; i <= step; i++) {
        const Portion all = portion_of(t, i);
        images += portion_share(&all, t->s.workers, w).count;
    }
    return images;
}

/* ---- what the ranks tell each other of a step ---- */

static size_t first_worker(const Trainer *t, int rank)
{
    return relay_first_worker(t->s.net, way_of(t->s.topology), t->s.workers, rank);
}

/* Gives t->score of all workers to all ranks. */
static void ranks_share_scores(Trainer *t)
{
    size_t *size = t->s.net ? t->s.net->room : NULL;
    for (int r = 0; t->s.net && r < t->s.net->ranks; r++)
        size[r] = (first_worker(t, r + 1) - first_worker(t, r)) * sizeof *t->score;
    net_gather(t->s.net, NET_ALL, t->score, size);
}

/* Notes the counts of bytes for ranks_share_times. */
static void ranks_begin_step(Trainer *t)
{
    if (t->s.net) {
        t->sent = t->s.net->sent;
        t->received = t->s.net->received;
    }
}

static RankTimes own_times(const Trainer *t)
{
    const Net *net = t->s.net;
    RankTimes own = {.measure = {[RANK_WAIT] = t->waited,
                                 [RANK_DECODE] = t->decode,
                                 [RANK_SENT] = (double)(net->sent - t->sent),
                                 [RANK_RECEIVED] = (double)(net->received - t->received)}};
    for (size_t w = t->own; w < t->end; w++) {
        own.measure[RANK_COMPUTE] += t->score[w].seconds;
        own.measure[RANK_ENCODE] += t->encode[w];
        own.encode = fmax(own.encode, t->encode[w]);
    }
    /* the message that carries these times counts, too */
    own.measure[RANK_SENT] += sizeof own;
    own.measure[RANK_RECEIVED] += (double)(net->ranks - 1) * sizeof own;
    return own;
}

static RankSpread spread(const RankTimes *times, int ranks, size_t measure)
{
    RankSpread s = {times->measure[measure], 0, times->measure[measure]};
    for (int r = 0; r < ranks; r++) {
        const double v = times[r].measure[measure];
        s.least = fmin(s.least, v);
        s.most = fmax(s.most, v);
        s.mean += v / ranks;
    }
    return s;
}

/* Gives t->times of all ranks to all ranks, and sets the measured fields of `r`. */
static void ranks_share_times(Trainer *t, StepRecord *r)
{
    Net *net = t->s.net;
    t->times[net->rank] = own_times(t);
    net_table(net, t->times, sizeof *t->times);
    for (size_t i = 0; i < RANK_MEASURES; i++)
        r->rank[i] = spread(t->times, net->ranks, i);
    for (int i = 0; i < net->ranks; i++)
        r->encode = fmax(r->encode, t->times[i].encode);
    r->decode = fmax(r->decode, r->rank[RANK_DECODE].most);
    r->comm = r->rank[RANK_WAIT].least;
}

/* ---- the first workers to arrive ----
 *
 * Each rank tells rank 0, the server, the number of each of its workers as soon as the worker's gradient is computed. When
 * enough workers have arrived, the server tells every rank that the step is closed. A rank that still computes looks for
 * this before each layer, and abandons its gradient. It then tells the server the number of its worker all the same: so the
 * server hears each worker once per step. Then the server sends all ranks the list of the workers taken. */

/* Returns true if the step's workers are the first that arrive. */
static bool arrives(const Trainer *t)
{
    return t->s.arrival || t->arrived;
}

/* Callback of ModelSpec: true if enough other workers have arrived, so that this rank's worker need not go on. */
static bool arrival_over(void *trainer)
{
    const Trainer *t = trainer;
    return t->s.arrival && net_told(t->s.net);
}

/* Tells rank 0 that worker w has arrived: its gradient is computed, has failed, or is left. */
static void arrival_tell(Trainer *t, size_t w)
{
    if (t->s.arrival)
        net_tell(t->s.net, 0, w);
}

/* Rank 0: takes the first workers, closes the step, and hears the late workers. */
static void serve(Trainer *t)
{
    size_t heard = 0;
    for (; heard < t->s.aggregate; heard++)
        t->sends[net_hear(t->s.net)] = true;
    for (int r = 1; r < t->s.net->ranks; r++)
        net_tell(t->s.net, r, 0);
    for (; heard < t->s.workers; heard++)
        net_hear(t->s.net);
}

/* Waits for the first workers; sets t->sends on all ranks. */
static void arrival_close(Trainer *t)
{
    const size_t size = t->s.workers * sizeof *t->sends;
    if (t->arrived) {
        memcpy(t->sends, t->arrived, size);
        return;
    }
    memset(t->sends, 0, size);
    if (t->s.net->rank == 0)
        serve(t);
    else
        net_hear(t->s.net);
    net_broadcast(t->s.net, 0, t->sends, size);
}

/* Removes what late workers have computed: gradients become zero, running statistics those before the step. */
static void arrival_drop_late(Trainer *t)
{
    for (size_t w = t->own; w < t->end; w++)
        if (!t->sends[w]) {
            memset(t->gradient[w], 0, t->floats * sizeof **t->gradient);
            memcpy(t->running[w], t->running_before[w], t->running_floats * sizeof **t->running);
        }
}

/* ---- choosing the images and the workers of a step ---- */

static void shuffle(Trainer *t, size_t epoch)
{
    if (t->ordered == epoch + 1)
        return;
    dataset_shuffle(t->s.train, t->s.seed, epoch, t->order);
    t->ordered = epoch + 1;
}

/* Sets the weights of the workers' gradients in the mean over those that send: their shares of these workers' images. */
static void weigh(Trainer *t, size_t step)
{
    size_t images = 0;
    for (size_t w = 0; w < t->s.workers; w++)
        images += t->sends[w] ? round_images(t, step, w) : 0;
    for (size_t w = 0; w < t->s.workers; w++)
        t->weight[w] = (double)round_images(t, step, w) / (double)images;
}

/* Every set of `aggregate` workers has the same probability to send. */
static void choose(Trainer *t, size_t step)
{
    const size_t workers = t->s.workers;
    const Rng rng = rng_open(t->s.seed, 0, RNG_EVERYONE, (int64_t)step, rng_hash("num-aggregate"));
    size_t wanted = t->s.aggregate;
    for (size_t w = 0; w < workers; w++) {
        t->sends[w] = rng_unit(&rng, USE_SAMPLE, w) * (double)(workers - w) < (double)wanted;
        wanted -= t->sends[w];
    }
    weigh(t, step);
}

/* ---- computing one worker's gradient ---- */

/* Returns the number of elements of a parameter's gradient that are not finite. */
static size_t count_bad(const Trainer *t, const float *gradient, size_t parameter)
{
    const Slice *s = &model_parameters(t->model)->item[parameter];
    size_t bad;
    first_nonfinite(gradient + s->offset, s->shape.n, &bad);
    return bad;
}

static Status check_gradient(const Trainer *t, const float *gradient, Error *err)
{
    const SliceList *list = model_parameters(t->model);
    for (size_t i = 0; i < list->count; i++) {
        const size_t bad = count_bad(t, gradient, i);
        if (bad)
            return FAIL(err, ERR_NUMERIC, "%s: %zu of its gradient's %zu elements are not finite",
                        list->item[i].name, bad, list->item[i].shape.n);
    }
    return OK;
}

/* Sends the gradients of the parameters `first`, `first` + 1, ... while the backward pass goes on. Callback of
 * ModelSpec. */
static void send_ready(void *data, size_t first)
{
    Trainer *t = data;
    const double start = clock_now();
    for (; t->early && t->unchecked > first; t->unchecked--)
        if (count_bad(t, t->gradient[t->end - 1], t->unchecked - 1))
            t->early = false; /* check_gradient reports it */
    if (t->early)
        gradient_ready(t->fragment->exchange, first);
    t->sending += clock_now() - start;
}

static Status hint_divergence(Error *err)
{
    return error_hint(
        err, "a smaller --lr helps in most cases; with a compressor, compress less (more bits, a higher "
             "rank or ratio), or put ef+ before a biased compressor");
}

static Status compute(Trainer *t, size_t step, size_t images, size_t w, Score *score, Error *err)
{
    const Rng rng = rng_open(t->s.seed, 0, (int64_t)w, (int64_t)step, rng_hash("dropout"));
    const Batch batch = {t->images, t->labels, images};
    const float *weights = t->inner ? t->inner[w].weights : t->weights;
    Status status = model_gradient(t->model, &batch, weights, t->running[w], &rng, t->s.threads,
                                   t->gradient[w], score, err);
    if (status == OK && !t->early)
        status = check_gradient(t, t->gradient[w], err);
    return status == OK ? OK : error_at(err, "step %zu: worker %zu", step, w);
}

static void copy_running(const Trainer *t, float *const *to, float *const *from)
{
    for (size_t w = t->own; w < t->end; w++)
        memcpy(to[w], from[w], t->running_floats * sizeof **to);
}

/* Computes worker w's gradient, score and time: that of the forward and backward pass, without drawing or loading the
 * images. OK also if the worker leaves the step because enough others have arrived. */
static Status compute_one(Trainer *t, size_t step, const Portion *all, size_t w, Error *err)
{
    const Portion own = portion_share(all, t->s.workers, w);
    batch_fill(t->s.train, t->order + own.place, own.count, true, t->s.seed, own.epoch, t->s.threads,
               t->images, t->labels);
    const double start = clock_now();
    Score score = {0};
    t->unchecked = model_parameters(t->model)->count;
    t->sending = 0;
    const Status status = compute(t, step, own.count, w, &score, err);
    const bool leaves = status == ERR_STOPPED && arrival_over(t) && !(t->s.stopped && t->s.stopped());
    t->score[w] = (WorkerScore){score.loss, (double)score.correct, clock_now() - start - t->sending};
    return leaves ? OK : status;
}

/* Computes the gradients of this rank's workers. `early`: sends each part of the last worker's gradient as soon as it
 * is complete. */
static Status compute_own(Trainer *t, size_t step, const Portion *all, bool early, Error *err)
{
    Status status = OK;
    shuffle(t, all->epoch);
    copy_running(t, t->running_before, t->running);
    for (size_t w = t->own; w < t->end; w++) {
        t->early = early && w + 1 == t->end;
        if (status == OK)
            status = compute_one(t, step, all, w, err);
        arrival_tell(t, w);
    }
    t->early = false;
    return status;
}

/* Returns true if the step leaves worker w out since it has not arrived in time. */
static bool late(const Trainer *t, size_t w)
{
    return arrives(t) && !t->sends[w];
}

static void note_scores(Trainer *t, StepRecord *r, const Portion *all)
{
    size_t count = 0;
    ranks_share_scores(t);
    for (size_t w = 0; w < t->s.workers; w++)
        count += late(t, w) ? 0 : portion_share(all, t->s.workers, w).count;
    for (size_t w = 0; w < t->s.workers; w++) {
        const double images = (double)portion_share(all, t->s.workers, w).count;
        if (late(t, w))
            continue;
        r->compute = fmax(r->compute, t->score[w].seconds);
        r->train.loss += t->score[w].loss * images / (double)count;
        r->train.accuracy += t->score[w].correct / (double)(count * dataset_labels(t->s.train->info));
    }
}

/* ---- running one step of training ---- */

/* Runs a phase and adds its time to a total. Encoding counts for its worker, merging and decoding for the
 * receiver. Callback of ExchangeClock. */
static Status time_phase(void *data, ExchangePhase phase, size_t worker, Status (*work)(void *arg), void *arg)
{
    Trainer *t = data;
    const double start = clock_now();
    TRY(work(arg));
    *(phase <= EXCHANGE_ENCODE ? &t->encode[worker] : &t->decode) += clock_now() - start;
    return OK;
}

/* A mean that is applied some steps later travels while the workers compute these steps; but ranks wait for it. */
static void note_cost(Trainer *t, const Fragment *f, const GradientBytes *b, StepRecord *r)
{
    t->waited = b->waited;
    const double parameters = 4 * (double)f->floats;
    for (size_t w = 0; w < t->s.workers; w++)
        r->encode = fmax(r->encode, t->encode[w]);
    r->decode = t->decode;
    r->bytes_up = b->sent;
    r->bytes_down = t->s.topology == TOPOLOGY_PS ? parameters : b->sent;
    const Traffic traffic = {.topology = t->s.topology,
                             .workers = (double)t->s.aggregate,
                             .rounds = codec_rounds(t->s.codec),
                             .payload = b->carried,
                             .early = b->early,
                             .parameters = parameters,
                             .node = (double)t->s.node};
    const Traffic near = {
        .topology = TOPOLOGY_TWOSHOT, .workers = (double)t->s.node, .rounds = 1, .payload = b->within};
    r->modelled = t->s.link ? link_seconds(t->s.link, &traffic) : 0;
    if (t->s.link && t->s.topology == TOPOLOGY_HIER)
        r->modelled += link_seconds(t->s.near, &near);
    const double hidden = t->s.net ? 0 : (double)t->s.local.late * r->compute;
    r->comm = r->modelled = fmax(0, r->modelled - hidden);
}

static void update(Trainer *t, size_t step)
{
    optimize(t, step, &(Optimized){t->agreed, t->weights, t->velocity, t->square});
}

/* Exchanges the workers' pseudo-gradients of a fragment, or without local steps their gradients of the whole network. */
static Status exchange(Trainer *t, StepRecord *r, const Fragment *f, Error *err)
{
    GradientBytes bytes;
    local_differences(t);
    TRY(gradient_step(f->exchange, r->step, t->gradient, t->weight, t->sends, t->agreed, &bytes, err));
    note_cost(t, f, &bytes, r);
    return OK;
}

/* Computes the gradients. With local steps, updates each worker's own weights with its gradient. If an
 * exchange follows the step, exchanges the gradients (with local steps: the pseudo-gradients). Updates the common weights, if
 * a mean is due. */
static Status compute_and_exchange(Trainer *t, StepRecord *r, const Portion *all, Error *err)
{
    const size_t number = trainer_exchange(t, r->step);
    const Status computed = compute_own(t, r->step, all, false, err);
    if (arrives(t)) {
        arrival_close(t);
        weigh(t, r->step);
        arrival_drop_late(t);
    }
    TRY(net_agree(t->s.net, computed, err));
    note_scores(t, r, all);
    local_update(t, r->step);
    if (number)
        TRY(exchange(t, r, &t->fragment[(number - 1) % t->s.local.fragments], err));
    if (!t->inner)
        update(t, r->step);
    local_outer_step(t, r->step);
    return OK;
}

/* Exchanges gradients while they are computed. */
static Status compute_in_exchange(Trainer *t, StepRecord *r, const Portion *all, Error *err)
{
    GradientBytes bytes;
    gradient_begin(t->fragment->exchange, r->step, t->gradient, t->weight, t->sends, t->agreed);
    TRY(gradient_end(t->fragment->exchange, compute_own(t, r->step, all, true, err), &bytes, err));
    note_scores(t, r, all);
    update(t, r->step);
    note_cost(t, t->fragment, &bytes, r);
    return OK;
}

Status trainer_step(Trainer *t, StepRecord *r, Error *err)
{
    const Portion all = portion_of(t, t->step + 1);
    ranks_begin_step(t);
    *r = (StepRecord){.step = t->step + 1,
                      .epoch = all.epoch + 1,
                      .lr = optimizer_rate(&t->s.optimizer, t->step + 1),
                      .test = {NAN, NAN}};
    memset(t->encode, 0, t->s.workers * sizeof *t->encode);
    t->decode = t->waited = 0;
    if (trainer_exchange(t, r->step) && !arrives(t))
        choose(t, r->step);
    const Status status = t->s.overlap && t->s.net && !t->inner ? compute_in_exchange(t, r, &all, err)
                                                                : compute_and_exchange(t, r, &all, err);
    if (status == ERR_STOPPED)
        copy_running(t, t->running, t->running_before);
    if (status != OK)
        return status == ERR_NUMERIC ? hint_divergence(err) : status;
    if (t->s.net)
        ranks_share_times(t, r);
    t->step = r->step;
    return OK;
}

Status trainer_test(Trainer *t, const Dataset *d, MeanScore *out, Error *err)
{
    *out = (MeanScore){0};
    for (size_t from = 0, count; from < d->count; from += count) {
        count = d->count - from < t->s.test_batch ? d->count - from : t->s.test_batch;
        for (size_t i = 0; i < count; i++)
            t->index[i] = (uint32_t)(from + i);
        batch_fill(d, t->index, count, false, t->s.seed, 0, t->s.threads, t->images, t->labels);
        const Batch batch = {t->images, t->labels, count};
        Score score;
        if (model_score(t->model, &batch, t->weights, t->running[0], t->s.threads, &score, err) != OK) {
            error_at(err, "test after step %zu", t->step);
            return err->status == ERR_NUMERIC ? hint_divergence(err) : err->status;
        }
        out->loss += score.loss * (double)count / (double)d->count;
        out->accuracy += (double)score.correct / (double)(d->count * dataset_labels(d->info));
    }
    return OK;
}

/* ---- opening ---- */

static Status make_room(Trainer *t, size_t images, Error *err)
{
    const DatasetInfo *d = t->s.train->info;
    Arena *a = t->arena;
    t->weights = NEW(a, float, t->floats);
    t->velocity = NEW(a, float, t->floats);
    t->square = optimizer_squares(&t->s.optimizer) ? NEW(a, float, t->floats) : NULL;
    t->room = NEW(a, float, optimizer_room(&t->s.optimizer, t->model));
    t->agreed = NEW_ZERO(a, float, t->floats);
    t->running_start = NEW(a, float, t->running_floats);
    t->gradient = NEW(a, float *, t->s.workers);
    t->running = NEW(a, float *, t->s.workers);
    t->running_before = NEW(a, float *, t->s.workers);
    t->weight = NEW(a, double, t->s.workers);
    t->sends = NEW(a, bool, t->s.workers);
    t->encode = NEW(a, double, t->s.workers);
    t->score = NEW_ZERO(a, WorkerScore, t->s.workers);
    t->times = NEW(a, RankTimes, (size_t)net_ranks(t->s.net));
    t->own = first_worker(t, net_rank(t->s.net));
    t->end = first_worker(t, net_rank(t->s.net) + 1);
    t->images = NEW(a, float, images * d->channels * d->rows * d->columns);
    t->labels = NEW(a, uint32_t, images * dataset_labels(d));
    t->order = NEW(a, uint32_t, t->s.train->count);
    t->index = NEW(a, uint32_t, t->s.test_batch);
    TRY(arena_check(!arena_failed(a), a, err));
    for (size_t w = 0; w < t->s.workers; w++) {
        t->gradient[w] = t->running[w] = t->running_before[w] = NULL;
        if (net_rank(t->s.net) && (w < t->own || w >= t->end))
            continue;
        t->gradient[w] = NEW_ZERO(a, float, t->floats);
        t->running[w] = NEW(a, float, t->running_floats);
        t->running_before[w] = NEW(a, float, t->running_floats);
    }
    return arena_check(!arena_failed(a), a, err);
}

/* Returns the codec with error feedback: itself, if it keeps a residual. */
static Status open_feedback(Trainer *t, const Codec **out, Error *err)
{
    *out = t->s.codec;
    for (const Codec *c = t->s.codec; c; c = c->inner)
        if (c->ops->residual)
            return OK;
    const char *spec = text_format(t->arena, "ef+%s", codec_typed(t->s.codec, t->arena));
    TRY(arena_check(spec, t->arena, err));
    return codec_open(out, spec, t->arena, err);
}

static Status open_exchanges(Trainer *t, Error *err)
{
    const TrainSetup *s = &t->s;
    const Codec *feedback = NULL;
    if (s->owner_feedback)
        TRY(open_feedback(t, &feedback, err));
    GradientSpec spec = {.codec = s->codec,
                         .grouping = s->grouping,
                         .min_elements = s->min_elements,
                         .senders = average_over_senders(s->average, s->codec),
                         .workers = s->workers,
                         .seed = s->seed,
                         .threads = s->threads,
                         .clock = {time_phase, t},
                         .net = s->net,
                         .way = way_of(s->topology),
                         .shots = topology_shots(s->topology),
                         .node = s->topology == TOPOLOGY_HIER ? s->node : 0,
                         .within = s->within,
                         .feedback = feedback,
                         .bucket_bytes = s->bucket_bytes,
                         .overlap = s->overlap};
    for (Fragment *f = t->fragment; f < t->fragment + s->local.fragments; f++) {
        spec.tensor = f->tensor;
        spec.tensors = f->tensors;
        TRY(gradient_open(&f->exchange, &spec, err));
    }
    return OK;
}

static Status read_start(Trainer *t, Error *err)
{
    if (!t->s.weights)
        return OK;
    float *start = NEW(t->arena, float, t->floats);
    TRY(arena_check(start, t->arena, err));
    model_init(t->model, t->s.seed, start, t->running_start);
    TRY(weights_read(t->model, t->s.weights, start, t->running_start, err));
    t->start = start;
    const uint64_t running = checksum_floats(t->running_start, t->running_floats, 0);
    t->s.initial = checksum_floats(start, t->floats, running) >> 1; /* an attribute that is not negative */
    return OK;
}

static Status open_trainer(Trainer *t, Error *err)
{
    const TrainSetup *s = &t->s;
    const DatasetInfo *d = s->train->info;
    const size_t share = (s->batch + s->workers - 1) / s->workers;
    const ModelSpec spec = {.network = s->network,
                            .channels = d->channels,
                            .rows = d->rows,
                            .columns = d->columns,
                            .classes = d->classes,
                            .images = share > s->test_batch ? share : s->test_batch,
                            .stopped = s->stopped,
                            .leaves = arrival_over,
                            .text = d->text,
                            .ready = s->overlap ? send_ready : NULL,
                            .data = t};
    TRY(train_check(s, err));
    TRY(model_open(&t->model, &spec, err));
    t->floats = model_parameters(t->model)->floats;
    t->running_floats = model_running(t->model)->floats;
    TRY(make_room(t, spec.images, err));
    TRY(local_open(t, err));
    TRY(open_exchanges(t, err));
    TRY(read_start(t, err));
    trainer_reset(t);
    return OK;
}

Status trainer_open(Trainer **out, const TrainSetup *setup, Error *err)
{
    Arena *arena = arena_open(0);
    Trainer *t = NEW_ZERO(arena, Trainer, 1);
    *out = NULL;
    if (!t) {
        const Status status = arena_fail(arena, err);
        arena_close(arena);
        return status;
    }
    t->arena = arena;
    t->s = *setup;
    const Status status = open_trainer(t, err);
    if (status == OK)
        *out = t;
    else
        trainer_close(t);
    return status;
}

void trainer_close(Trainer *t)
{
    if (!t)
        return;
    for (size_t f = 0; t->fragment && f < t->s.local.fragments; f++)
        gradient_close(t->fragment[f].exchange);
    model_close(t->model);
    arena_close(t->arena);
}

void trainer_reset(Trainer *t)
{
    if (t->start)
        memcpy(t->weights, t->start, t->floats * sizeof *t->weights);
    else
        model_init(t->model, t->s.seed, t->weights, t->running_start);
    for (size_t w = 0; w < t->s.workers; w++)
        if (t->running[w])
            memcpy(t->running[w], t->running_start, t->running_floats * sizeof **t->running);
    for (size_t f = 0; f < t->s.local.fragments; f++)
        codec_states_zero(gradient_states(t->fragment[f].exchange));
    memset(t->agreed, 0, t->floats * sizeof *t->agreed);
    memset(t->velocity, 0, t->floats * sizeof *t->velocity);
    if (t->square)
        memset(t->square, 0, t->floats * sizeof *t->square);
    local_reset(t);
    t->step = 0;
}

size_t trainer_step_done(const Trainer *t)
{
    return t->step;
}

size_t trainer_parameters(const Trainer *t)
{
    return t->floats;
}
