/* test_rans.c -- rANS streams against a slow writer, the entropy and each instruction set; rounded frequencies
 * of symbols against the optimal integers. The frequencies of a table add up to 2^precision, the number of
 * slots. */
#include "rig/coder_rig.h"
#include "rig/wall.h"
#include "rig/check.h"
#include "base/rng.h"
#include "coder/elias.h"
#include "math/vec/kernels.h"

static const unsigned lane_counts[] = {1, 4, RANS_LANES};

/* Writes the rANS stream that docs/FORMAT.md defines, in the plainest way. It uses 64-bit states and handles
 * one symbol at a time. It finds slots by summing frequencies, and collects the 16-bit words in a separate
 * array. Returns the stream's size. */
static size_t slow_put(const Rans *r, unsigned lanes, const uint8_t *byte, size_t n, uint8_t *out)
{
    uint64_t x[RANS_LANES];
    uint16_t *word = malloc((n + 1) * sizeof *word);
    size_t words = 0;
    for (unsigned l = 0; l < lanes; l++)
        x[l] = 65536;
    for (size_t i = n; i-- > 0;) {
        uint64_t start = 0, f = 0, *state = &x[i % lanes];
        for (uint32_t k = 0; k < r->present; k++) {
            f = r->frequency[k];
            if (rans_byte(r, k) == byte[i])
                break;
            start += f;
        }
        const uint64_t sum = UINT64_C(1) << r->precision;
        if (*state / f * sum + start + *state % f > UINT32_MAX) { /* state would overflow */
            word[words++] = (uint16_t)*state;
            *state >>= 16;
        }
        *state = *state / f * sum + start + *state % f;
    }
    for (unsigned l = 0; l < lanes; l++)
        store_u32(out + 4 * l, (uint32_t)x[l]);
    for (size_t k = 0; k < words; k++)
        store_u16(out + 4 * lanes + 2 * k, word[words - 1 - k]);
    free(word);
    return 4 * lanes + 2 * words;
}

typedef struct {
    size_t n;
    uint8_t *byte, *room, *stream;
    size_t size;
    uint64_t count[RANS_BYTES];
    Rans rans;
    unsigned lanes;
} Case;

/* Returns n random bytes below `alphabet`, with their rANS table and stream. Larger bytes are less frequent;
 * with `slope` 0, all are equally frequent. Frequencies have `precision` bits; 0 selects the best number. */
static Case make_case_at(const Rng *rng, size_t n, uint32_t alphabet, double slope, unsigned lanes,
                                int precision)
{
    Case c = {.n = n, .lanes = lanes};
    c.byte = malloc(n + 1);
    c.room = malloc(rans_most(n, lanes));
    for (size_t i = 0; i < n; i++) {
        const double u = rng_unit(rng, USE_TEST, i + n);
        const double v = slope > 0 ? -log(u) / slope : u * alphabet;
        c.byte[i] = (uint8_t)(v < alphabet - 1 ? v : alphabet - 1);
        c.count[c.byte[i]]++;
    }
    RansWriter w;
    check(rans_build(&c.rans, alphabet, c.count));
    if (precision && c.rans.present > 1) {
        uint64_t weight[RANS_BYTES];
        for (uint32_t k = 0; k < c.rans.present; k++)
            weight[k] = c.count[c.rans.symbol[k]];
        c.rans.precision = precision;
        rans_share(&c.rans, weight);
    }
    rans_writer(&w, &c.rans);
    c.size = rans_put(&w, lanes, c.byte, n, c.room + rans_most(n, lanes));
    c.stream = c.room + rans_most(n, lanes) - c.size;
    return c;
}

static Case make_case(const Rng *rng, size_t n, uint32_t alphabet, double slope, unsigned lanes)
{
    return make_case_at(rng, n, alphabet, slope, lanes, 0);
}

static void drop_case(Case *c)
{
    free(c->byte);
    free(c->room);
}

/* True when the decoder accepts the stream in `data`. The decoder gets a copy that ends at a protected page, so
 * a read past the end crashes. */
