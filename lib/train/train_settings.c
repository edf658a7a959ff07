/* train_settings.c -- implements train_settings.h. */
#include "train/train_settings.h"

#include "train/train_parts.h"

#include "compress/compressor.h"
#include "compress/spec.h"
#include "exchange/exchange.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const optimizer_names[] = {"sgd", "adamw", "signsgd", "muon", NULL}; /* by OptimizerKind */
static const char *const scale_names[] = {"keller", "moonshot", "dion", NULL};           /* by MuonScale */
static const char *const aggregate_names[] = {"seed", "arrival", NULL};
static const char *const switch_names[] = {"off", "on", NULL};

enum { KEPT = SETTING_KEPT, SHOWN = SETTING_SHOWN, BOTH = KEPT | SHOWN, RUN = SETTING_RUN };

#define SETTING(text, kind, where, when, argument, ...)                                                      \
    {                                                                                                        \
        .name = text, .type = SETTING_##kind, .at = offsetof(TrainSetup, where), .use = when, .arg = argument, \
        .help = __VA_ARGS__                                                                                  \
    }

const Setting train_settings[] = {
    SETTING("network", TEXT, network, SHOWN, NULL, NULL),
    SETTING("workers", WHOLE, workers, BOTH, "P", "number of workers, which share each batch", .low = 1,
            .high = TOPOLOGY_WORKERS_MOST, .usual = 1),
    SETTING("num_aggregate", WHOLE, aggregate, BOTH, "K",
            "use the gradients of K workers per step, drawn at random; 0: of all", .high = 4096),
    SETTING("aggregate_by", CHOICE, arrival, SHOWN, "A",
            "the K workers of --num-aggregate: drawn from the seed, or under mpirun with --topology ps the first K whose "
            "gradients arrive at the server",
            .choices = aggregate_names),
    SETTING("batch_size", WHOLE, batch, BOTH, "B", "images per step, over all workers", .low = 1, .high = 1e6, .usual = 128),
    SETTING("optimizer", CHOICE, optimizer.kind, BOTH, "O", "how the mean gradient changes the weights",
            .choices = optimizer_names),
    SETTING("lr", REAL, optimizer.lr, BOTH | RUN, "X", "step size", .high = 1e38, .usual = 0.01),
    SETTING("lr_decay", REAL, optimizer.decay, BOTH, "X", "factor of the step size every --lr-decay-steps", .high = 1,
            .usual = 1),
    SETTING("lr_decay_steps", WHOLE, optimizer.every, BOTH, "N", "steps between two decays of the step size; 0: never",
            .high = 1e9),
    SETTING("lr_warmup", WHOLE, optimizer.warmup, BOTH, "N", "steps in which the step size rises to its full value",
            .high = 1e9),
    SETTING("lr_cosine", WHOLE, optimizer.cosine, BOTH, "N",
            "let the step size fall along half a cosine until step N; 0: never", .high = 1e9),
    SETTING("lr_min", REAL, optimizer.least, BOTH, "X", "the step size at the end of --lr-cosine", .high = 1e38),
    SETTING("momentum", REAL, optimizer.momentum, BOTH, "X", "momentum of sgd and muon (of muon without it 0.95), beta1 of adamw; signsgd has none",
            .high = 1, .usual = 0.9),
    SETTING("beta2", REAL, optimizer.beta2, BOTH, "X", "factor of adamw's average of squares", .high = 1, .usual = 0.999),
    SETTING("lr_other", REAL, optimizer.other, BOTH, "X",
            "with muon: step size of adamw, which changes vectors, embeddings and the output layer; follows --lr's decay",
            .high = 1e38, .usual = 0.001),
    SETTING("muon_scale", CHOICE, optimizer.scale, BOTH, "S",
            "factor of muon's step size for a matrix of m x n: keller sqrt(max(1, m/n)), moonshot 0.2 sqrt(max(m, n)), dion "
            "sqrt(m/n)",
            .choices = scale_names),
    SETTING("clip_norm", REAL, optimizer.clip, BOTH, "X", "scale mean gradients of a larger norm to norm X; 0: never",
            .high = 1e38),
    SETTING("weight_decay", REAL, optimizer.weight_decay, BOTH, "X",
            "sgd: X times the weights is added to the gradient; others: matrices shrink by X times the step size",
            .high = 1),
    SETTING("local_steps", WHOLE, local.steps, BOTH, "H",
            "let each worker change its own weights in H steps, then exchange these changes; 0: exchange the gradients of "
            "each step",
            .high = 1e6),
    SETTING("outer_lr", REAL, local.lr, BOTH, "X", "factor on the mean of the workers' changes; 1: weights are averaged",
            .high = 1e38, .usual = 1),
    SETTING("outer_momentum", REAL, local.momentum, BOTH, "X", "Nesterov's momentum of the outer optimizer", .high = 1),
    SETTING("fragments", WHOLE, local.fragments, BOTH, "F",
            "with local steps: exchange the layers in F parts, which take turns within the H steps", .low = 1, .high = 1e3,
            .usual = 1),
    SETTING("overlap_steps", WHOLE, local.late, BOTH, "T",
            "with local steps: apply the mean of changes T steps after they were sent", .high = 1e6),
    SETTING("mix", REAL, local.mix, BOTH, "A",
            "with local steps: workers go on from A times their own weights plus 1 - A times the common ones", .high = 1),
    SETTING("group", CHOICE, grouping, BOTH, "G", "compress each tensor by itself, or all as one vector",
            .choices = grouping_names),
    SETTING("min_elements", WHOLE, min_elements, BOTH, "N", "send tensors of fewer elements as floats", .high = 1e12),
    SETTING("average", CHOICE, average, BOTH, "A", average_help, .choices = average_names),
    SETTING("owner_feedback", CHOICE, owner_feedback, SHOWN, "O",
            "with twoshot, and with ring where payloads do not add: on keeps the error of a mean that is encoded again, and "
            "adds it in the next step",
            .choices = switch_names),
    SETTING("bucket_bytes", WHOLE, bucket_bytes, RUN, "N",
            "on several ranks: send the payloads of neighbouring tensors in one message, up to N bytes of gradients; 0: a "
            "message each",
            .high = 1e12),
    SETTING("overlap", CHOICE, overlap, RUN, "O",
            "on several ranks: on sends a tensor's payload while the gradients of the layers before it are computed",
            .choices = switch_names),
    {0},
};

