/* train_job.c -- implements train_job.h. */
#include "train_job.h"

#include "app/notes.h"
#include "train/networks.h"
#include "train/checkpoint.h"
#include "train/weights.h"
#include "base/parallel.h"
#include "compress/spec.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

/* Random seed of the synthetic digit images; --seed does not change these images. */
enum { DATA_SEED = 1 };

void train_job_defaults(TrainJob *j)
{
    settings_usual(&j->setup);
    j->setup.network = "lenet";
    j->link = "lan10g";
    j->within = "fp16";
    j->near = "lan100g";
    j->seeds = 1;
    j->epochs = j->epochs ? j->epochs : 10;
}

static const char *with_names(const TrainJob *j, const char *what, TextName name)
{
    char all[200];
    return text_format(j->a, "%s: %s", what, text_names(all, sizeof all, name, NULL));
}

static const char *const groupings[] = {"tensor", "all", NULL};

static char *option_name(const char *setting, Arena *a)
{
    char *name = text_copy(a, setting);
    for (char *c = name; c && *c; c++)
        *c = *c == '_' ? '-' : *c;
    return name;
}

static Option option_of(TrainJob *j, const Setting *of)
{
    static const CliType types[] = {
        [SETTING_WHOLE] = CLI_INT, [SETTING_REAL] = CLI_REAL, [SETTING_CHOICE] = CLI_CHOICE};
    return (Option){.name = option_name(of->name, j->a),
                    .arg = of->arg,
                    .type = types[of->type],
                    .target = (char *)&j->setup + of->at,
                    .help = of->help,
                    .low = of->low,
                    .high = of->high,
                    .choices = of->choices == grouping_names ? groupings : of->choices};
}