static bool reads(const Case *c, const uint8_t *data, size_t size, uint8_t *back)
{
    static RansReader reader;
    static Walled room;
    if (!room.end)
        room = walled(1 << 18);
    rans_reader(&reader, &c->rans);
    return rans_get(&reader, c->lanes, (Bytes){at_the_end(room, data, size), size}, c->n, back);
}

static Rng rng;

static int open_all(void **state)
{
    rng = rng_open(5, 0, 0, 0, rng_hash("rans"));
    return 0;
}

/* ---- frequencies ---- */

static double cost_of(const uint64_t *count, const uint32_t *frequency, uint32_t n, int precision)
{
    double bits = 0;
    for (uint32_t s = 0; s < n; s++)
        if (count[s])
            bits += (double)count[s] * (precision - log2((double)frequency[s]));
    return bits;
}

/* Returns the least cost in bits of symbols with these counts, over all integer frequencies that add up to
 * 2^precision. Each symbol starts at frequency 1; each further unit goes to the symbol whose cost falls most.
 * This greedy search is optimal, as the cost is convex in the frequencies. */
static double least_cost(const uint64_t *count, uint32_t n, int precision)
{
    uint32_t f[64] = {0}, sum = 0;
    for (uint32_t s = 0; s < n; s++)
        sum += f[s] = count[s] != 0;
    for (; sum < 1u << precision; sum++) {
        uint32_t best = n;
        double most = -1;
        for (uint32_t s = 0; s < n; s++) {
            const double saved = f[s] ? (double)count[s] * log2(1 + 1 / (double)f[s]) : -1;
            if (saved > most) {
                most = saved;
                best = s;
            }
        }
        f[best]++;
    }
    return cost_of(count, f, n, precision);
}

static void random_counts(uint64_t *count, uint32_t n, uint64_t trial)
{
    for (uint32_t s = 0; s < n; s++) {
        const uint64_t r = rng_u64(&rng, USE_TEST, trial * 64 + s);
        count[s] = r % 4 ? (r >> 20) % (UINT64_C(1) << (1 + (r >> 8) % (4 + trial % 20))) : 0;
    }
}

TEST(shares_are_the_best_to_a_thousandth)
{
    for (uint64_t trial = 0; trial < 240; trial++) {
        const uint32_t n = 2 + (uint32_t)(trial % 60);
        const int precision = 6 + (int)(trial % 10);
        uint64_t count[64], weight[64];
        uint32_t f[64] = {0}, sum = 0;
        Rans r = {.alphabet = n, .precision = precision};
        random_counts(count, n, trial);
        count[0]++, count[n - 1]++;
        for (uint32_t s = 0; s < n; s++)
            if (count[s]) {
                weight[r.present] = count[s];
                r.symbol[r.present++] = (uint16_t)s;
            }
        rans_share(&r, weight);
        for (uint32_t k = 0; k < r.present; k++) {
            check(r.frequency[k] >= 1);
            sum += f[r.symbol[k]] = r.frequency[k];
        }
        assert_int_equal(sum, 1 << precision);
        const double cost = cost_of(count, f, n, precision), least = least_cost(count, n, precision);
        check(cost >= least * (1 - 1e-9) && cost <= least * 1.001);
        check_near((double)rans_bits(&r, count, 0), cost, 1 + 1e-4 * cost);
    }
}