/* The member of the setting. Integers have 64 bits. */
static void *member(const Setting *of, const TrainSetup *s)
{
    return (char *)(uintptr_t)s + of->at;
}

void settings_usual(TrainSetup *s)
{
    for (const Setting *of = train_settings; of->name; of++)
        if (of->type == SETTING_REAL)
            *(double *)member(of, s) = of->usual;
        else if (of->type == SETTING_WHOLE)
            *(size_t *)member(of, s) = (size_t)of->usual;
}

Attr setting_attr(const Setting *of, const TrainSetup *s)
{
    const void *at = member(of, s);
    switch (of->type) {
    case SETTING_TEXT:
        return attr_text(of->name, *(const char *const *)at);
    case SETTING_WHOLE:
        return attr_whole(of->name, *(const size_t *)at);
    case SETTING_REAL:
        return attr_real(of->name, *(const double *)at);
    default:
        return attr_text(of->name, of->choices[*(const int *)at]);
    }
}

bool setting_take(const Setting *of, TrainSetup *s, const Attr *attr)
{
    void *at = member(of, s);
    const bool real = of->type == SETTING_REAL, whole = of->type == SETTING_WHOLE;
    if (!attr || attr->type != (real ? ATTR_REAL : whole ? ATTR_INT : ATTR_TEXT) || (whole && attr->whole < 0))
        return false;
    if (real)
        *(double *)at = attr->real;
    else if (whole)
        *(size_t *)at = (size_t)attr->whole;
    for (int i = 0; of->choices && of->choices[i]; i++)
        if (!strcmp(of->choices[i], attr->text)) {
            *(int *)at = i;
            return true;
        }
    return !of->choices;
}

/* ---- the topology, whose text says what hier has besides ---- */

const char *setup_topology(const TrainSetup *s, Arena *a)
{
    return s->topology == TOPOLOGY_HIER
               ? text_format(a, "hier:node=%zu,within=%s", s->node, codec_typed(s->within, a))
               : topology_names[s->topology];
}

