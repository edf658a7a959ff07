/* train_job.c -- implements train_job.h. */
#include "app/train_job.h"

#include "app/notes.h"
#include "app/ranks.h"
#include "nn/networks.h"
#include "nn/step_folder.h"
#include "nn/weights.h"
#include "base/parallel.h"
#include "compress/spec.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* Random seed of the synthetic digit images; --seed does not change these images. */
enum { DATA_SEED = 1 };

void train_job_defaults(TrainJob *j)
{
    j->network = "lenet";
    j->link = "lan10g";
    j->workers = j->seeds = 1;
    j->batch = 128;
    j->lr = USUAL_LR;
    j->decay = 1;
    j->momentum = USUAL_MOMENTUM;
    j->beta2 = USUAL_BETA2;
    j->outer_lr = 1;
    j->epochs = j->epochs ? j->epochs : 10;
}

static const char *const aggregate_names[] = {"seed", "arrival", NULL};
static const char *const groupings[] = {"tensor", "all", NULL};

static const char *with_names(const TrainJob *j, const char *what, TextName name)
{
    char all[200];
    return text_format(j->a, "%s: %s", what, text_names(all, sizeof all, name, NULL));
}

enum { OPTIMIZER_OPTIONS = 13 };

static void optimizer_options(TrainJob *j, Option *out)
{
    const Option all[] = {
        OPTION(0, "lr-decay", "X", &j->decay, "factor of the step size every --lr-decay-steps", .low = 0,
               .high = 1),
        OPTION(0, "lr-decay-steps", "N", &j->decay_steps,
               "steps between two decays of the step size; 0: never", .low = 0, .high = 1e9),
        OPTION(0, "optimizer", "O", &j->optimizer, "how the mean gradient changes the weights",
               .choices = optimizer_names),
        OPTION(0, "momentum", "X", &j->momentum, "momentum of sgd, beta1 of adamw; signsgd has none",
               .low = 0, .high = 1),
        OPTION(0, "beta2", "X", &j->beta2, "factor of adamw's average of squares", .low = 0, .high = 1),
        OPTION(0, "clip-norm", "X", &j->clip, "scale mean gradients of a larger norm to norm X; 0: never",
               .low = 0, .high = 1e38),
        OPTION(0, "lr-warmup", "N", &j->warmup, "steps in which the step size rises to its full value",
               .low = 0, .high = 1e9),
        OPTION(0, "lr-cosine", "N", &j->cosine,
               "let the step size fall along half a cosine until step N; 0: never", .low = 0, .high = 1e9),
        OPTION(0, "lr-min", "X", &j->least, "the step size at the end of --lr-cosine", .low = 0,
               .high = 1e38),
        OPTION(0, "weight-decay", "X", &j->weight_decay,
               "sgd: X times the weights is added to the gradient; adamw, signsgd: matrices shrink by X "
               "times the step size",
               .low = 0, .high = 1),
        OPTION(0, "local-steps", "H", &j->local_steps,
               "let each worker change its own weights in H steps, then exchange these changes; 0: exchange "
               "the gradients of each step",
               .low = 0, .high = 1e6),
        OPTION(0, "outer-lr", "X", &j->outer_lr,
               "factor on the mean of the workers' changes; 1: weights are averaged", .low = 0, .high = 1e38),
        OPTION(0, "outer-momentum", "X", &j->outer_momentum, "Nesterov's momentum of the outer optimizer",
               .low = 0, .high = 1),
    };
    _Static_assert(countof(all) == OPTIMIZER_OPTIONS, "room for all");
    memcpy(out, all, sizeof all);
}

/* Returns the command's own options, those of the optimizer, and the shared ones. NULL: out of memory. */
static const Option *join_options(TrainJob *j, const Option *own, const Option *shared, size_t size)
{
    size_t count = 0;
    while (own[count].type != CLI_END)
        count++;
    Option *all = NEW_ZERO(j->a, Option, count + OPTIMIZER_OPTIONS + size / sizeof *shared);
    if (!all)
        return NULL;
    memcpy(all, own, count * sizeof *all);
    optimizer_options(j, all + count);
    memcpy(all + count + OPTIMIZER_OPTIONS, shared, size);
    return all;
}