/* Returns the command's own options, those of the settings, and the shared ones. NULL: out of memory. */
static const Option *join_options(TrainJob *j, const Option *own, const Option *shared)
{
    enum { MOST = 80 };
    Option *all = NEW_ZERO(j->a, Option, MOST);
    size_t count = 0;
    for (; all && own->type != CLI_END; own++)
        all[count++] = *own;
    for (const Setting *of = train_settings; all && of->name; of++)
        if (of->arg && (j->takes_ranks || !(of->use & SETTING_RUN)))
            all[count++] = option_of(j, of);
    for (; all && shared->type != CLI_END; shared++)
        all[count++] = *shared;
    assert(count < MOST);
    for (size_t i = 0; i < count; i++)
        if (!all[i].name)
            return NULL;
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
    if (!network || !dataset || !link)
        return NULL;
    const Option shared[] = {
        OPTION(0, "network", "NAME", &j->setup.network, network, .names = network_name),
        OPTION(0, "dataset", "NAME", &j->dataset, dataset, .names = dataset_name),
        OPTION(0, "data-dir", "DIR", &j->data_dir,
               "the folder of the data set's files; without it datasets/NAME"),
        OPTION(
            0, "weights", "FILE", &j->setup.weights,
            "begin with the weights in FILE: HDF5, safetensors, .npz or a checkpoint; without it they are drawn from "
            "the seed"),
        OPTION_CODEC(&j->specs,
                     "codec of the gradients; repeatable; without it none; atomo-bench list shows all"),
        OPTION(0, "test-batch-size", "B", &j->test_batch,
               "images per pass when testing; changes no result; 0: 250 images or 4,096 tokens", .low = 0,
               .high = 1e6),
        OPTION(0, "max-steps", "N", &j->max_steps, "number of steps; 0: --epochs sets it", .low = 0,
               .high = 99999999),
        OPTION(0, "epochs", "N", &j->epochs, "passes over the training set", .low = 1, .high = 1e6),
        OPTION(0, "link", "LINK", &j->link, link, .names = link_name, .listed = true),
        OPTION(0, "topology", "T", &j->topology,
               "how workers exchange payloads: ps, allgather, ring, tree, twoshot, or hier:node=K, twoshot within nodes of K "
               "workers and between them; of run under mpirun without it allgather, else ps"),
        OPTION(0, "within", "SPEC", &j->within, "with hier: the codec within nodes"),
        OPTION(0, "link-within", "LINK", &j->near, "with hier: the link within nodes, as for --link", .names = link_name),
        {0},
    };
    return join_options(j, own, shared);
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
    const TrainSetup *s = &j->setup;
    const Optimizer *o = &s->optimizer;
    if (!j->net && (s->bucket_bytes || s->overlap))
        return FAIL(j->err, ERR_USAGE, "%s: want several ranks: mpirun -n P atomo-train run",
                    s->overlap ? "--overlap" : "--bucket-bytes");
    if (o->kind != OPTIMIZER_ADAMW && o->kind != OPTIMIZER_MUON && cli_given(&j->common, "beta2"))
        return FAIL(j->err, ERR_USAGE, "--beta2: only --optimizer adamw and muon have it");
    if (o->kind != OPTIMIZER_MUON && (cli_given(&j->common, "lr-other") || cli_given(&j->common, "muon-scale")))
        return FAIL(j->err, ERR_USAGE, "%s: only --optimizer muon has it",
                    cli_given(&j->common, "lr-other") ? "--lr-other" : "--muon-scale");
    if (o->kind == OPTIMIZER_SIGNSGD && cli_given(&j->common, "momentum") && o->momentum > 0)
        return FAIL(j->err, ERR_USAGE, "--momentum: signsgd has none");
    if (o->decay != 1 && !o->every)
        return FAIL(j->err, ERR_USAGE, "--lr-decay: want --lr-decay-steps as well");
    static const char *const local[] = {"outer-lr", "outer-momentum", "fragments", "overlap-steps", "mix"};
    static const char *const hier[] = {"within", "link-within"};
    for (size_t i = 0; i < countof(local); i++)
        if (!s->local.steps && cli_given(&j->common, local[i]))
            return FAIL(j->err, ERR_USAGE, "--%s: want --local-steps as well", local[i]);
    for (size_t i = 0; i < countof(hier); i++)
        if (s->topology != TOPOLOGY_HIER && cli_given(&j->common, hier[i]))
            return FAIL(j->err, ERR_USAGE, "--%s: want --topology hier:node=K as well", hier[i]);
    if (s->local.steps && (size_t)j->max_steps % s->local.steps)
        return FAIL(
            j->err, ERR_USAGE,
            "--max-steps %lld: want a multiple of --local-steps %zu, so that the last steps are exchanged",
            (long long)j->max_steps, s->local.steps);
    return OK;
}

/* Fills what the options do not set, but for data and codec. */
static void fill_setup(TrainJob *j, const Link *link)
{
    TrainSetup *s = &j->setup;
    s->aggregate = s->aggregate ? s->aggregate : s->workers;
    if (s->optimizer.kind == OPTIMIZER_MUON && !cli_given(&j->common, "momentum"))
        s->optimizer.momentum = 0.95;
    s->grouping = (int)s->grouping ? GROUP_ALL : GROUP_TENSOR; /* the second of `groupings` is the third of all */
    s->seed = (uint64_t)j->common.seed;
    s->threads = (int)j->common.threads;
    s->link = link;
    s->near = link + 1;
    s->stopped = cli_stopped;
    s->net = j->net;
}