Status setup_read_topology(TrainSetup *s, const char *text, Arena *a, Error *err)
{
    static const char within[] = ",within=";
    const char *more = "";
    TRY(topology_read(&s->topology, &s->node, &more, text, topology_value, err));
    if (!*more)
        return OK;
    if (strncmp(more, within, strlen(within)))
        return FAIL(err, ERR_USAGE, "--topology %.40s: want hier:node=K", text);
    return codec_open(&s->within, more + strlen(within), a, err);
}

/* ---- the setup as attributes of files ---- */

size_t setup_attrs(const TrainSetup *s, Attr out[SETUP_MOST], Arena *a)
{
    TrainSetup is = *s;
    size_t count = 0;
    is.average = average_over_senders(s->average, s->codec) ? AVERAGE_SENDERS : AVERAGE_ALL;
    out[count++] = attr_text("dataset", s->train->info->name);
    out[count++] = attr_whole("images", s->train->count);
    out[count++] = attr_text("compressor", codec_typed(s->codec, a));
    out[count++] = attr_whole("seed", s->seed);
    const bool again = shots_used(topology_shots(s->topology), s->codec);
    out[count++] = attr_text("quantised_again", again ? setup_topology(s, a) : "no");
    out[count++] = attr_text("owner_feedback", switch_names[again && s->owner_feedback]);
    for (const Setting *of = train_settings; of->name; of++)
        if (of->use & SETTING_KEPT)
            out[count++] = setting_attr(of, &is);
    assert(count < SETUP_MOST);
    return count;
}

static bool attr_same(const Attr *a, const Attr *b)
{
    if (a->type != b->type)
        return false;
    if (a->type == ATTR_TEXT && !strcmp(b->name, "compressor"))
        return spec_equal(a->text, b->text);
    return a->type == ATTR_TEXT  ? !strcmp(a->text, b->text)
           : a->type == ATTR_INT ? a->whole == b->whole
                                 : a->real == b->real;
}

static const char *attr_shown(const Attr *a, char out[64])
{
    if (a->type == ATTR_TEXT)
        return a->text;
    if (a->type == ATTR_INT)
        snprintf(out, 64, "%lld", (long long)a->whole);
    else
        text_double(out, a->real);
    return out;
}

Status setup_check(const Attr *own, size_t count, const AttrList *theirs, const char *path, const char *what,
                   Error *err)
{
    char mine[64], other[64];
    for (size_t i = 0; i < count; i++) {
        const Attr *a = attr_find(theirs, own[i].name);
        if (!a)
            return FAIL(err, ERR_CORRUPT, "%s: no attribute %s: not %s", path, own[i].name, what);
        if (!attr_same(a, &own[i]))
            return FAIL(err, ERR_USAGE, "%s: %s is %.100s there, %.100s here", path, own[i].name,
                        attr_shown(a, other), attr_shown(&own[i], mine));
    }
    return OK;
}

/* ---- settings that exclude each other ---- */

/* Settings that exclude each other, that need another one, or that are out of AdamW's range. */
static Status check_optimizer(const Optimizer *o, Error *err)
{
    if (o->every && o->cosine)
        return FAIL(err, ERR_USAGE, "--lr-decay-steps and --lr-cosine: want one of them");
    if (o->cosine && o->cosine <= o->warmup)
        return FAIL(err, ERR_USAGE, "--lr-cosine %zu: want more than the %zu of --lr-warmup", o->cosine,
                    o->warmup);
    if (o->least > 0 && !o->cosine)
        return FAIL(err, ERR_USAGE, "--lr-min: want --lr-cosine as well");
    if (o->least > o->lr)
        return FAIL(err, ERR_USAGE, "--lr-min %g: above the step size, %g, which falls to it", o->least,
                    o->lr);
    if (o->kind == OPTIMIZER_MUON && o->lr <= 0)
        return FAIL(err, ERR_USAGE, "--lr %g: want more than 0 with muon, whose --lr-other is kept in proportion", o->lr);
    if (optimizer_squares(o) && (o->momentum >= 1 || o->beta2 >= 1))
        return FAIL(err, ERR_USAGE, "--optimizer %s: --momentum %g and --beta2 %g: want less than 1",
                    optimizer_names[o->kind], o->momentum, o->beta2);
    return OK;
}