static const Option *all_options(TrainJob *j, const Option *own)
{
    const char *network = with_names(j, "the network to train", network_name);
    const char *dataset = with_names(
        j,
        "the data set, or FILE.h5 with x and y of your own; without it one that needs no files: digits, colour-digits or babble",
        dataset_name);
    const char *link = with_names(
        j,
        "the simulated link of comm_ms: alpha=50us,beta=10Gbit, FILE.json of atomo-bench link, or a preset",
        link_name);
    const char *workers =
        j->takes_ranks ? "number of workers, which share each batch; without it one on each rank under mpirun"
                       : "number of workers, which share each batch";
    const char *topology = j->takes_ranks ? "how workers exchange payloads; without it allgather under mpirun"
                                          : "how workers exchange payloads";
    if (!network || !dataset || !link)
        return NULL;
    const Option shared[] = {
        OPTION(0, "network", "NAME", &j->network, network, .names = network_name),
        OPTION(0, "dataset", "NAME", &j->dataset, dataset, .names = dataset_name),
        OPTION(0, "data-dir", "DIR", &j->data_dir,
               "the folder of the data set's files; without it datasets/NAME"),
        OPTION(
            0, "weights", "FILE", &j->weights,
            "begin with the weights in FILE: HDF5, safetensors, .npz or a checkpoint; without it they are drawn from "
            "the seed"),
        OPTION_CODEC(&j->specs,
                     "codec of the gradients; repeatable; without it none; atomo-bench list shows all"),
        OPTION(0, "workers", "P", &j->workers, workers, .low = 1, .high = 4096),
        OPTION(0, "num-aggregate", "K", &j->aggregate,
               "use the gradients of K workers per step, drawn at random; 0: of all", .low = 0, .high = 4096),
        OPTION(
            0, "aggregate-by", "A", &j->aggregate_by,
            "the K workers of --num-aggregate: drawn from the seed, or under mpirun with --topology ps the first K whose "
            "gradients arrive at the server",
            .choices = aggregate_names),
        OPTION(0, "batch-size", "B", &j->batch, "images per step, over all workers", .low = 1, .high = 1e6),
        OPTION(0, "test-batch-size", "B", &j->test_batch,
               "images per pass when testing; changes no result; 0: 250 images or 4,096 tokens", .low = 0,
               .high = 1e6),
        OPTION(0, "max-steps", "N", &j->max_steps, "number of steps; 0: --epochs sets it", .low = 0,
               .high = 99999999),
        OPTION(0, "epochs", "N", &j->epochs, "passes over the training set", .low = 1, .high = 1e6),
        OPTION(0, "group", "G", &j->grouping, "compress each tensor by itself, or all as one vector",
               .choices = groupings),
        OPTION(0, "min-elements", "N", &j->min_elements, "send tensors of fewer elements as floats", .low = 0,
               .high = 1e12),
        OPTION(0, "average", "A", &j->average, average_help, .choices = average_names),
        OPTION(0, "link", "LINK", &j->link, link, .names = link_name, .listed = true),
        OPTION(0, "topology", "T", &j->topology, topology, .choices = topology_names),
        {0},
    };
    return join_options(j, own, shared, sizeof shared);
}

Status train_job_load(Dataset *out, const TrainData *from, DataSplit split, Net *net, Arena *a, Error *err)
{
    size_t context = 0;
    TRY(net_agree(net, network_context(&context, from->network, err), err));
    TRY(net_agree(net, dataset_load(out, from->dataset, from->dir, split, DATA_SEED, a, err), err));
    return net_agree(net, dataset_window(out, context, a, err), err);
}

size_t train_job_pass(int64_t wanted, const DatasetInfo *info)
{
    /* with so many images, a layer of ResNet-18 takes less than half a second, and its results fit in memory */
    enum { IMAGES = 250, TOKENS = 4096 };
    if (wanted)
        return (size_t)wanted;
    return !info->text ? IMAGES : info->columns < TOKENS ? TOKENS / info->columns : 1;
}

/* A text's entropy rate is the least loss that can be expected. */
static void note_entropy(const TrainJob *j)
{
    if (j->train.info->entropy > 0 && !j->common.quiet && net_rank(j->net) == 0)
        fprintf(stderr, "note: %s: entropy rate %.4f nats per token, the least loss\n", j->dataset,
                j->train.info->entropy);
}

static void note_apart(const TrainJob *j)
{
    if (net_apart() && !j->common.quiet)
        fputs("note: srun has started several processes without MPI, and each trains alone: srun --mpi=pmix\n", stderr);
}

