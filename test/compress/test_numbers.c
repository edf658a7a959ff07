/* test_numbers.c -- payloads that are merged in segments (compress/numbers.h): the segments end to end are the payload
 * that codec_merge writes, byte for byte. Damaged numbers are refused. */
#include "rig/check.h"

#include "compress/compressor.h"
#include "compress/spec.h"

enum { ROWS = 48, COLS = 27, N = ROWS * COLS, WORKERS = 5, SEGMENTS = 4 };

/* Codecs that promise numbers; `rounds`: in how many of their rounds. */
static const struct {
    const char *spec;
    int rounds;
} cases[] = {{"none", 1},
             {"fp16", 1},
             {"bf16", 1},
             {"sign", 1},
             {"intsgd", 1},
             {"intsgd:bits=12", 1},
             {"thc", 1},
             {"randk:ratio=0.3", 1},
             {"lowrank", 1},
             {"powersgd", 2},
             {"powersgd:iters=2,rank=3", 4},
             {"countsketch:bits=8", 1},
             {"countmin:bits=8", 1},
             {"ef+none", 1},
             {"ef+sign", 1},
             {"ef+powersgd", 2}};

typedef struct {
    Arena *a;
    Error err;
    Shape shape;
    Call call;
    float x[WORKERS][N];
    Bytes sent[WORKERS], heard[ROUNDS_MAX];
} Rig;

/* Worker 0 has a gradient of zeros. */
static void rig_open(Rig *r, const char *spec)
{
    const Codec *codec;
    *r = (Rig){.a = arena_open(0)};
    check(shape_make(&r->shape, 2, (const size_t[]){ROWS, COLS}));
    check_ok(codec_open(&codec, spec, r->a, &r->err), &r->err);
    r->call = (Call){.self = codec,
                     .shape = &r->shape,
                     .workers = WORKERS,
                     .threads = 1,
                     .scratch = arena_open(0),
                     .err = &r->err,
                     .rng_shared = rng_open(3, 0, RNG_EVERYONE, 0, 0),
                     .heard = r->heard};
    for (size_t w = 0; w < WORKERS; w++) {
        const Rng rng = rng_open(8, 0, (int64_t)w, 0, 0);
        for (size_t i = 0; i < N; i++)
            r->x[w][i] = (float)(rng_unit(&rng, USE_SAMPLE, i) - 0.4) * (float)w;
    }
}

static void rig_close(Rig *r)
{
    arena_close(r->call.scratch);
    arena_close(r->a);
}

static Buf room(Rig *r)
{
    const size_t cap = 4 * codec_message_bound(&r->call) + 4096;
    return (Buf){.data = NEW_ZERO(r->a, uint8_t, cap), .cap = cap};
}

/* Encodes all workers' payloads of the round, and merges them as a whole. */
static void encode_and_merge(Rig *r)
{
    Buf merged = room(r);
    for (size_t w = 0; w < WORKERS; w++) {
        Buf out = room(r);
        r->call.rng = rng_open(3, 0, (int64_t)w, 0, 0);
        check_ok(codec_encode(&r->call, r->x[w], &out), &r->err);
        r->sent[w] = buf_bytes(&out);
    }
    check_ok(codec_merge(&r->call, r->sent, WORKERS, &merged), &r->err);
    r->heard[r->call.round] = buf_bytes(&merged);
}

static Status merge_segment(Rig *r, const Numbers *m, size_t segments, size_t i, Buf *out)
{
    const uint8_t *slice[WORKERS];
    const size_t from = numbers_cut(m, segments, i), n = numbers_cut(m, segments, i + 1) - from;
    for (size_t w = 0; w < WORKERS; w++)
        slice[w] = r->sent[w].data + numbers_head(m) + numbers_size(m, from, m->bits);
    return numbers_add(&r->call, m, slice, WORKERS, n, buf_room(out, numbers_size(m, n, m->merged_bits)));
}

TEST(segments_give_the_merged_payload)
{
    for (size_t i = 0; i < countof(cases); i++) {
        Rig r;
        int rounds = 0;
        rig_open(&r, cases[i].spec);
        for (; r.call.round < codec_rounds(r.call.self); r.call.round++) {
            encode_and_merge(&r);
            const Numbers m = codec_numbers(&r.call);
            rounds += m.count > 0;
            for (size_t w = 0; w < WORKERS && m.count; w++)
                check(r.sent[w].size == numbers_head(&m) + numbers_size(&m, m.count, m.bits));
            for (size_t segments = 1; segments <= SEGMENTS && m.count >= 64 * segments; segments++) {
                Buf out = room(&r);
                numbers_merged_head(&r.call, &m, &out);
                for (size_t k = 0; k < segments; k++)
                    check_ok(merge_segment(&r, &m, segments, k, &out), &r.err);
                const Bytes want = r.heard[r.call.round];
                check(out.size == want.size && !memcmp(out.data, want.data, want.size));
            }
        }
        check(rounds == cases[i].rounds);
        rig_close(&r);
    }
}

TEST(segments_are_whole_and_long_enough)
{
    for (size_t count = 64; count < 2000; count += 31)
        for (size_t segments = 1; 64 * segments <= count; segments++) {
            const Numbers m = numbers_in_planes(count, 8, 11, 255);
            size_t bytes = 0;
            check(numbers_cut(&m, segments, 0) == 0 && numbers_cut(&m, segments, segments) == count);
            for (size_t i = 0; i < segments; i++) {
                const size_t n = numbers_cut(&m, segments, i + 1) - numbers_cut(&m, segments, i);
                check(n >= 64 && numbers_cut(&m, segments, i) % 64 == 0);
                bytes += numbers_size(&m, n, m.bits);
            }
            check(bytes == numbers_size(&m, count, m.bits));
        }
}

TEST(damaged_numbers_are_refused)
{
    static const char *const specs[] = {"none", "fp16", "intsgd:bits=7"};
    for (size_t i = 0; i < countof(specs); i++) {
        Rig r;
        rig_open(&r, specs[i]);
        for (; r.call.round < codec_rounds(r.call.self); r.call.round++)
            encode_and_merge(&r);
        r.call.round--;
        const Numbers m = codec_numbers(&r.call);
        Buf out = room(&r);
        memset((uint8_t *)r.sent[2].data + numbers_head(&m) + numbers_size(&m, 64, m.bits), 0xff,
               numbers_size(&m, 64, m.bits));
        check(merge_segment(&r, &m, 1, 0, &out) == ERR_CORRUPT);
        rig_close(&r);
    }
}

CHECK_ALL(NULL, NULL)
