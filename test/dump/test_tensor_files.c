/* test_tensor_files.c -- several files read as one dump: shards, and files of steps and workers. */
#include "rig/array_make.h"
#include "rig/check.h"
#include "dump/tensor.h"

#include <sys/stat.h>

static Error err;
static Made made;

/* Writes tensors of one element each, whose value is a hash of `value` and the name, to a safetensors file. */
static float value_of(const char *path)
{
    unsigned sum = 1;
    while (*path)
        sum = 31 * sum + (unsigned char)*path++;
    return (float)(sum % 100003);
}

static void write_file(const char *file, const char *const *name, const char *const *path, size_t count)
{
    char header[4000] = "{";
    float data[32];
    for (size_t i = 0; i < count; i++) {
        const size_t used = strlen(header);
        snprintf(header + used, sizeof header - used, "%s\"%s\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[%zu,%zu]}", i ? "," : "",
                 name[i], 4 * i, 4 * i + 4);
        data[i] = value_of(path[i]);
    }
    strcat(header, "}");
    make_safetensors(&made, header, data, count * sizeof *data);
    save(&made, file);
}

/* Opens a dump and checks that it has exactly these tensors in this order, with their values; closed readers start again. */
static void check_dump(const char *file, const DumpHints *hints, const char *const *path, size_t count, const char *as)
{
    Arena *a = arena_open(0);
    Dump *d;
    const char *found = NULL;
    check_ok(dump_open_as(&d, in_scratch(file), hints, a, &err), &err);
    assert_int_equal(dump_count(d), count);
    check(dump_files(d, &found) > 0 && !strcmp(found, as));
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < count; i++) {
            float x = 0;
            assert_string_equal(dump_tensor(d, i)->path, path[i]);
            check_ok(dump_read(d, i, &x, &err), &err);
            check(x == value_of(path[i]));
        }
    dump_close(d);
    arena_close(a);
}

static void check_refused(const char *file, const DumpHints *hints, const char *why)
{
    Arena *a = arena_open(0);
    Dump *d;
    check(dump_open_as(&d, in_scratch(file), hints, a, &err) != OK);
    if (!strstr(err.text, why))
        print_error("%s\nwant: %s\n", err.text, why);
    check(strstr(err.text, why) != NULL);
    arena_close(a);
}

static void save_text(const char *file, const char *text)
{
    file_save(in_scratch(file), text, strlen(text));
}

TEST(shards_are_one_dump_by_their_index_or_folder)
{
    static const char *const names[] = {"a", "b", "c", "d"};
    static const DumpHints none = {0};
    mkdir(in_scratch("m"), 0700);
    write_file("m/model-00001-of-00002.safetensors", names, names, 2);
    check_refused("m", &none, "shard 2 of 2 is missing");
    write_file("m/model-00002-of-00002.safetensors", names + 2, names + 2, 2);
    check_dump("m", &none, names, 4, "shards");
    save_text("m/model.safetensors.index.json",
              "{\"metadata\":{},\"weight_map\":{\"a\":\"model-00001-of-00002.safetensors\",\"b\":\"model-00001-of-00002.safetensors\","
              "\"c\":\"model-00002-of-00002.safetensors\",\"d\":\"model-00002-of-00002.safetensors\"}}");
    check_dump("m/model.safetensors.index.json", &none, names, 4, "shards");
    check_dump("m", &none, names, 4, "shards");
    remove(in_scratch("m/model-00002-of-00002.safetensors"));
    check_refused("m", &none, "model.safetensors.index.json: names model-00002-of-00002.safetensors, which is missing beside it");
    write_file("m/model-00002-of-00002.safetensors", names + 1, names + 1, 2);
    check_refused("m", &none, "two tensors of the name b");
    save_text("m/model.safetensors.index.json", "{\"weight_map\":{\"a\":\"model-00001-of-00002.safetensors\",\"c\":\"model-00002-of-00002.safetensors\","
              "\"x\":\"model-00002-of-00002.safetensors\",\"y\":\"model-00002-of-00002.safetensors\",\"z\":\"model-00002-of-00002.safetensors\"}}");
    check_refused("m", &none, "its index names 5 tensors, but the files have only 4");
    static const char *const bad[][2] = {{"{\"weight_map\":{\"a\":\"model-00001-of-00002.safetensors\"}}", "index.json: names no shard 2 of 2"},
                                         {"{}", "no index of shards"},
                                         {"{\"weight_map\":[]}", "no index of shards"},
                                         {"{\"weight_map\":{\"a\":\"../x\"}}", "a is in no file beside it"},
                                         {"{\"weight_map\":{\"a\":1}}", "a is in no file beside it"},
                                         {"{\"weight_map\":", "JSON"}};
    for (size_t i = 0; i < countof(bad); i++) {
        save_text("m/model.safetensors.index.json", bad[i][0]);
        check_refused("m", &none, bad[i][1]);
    }
    write_file("m/head.safetensors", names, names, 1);
    write_file("m/tail.safetensors", names + 1, names + 1, 1);
    save_text("m/model.safetensors.index.json", "{\"weight_map\":{\"a\":\"head.safetensors\",\"b\":\"tail.safetensors\"}}");
    check_dump("m/model.safetensors.index.json", &none, names, 2, "shards"); /* of any names */
    check_dump("m", &none, names, 2, "shards");
}