static Status check_idle(const TrainJob *j)
{
    if (!j->net && (j->bucket_bytes || j->overlap))
        return FAIL(j->err, ERR_USAGE, "%s: want several ranks: mpirun -n P atomo-train run",
                    j->overlap ? "--overlap" : "--bucket-bytes");
    if (j->optimizer != OPTIMIZER_ADAMW && cli_given(&j->common, "beta2"))
        return FAIL(j->err, ERR_USAGE, "--beta2: only --optimizer adamw has it");
    if (j->optimizer == OPTIMIZER_SIGNSGD && cli_given(&j->common, "momentum") && j->momentum > 0)
        return FAIL(j->err, ERR_USAGE, "--momentum: signsgd has none");
    if (j->decay != 1 && !j->decay_steps)
        return FAIL(j->err, ERR_USAGE, "--lr-decay: want --lr-decay-steps as well");
    if (!j->local_steps && (j->outer_lr != 1 || j->outer_momentum > 0))
        return FAIL(j->err, ERR_USAGE, "%s: want --local-steps as well",
                    j->outer_lr != 1 ? "--outer-lr" : "--outer-momentum");
    if (j->local_steps && j->max_steps % j->local_steps)
        return FAIL(
            j->err, ERR_USAGE,
            "--max-steps %lld: want a multiple of --local-steps %lld, so that the last steps are exchanged",
            (long long)j->max_steps, (long long)j->local_steps);
    return OK;
}

/* Fills the setup of a run, but for its data and codec. */
static void fill_setup(TrainJob *j, const Link *link)
{
    j->setup = (TrainSetup){
        .network = j->network,
        .weights = j->weights,
        .workers = (size_t)j->workers,
        .aggregate = (size_t)(j->aggregate ? j->aggregate : j->workers),
        .arrival = j->aggregate_by,
        .batch = (size_t)j->batch,
        .grouping = j->grouping ? GROUP_ALL : GROUP_TENSOR,
        .min_elements = (size_t)j->min_elements,
        .average = (Average)j->average,
        .optimizer = {.lr = j->lr,
                      .momentum = j->momentum,
                      .weight_decay = j->weight_decay,
                      .decay = j->decay,
                      .every = (size_t)j->decay_steps,
                      .kind = (OptimizerKind)j->optimizer,
                      .beta2 = j->beta2,
                      .clip = j->clip,
                      .warmup = (size_t)j->warmup,
                      .cosine = (size_t)j->cosine,
                      .least = j->least},
        .local = {.steps = (size_t)j->local_steps, .lr = j->outer_lr, .momentum = j->outer_momentum},
        .seed = (uint64_t)j->common.seed,
        .threads = (int)j->common.threads,
        .topology = (Topology)j->topology,
        .link = link,
        .stopped = cli_stopped,
        .net = j->net,
        .bucket_bytes = (size_t)j->bucket_bytes,
        .overlap = j->overlap};
}

Status train_job_open(TrainJob *j)
{
    static const char *none[] = {"none"};
    const TextList usual = {none, 1};
    Link *link = NEW(j->a, Link, 1);
    TRY(check_idle(j));
    TRY(arena_check(link, j->a, j->err));
    TRY(link_read(link, j->link, j->a, j->err));
    fill_setup(j, link);
    TRY(codec_list(&j->codec, &j->codecs, j->specs.count ? &j->specs : &usual, j->a, j->err));
    if (net_rank(j->net) == 0)
        notes_specs(&j->specs);
    if (net_rank(j->net) == 0 && j->lr == 0)
        fprintf(stderr, "note: --lr 0: no step changes the weights, so nothing is learned\n");
    if (j->weights && access(j->weights, R_OK) != 0) {
        FAIL(j->err, ERR_IO, "%s: cannot be opened: %s", j->weights, strerror(errno));
        return weights_hint(j->err);
    }
    const Network *network;
    const char *options;
    TRY(network_find(&network, &options, j->network, j->err));
    if (!j->dataset)
        j->dataset = network->context ? "babble" : network->channels == 3 ? "colour-digits" : "digits";
    for (size_t k = 0; k < j->codecs; k++) {
        j->setup.codec = j->codec[k];
        TRY(train_check(&j->setup, j->err));
    }
    return OK;
}

Status train_job_data(TrainJob *j)
{
    const TrainData from = {j->network, j->dataset, j->data_dir};
    TRY(train_job_load(&j->train, &from, SPLIT_TRAIN, j->net, j->a, j->err));
    TRY(train_job_load(&j->test, &from, SPLIT_TEST, j->net, j->a, j->err));
    note_apart(j);
    note_entropy(j);
    j->setup.train = &j->train;
    j->setup.test = &j->test;
    j->setup.test_batch = train_job_pass(j->test_batch, j->test.info);
    return OK;
}

Status train_job_keep(const char *dir, const char *option, const char *path, Arena *a, Error *err)
{
    return dir && path && step_folder_names(dir, path, a)
               ? FAIL(err, ERR_USAGE, "%s %s: is a checkpoint's name in --train-dir, want another file",
                      option, path)
               : OK;
}

