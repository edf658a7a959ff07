/* test_equal_bits.c -- compare_bits measures only the sizes of payloads, which must be those of a full comparison.
 * The option --equal-bits changes the rate parameter of each codec (such as `bits`) so that payloads get a
 * given size. */
#include "cmd/bench_solve.c"
#include "compress/spec.h"
#include "rig/check.h"

#include <unistd.h>

typedef struct {
    Arena *a;
    Error err;
    Dump *dump;
    VectorList list;
    Comparison c;
    double bits; /* bits per element, over all tensors and steps */
} World;

static Status load(void *data, const Vector *v, float *x, Error *err)
{
    return vector_load(((World *)data)->dump, v, x, err);
}

static Status keep(void *data, const Record *r, Error *err)
{
    World *w = data;
    (void)err;
    if (r->place + 1 == compare_places(&w->list))
        w->bits = metric_value(metric_find("bits_per_element_expected"), &r->tally);
    return OK;
}

static const char two_steps[] = "datasets/lenet-mnist.h5";

static void open_world(World *w, const char *file, const GroupSpec *groups, size_t repeats)
{
    *w = (World){.a = arena_open(0)};
    check_ok(dump_open(&w->dump, file, w->a, &w->err), &w->err);
    check_ok(groups_make(&w->list, w->dump, groups, w->a, &w->err), &w->err);
    w->c = (Comparison){.vectors = &w->list,
                        .repeats = repeats,
                        .seed = 3,
                        .memory = 1 << 30,
                        .threads = 1,
                        .data = w,
                        .load = load,
                        .record = keep};
}

static void close_world(World *w)
{
    dump_close(w->dump);
    arena_close(w->a);
}

static double compared_bits(World *w, const Codec *codec)
{
    size_t failures;
    w->c.codec = &codec;
    w->c.codecs = 1;
    check_ok(compare_run(&w->c, &failures, w->a, &w->err), &w->err);
    return w->bits;
}

static double sized_bits(World *w, const Codec *codec, size_t repeats)
{
    double bits;
    check_ok(compare_bits(&w->c, codec, repeats, &bits, &w->err), &w->err);
    return bits;
}

/* The first three have a residual or a plan. */
static const char *const compared[] = {"ef+entry", "joint+entry",   "ef+qsgd:bits=2", "svd:rank=1.5",
                                       "none",     "qsgd:levels=3", "terngrad",       "bf16"};

static void check_sizes(const char *file, const GroupSpec *groups, size_t specs)
{
    for (size_t i = 0; i < specs; i++) {
        World w;
        const Codec *codec;
        open_world(&w, file, groups, 2);
        check_ok(codec_open(&codec, compared[i], w.a, &w.err), &w.err);
        const double bits = sized_bits(&w, codec, 2);
        check_rel(bits, compared_bits(&w, codec), 1e-12);
        close_world(&w);
    }
}

/* The dump has tensors of less than 100 elements, which are sent raw. */
TEST(sizes_are_those_of_the_comparison)
{
    const char *conv[] = {"conv*"};
    check_sizes(two_steps, &(GroupSpec){.min_elements = 100, .selection.tensors = {conv, 1}}, countof(compared));
}

/* Opens the codec `ops`. A wrapper is opened around `entry`, or around `none` if the wrapper refuses
 * `entry`. */
static bool open_any(const Codec **codec, const Compressor *ops, Arena *a)
{
    Error err;
    const char *round = text_format(a, "%s+none", ops->name),
               *round_entry = text_format(a, "%s+entry", ops->name);
    return codec_open(codec, ops->name, a, &err) == OK || codec_open(codec, round_entry, a, &err) == OK ||
           codec_open(codec, round, a, &err) == OK;
}

static bool is_near(double bits, double target)
{
    return fabs(bits / target - 1) <= SIZE_TOLERANCE;
}

/* True if the codec cannot come nearer to the target size. Reasons: no rate parameter; a parameter at an end of
 * its range; an integer parameter whose neighbours are farther from the target; a size that jumps past the
 * target here; a size that does not change here. */
static bool has_a_reason(World *w, const Codec *codec, double bits, double target)
{
    Rate r;
    double low, high, start, beside[2];
    const Codec *other;
    if (!rate_find(&r, codec, true))
        return true;
    rate_range(&r, &low, &high, &start);
    const double at = rate_value(&r);
    if (at == low || at == high)
        return true;
    const bool whole = r.key->type == PARAM_INT;
    for (int i = 0; i < 2; i++) {
        const double step = whole ? 1 : 1e-3 * at;
        check_ok(rate_set(&other, codec, &r, at + (2 * i - 1) * step, w->a, &w->err), &w->err);
        check_ok(compare_bits(&w->c, other, w->c.repeats, &beside[i], &w->err), &w->err);
    }
    if (beside[0] == bits && beside[1] == bits)
        return true;
    if (!whole)
        return fmin(beside[0], beside[1]) < target && fmax(beside[0], beside[1]) > target;
    return fabs(bits - target) <= fmin(fabs(beside[0] - target), fabs(beside[1] - target));
}