/* Of a folder as it is on hubs and of trainers, which have pickles and other indexes beside, only the safetensors are read; some count
 * shards from 0, with more digits in their number. */
TEST(only_the_safetensors_of_a_folder_of_a_trainer_are_read)
{
    static const char *const names[] = {"a", "b", "c", "d"};
    static const DumpHints none = {0};
    mkdir(in_scratch("hub"), 0700);
    save_text("hub/optimizer.pt", "\x80\x04pickle");
    save_text("hub/pytorch_model.bin.index.json", "{\"weight_map\":{\"a\":\"gone.bin\"}}");
    check_refused("hub", &none, "a Python pickle");
    write_file("hub/model-00001-of-000002.safetensors", names + 2, names + 2, 2);
    check_refused("hub", &none, "shard 2 of 2 is missing");
    write_file("hub/model-00000-of-000002.safetensors", names, names, 2);
    check_dump("hub", &none, names, 4, "shards");
    save_text("hub/model.safetensors.index.json", "{\"weight_map\":{\"a\":\"model-00000-of-000002.safetensors\",\"c\":\"model-00001-of-000002.safetensors\"}}");
    check_dump("hub", &none, names, 4, "shards");
    save_text("hub/model.fp16.safetensors.index.json", "{}");
    check_refused("hub", &none, "two indexes, want one of them");
    save_text("hub/lfs", "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n");
    check_refused("hub/lfs", &none, "not an HDF5");
    check(strstr(err.hint, "git lfs pull") != NULL);
}

/* An index of which a byte is changed, or the end is missing, is refused with a reason or opens the shards. */
TEST(damaged_indexes_are_refused_or_right)
{
    static const char index[] = "{\"metadata\":{\"total_size\":8},\"weight_map\":{\"a\":\"s-00001-of-00001.safetensors\",\"b\":\"s-00001-of-00001.safetensors\"}}";
    static const char *const names[] = {"a", "b"};
    write_file("m/s-00001-of-00001.safetensors", names, names, 2);
    int refused = 0;
    for (unsigned i = 0; i < 4 * sizeof index; i++) {
        char text[sizeof index];
        memcpy(text, index, sizeof index);
        if (i < 3 * sizeof index)
            text[i / 3] = "\"/}"[i % 3];
        const size_t size = i < 3 * sizeof index ? sizeof index - 1 : i - 3 * sizeof index;
        file_save(in_scratch("m/damaged.index.json"), text, size);
        Arena *a = arena_open(0);
        Dump *d;
        err = (Error){0};
        if (dump_open(&d, in_scratch("m/damaged.index.json"), a, &err) == OK) {
            assert_int_equal(dump_count(d), 2);
            dump_close(d);
        } else {
            check(*err.text && !strchr(err.text, '\n'));
            refused++;
        }
        arena_close(a);
    }
    check(refused > 300);
}

TEST(files_are_steps_and_workers_by_their_names)
{
    static const char *const name[] = {"w"};
    static const char *const paths[] = {"step_000009/worker_0/w", "step_000009/worker_1/w", "step_000010/worker_0/w"};
    static const char *const files[] = {"g_step_9.rank0.st", "g_step_9.rank1.st", "g_step_10.rank0.st"};
    const char *in[3];
    mkdir(in_scratch("both"), 0700);
    for (size_t i = 0; i < 3; i++) {
        char file[100];
        snprintf(file, sizeof file, "both/%s", files[i]);
        write_file(file, name, &paths[i], 1);
        in[i] = strdup(in_scratch(file));
    }
    check_dump("both", &(DumpHints){0}, paths, 3, "steps and workers");
    const char *backwards[] = {in[2], in[0], in[1]};
    check_dump("both", &(DumpHints){.files = {backwards, 3}}, paths, 3, "steps and workers");
    for (size_t i = 0; i < 3; i++)
        free((void *)(uintptr_t)in[i]);
}

/* More files than readers that run at a time; the user says what they are, and the last number in a name counts. */
TEST(many_files_are_steps_if_the_user_says_so)
{
    enum { FILES = 40 };
    static const char *const name[] = {"w"};
    const char *path[FILES];
    mkdir(in_scratch("many"), 0700);
    for (int i = 0; i < FILES; i++) {
        char file[64], text[64];
        snprintf(file, sizeof file, "many/lr0.1_%d.st", i);
        snprintf(text, sizeof text, "step_%06d/w", i);
        path[i] = strdup(text);
        write_file(file, name, &path[i], 1);
    }
    check_refused("many", &(DumpHints){0}, "numbers of neither steps nor workers");
    check(strstr(err.hint, "--steps-as files") != NULL);
    check_dump("many", &(DumpHints){.steps_as = 1}, path, FILES, "steps");
    for (int i = 0; i < FILES; i++)
        free((void *)(uintptr_t)path[i]);
}