void train_job_facts(const TrainJob *j, Fact out[TRAIN_FACTS])
{
    const TrainSetup *s = &j->setup;
    const Fact all[TRAIN_FACTS] = {
        {"network", value_text(s->network)},
        {"dataset", value_text(j->dataset)},
        {"images", value_int((int64_t)j->train.count)},
        {"test_images", value_int((int64_t)j->test.count)},
        {"workers", value_int(j->workers)},
        {"num_aggregate", value_int((int64_t)s->aggregate)},
        {"aggregate_by", value_text(aggregate_names[j->aggregate_by])},
        {"batch_size", value_int(j->batch)},
        {"optimizer", value_text(optimizer_names[s->optimizer.kind])},
        {"lr", value_real(j->lr)},
        {"lr_decay", value_real(j->decay)},
        {"lr_decay_steps", value_int(j->decay_steps)},
        {"lr_warmup", value_int(j->warmup)},
        {"lr_cosine", value_int(j->cosine)},
        {"lr_min", value_real(j->least)},
        {"momentum", value_real(j->momentum)},
        {"beta2", value_real(j->beta2)},
        {"clip_norm", value_real(j->clip)},
        {"weight_decay", value_real(j->weight_decay)},
        {"local_steps", value_int(j->local_steps)},
        {"outer_lr", value_real(j->outer_lr)},
        {"outer_momentum", value_real(j->outer_momentum)},
        {"group", value_text(grouping_names[s->grouping])},
        {"min_elements", value_int(j->min_elements)},
        {"average", value_text(average_names[s->average])},
        {"link", value_text(s->link->name)},
        {"topology", value_text(topology_names[s->topology])},
        {"seeds", value_int(j->seeds)},
    };
    memcpy(out, all, sizeof all);
}

Status train_job_settings(const TrainJob *j, Fact out[TRAIN_FACTS])
{
    train_job_facts(j, out);
    for (size_t i = 0; i < TRAIN_FACTS; i++) {
        const char *field = out[i].name;
        char *name = text_format(j->a, "--%s", field);
        TRY(arena_check(name, j->a, j->err));
        for (char *c = name; *c; c++)
            *c = *c == '_' ? '-' : *c;
        out[i].name = !strcmp(field, "images")        ? "training images"
                      : !strcmp(field, "test_images") ? "test images"
                                                      : name;
    }
    return OK;
}

size_t train_job_steps(const TrainJob *j, const Trainer *t)
{
    const size_t h = j->local_steps ? (size_t)j->local_steps : 1;
    const size_t steps = j->max_steps ? (size_t)j->max_steps : (size_t)j->epochs * trainer_epoch_steps(t);
    return (steps + h - 1) / h * h;
}

/* ---- several ranks ---- */

Status train_job_alone(const char *command, Error *err)
{
    return net_launched()
               ? FAIL(err, ERR_USAGE,
                      "%s: started as one of several processes; only run trains on several ranks", command)
               : OK;
}

/* Sets the defaults that differ on several ranks: a worker on each rank, an exchange without a server, and cores
 * shared by the ranks of a machine. */
static Status join_ranks(TrainJob *j, const char *command)
{
    if (!j->takes_ranks)
        return train_job_alone(command, j->err);
    TRY(ranks_join(&j->net, j->a, j->err));
    if (!j->net)
        return OK;
    j->topology = TOPOLOGY_ALLGATHER;
    j->workers = 0;
    j->common.threads = parallel_cores() / j->net->neighbours;
    if (j->common.threads < 1)
        j->common.threads = 1;
    return OK;
}

static Status parse(TrainJob *j, const Command *c, int argc, char **argv, bool *helped)
{
    TextList arguments;
    TRY(net_agree(j->net, cli_parse(c, argc, argv, &arguments, helped, j->a, j->err), j->err));
    if (j->workers == 0)
        j->workers = net_ranks(j->net) - (j->topology == TOPOLOGY_PS);
    return OK;
}

int train_job_main(TrainJob *j, const Command *command, int argc, char **argv, Status (*run)(TrainJob *j))
{
    Error err = {0};
    bool helped = false;
    Command c = *command;
    j->a = arena_open(0);
    j->err = &err;
    Status status = join_ranks(j, command->command);
    c.options = all_options(j, command->options);
    c.common = &j->common;
    if (status == OK && !c.options)
        status = arena_fail(j->a, &err);
    if (status == OK)
        status = parse(j, &c, argc, argv, &helped);
    if (status == OK && !helped)
        status = run(j);
    progress_close(&j->progress);
    const int code = ranks_leave(j->net, c.program, status, &err);
    arena_close(j->a);
    return code;
}