TEST(tables_come_back_at_their_stated_cost)
{
    size_t is_rounded = 0;
    for (uint64_t trial = 0; trial < 200; trial++) {
        static uint64_t count[3000];
        const uint32_t alphabet = trial % 2 ? 40 : 3000;
        memset(count, 0, sizeof count);
        for (uint64_t k = 0; k < trial; k++)
            count[rng_u64(&rng, USE_TEST, 1000 * trial + k) % alphabet] +=
                1 + rng_u64(&rng, USE_DATA, 1000 * trial + k) % (trial % 3 ? 100000 : 40);
        Rans r, back;
        check(rans_build(&r, alphabet, count));
        uint8_t data[2048] = {0};
        BitWriter w = bits_writer(data, sizeof data);
        rans_table_put(&r, &w);
        bits_close(&w);
        check(!w.full);
        BitReader in = bits_reader((Bytes){data, (size_t)(w.at - data)});
        check(rans_table_get(&back, alphabet, &in));
        assert_int_equal(in.at, rans_table_put(&r, NULL));
        check(bits_finish(&in));
        assert_memory_equal(&r, &back, sizeof r);
        is_rounded += r.present > 1 && r.detail < RANS_EXACT;
    }
    check(is_rounded > 10 && is_rounded < 150);
}

/* ---- streams ---- */

TEST(streams_equal_a_slow_writers_and_come_back)
{
    static const size_t ns[] = {0, 1, 2, 3, 4, 5, 15, 16, 17, 31, 100, 1000, 5003};
    static const uint32_t alphabets[] = {1, 2, 3, 16, 31, 256};
    static uint8_t slow[3 * 5003 + 64], back[5003];
    for (size_t a = 0; a < countof(alphabets); a++)
        for (size_t i = 0; i < countof(ns); i++)
            for (size_t l = 0; l < countof(lane_counts); l++)
                for (int kind = 0; kind < 6; kind++) {
                    const double slope = kind % 3 == 2 ? 3 : kind % 3 * 0.2;
                    Case c = make_case_at(&rng, ns[i], alphabets[a], slope, lane_counts[l],
                                          kind < 3 ? 0 : RANS_PRECISION_MOST - kind % 3);
                    check(reads(&c, c.stream, c.size, back));
                    assert_memory_equal(back, c.byte, c.n);
                    if (c.rans.present > 1) {
                        assert_int_equal(slow_put(&c.rans, c.lanes, c.byte, c.n, slow), c.size);
                        assert_memory_equal(slow, c.stream, c.size);
                    } else {
                        assert_int_equal(c.size, 0);
                    }
                    drop_case(&c);
                }
}

TEST(sizes_are_the_entropy_and_what_the_cost_function_says)
{
    for (int kind = 0; kind < 8; kind++)
        for (size_t l = 0; l < countof(lane_counts); l++) {
            const double slopes[] = {0, 0.1, 0.3, 0.7, 1, 2, 4, 6};
            Case c = make_case(&rng, 65536, 31, slopes[kind], lane_counts[l]);
            double entropy = 0;
            for (uint32_t s = 0; s < 31; s++)
                if (c.count[s])
                    entropy -= (double)c.count[s] * log2((double)c.count[s] / 65536);
            const double bits = 8 * (double)c.size, said = (double)rans_bits(&c.rans, c.count, c.lanes);
            /* the last term is for symbols rarer than 1 in 4096: each has one of the 4096 slots */
            check(bits >= entropy && bits <= entropy * 1.002 + 32 * c.lanes + 16.0 * c.rans.present);
            check_near(bits, said, 9 * c.lanes + 0.001 * said);
            drop_case(&c);
        }
}

