/* kernels_list.h -- every hot loop once: LOOP(result, name, (parameters)), listed under the room that calls it, its contract
 * above it. The file that includes this list says by its LOOP what becomes of an entry: a member of the table (kernels.h), a
 * declaration (vec.h), an initialiser (kernels_vec.c).
 *
 * x (n) is a vector of floats, n may be 0 where nothing else is said. "Words" are rng.h's random words: element i of x takes
 * word first + i of the key's block. */

/* ---- several rooms: sums ---- */

/* Sum of x_i^2; the products are exact and added in double. */
LOOP(double, sum_squares, (const float *x, size_t n))
/* Sum of |x_i|, in double. */
LOOP(double, sum_magnitudes, (const float *x, size_t n))
/* The largest |x_i|; 0 for n = 0. */
LOOP(float, abs_max, (const float *x, size_t n))
/* Sums of x_i and of x_i^2, in double. */
LOOP(void, moments, (const float *x, size_t n, double *sum, double *squares))
/* Sums over magnitudes outside a range, 0 < low: sum[0] and sum[1] are those of |x| and x^2 where |x| < low, sum[2] that of
 * all x^2. The magnitudes in [low, high) go to `between` in order, which has room for n + ROOM_BEHIND; returns how many
 * they are. */
LOOP(size_t, sums_around, (const float *x, size_t n, float low, float high, float *between, double sum[3]))
/* code[i] = how many of the values `above` (count < 256) x_i is above. */
LOOP(void, stretches, (const float *x, size_t n, const float *above, size_t count, uint8_t *code))
/* y_i = x_i scale, with its sign changed where bit i % 32 of word first + i / 32 is set; y may be x. */
LOOP(void, flip_signs, (const float *x, size_t n, float scale, RngKey key, uint32_t first, float *y))

/* ---- num/ ---- */

/* Sum of |x_i - y_i|, in double. */
LOOP(double, sum_gaps, (const float *x, const float *y, size_t n))
/* Sets bit i % 64 of bits[i / 64] where |x_i| >= least; bits from n on are 0. Returns how many are set. */
LOOP(size_t, mark_from, (const float *x, size_t n, float least, uint64_t *bits))

/* Matrices are row-major. g (cols, cols) = a' a for a (rows, cols), cols <= FEW_COLS; exact products added in double. */
LOOP(void, gram_rows, (const float *a, size_t rows, size_t cols, double *g))
/* u[k] = a v[k] for count <= 4 vectors, summed in double: u[k] is `rows` floats at any address, v (cols, 4) holds the vectors
 * interleaved. */
LOOP(void, project_rows,
     (const float *a, size_t rows, size_t cols, const double *v, size_t count, uint8_t *const u[4]))
/* x (rows, cols) = sum over k < count <= 4 of u[k] v[k]'; added to x when `add`. */
LOOP(void, outer_rows,
     (const float *const u[4], const float *const v[4], size_t count, size_t rows, size_t cols, bool add,
      float *x))
/* p[k][r] = row r of a . q[k] for count <= 4 vectors of floats; exact products added in double. */
LOOP(void, rows_dot,
     (const float *a, size_t rows, size_t cols, const float *const q[4], size_t count, float *const p[4]))
/* sum[k] += a' p[k] for count <= 4 vectors of floats, where rows of a are `stride` apart; exact products added in double. */
LOOP(void, rows_add,
     (const float *a, size_t stride, size_t rows, size_t cols, const float *const p[4], size_t count,
      double *const sum[4]))

/* Walsh-Hadamard butterflies in place, by rising stride: of each of `runs` runs of HADAMARD_RUN elements, unscaled. */
LOOP(void, hadamard_runs, (float *x, size_t runs))
/* The same between 2^log_rows rows that are `stride` apart and `cols` long, times `scale`; cols is whole vectors, and the rows
 * have HADAMARD_TILE elements at most together. */