TEST(every_codec_comes_to_a_bit_or_as_near_as_it_can)
{
    World w;
    const char *conv[] = {"conv*"};
    unsigned most = 0;
    open_world(&w, two_steps, &(GroupSpec){.selection.step = "1000", .selection.tensors = {conv, 1}}, 1);
    for (size_t k = 0; compressor_number(k); k++) {
        const Codec *codec, *found;
        unsigned tries;
        double bits;
        check(open_any(&codec, compressor_number(k), w.a));
        check_ok(compare_solve(&w.c, &found, codec, 1, &tries, w.a, &w.err), &w.err);
        check_ok(compare_bits(&w.c, found, w.c.repeats, &bits, &w.err), &w.err);
        const char *name = codec_text(found, w.a);
        print_message("%s: %.4f bits, %u tries\n", name, bits, tries);
        check(is_near(bits, 1) || has_a_reason(&w, found, bits, 1));
        check(strlen(name) <= strlen(codec_text(codec, w.a)) + 20);
        most = tries > most ? tries : most;
    }
    check(most <= 18);
    close_world(&w);
}

/* ---- specs with another value of the rate parameter ---- */

static Error err;

TEST(a_rate_is_set_where_it_stands)
{
    static const struct {
        const char *spec;
        double rate;
        const char *want, *fine;
    } cases[] = {
        {"qsgd:bits=2,bucket=64", 8, "qsgd:bits=8,bucket=64", "qsgd:levels=8,bucket=64"},
        {"qsgd:levels=3", 4, "qsgd", "qsgd:levels=4"},
        {"qsgd", 1024, NULL, "qsgd:levels=1024"},
        {"qsgd", 2.5, NULL, NULL},
        {"entry:bits=2,draw=systematic", 0.25, "entry:ratio=0.25,draw=systematic",
         "entry:ratio=0.25,draw=systematic"},
        {"entry", 1.5, NULL, NULL},
        {"ef:decay=0.5+svd", 1.25, "ef:decay=0.5+svd:rank=1.25", "ef:decay=0.5+svd:rank=1.25"},
        {"ef+ef+entry", 0.01, "ef+ef+entry", "ef+ef+entry"},
        {"joint+svd:reshape=rows", 2, "joint:bits=2+svd:reshape=rows", "joint:bits=2+svd:reshape=rows"},
    };
    Arena *a = arena_open(0);
    for (size_t i = 0; i < countof(cases); i++) {
        const Codec *codec, *set;
        Rate r;
        check_ok(codec_open(&codec, cases[i].spec, a, &err), &err);
        for (int fine = 0; fine < 2; fine++) {
            const char *want = fine ? cases[i].fine : cases[i].want;
            check(rate_find(&r, codec, fine));
            const Status status = rate_set(&set, codec, &r, cases[i].rate, a, &err);
            assert_int_equal(status, want ? OK : ERR_USAGE);
            if (want)
                assert_string_equal(codec_text(set, a), want);
        }
        assert_string_equal(codec_text(codec, a), cases[i].spec);
    }
    arena_close(a);
}

static void check_spread(const char *spec, const char *values, const char *want, size_t left_out)
{
    Arena *a = arena_open(0);
    const Codec *room[16], *codec;
    CodecSet set = {room, 0, countof(room)};
    size_t left;
    check_ok(codec_open(&codec, spec, a, &err), &err);
    check_ok(rate_spread(&set, codec, values, &left, a, &err), &err);
    char *all = text_copy(a, "");
    for (size_t i = 0; i < set.count; i++)
        all = text_format(a, "%s%s%s", all, i ? " " : "", codec_text(set.codec[i], a));
    assert_string_equal(all, want);
    assert_int_equal(left, left_out);
    arena_close(a);
}

TEST(rates_spread_over_what_a_key_can_be)
{
    check_spread("qsgd", NULL, "qsgd:bits=1 qsgd:bits=2 qsgd:bits=3 qsgd qsgd:bits=6 qsgd:bits=8", 0);
    check_spread("entry", NULL,
                 "entry:ratio=0.001 entry:ratio=0.003 entry entry:ratio=0.03 entry:ratio=0.1 entry:ratio=0.3",
                 0);
    check_spread("ef+svd", "0.5,3", "ef+svd:rank=0.5 ef+svd", 0);
    check_spread("qsgd", "0.5,2,100,3", "qsgd:bits=2 qsgd:bits=3", 2);
    check_spread("qsgd:bits=4", "1,2", "qsgd", 0);
    check_spread("qsgd:levels=4", NULL, "qsgd:levels=4", 0);
    check_spread("terngrad", "1,2", "terngrad", 0);
    Arena *a = arena_open(0);
    const Codec *room[16], *codec;
    size_t left;
    check_ok(codec_open(&codec, "entry", a, &err), &err);
    CodecSet set = {room, 0, countof(room)};
    assert_int_equal(rate_spread(&set, codec, "2,3", &left, a, &err), ERR_USAGE);
    assert_int_equal(rate_spread(&set, codec, "0.1,x", &left, a, &err), ERR_USAGE);
    assert_int_equal(rate_spread(&set, codec, "0.1,", &left, a, &err), ERR_USAGE);
    set = (CodecSet){room, 0, 3};
    assert_int_equal(rate_spread(&set, codec, NULL, &left, a, &err), ERR_USAGE);
    arena_close(a);
}

/* The command sweep has a list of values for every rate parameter, which must be in the range of the
 * parameter. */
TEST(every_rate_has_a_grid)
{
    Arena *a = arena_open(0);
    for (size_t k = 0; compressor_number(k); k++) {
        const Codec *room[16], *codec;
        CodecSet set = {room, 0, countof(room)};
        Rate r;
        size_t left;
        check(open_any(&codec, compressor_number(k), a));
        check_ok(rate_spread(&set, codec, NULL, &left, a, &err), &err);
        check(!rate_find(&r, codec, false) ? set.count == 1 : !r.key->fallback || set.count >= 3);
    }
    arena_close(a);
}

CHECK_ALL(NULL, NULL)