TEST(every_instruction_set_writes_and_reads_the_same)
{
    static uint8_t room[ISA_COUNT][3 << 12], back[1 << 12];
    for (int kind = 0; kind < 8; kind++)
        for (size_t rows = 0; rows < 200; rows += 1 + rows / 4) {
            const bool fine = kind > 3;
            Case c = make_case_at(&rng, 16 * rows + 16, kind % 4 < 2 ? 31 : 256, kind % 2 ? 0.5 : 0,
                                  RANS_LANES, fine ? RANS_PRECISION_MOST - kind % 3 : RANS_PRECISION);
            RansWriter w;
            static RansReader reader;
            rans_writer(&w, &c.rans);
            rans_reader(&reader, &c.rans);
            size_t size[ISA_COUNT] = {0};
            uint32_t states[ISA_COUNT][16], first[16];
            for (int isa = 0; isa < ISA_COUNT && kernels_of((Isa)isa); isa++) {
                const Kernels *k = kernels_of((Isa)isa);
                uint8_t *end = room[isa] + sizeof room[isa];
                for (int l = 0; l < 16; l++)
                    states[isa][l] = 1u << 16;
                const uint8_t *at = k->rans_put(w.slice, c.rans.precision, c.byte, rows, states[isa], end);
                size[isa] = (size_t)(end - at);
                assert_int_equal(size[isa], size[0]);
                assert_memory_equal(states[isa], k == kernels_of(ISA_BASE) ? states[isa] : first,
                                    sizeof first);
                memcpy(first, states[isa], sizeof first);
                assert_memory_equal(at, room[0] + sizeof room[0] - size[0], size[0]);
                const int p = c.rans.precision;
                RansRun run = {.slot = fine ? (const void *)reader.fine : reader.slot,
                               .slice = reader.slice,
                               .precision = p,
                               .byte = back,
                               .state = states[isa],
                               .at = at,
                               .end = end};
                const size_t got = (fine ? k->rans_get_fine : k->rans_get)(&run, 1, rows);
                /* a row is 16 symbols; the kernel may leave the last rows to its caller */
                check(got <= rows && end - run.at < 32);
                assert_memory_equal(back, c.byte, 16 * got);
            }
            drop_case(&c);
        }
}

/* Every frequency, and states round the multiples of it and at the ends of the range. */
TEST(quotients_by_inverses_are_exact)
{
    static RansWriter w;
    for (uint32_t f = 1; f < RANS_FINE_SLOTS; f++) {
        const uint32_t other = RANS_FINE_SLOTS - f;
        const Rans r = {.alphabet = 2,
                        .present = 2,
                        .precision = RANS_PRECISION_MOST,
                        .symbol = {0, 1},
                        .frequency = {(uint16_t)f, (uint16_t)other}};
        rans_writer(&w, &r);
        check(w.step[0].complement == other && w.step[0].limit == f << 17);
        for (uint32_t i = 0; i < 40; i++) {
            const uint32_t drawn = rng_u32(&rng, USE_TEST, 64 * f + i), many = UINT32_MAX / f * f;
            const uint32_t xs[] = {drawn, drawn / f * f, drawn / f * f - 1, many - (many > 0),
                                   many,  UINT32_MAX};
            const uint32_t x = xs[i % countof(xs)] ? xs[i % countof(xs)] : 1;
            const uint64_t q = (uint64_t)((unsigned __int128)x * w.step[0].inverse >> 64);
            const uint32_t next = x + w.step[0].start + (uint32_t)q * w.step[0].complement;
            check(next == (x / f << RANS_PRECISION_MOST) + x % f);
        }
    }
}

/* Streams of equal length, with different tables: of two symbols, of many, with fine frequencies, and, for `same`, of
 * one symbol only. */