/* Gradients arrive at the server of a run on several ranks only. */
static Status check_arrival(const TrainSetup *s, Error *err)
{
    const char *other = s->local.steps ? "--local-steps" : s->overlap ? "--overlap on" : NULL;
    if (!s->arrival || (s->net && s->topology == TOPOLOGY_PS && !other))
        return OK;
    if (!s->net)
        FAIL(err, ERR_USAGE, "--aggregate-by arrival: one process has no server at which gradients arrive");
    else if (s->topology != TOPOLOGY_PS)
        FAIL(err, ERR_USAGE, "--aggregate-by arrival: --topology %s has no server at which gradients arrive",
             topology_names[s->topology]);
    else {
        FAIL(err, ERR_USAGE, "--aggregate-by arrival: cannot be combined with %s", other);
        return error_hint(err, "leave out %s, or --aggregate-by arrival", other);
    }
    return error_hint(err, "mpirun -n P+1 atomo-train run --topology ps trains P workers with a server");
}

static Status check_nodes(const TrainSetup *s, Error *err)
{
    const char *hier = "--topology hier:node";
    if (s->workers % s->node)
        return FAIL(err, ERR_USAGE, "%s=%zu: the %zu workers do not fill nodes", hier, s->node, s->workers);
    if (s->aggregate != s->workers)
        return FAIL(err, ERR_USAGE, "%s: cannot be combined with --num-aggregate", hier);
    if (net_ranks(s->net) > (int)s->workers)
        return FAIL(err, ERR_USAGE, "%s: %d ranks, and %zu workers: want one or more on each rank", hier,
                    net_ranks(s->net), s->workers);
    return shots_check(SHOTS_NODES, s->within, false, err);
}

static Status check_local(const LocalSteps *l, Error *err)
{
    const size_t parts = l->fragments ? l->fragments : 1;
    if (l->momentum >= 1)
        return FAIL(err, ERR_USAGE, "--outer-momentum %g: want less than 1", l->momentum);
    if (l->steps && parts > l->steps)
        return FAIL(err, ERR_USAGE, "--fragments %zu: want at most the %zu of --local-steps", parts, l->steps);
    if (l->steps && l->late >= l->steps / parts)
        return FAIL(err, ERR_USAGE, "--overlap-steps %zu: want fewer than the %zu steps from one fragment's turn to the next's", l->late,
                    l->steps / parts);
    return OK;
}

Status train_check(const TrainSetup *s, Error *err)
{
    const Codec *c = s->codec;
    TRY(check_optimizer(&s->optimizer, err));
    TRY(check_local(&s->local, err));
    if (!s->train && s->batch < s->workers)
        return FAIL(err, ERR_USAGE, "--batch-size %zu: want one or more for each of the %zu workers",
                    s->batch, s->workers);
    if (s->train && (s->batch < s->workers || s->train->count < s->workers))
        return FAIL(err, ERR_USAGE,
                    "--batch-size %zu: want %s for each of the %zu workers; the data set has %zu", s->batch,
                    s->train->info->text ? "a window" : "an image", s->workers, s->train->count);
    if (s->aggregate < 1 || s->aggregate > s->workers)
        return FAIL(err, ERR_USAGE, "--num-aggregate %zu: want 1 to the %zu workers", s->aggregate,
                    s->workers);
    TRY(check_arrival(s, err));
    TRY(average_check(s->average, c, err));
    TRY(shots_check(topology_shots(s->topology), c, average_over_senders(s->average, c), err));
    if (s->topology == TOPOLOGY_HIER)
        TRY(check_nodes(s, err));
    if (s->owner_feedback && !shots_used(topology_shots(s->topology), c))
        return FAIL(err, ERR_USAGE, "--owner-feedback on: --topology %s quantises no sum of %s again",
                    topology_names[s->topology], c->typed);
    if (topology_needs_sums(s->topology) && !codec_adds(c))
        return FAIL(err, ERR_USAGE, "--topology %s: payloads of %s do not add", topology_names[s->topology],
                    c->typed);
    return OK;
}

const char *train_sends_late(const TrainSetup *s)
{
    return s->local.steps              ? "workers take local steps"
           : s->grouping == GROUP_ALL  ? "all tensors are one vector"
           : codec_plan_size(s->codec) ? "the codec divides bits between all tensors"
           : codec_trains(s->codec)    ? "the codec learns from the gradient first"
                                       : NULL;
}
