/* test_array_hostile.c -- safetensors, .npy and .npz files and indexes of shards damaged at random: each file must be refused with a reason
 * or read correctly, by a process with limits on memory and time. */
#include "base/rng.h"
#include "rig/array_make.h"
#include "dump/tensor.h"

#include <stdlib.h>
#include <sys/resource.h>

enum { TENSORS = 3, FLOATS = 40 };
static uint64_t each = 360; /* files of each kind; DAMAGED says how many in the environment */

static Error err;
static Made whole, made;
static bool shards; /* the file is an index of shards, of which an error may name one */

static void fill(float *x, size_t tensor)
{
    for (size_t i = 0; i < FLOATS; i++)
        x[i] = (float)(tensor + 1) + 0.125F * (float)i;
}

static const char *const names[TENSORS] = {"step_3/worker_0/a", "step_3/worker_1/b.weight", "c"};

static void make_whole_safetensors(void)
{
    float data[TENSORS][FLOATS];
    for (size_t i = 0; i < TENSORS; i++)
        fill(data[i], i);
    make_safetensors(
        &whole,
        "{\"__metadata__\":{\"lr\":\"0.1\",\"step_3@loss\":\"1.5\"},"
        "\"step_3/worker_0/a\":{\"dtype\":\"F32\",\"shape\":[40],\"data_offsets\":[0,160]},"
        "\"step_3/worker_1/b.weight\":{\"dtype\":\"F32\",\"shape\":[5,8],\"data_offsets\":[160,320]},"
        "\"c\":{\"dtype\":\"F32\",\"shape\":[2,4,5],\"data_offsets\":[320,480]}}   ",
        data, sizeof data);
}

static void make_whole_npy(void)
{
    float x[FLOATS];
    fill(x, 2);
    whole.size = 0;
    add_npy(&whole, 2, "{'descr': '<f4', 'fortran_order': True, 'shape': (5, 8), }", x, sizeof x);
}

static void make_whole_npz(bool deflated)
{
    static Made content[TENSORS];
    static const char *const file[TENSORS] = {"step_3/worker_0/a.npy", "step_3/worker_1/b.weight.npy",
                                              "c.npy"};
    MadeMember member[TENSORS];
    for (size_t i = 0; i < TENSORS; i++) {
        float x[FLOATS];
        fill(x, i);
        content[i].size = 0;
        add_npy(&content[i], 1, "{'descr': '<f4', 'fortran_order': False, 'shape': (5, 8), }", x, sizeof x);
        member[i] =
            (MadeMember){.name = file[i], .content = &content[i], .deflated = deflated, .wide = i == 1};
    }
    make_zip(&whole, member, TENSORS, &(MadeEnd){.end64 = deflated});
}

/* ---- damage ---- */

static uint32_t draw(uint64_t seed, uint32_t i, size_t below)
{
    const Rng rng = rng_open(17, seed, 0, 0, 0);
    return (uint32_t)(rng_u32(&rng, USE_TEST, i) % below);
}

static void flip_bytes(uint64_t seed)
{
    const uint32_t flips = 1 + draw(seed, 1, 4);
    for (uint32_t i = 0; i < flips; i++)
        made.data[draw(seed, 2 + 2 * i, made.size)] ^= (uint8_t)(1 + draw(seed, 3 + 2 * i, 255));
}

static void cut(uint64_t seed)
{
    made.size = draw(seed, 1, made.size);
}

static void append(uint64_t seed)
{
    const size_t from = draw(seed, 1, made.size), size = draw(seed, 2, made.size - from) + 1;
    memcpy(made.data + made.size, whole.data + from, size);
    made.size += size;
}

/* Copies bytes of the undamaged file to another offset, so that members or offsets of the damaged file
 * overlap. */
static void repeat(uint64_t seed)
{
    const size_t size = 1 + draw(seed, 1, 24);
    memcpy(made.data + draw(seed, 2, made.size - size), whole.data + draw(seed, 3, made.size - size), size);
}

/* Overwrites 2, 4 or 8 bytes with an extreme number. One time in four these are the first bytes, where
 * safetensors has the length of its header. */
static void huge(uint64_t seed)
{
    static const uint64_t extremes[] = {UINT64_MAX,        INT64_MAX, UINT32_MAX, INT32_MAX,
                                        (uint64_t)1 << 40, 0xffff,    0x8000,     0};
    const uint64_t number = extremes[draw(seed, 1, countof(extremes))];
    const size_t size = (size_t)2 << draw(seed, 2, 3);
    memcpy(made.data + (draw(seed, 4, 4) ? draw(seed, 3, made.size - size) : 0), &number, size);
}

/* Changes a digit near the start of the file, where headers state sizes and offsets as text. */
static void change_digit(uint64_t seed)
{
    for (uint32_t i = 1; i < 200; i++) {
        uint8_t *at = &made.data[8 + draw(seed, i, 400)];
        if (*at < '0' || *at > '9')
            continue;
        *at = (uint8_t)('0' + draw(seed, 0, 10));
        return;
    }
}

static void (*const damages[])(uint64_t) = {flip_bytes, cut, append, repeat, huge, change_digit};

/* ---- judging ---- */