TEST(several_streams_are_those_written_alone)
{
    static RansWriter writer[RANS_SEVERAL];
    static RansReader reader[RANS_SEVERAL];
    static uint8_t back[RANS_SEVERAL][1 << 12], slow[1 << 14];
    for (int kind = 0; kind < 4; kind++)
        for (size_t n = 1; n < 1 << 12; n += 1 + n / 3) {
            Case c[RANS_SEVERAL];
            const RansWriter *w[RANS_SEVERAL];
            const RansReader *r[RANS_SEVERAL];
            const uint8_t *byte[RANS_SEVERAL];
            uint8_t *end[RANS_SEVERAL], *to[RANS_SEVERAL];
            size_t size[RANS_SEVERAL];
            for (int k = 0; k < RANS_SEVERAL; k++) {
                const bool fine = kind == 1 && k == 2, same = kind == 2 && k == 1;
                c[k] = make_case_at(&rng, n,
                                    same    ? 1
                                    : k % 2 ? 3
                                            : 200,
                                    k % 2 ? 3 : 0.3 * kind, 1, fine ? RANS_PRECISION_MOST : 0);
                rans_writer(&writer[k], &c[k].rans);
                rans_reader(&reader[k], &c[k].rans);
                w[k] = &writer[k];
                r[k] = &reader[k];
                byte[k] = c[k].byte;
                end[k] = c[k].room + rans_most(n, 1);
                to[k] = back[k];
            }
            rans_put_several(w, byte, n, end, size);
            RansLanes lanes[RANS_SEVERAL], *l[RANS_SEVERAL];
            Reader words[RANS_SEVERAL], *in[RANS_SEVERAL];
            bool good[RANS_SEVERAL];
            for (int damage = 0; damage < 2; damage++) {
                for (int k = 0; k < RANS_SEVERAL; k++) {
                    const size_t cut = damage && k == 3 && size[k] > 4 ? 2 : 0;
                    words[k] = reader_open((Bytes){end[k] - size[k], size[k] - cut});
                    check(rans_open(r[k], &lanes[k], 1, &words[k]));
                    l[k] = &lanes[k];
                    in[k] = &words[k];
                }
                memset(back, 0xee, sizeof back);
                rans_pull_several(r, l, in, RANS_SEVERAL, n, to, good);
                for (int k = 0; k < RANS_SEVERAL; k++) {
                    const bool cut = damage && k == 3 && size[k] > 4;
                    check(good[k] == !cut);
                    check(cut || (rans_ended(r[k], l[k], in[k]) && !memcmp(back[k], c[k].byte, n)));
                }
            }
            for (int k = 0; k < RANS_SEVERAL; k++) {
                const size_t want = c[k].rans.present > 1 ? slow_put(&c[k].rans, 1, c[k].byte, n, slow) : 0;
                check(size[k] == want && !memcmp(end[k] - size[k], slow, want));
                drop_case(&c[k]);
            }
        }
}

/* Two streams of sixteen lanes: of two symbols, of many, with fine frequencies, of one symbol only, and a damaged one. */
TEST(pairs_of_streams_are_read_like_each_alone)
{
    static RansReader reader[RANS_RUNS];
    static uint8_t back[RANS_RUNS][1 << 12];
    for (uint32_t kind = 0; kind < 36; kind++)
        for (size_t n = 1; n < 1 << 12; n += 1 + n / 3) {
            Case c[RANS_RUNS];
            const RansReader *r[RANS_RUNS];
            RansLanes lanes[RANS_RUNS], *l[RANS_RUNS];
            Reader words[RANS_RUNS], *in[RANS_RUNS];
            uint8_t *to[RANS_RUNS];
            bool good[RANS_RUNS];
            const bool damage = kind % 2;
            for (uint32_t k = 0; k < RANS_RUNS; k++) {
                static const struct {
                    uint32_t alphabet;
                    double slope;
                    int precision;
                } tables[] = {{200, 0.02, 0}, {3, 2, RANS_PRECISION_MOST}, {1, 0, 0}};
                const uint32_t of = kind / 2 / (k ? 3 : 1) % 3;
                c[k] = make_case_at(&rng, n, tables[of].alphabet, tables[of].slope, RANS_LANES, tables[of].precision);
                rans_reader(&reader[k], &c[k].rans);
                const size_t cut = damage && k && c[k].size > 4 * RANS_LANES ? 2 : 0;
                words[k] = reader_open((Bytes){c[k].stream, c[k].size - cut});
                r[k] = &reader[k], l[k] = &lanes[k], in[k] = &words[k], to[k] = back[k];
                check(rans_open(r[k], l[k], RANS_LANES, in[k]));
            }
            rans_pull_several(r, l, in, RANS_RUNS, n, to, good);
            for (uint32_t k = 0; k < RANS_RUNS; k++) {
                const bool cut = damage && k && c[k].size > 4 * RANS_LANES;
                check(good[k] == !cut);
                check(cut || (rans_ended(r[k], l[k], in[k]) && !memcmp(back[k], c[k].byte, n)));
                drop_case(&c[k]);
            }
        }
}

