/* netcost.c -- parses the description of a network link, reads measured links, and computes how long an exchange takes. */
#include "measure/netcost.h"
#include "base/file.h"
#include "base/json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const topology_names[] = {"ps", "allgather", "ring", "tree", "twoshot", "hier", NULL};

const char *topology_value(const void *data, size_t i)
{
    (void)data;
    return i == TOPOLOGY_HIER ? "hier:node=K" : topology_names[i];
}

Status topology_read(Topology *out, size_t *node, const char **more, const char *text, TextName names, Error *err)
{
    static const char hier[] = "hier:node=";
    char *end, all[100];
    for (int t = 0; t < TOPOLOGY_HIER; t++)
        if (!strcmp(topology_names[t], text)) {
            *out = (Topology)t;
            return OK;
        }
    if (strncmp(text, hier, strlen(hier)))
        return text_unknown(err, text, names, NULL, "--topology: \"%.40s\": want one of %s", text, text_names(all, sizeof all, names, NULL));
    const long k = strtol(text + strlen(hier), &end, 10);
    if (k < 2 || k > TOPOLOGY_WORKERS_MOST || (*end && *end != ','))
        return FAIL(err, ERR_USAGE, "--topology %.40s: want hier:node=K, 2 to %d workers in a node", text, TOPOLOGY_WORKERS_MOST);
    *out = TOPOLOGY_HIER;
    *node = (size_t)k;
    *more = end;
    return OK;
}

#define BITS(per_second) ((per_second) / 8)

/* Latencies include the kernel's network stack. The bandwidth of an EC2 instance follows from its network
 * class: "high" is about 1 Gbit/s, "up to 10" is 10 Gbit/s. */
const Link links[] = {
    {"lan1g", 100e-6, BITS(1e9)},
    {"lan10g", 50e-6, BITS(10e9)},
    {"lan25g", 25e-6, BITS(25e9)},
    {"lan100g", 10e-6, BITS(100e9)},
    {"wan100m", 20e-3, BITS(100e6)},
    {"edge20m", 30e-3, BITS(20e6)},
    {"ec2-g2.2xlarge", 200e-6, BITS(1e9)},
    {"ec2-m5.4xlarge", 60e-6, BITS(10e9)},
    {0},
};

/* ---- presets ---- */

const char *link_name(const void *data, size_t i)
{
    (void)data;
    return links[i].name;
}

static Status find_preset(Link *out, const char *name, Error *err)
{
    for (const Link *l = links; l->name; l++)
        if (!strcmp(l->name, name)) {
            *out = *l;
            return OK;
        }
    char all[200];
    const char *near = text_nearest(name, link_name, NULL);
    FAIL(err, ERR_USAGE, "link \"%.60s\": no such preset", name);
    if (*name >= '0' && *name <= '9')
        return error_hint(err, "a link has a latency, too: --link alpha=50us,beta=%.30s, or a preset: %s",
                          name[strcspn(name, " ,=/")] ? "10Gbit" : name,
                          text_names(all, sizeof all, link_name, NULL));
    return error_hint(
        err,
        "--link %s, or of your own: --link alpha=50us,beta=10Gbit, or FILE.json of atomo-bench link; there are %s",
        near ? near : links[0].name, text_names(all, sizeof all, link_name, NULL));
}

/* ---- links given as latency and bandwidth ---- */

typedef struct {
    const char *name;
    double worth;
} Unit;