Status train_job_open(TrainJob *j)
{
    static const char *none[] = {"none"};
    const TextList usual = {none, 1};
    Link *link = NEW(j->a, Link, 2);
    TRY(check_idle(j));
    TRY(arena_check(link, j->a, j->err));
    TRY(link_read(link, j->link, j->a, j->err));
    TRY(link_read(link + 1, j->near, j->a, j->err));
    TRY(codec_open(&j->setup.within, j->within, j->a, j->err));
    fill_setup(j, link);
    TRY(codec_list(&j->codec, &j->codecs, j->specs.count ? &j->specs : &usual, j->a, j->err));
    if (net_rank(j->net) == 0)
        notes_specs(&j->specs);
    if (net_rank(j->net) == 0 && j->setup.optimizer.lr == 0)
        fprintf(stderr, "note: --lr 0: no step changes the weights, so nothing is learned\n");
    if (j->setup.weights && access(j->setup.weights, R_OK) != 0) {
        FAIL(j->err, ERR_IO, "%s: cannot be opened: %s", j->setup.weights, strerror(errno));
        return weights_hint(j->err);
    }
    const Network *network;
    const char *options;
    TRY(network_find(&network, &options, j->setup.network, j->err));
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
    const TrainData from = {j->setup.network, j->dataset, j->data_dir};
    TRY(train_job_load(&j->train, &from, SPLIT_TRAIN, j->net, j->a, j->err));
    TRY(train_job_load(&j->test, &from, SPLIT_TEST, j->net, j->a, j->err));
    note_apart(j);
    note_entropy(j);
    j->setup.train = &j->train;
    j->setup.test = &j->test;
    j->setup.test_batch = train_job_pass(j->test_batch, j->test.info);
    return OK;
}

static Value value_of(const Attr *a)
{
    return a->type == ATTR_TEXT ? value_text(a->text) : a->type == ATTR_INT ? value_int(a->whole) : value_real(a->real);
}

static size_t add_settings(const TrainJob *j, unsigned use, Fact *out)
{
    size_t count = 0;
    for (const Setting *of = train_settings; of->name; of++) {
        const Attr attr = setting_attr(of, &j->setup);
        if (of->use & use)
            out[count++] = (Fact){of->name, value_of(&attr)};
    }
    return count;
}

static size_t add_data(const TrainJob *j, Fact *out)
{
    const Fact all[] = {{"dataset", value_text(j->dataset)},
                        {"images", value_int((int64_t)j->train.count)},
                        {"test_images", value_int((int64_t)j->test.count)},
                        {"link", value_text(j->setup.link->name)},
                        {"topology", value_text(setup_topology(&j->setup, j->a))},
                        {"seeds", value_int(j->seeds)}};
    memcpy(out, all, sizeof all);
    return countof(all);
}

size_t train_job_facts(const TrainJob *j, Fact out[TRAIN_FACTS_MOST])
{
    const size_t count = add_settings(j, SETTING_SHOWN, out);
    return count + add_data(j, out + count);
}

size_t train_job_settings(const TrainJob *j, unsigned use, Fact out[TRAIN_FACTS_MOST])
{
    size_t count = add_settings(j, use, out);
    count += add_data(j, out + count);
    for (size_t i = 0; i < count; i++) {
        const char *field = out[i].name, *option = text_format(j->a, "--%s", option_name(field, j->a));
        if (!option)
            return 0;
        out[i].name = strcmp(field, "images") && strcmp(field, "test_images") ? option : field;
    }
    out[count++] = (Fact){"-c", value_text(codecs_complete(j->codec, j->codecs, j->a))};
    out[count++] = (Fact){"--seed", value_int(j->common.seed)};
    out[count++] = (Fact){"--weights", value_text(j->setup.weights)};
    assert(count <= TRAIN_FACTS_MOST - 16);
    return count;
}

size_t train_job_steps(const TrainJob *j, const Trainer *t)
{
    const size_t h = j->setup.local.steps ? j->setup.local.steps : 1;
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
    j->setup.topology = TOPOLOGY_ALLGATHER;
    j->setup.workers = 0;
    j->common.threads = parallel_cores() / j->net->neighbours;
    if (j->common.threads < 1)
        j->common.threads = 1;
    return OK;
}

static Status parse(TrainJob *j, const Command *c, int argc, char **argv, bool *helped)
{
    TextList arguments;
    Status status = cli_parse(c, argc, argv, &arguments, helped, j->a, j->err);
    if (status == OK && j->topology)
        status = setup_read_topology(&j->setup, j->topology, j->a, j->err);
    TRY(net_agree(j->net, status, j->err));
    if (j->setup.workers == 0)
        j->setup.workers = (size_t)(net_ranks(j->net) - (j->setup.topology == TOPOLOGY_PS));
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