LOOP(void, hadamard_rows, (float *x, size_t stride, int log_rows, size_t cols, float scale))

/* One level of a wavelet transform: smooth_k = sum over t of w->smooth[t] x_(2k + t), detail_k with w->detail, from 2 pairs +
 * taps - 2 elements of x. Summed in double. */
LOOP(void, wavelet_split,
     (const WaveletFilter *w, const float *x, size_t pairs, float *smooth, float *detail))
/* Its transpose: pair k of x from smooths and details k, k - 1, ..., k - taps / 2 + 1, so that taps / 2 - 1 of each stand in front
 * of the pointers. */
LOOP(void, wavelet_join,
     (const WaveletFilter *w, const float *smooth, const float *detail, size_t pairs, float *x))

/* One layer of the dynamic program of knots.h: for from <= j < to, next[j] = min over low <= i <= high, i < j of a[i] +
 * (b[i] x[j] - x[i] b[j]), and back[j] the first i that has the minimum, which must not fall as j rises; low < from. All arrays
 * have ROOM_BEHIND places to spare, and those of `next` and `back` are overwritten; next may be a where high < from.
 * to <= 2^16. */
LOOP(void, knot_layer,
     (const double *x, const double *b, const double *a, size_t low, size_t high, size_t from, size_t to,
      double *next, uint16_t *back))

/* ---- coder/ ---- */

/* Bit planes of groups of 64 codes (planes.h): word k of a group holds bit k of each code, bits of a code from `width` on are
 * left out. width <= 8 for bytes. */
LOOP(void, pack8, (const uint8_t *code, size_t groups, int width, uint8_t *plane))
LOOP(void, pack32, (const uint32_t *code, size_t groups, int width, uint8_t *plane))
LOOP(void, unpack8, (const uint8_t *plane, size_t groups, int width, uint8_t *code))
LOOP(void, unpack32, (const uint8_t *plane, size_t groups, int width, uint32_t *code))
/* Adds `count` sets of bit planes without unpacking them, into `width` planes: groups from .. the one returned, which is less than a
 * vector before `to`. *above becomes true where a code is above its set's `most`. */
LOOP(size_t, add_planes,
     (const PlaneSet *in, size_t count, size_t from, size_t to, int width, uint8_t *out, bool *above))

/* Trits of groups of 320 codes 0, 1 or 3, in 64 bytes each (planes.h); back: false when a byte is above 242. */
LOOP(void, pack_trits, (const uint8_t *code, size_t groups, uint8_t *byte))
LOOP(bool, unpack_trits, (const uint8_t *byte, size_t groups, uint8_t *code))

/* Signs of groups of 64 elements, a bit each from the low end: set where x < 0, so that both zeros are plus. Back: `minus`
 * where the bit is set, else `plus`. */
LOOP(void, sign_bits, (const float *x, size_t groups, uint8_t *bit))
LOOP(void, sign_values, (const uint8_t *bit, size_t groups, float plus, float minus, float *x))

/* at[] = the indices of the codes that are not 0, n <= BLOCK; returns how many. `at` has room for n + ROOM_BEHIND. */
LOOP(size_t, places32, (const uint32_t *code, size_t n, uint16_t *at))
/* The same with the codes: entry[] = (index + 1) << ENTRY_SHIFT | code. */
LOOP(size_t, entries8, (const uint8_t *code, size_t n, uint32_t *entry))
/* Writes the codes of the first few of `count` entries, and returns how many: those that the vector loop handles, perhaps
 * none. Index gaps count from entry[-1]. */
LOOP(size_t, put_entries, (const uint32_t *entry, size_t count, int bits, BitWriter *w))

/* Adds to the census what the code lengths of one run depend on (levels.h). */
LOOP(void, census8, (const uint8_t *code, size_t n, int bits, Census *census))
LOOP(void, census32, (const uint32_t *code, size_t n, int bits, Census *census))