TEST(the_example_of_the_format_page_is_so)
{
    static const uint8_t byte[] = {0, 1, 0, 3, 0, 1, 0};
    static const uint8_t table[] = {0x4f, 0x75, 0x98, 0xa5, 0x00}, stream[] = {0x45, 0x3d, 0x32, 0x03};
    static const uint64_t count[4] = {4, 2, 0, 1};
    uint8_t out[32] = {0}, room[32];
    Rans r;
    RansWriter writer;
    check(rans_build(&r, 4, count));
    rans_writer(&writer, &r);
    BitWriter w = bits_writer(out, sizeof out);
    rans_table_put(&r, &w);
    bits_close(&w);
    check((size_t)(w.at - out) == sizeof table && !memcmp(out, table, sizeof table));
    const size_t size = rans_put(&writer, 1, byte, countof(byte), room + sizeof room);
    check(size == sizeof stream && !memcmp(room + sizeof room - size, stream, size));
}

/* ---- tables and streams that no encoder writes ---- */

TEST(a_wrong_last_state_is_refused_as_no_stream_has_two_meanings)
{
    static uint8_t back[1001], again[3000];
    for (size_t l = 0; l < countof(lane_counts); l++) {
        size_t refused = 0;
        Case c = make_case(&rng, 1000, 16, 0.3, lane_counts[l]);
        uint8_t *copy = malloc(c.size + 2);
        for (size_t bit = 0; bit < 8 * c.size; bit++) {
            memcpy(copy, c.stream, c.size);
            copy[bit / 8] ^= (uint8_t)(1u << bit % 8);
            if (!reads(&c, copy, c.size, back)) {
                refused++;
                continue;
            }
            assert_int_equal(slow_put(&c.rans, c.lanes, back, c.n, again), c.size); /* same bytes again */
            assert_memory_equal(again, copy, c.size);
        }
        check(refused > 7 * c.size);
        memcpy(copy, c.stream, c.size);
        for (size_t size = 0; size < c.size; size++)
            check(!reads(&c, copy, size, back));
        copy[c.size] = copy[c.size + 1] = 0;
        check(!reads(&c, copy, c.size + 1, back) && !reads(&c, copy, c.size + 2, back));
        check(reads(&c, copy, c.size, back));
        store_u32(copy, 65535); /* an initial state must be at least 2^16 */
        check(!reads(&c, copy, c.size, back));
        c.n++; /* one symbol more than the stream has */
        check(!reads(&c, c.stream, c.size, back));
        c.n--;
        free(copy);
        drop_case(&c);
    }
}

typedef struct {
    int precision;
    /* `runs`: number of runs of consecutive symbols that occur; `present`: number of weights after the runs */
    size_t runs, present;
    /* two numbers per run: the number of absent symbols before the run (plus 1 in the first run), and the
     * length of the run */
    uint64_t run[6];
    bool good;
} Table;

/* With precision 4, a table of more than 16 symbols is refused, as is a weight of more than RANS_PRECISION_MOST
 * bits. */
TEST(tables_beyond_their_precision_are_refused)
{
    for (uint64_t listed = 15; listed < 19; listed++)
        for (uint64_t first = 18; first < 24; first++) {
            uint8_t data[64] = {0};
            BitWriter w = bits_writer(data, sizeof data);
            bits_put(&w, 4, 4);
            bits_put(&w, 0, 4);
            gamma_put(&w, 2);
            gamma_put(&w, 1);
            gamma_put(&w, listed);
            gamma_put(&w, 1 + 2 * (first - 6 - 6));
            for (uint64_t k = 1; k < listed; k++)
                gamma_put(&w, 1);
            bits_close(&w);
            BitReader in = bits_reader((Bytes){data, (size_t)(w.at - data)});
            Rans r;
            check(rans_table_get(&r, 100, &in) == (listed <= 16 && first - 6 <= RANS_PRECISION_MOST));
        }
}

CHECK_ALL(open_all, NULL)