static void check_same(const TensorInfo *t, const float *x)
{
    float want[FLOATS];
    for (size_t i = 0; i < TENSORS; i++)
        if (!strcmp(t->path, names[i])) {
            fill(want, i);
            check(t->shape.n == FLOATS);
            assert_memory_equal(x, want, sizeof want);
        }
}

/* Reads the damaged file. Returns the number of tensors read before the first failure. If `exact`, checksums
 * protect the data, so all floats that are read must be right. */
static size_t judge(const char *name, bool exact, bool *failed)
{
    Arena *a = arena_open((size_t)1 << 26);
    Dump *d;
    size_t done = 0;
    err = (Error){0};
    Status status = dump_open(&d, save(&made, name), a, &err);
    const bool opened = status == OK;
    while (status == OK && done < dump_count(d)) {
        const TensorInfo *t = dump_tensor(d, done);
        check(t->shape.n * sizeof(float) <= 2 * made.size);
        float *x = NEW(a, float, t->shape.n);
        check_ok(arena_check(x, a, &err), &err);
        status = dump_read(d, done, x, &err);
        done += status == OK;
        if (status == OK && exact)
            check_same(t, x);
    }
    if (opened)
        dump_close(d);
    arena_close(a);
    *failed = status != OK;
    check(status == OK || (*err.text && !strchr(err.text, '\n') && (shards || strstr(err.text, name))));
    check(!strstr(err.text, "signal") && !strstr(err.text, "too long") && !strstr(err.text, "nonsense"));
    return done;
}

static void damage_all(const char *name, bool exact, size_t tensors)
{
    size_t refused = 0;
    bool failed;
    made = whole;
    assert_int_equal(judge(name, exact, &failed), tensors);
    check(!failed);
    for (uint64_t seed = 0; seed < each; seed++) {
        made.size = whole.size;
        memcpy(made.data, whole.data, whole.size);
        damages[seed % countof(damages)](seed);
        judge(name, exact, &failed);
        refused += failed;
    }
    check(refused > each / (shards ? 5 : 2)); /* names of tensors in an index are not used */
}

TEST(damaged_safetensors_are_refused_or_read_rightly)
{
    make_whole_safetensors();
    damage_all("damaged.safetensors", false, TENSORS);
}

TEST(damaged_npy_is_refused_or_read)
{
    make_whole_npy();
    damage_all("damaged.npy", false, 1);
}

TEST(damaged_stored_npz_is_refused_or_read_rightly)
{
    make_whole_npz(false);
    damage_all("stored.npz", true, TENSORS);
}

TEST(damaged_deflated_npz_is_refused_or_read_rightly)
{
    make_whole_npz(true);
    damage_all("deflated.npz", true, TENSORS);
}

TEST(a_damaged_index_is_refused_or_its_shards_are_read)
{
    float x[FLOATS];
    for (size_t i = 0; i < 2; i++) {
        fill(x, i);
        make_safetensors(&made, i ? "{\"step_3/worker_1/b.weight\":{\"dtype\":\"F32\",\"shape\":[5,8],\"data_offsets\":[0,160]}}"
                                  : "{\"step_3/worker_0/a\":{\"dtype\":\"F32\",\"shape\":[40],\"data_offsets\":[0,160]}}", x, sizeof x);
        save(&made, i ? "m-00002-of-00002.safetensors" : "m-00001-of-00002.safetensors");
    }
    whole.size = 0;
    add_text(&whole, "{\"metadata\": {\"total_size\": 320}, \"weight_map\": {\"step_3/worker_0/a\": \"m-00001-of-00002.safetensors\", "
                     "\"step_3/worker_1/b.weight\": \"m-00002-of-00002.safetensors\"}}");
    shards = true;
    damage_all("m.safetensors.index.json", true, 2);
    shards = false;
}

/* Headers of half a megabyte of nested JSON or of escapes must be refused fast. */
TEST(headers_made_to_cost_much_are_refused)
{
    static const char *const part[] = {"[", "{\"a\":", "[0,", "\"\\u0041\\u0041"};
    static char header[1 << 19];
    bool failed;
    for (size_t i = 0; i < countof(part); i++) {
        size_t size = 0;
        header[size++] = '{';
        header[size++] = '"';
        header[size++] = 'x';
        header[size++] = '"';
        header[size++] = ':';
        for (; size + 32 < sizeof header; size += strlen(part[i]))
            memcpy(header + size, part[i], strlen(part[i]) + 1);
        make_safetensors(&made, header, "", 0);
        judge("costly.safetensors", false, &failed);
        check(failed);
    }
}

TEST(processes_stayed_small_and_quick)
{
#ifndef __SANITIZE_ADDRESS__
    struct rusage here, readers;
    getrusage(RUSAGE_SELF, &here);
    getrusage(RUSAGE_CHILDREN, &readers);
    check(here.ru_maxrss < 100 * 1024 && readers.ru_maxrss < 200 * 1024);
    /* reading 1,440 files takes about 2 s */
    check(readers.ru_utime.tv_sec + readers.ru_stime.tv_sec < 60 + (time_t)each / 10);
#endif
}

int main(void)
{
    const char *damaged = getenv("DAMAGED");
    each = damaged ? strtoull(damaged, NULL, 10) : each;
    return check_run(scratch_open, scratch_close) ? 1 : 0;
}
