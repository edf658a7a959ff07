/* test_texts.c -- data sets of text: a file's tokens and windows, and the source of babble. */
#include "rig/check.h"

#include "train/datasets.c"

#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct {
    Arena *a;
    Error err;
    char dir[64], path[80];
    Dataset d;
} World;

static void world_open(World *w)
{
    *w = (World){.a = arena_open(0)};
    strcpy(w->dir, "/tmp/test_texts.XXXXXX");
    check(mkdtemp(w->dir) != NULL);
    snprintf(w->path, sizeof w->path, "%s/input.txt", w->dir);
}

static void world_close(World *w)
{
    unlink(w->path);
    rmdir(w->dir);
    arena_close(w->a);
}

static void write_text(const World *w, const char *text, size_t size)
{
    FILE *f = fopen(w->path, "wb");
    check(f && fwrite(text, 1, size, f) == size && !fclose(f));
}

static Status load(World *w, const char *from, DataSplit split, size_t context)
{
    TRY(dataset_load(&w->d, "text", from, split, 1, w->a, &w->err));
    return dataset_window(&w->d, context, w->a, &w->err);
}

/* ---- files ---- */

TEST(bytes_that_occur_are_numbered_in_order)
{
    World w;
    world_open(&w);
    write_text(&w,
               "b\xff"
               "a\n"
               "bbbbbb"
               "aab\n"
               "\xff"
               "bbbbb",
               20);
    const char *const from[] = {w.dir, w.path};
    for (size_t k = 0; k < 2; k++) {
        check_ok(load(&w, from[k], SPLIT_TRAIN, 3), &w.err);
        static const uint8_t want[18] = {2, 3, 1, 0, 2, 2, 2, 2, 2, 2, 1, 1, 2, 0, 3, 2, 2, 2};
        assert_int_equal(w.d.info->classes, 4);
        assert_int_equal(w.d.tokens, 18);
        assert_int_equal(w.d.count, 5);
        check(!memcmp(w.d.pixels, want, 18));
        check_ok(load(&w, from[k], SPLIT_TEST, 1), &w.err);
        assert_int_equal(w.d.info->classes, 4);
        assert_int_equal(w.d.count, 1);
        check(w.d.pixels[0] == 2 && w.d.pixels[1] == 2);
    }
    write_text(&w, "abcdefghijklmnopqrs", 19);
    check_ok(load(&w, w.dir, SPLIT_TRAIN, 3), &w.err);
    assert_int_equal(w.d.tokens, 17); /* nine tenths, rounded down */
    check_ok(load(&w, w.dir, SPLIT_TEST, 1), &w.err);
    check(w.d.tokens == 2 && w.d.pixels[0] == 17);
    world_close(&w);
}

/* ---- windows ---- */

enum { CONTEXT = 8, LENGTH = 1000 };

/* Each token of the text is its own position modulo 251, so a window shows where it starts. The shift of a
 * window takes each of CONTEXT values with equal probability: over 40 epochs of 111 windows, the share of one
 * value is more than five standard deviations off with probability 5e-6 for all eight. */
TEST(windows_start_anywhere_and_labels_are_the_next_tokens)
{
    World w;
    char text[LENGTH];
    float x[CONTEXT];
    uint32_t labels[CONTEXT];
    size_t times[CONTEXT] = {0}, draws = 0;
    for (size_t i = 0; i < LENGTH; i++)
        text[i] = (char)(i % 251);
    world_open(&w);
    write_text(&w, text, LENGTH);
    check_ok(load(&w, w.dir, SPLIT_TRAIN, CONTEXT), &w.err);
    for (size_t epoch = 0; epoch < 40; epoch++)
        for (uint32_t i = 0; i < w.d.count; i++, draws++) {
            batch_fill(&w.d, &i, 1, true, 5, epoch, 1, x, labels);
            const size_t shift = ((size_t)x[0] + 251 - i * CONTEXT % 251) % 251;
            check(shift < CONTEXT);
            times[shift]++;
            for (size_t j = 0; j < CONTEXT; j++)
                check(x[j] == (float)((i * CONTEXT + shift + j) % 251) &&
                      labels[j] == (i * CONTEXT + shift + j + 1) % 251);
        }
    for (size_t k = 0; k < CONTEXT; k++)
        check_near((double)times[k], (double)draws / CONTEXT, 5 * sqrt((double)draws * 7 / 64));
    const uint32_t last = (uint32_t)w.d.count - 1;
    batch_fill(&w.d, &last, 1, false, 5, 3, 1, x, labels);
    check(x[0] == (float)(last * CONTEXT % 251));
    world_close(&w);
}

/* ---- babble ---- */

/* Estimates the entropy of a letter given the two before it, from the counts of triples in a long text. The
 * estimate's bias, about -(number of triples) / (2 length) = -5e-4, is corrected; its standard deviation is
 * about 0.9 / sqrt(length) = 4e-4. */
TEST(babble_has_the_entropy_rate_that_is_stated)
{
    enum { LONG = 1 << 22 };
    static size_t triple[BABBLE_PAIRS * BABBLE_LETTERS], pair[BABBLE_PAIRS];
    for (uint64_t seed = 1; seed <= 2; seed++) {
        uint8_t *x = malloc(LONG);
        double rate = 0, kinds = 0;
        check(x != NULL);
        memset(triple, 0, sizeof triple);
        memset(pair, 0, sizeof pair);
        babble_draw(seed, SPLIT_TRAIN, LONG, x);
        for (size_t i = 2; i < LONG; i++) {
            const size_t p = (size_t)x[i - 2] * BABBLE_LETTERS + x[i - 1];
            triple[p * BABBLE_LETTERS + x[i]]++;
            pair[p]++;
        }
        for (size_t k = 0; k < countof(triple); k++)
            if (triple[k]) {
                const double n = (double)triple[k];
                rate -= n / LONG * log(n / (double)pair[k / BABBLE_LETTERS]);
                kinds++;
            }
        for (size_t p = 0; p < BABBLE_PAIRS; p++)
            kinds -= pair[p] > 0;
        check_near(rate + kinds / (2.0 * LONG), babble_entropy(seed), 2.5e-3);
        free(x);
    }
}

TEST(babble_is_drawn_from_seed_and_split)
{
    uint8_t x[3][500];
    babble_draw(1, SPLIT_TRAIN, 500, x[0]);
    babble_draw(1, SPLIT_TEST, 500, x[1]);
    babble_draw(1, SPLIT_TRAIN, 500, x[2]);
    check(!memcmp(x[0], x[2], 500) && memcmp(x[0], x[1], 500));
    babble_draw(2, SPLIT_TRAIN, 500, x[2]);
    check(memcmp(x[0], x[2], 500) != 0);
}

CHECK_ALL(NULL, NULL)