TEST(groups_of_ranks_are_workers_and_globs_name_others)
{
    static const char *const paths[] = {"step_1/rank_0/w", "step_1/rank1/w", "step_2/gpu3/w"};
    Arena *a = arena_open(0);
    Dump *d;
    write_file("ranks.st", paths, paths, 3);
    check_ok(dump_open(&d, in_scratch("ranks.st"), a, &err), &err);
    check(!strcmp(dump_tensor(d, 1)->name, "w") && dump_tensor(d, 1)->worker == 1);
    check(!strcmp(workers_guess(dump_tensor(d, 2)->name, a), "gpu*"));
    dump_close(d);
    check_ok(dump_open_as(&d, in_scratch("ranks.st"), &(DumpHints){.workers_from = "gpu*"}, a, &err), &err);
    check(dump_tensor(d, 2)->worker == 3 && !dump_tensor(d, 0)->worker_group);
    dump_close(d);
    check_refused("ranks.st", &(DumpHints){.workers_from = "client*"}, "no groups match --workers-from");
    check(!strcmp(steps_guess("ep1/it2/w", a), "ep*/it*"));
    arena_close(a);
}

/* Slices along the first axis are steps, of floats that are read in place and of others; first axes that differ are refused. */
TEST(the_first_axis_counts_steps_if_the_user_says_so)
{
    enum { STEPS = 3 };
    const DumpHints hints = {.steps_axis = 1};
    float w[STEPS * 4];
    uint8_t data[sizeof w + 2 * STEPS];
    for (size_t i = 0; i < STEPS * 4; i++)
        w[i] = (float)i;
    floats_store(data, w, STEPS * 4);
    for (size_t i = 0; i < STEPS; i++)
        store_u16(data + sizeof w + 2 * i, (uint16_t)(0x3f80 + i));
    make_safetensors(&made,
                     "{\"w.weight\":{\"dtype\":\"F32\",\"shape\":[3,2,2],\"data_offsets\":[0,48]},"
                     "\"w.bias\":{\"dtype\":\"BF16\",\"shape\":[3,1],\"data_offsets\":[48,54]}}",
                     data, sizeof data);
    save(&made, "axis.st");
    Arena *a = arena_open(0);
    Dump *d;
    check_ok(dump_open_as(&d, in_scratch("axis.st"), &hints, a, &err), &err);
    assert_int_equal(dump_count(d), 2 * STEPS);
    for (size_t i = 0; i < 2 * STEPS; i++) {
        const TensorInfo *t = dump_tensor(d, i);
        float x[4];
        const bool bias = i % 2;
        check((size_t)t->step == i / 2 && !strcmp(t->name, bias ? "w.bias" : "w.weight") && t->kind == (bias ? KIND_BIAS : KIND_FC));
        check_ok(dump_read(d, i, x, &err), &err);
        for (size_t k = 0; k < (bias ? 1 : 4); k++)
            check(x[k] == (bias ? 1 + (float)(i / 2) / 128 : (float)(4 * (i / 2) + k)));
    }
    dump_close(d);
    make_safetensors(&made,
                     "{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]},"
                     "\"b\":{\"dtype\":\"F8_E5M2\",\"shape\":[2],\"data_offsets\":[1,3]},"
                     "\"c\":{\"dtype\":\"F8_E5M2\",\"shape\":[3],\"data_offsets\":[3,6]}}",
                     data, 6);
    save(&made, "axes.st");
    arena_close(a);
    check_refused("axes.st", &hints, "c: --steps-axis 0: its first axis is not that of b");
}

/* Folders of other programs are refused with the lines that convert them. */
TEST(checkpoints_of_other_programs_are_refused)
{
    mkdir(in_scratch("dcp"), 0700);
    save_text("dcp/.metadata", "x");
    check_refused("dcp", &(DumpHints){0}, "a distributed checkpoint of PyTorch");
    check(strstr(err.hint, "dcp_to_torch_save") != NULL);
    mkdir(in_scratch("orbax"), 0700);
    save_text("orbax/_METADATA", "x");
    check_refused("orbax", &(DumpHints){0}, "a checkpoint of orbax");
    check(strstr(err.hint, "np") || strstr(err.hint, "savez"));
    mkdir(in_scratch("none"), 0700);
    check_refused("none", &(DumpHints){0}, "a directory without");
}

static int close_folders(void **state)
{
    static const char *const folders[] = {"m", "hub", "both", "many", "dcp", "orbax", "none"};
    char top[sizeof scratch_dir];
    strcpy(top, scratch_dir);
    for (size_t i = 0; i < countof(folders); i++) {
        snprintf(scratch_dir, sizeof scratch_dir, "%.40s/%s", top, folders[i]);
        scratch_close(state);
        strcpy(scratch_dir, top);
    }
    return scratch_close(state);
}

CHECK_ALL(scratch_open, close_folders)