/* Rows of 16 symbols of 16 lanes (rans.h): `slice` by symbol is frequency:16 | start:16, `slot` by the low `precision` bits
 * of a state is symbol:8 | frequency:12 | offset:12. rans_put writes words in front of `at`, where two bytes more than they
 * need are free, and returns the new front; rans_get reads them from *at on while 32 bytes are left, and returns how many
 * rows it has read. */
LOOP(uint8_t *, rans_put,
     (const uint32_t *slice, int precision, const uint8_t *byte, size_t rows, uint32_t state[16],
      uint8_t *at))
LOOP(size_t, rans_get,
     (const uint32_t *slot, int precision, uint8_t *byte, size_t rows, uint32_t state[16], const uint8_t **at,
      const uint8_t *end))
/* rans_get where `slot` holds the symbol alone, with three bytes to spare, and `slice` by symbol has the rest. */
LOOP(size_t, rans_get_fine,
     (const uint8_t *slot, const uint32_t *slice, int precision, uint8_t *byte, size_t rows,
      uint32_t state[16], const uint8_t **at, const uint8_t *end))

/* ---- compress/levels/ ---- */

/* Codes of x by quantise.h; toss8 by the coin of coin.h. */
LOOP(void, quantise8, (const float *x, size_t n, Quantiser q, RngKey key, uint32_t first, uint8_t *code))
LOOP(void, quantise32, (const float *x, size_t n, Quantiser q, RngKey key, uint32_t first, uint32_t *code))
LOOP(void, toss8, (const float *x, size_t n, Coin coin, RngKey key, uint32_t first, uint8_t *code))
/* Values of codes; false when one has a level above s or a sign without a level. */
LOOP(bool, dequantise8, (const uint8_t *code, size_t n, Dequantiser d, float *x))
LOOP(bool, dequantise32, (const uint32_t *code, size_t n, Dequantiser d, float *x))

/* Codes of levels that double (ladder.h); back: false when one has a sign without a level. */
LOOP(void, climb, (const float *x, size_t n, Ladder l, RngKey key, uint32_t first, uint8_t *code))
LOOP(bool, descend, (const uint8_t *code, size_t n, Ladder l, float *x))

/* The smallest and the largest element, n > 0; zeros are +0. */
LOOP(void, range, (const float *x, size_t n, float *low, float *high))
/* Levels of x - low >= 0 by quantise.h, without signs; key NULL: the nearest levels. Back: low + level unit drop, at most
 * `high`. */
LOOP(void, grade8,
     (const float *x, size_t n, float low, Quantiser q, const RngKey *key, uint32_t first, uint8_t *code))
LOOP(void, grade32,
     (const float *x, size_t n, float low, Quantiser q, const RngKey *key, uint32_t first, uint32_t *code))
LOOP(void, graded8, (const uint8_t *code, size_t n, float low, float high, Dequantiser d, float *x))
LOOP(void, graded32, (const uint32_t *code, size_t n, float low, float high, Dequantiser d, float *x))

/* 16-bit floats, little-endian; a magnitude beyond the largest finite one becomes that one. The random ones round up or down
 * with the probabilities that keep the mean. Back: false when one is infinite or NaN. */
LOOP(void, fp16_nearest, (const float *x, size_t n, uint8_t *out))
LOOP(void, fp16_random, (const float *x, size_t n, RngKey key, uint32_t first, uint8_t *out))
LOOP(bool, fp16_floats, (const uint8_t *in, size_t n, float *x))
LOOP(void, bf16_nearest, (const float *x, size_t n, uint8_t *out))
LOOP(void, bf16_random, (const float *x, size_t n, RngKey key, uint32_t first, uint8_t *out))
LOOP(bool, bf16_floats, (const uint8_t *in, size_t n, float *x))