static const Unit times[] = {{"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}, {0}};
static const Unit rates[] = {
    {"bit", BITS(1.0)}, {"kbit", BITS(1e3)}, {"Mbit", BITS(1e6)}, {"Gbit", BITS(1e9)}, {"Tbit", BITS(1e12)},
    {"b", BITS(1.0)},   {"kb", BITS(1e3)},   {"Mb", BITS(1e6)},   {"Gb", BITS(1e9)},   {"Tb", BITS(1e12)},
    {"B", 1},           {"kB", 1e3},         {"MB", 1e6},         {"GB", 1e9},         {0}};

static const struct {
    const char *key;
    const Unit *units;
    double low, high;
    const char *want;
} keys[] = {
    {"alpha", times, 0, 1e3, "a time from 0 to 1000 s, in s, ms, us or ns"},
    {"beta", rates, 1, 1e15,
     "1 to 1e15 bytes a second, in kbit, Mbit, Gbit (kbps, Mbps, Gbps), or kB, MB, GB"},
};

/* Reads "10Gbit", "10Gbps" and "10Gbit/s" alike. */
static bool read_unit(const char *text, const Unit *units, double *out)
{
    char number[32], unit[8];
    size_t length = strlen(text);
    while (length && !strchr("0123456789.", text[length - 1]))
        length--;
    if (length == 0 || length >= sizeof number)
        return false;
    memcpy(number, text, length);
    number[length] = 0;
    snprintf(unit, sizeof unit, "%s", text + length);
    if (text_ends(unit, "ps") || text_ends(unit, "/s"))
        unit[strlen(unit) - 2] = 0;
    for (const Unit *u = units; u->name; u++)
        if (!strcmp(u->name, unit) && text_to_real(number, out)) {
            *out *= u->worth;
            return true;
        }
    return false;
}

static Status read_key(const char *text, const char *item, double value[2], Error *err)
{
    const char *equals = strchr(item, '=');
    const size_t length = equals ? (size_t)(equals - item) : 0;
    for (size_t k = 0; k < countof(keys); k++) {
        if (strncmp(item, keys[k].key, length) != 0 || keys[k].key[length] || length == 0)
            continue;
        if (!isnan(value[k]))
            return FAIL(err, ERR_USAGE, "link %.60s: %s is there twice", text, keys[k].key);
        if (!read_unit(equals + 1, keys[k].units, &value[k]) ||
            !(value[k] >= keys[k].low && value[k] <= keys[k].high))
            return FAIL(err, ERR_USAGE, "link %.60s: %.30s: want %s", text, item, keys[k].want);
        return OK;
    }
    return FAIL(err, ERR_USAGE, "link %.60s: \"%.30s\": want alpha=TIME,beta=BANDWIDTH", text, item);
}

/* ---- a link from a file ---- */

/* Reads a link from the JSON that `atomo-bench link` writes: of its records, the fit over all
 * exchanges. */

enum { FILE_MOST = 4 << 20 };

static bool is_text(const Json *v, const char *text)
{
    return v && v->type == JSON_TEXT && !strcmp(v->text, text);
}

static const Json *find_fit(const Json *file)
{
    const Json *results = json_member(file, "results");
    for (const Json *r = results && results->type == JSON_ARRAY ? results->first : NULL; r; r = r->next)
        if (is_text(json_member(r, "record"), "fit") && is_text(json_member(r, "exchange"), "all"))
            return r;
    return NULL;
}

/* Returns a member that is a number from `low` to `high`; NaN: there is no such number. */
static double number(const Json *fit, const char *name, double low, double high)
{
    const Json *v = json_member(fit, name);
    return v && v->type == JSON_NUMBER && v->number >= low && v->number <= high ? v->number : NAN;
}

static Status read_file(Link *out, const char *path, Arena *a, Error *err)
{
    char *data;
    size_t size;
    const Json *file;
    TRY(file_load(&data, &size, path, FILE_MOST, a, err));
    TRY(json_read(&file, data, size, a, err));
    const Json *fit = is_text(json_member(file, "schema"), "atomo-link/1") ? find_fit(file) : NULL;
    const double alpha = number(fit, "alpha_ms", 0, 1e6), beta = number(fit, "beta_gbps", 1e-9, 1e6);
    if (isnan(alpha) || isnan(beta))
        return FAIL(err, ERR_CORRUPT, "no fit of a link");
    *out = (Link){path, alpha / 1e3, beta * 1e9};
    return OK;
}

/* Reads a link that `atomo-bench link` has measured and written to a JSON file. The link's name is the path. */
static Status link_load(Link *out, const char *path, Arena *a, Error *err)
{
    const char *name = text_copy(a, path);
    TRY(arena_check(name, a, err));
    if (read_file(out, name, a, err) == OK)
        return OK;
    error_at(err, "link %.200s", path);
    return error_hint(err, "mpirun -n 2 atomo-bench link -o %.60s measures a link and writes such a file",
                      path);
}

Status link_read(Link *out, const char *text, Arena *a, Error *err)
{
    double value[2] = {NAN, NAN};
    if (text_ends(text, ".json"))
        return link_load(out, text, a, err);
    if (!strchr(text, '='))
        return find_preset(out, text, err);
    char *name = text_copy(a, text), *items = text_copy(a, text), *rest = NULL;
    TRY(arena_check(name && items, a, err));
    for (char *item = strtok_r(items, ", ", &rest); item; item = strtok_r(NULL, ", ", &rest))
        TRY(read_key(text, item, value, err));
    for (size_t k = 0; k < countof(keys); k++)
        if (isnan(value[k]))
            return FAIL(err, ERR_USAGE, "link %.60s: %s is missing; want %s", text, keys[k].key,
                        keys[k].want);
    for (char *comma = name; (comma = strchr(comma, ','));)
        *comma = ' ';
    *out = (Link){name, value[0], value[1]};
    return OK;
}

/* ---- time ---- */

/* Returns the number of messages that follow one another, each of which takes the latency once. */
static double traffic_latencies(const Traffic *t)
{
    const double others = t->workers - 1, nodes = t->topology == TOPOLOGY_HIER ? t->workers / t->node : 1;
    const double each[] = {2, others, 2 * others, 2 * ceil(log2(t->workers)), 2 * others, 2 * (nodes - 1)};
    return t->rounds * each[t->topology];
}

double traffic_bytes(const Traffic *t)
{
    const double p = t->workers, others = p - 1, s = t->payload, node = t->topology == TOPOLOGY_HIER ? t->node : p;
    const double each[] = {p * (s + t->early + t->parameters), others * s, 2 * others / p * s,
                           2 * ceil(log2(p)) * s, 2 * others / p * s, 2 * (p / node - 1) / p * s};
    return each[t->topology];
}

double link_seconds(const Link *link, const Traffic *t)
{
    return traffic_latencies(t) * link->latency + traffic_bytes(t) / link->bandwidth;
}

bool topology_adds(Topology topology)
{
    return topology >= TOPOLOGY_RING;
}