/* Rounds |x| to one of its two neighbouring powers of two so that the mean is kept, n <= BLOCK: power[i] is the power's exponent
 * field, 0 where x_i became zero; sign[i] is 1 where x_i < 0 and did not become zero. False when an |x| is beyond
 * 2^127. Back: false when a field is 255 or a zero has a sign. */
LOOP(bool, powers, (const float *x, size_t n, RngKey key, uint8_t *power, uint8_t *sign))
LOOP(bool, power_floats, (const uint8_t *power, const uint8_t *sign, size_t n, float *x))

/* ---- compress/atoms/ ---- */

/* Sum of |x_i| in double, and the candidates of a coin, n <= BLOCK: every element that coin_keep(coin, x_i, key, i) would
 * keep, at coin's scale or a larger one, and about one in 2^30 of the other elements. Writes the index and value of each in
 * order and returns how many; `at` and `value` have room for n + ROOM_BEHIND. */
LOOP(size_t, coin_sift,
     (const float *x, size_t n, Coin coin, const RngKey *key, uint32_t *at, float *value, double *sum))

/* ---- compress/signs/ ---- */

/* Sums of |x| over x >= 0 and over x < 0, in double. */
LOOP(void, sign_sums, (const float *x, size_t n, double sum[2]))

/* ---- compress/rotated/ ---- */

/* code[i] = the index of the level nearest to |x_i|, with the sign of x_i in bit s->bits. Returns the sum of x_i times its level
 * with that sign. */
LOOP(double, nearest_levels, (const float *x, size_t n, const LevelScale *s, uint8_t *code))

/* ---- compress/lowrank/ ---- */

/* out[i] = sum over `count` workers w of in[w][i], from <= i < to, little-endian float32 at any address, added in double in
 * order. False when an addend's magnitude is above part_most or a sum's above `most`. */
LOOP(bool, add_up,
     (const uint8_t *const *in, size_t count, size_t from, size_t to, float part_most, double most,
      uint8_t *out))

/* ---- compress/sketch/ ---- */

/* The bucket of each of n elements: floor(word buckets / 2^32). */
LOOP(void, hash_buckets, (RngKey key, uint32_t first, size_t n, uint32_t buckets, uint32_t *bucket))
/* The same for the elements with the given indices in the block. */
LOOP(void, hash_places, (RngKey key, const uint32_t *at, size_t n, uint32_t buckets, uint32_t *bucket))
/* Medians, column by column, of `rows` <= MEDIAN_MOST vectors that are `stride` >= n apart: half the sum of the middle two
 * where rows is even; zeros are +0. Reads up to 15 elements behind each vector. */
LOOP(void, medians, (const float *x, size_t stride, size_t rows, size_t n, float *median))
/* slot[i] = from[c] + floor(word size[c] / 2^32), c = code[i] < clusters. `from` and `size` have room for ROOM_BEHIND at
 * least. */
LOOP(void, cluster_slots,
     (RngKey key, uint32_t first, size_t n, const uint8_t *code, size_t clusters, const uint32_t *from,
      const uint32_t *size, uint32_t *slot))

/* ---- measure/ ---- */

/* The sums G_... over x, in double. `above`: thresholds on |x|, none negative. */
LOOP(void, gradient_sums, (const float *x, size_t n, const double above[THRESHOLDS], double sum[G_SUMS]))
/* The sums E_... of a decoded y against x, and the largest |y - x|, in double. */
LOOP(void, error_sums,
     (const float *x, const float *y, size_t n, const double above[THRESHOLDS], double sum[E_SUMS],
      double *largest))
/* Welford's recurrence on d = y - x, the count-th (from 1). Kept per element are half the mean and the root of m2, so that
 * both stay in float32's range where d does; the sums over this step are exact. */
LOOP(void, spread_add,
     (const float *x, const float *y, size_t n, double count, float *half, float *root, double sum[S_STEPS]))
/* The other sums S_..., once all steps are in. */
LOOP(void, spread_sums, (const float *x, const float *half, const float *root, size_t n, double sum[S_SUMS]))
