/* kernels_list.h -- lists every hot loop once, as LOOP(result, name, (parameters)), with its contract above
 * it. A file that includes this list first defines LOOP: as a member of the table (kernels.h), as a
 * declaration (vec.h) or as an initialiser (kernels_vec.c). The section heads name the folders that call the
 * loops.
 *
 * x (n) means that x is a vector of n floats; n may be 0 unless the contract says otherwise. With the
 * parameters `key` and `first`, element i of x uses the random word (rng.h) with index `first` + i in the
 * block of `key`, unless the contract says otherwise. A matrix a (rows, cols) is row-major. "In double" means
 * that terms are added in double. */

/* ---- sums that files of several folders use ---- */

/* Returns the sum of x_i^2. The squares are exact and are added in double. */
LOOP(double, sum_squares, (const float *x, size_t n))
/* Returns the sum of |x_i|, added in double. */
LOOP(double, sum_magnitudes, (const float *x, size_t n))
/* Returns the largest |x_i|, where NaN is larger than infinity; 0 for n = 0. */
LOOP(float, abs_max, (const float *x, size_t n))
/* Sets y_i to a_i + factor b_i; y may be a or b. */
LOOP(void, add_scaled, (const float *a, const float *b, float factor, size_t n, float *y))
/* Sets y_i to factor x_i; y may be x. */
LOOP(void, scale, (const float *x, float factor, size_t n, float *y))
/* Writes the sums of x_i and of x_i^2, both added in double. */
LOOP(void, moments, (const float *x, size_t n, double *sum, double *squares))
/* Sets sum[0] and sum[1] to the sums of |x_i| and x_i^2 over |x_i| < low, where low > 0; sum[2] to the sum of
 * x_i^2 over all elements. Copies the magnitudes in [low, high), in order, to `between`, and returns their
 * number. `between` has room for n + ROOM_BEHIND floats. */
LOOP(size_t, sums_around, (const float *x, size_t n, float low, float high, float *between, double sum[3]))
/* Sets code[i] to the number of thresholds above[j] < x_i, j < count; count < 256. */
LOOP(void, stretches, (const float *x, size_t n, const float *above, size_t count, uint8_t *code))
/* Sets y_i to scale x_i, or to -scale x_i if bit i % 32 of random word first + i / 32 is set. y may be x. */
LOOP(void, flip_signs, (const float *x, size_t n, float scale, RngKey key, uint32_t first, float *y))

/* Sets out_l to the sum over t < count of in_t times value t of wave l < n: a cosine at equally spaced angles, given by its present and
 * previous value, which change, and by twice the cosine of the spacing. Arrays do not overlap; sums are added in the order of t. */
LOOP(void, add_waves, (const double *in, size_t count, size_t n, double *now, double *before, const double *twice, double *out))

/* ---- num/ ---- */

/* Returns the sum of |x_i - y_i|, added in double. */
LOOP(double, sum_gaps, (const float *x, const float *y, size_t n))
/* Sets bit i % 64 of bits[i / 64] if |x_i| >= least, clears the other bits, and returns the number of set
 * bits. */
LOOP(size_t, mark_from, (const float *x, size_t n, float least, uint64_t *bits))

/* Sets g (cols, cols) to a' a for a (rows, cols), cols <= FEW_COLS. The products are exact and are added in
 * double. */
LOOP(void, gram_rows, (const float *a, size_t rows, size_t cols, double *g))
/* Sets u[k] to a v_k for `count` <= 4 vectors v_k, added in double. Vector v_k is column k of v (cols, 4). u[k]
 * has `rows` floats and need not be aligned. */
LOOP(void, project_rows,
     (const float *a, size_t rows, size_t cols, const double *v, size_t count, uint8_t *const u[4]))
/* Sets x (rows, cols) to the sum of the rank-one matrices u[k] v[k]' over k < count <= 4; if `add`, adds the
 * sum to x instead. */
LOOP(void, outer_rows,
     (const float *const u[4], const float *const v[4], size_t count, size_t rows, size_t cols, bool add,
      float *x))
/* Sets p[k] to a q[k] for `count` <= 4 float vectors q[k]. The products are exact and are added in double. */
LOOP(void, rows_dot,
     (const float *a, size_t rows, size_t cols, const float *const q[4], size_t count, float *const p[4]))
/* Adds a' p[k] to sum[k] for `count` <= 4 float vectors p[k]. The rows of a start `stride` floats apart. The
 * products are exact and are added in double. */
LOOP(void, rows_add,
     (const float *a, size_t stride, size_t rows, size_t cols, const float *const p[4], size_t count,
      double *const sum[4]))

/* Applies the unscaled Walsh-Hadamard transform in place to each of `runs` runs of HADAMARD_RUN elements. */
LOOP(void, hadamard_runs, (float *x, size_t runs))
/* Applies the Walsh-Hadamard transform in place to each column of a matrix with 2^log_rows rows, and multiplies
 * by `scale`. Rows start `stride` floats apart. `cols` is a multiple of the vector width, and the matrix has at
 * most HADAMARD_TILE elements. */
LOOP(void, hadamard_rows, (float *x, size_t stride, int log_rows, size_t cols, float scale))

/* Computes one level of a wavelet transform, in double: smooth_k = sum over taps t of w->smooth[t] x_(2k + t)
 * for k < pairs, and detail_k with w->detail in the same way. Reads 2 pairs + taps - 2 elements of x. */
LOOP(void, wavelet_split,
     (const WaveletFilter *w, const float *x, size_t pairs, float *smooth, float *detail))
/* The transpose of `wavelet_split`: computes x_2k and x_(2k + 1) for k < pairs from smooth_i and detail_i, i
 * = k - taps / 2 + 1 .. k. So it reads taps / 2 - 1 elements before `smooth` and before `detail`. */
LOOP(void, wavelet_join,
     (const WaveletFilter *w, const float *smooth, const float *detail, size_t pairs, float *x))

/* Computes one layer of the dynamic program of compress/levels/zipml.c. For from <= j < to, next[j] becomes the minimum of
 * a[i] + (b[i] x[j] - x[i] b[j]) over low <= i <= high, i < j; back[j] becomes the first i with this minimum.
 * The caller ensures that back[j] never falls as j rises, low < from, and to <= 2^16. Every array has room
 * for ROOM_BEHIND more elements, which are overwritten in `next` and `back`. `next` may be `a` if high <
 * from. */
LOOP(void, knot_layer,
     (const double *x, const double *b, const double *a, size_t low, size_t high, size_t from, size_t to,
      double *next, uint16_t *back))

/* Sorts the n floats x, none of them NaN or -0, into `sorted`, and overwrites x. n is a power of two from SORT_LEAST to
 * SORT_MOST. */
LOOP(void, sort_floats, (float *x, size_t n, float *sorted))

/* Sets at[i] to floor(word (range + i) / 2^64), where `word` is the 64-bit random number i: rng_word, then
 * rng_word_more. range + count <= 2^17. */
LOOP(void, picks, (const RngKey *key, uint32_t count, uint32_t range, uint32_t *at))

/* ---- coder/ ---- */

/* pack8 and pack32 convert groups of 64 codes to bit planes (planes.h): word k of a group has bit k of
 * each of its 64 codes. unpack8 and unpack32 convert bit planes to codes. Only the low `width` bits of a
 * code are converted. width <= 8 for pack8 and unpack8. */
LOOP(void, pack8, (const uint8_t *code, size_t groups, int width, uint8_t *plane))
LOOP(void, pack32, (const uint32_t *code, size_t groups, int width, uint8_t *plane))
LOOP(void, unpack8, (const uint8_t *plane, size_t groups, int width, uint8_t *code))
LOOP(void, unpack32, (const uint8_t *plane, size_t groups, int width, uint32_t *code))
/* Adds the codes of `count` sets of bit planes without unpacking them, and writes the sums as planes of
 * `width` bits. `from` and `to` are indices of groups of 64 codes. Adds the groups from `from` on, as many as
 * fill whole vectors before `to`. Returns the index of the first group not added. Sets *above to true if a
 * code is larger than the `most` of its set. */
LOOP(size_t, add_planes,
     (const PlaneSet *in, size_t count, size_t from, size_t to, int width, uint8_t *out, bool *above))

/* pack_trits converts groups of 320 codes, each 0, 1 or 3, to base-3 digits in 64 bytes (planes.h).
 * unpack_trits converts the bytes to codes, and returns false if a byte is above 242. */
LOOP(void, pack_trits, (const uint8_t *code, size_t groups, uint8_t *byte))
LOOP(bool, unpack_trits, (const uint8_t *byte, size_t groups, uint8_t *code))

/* `sign_bits` writes one bit per element of x: 1 if x_i < 0, and 0 for both zeros, from low to high in groups
 * of 64 elements. `sign_values` writes `minus` for a bit 1, and `plus` for a bit 0. */
LOOP(void, sign_bits, (const float *x, size_t groups, uint8_t *bit))
LOOP(void, sign_values, (const uint8_t *bit, size_t groups, float plus, float minus, float *x))

/* Writes the indices of the non-zero codes to `at`, and returns their number. `at` has room for n + ROOM_BEHIND
 * indices; n <= BLOCK. */
LOOP(size_t, places32, (const uint32_t *code, size_t n, uint16_t *at))
/* Writes (index + 1) << ENTRY_SHIFT | code to `entry` for each non-zero code, and returns the number of
 * entries. `entry` has room for n + ROOM_BEHIND words; n <= BLOCK. */
LOOP(size_t, entries8, (const uint8_t *code, size_t n, uint32_t *entry))
/* Writes the Elias codes of entries (see `entries8`) up to the first entry that the SIMD loop cannot write.
 * Returns the number of entries written, which may be 0. The first index gap counts from the index in
 * entry[-1]. */
LOOP(size_t, put_entries, (const uint32_t *entry, size_t count, int bits, BitWriter *w))

/* Splits codes of `width` bits into symbols 2 class + sign, and writes the bits of the magnitudes that a class with `lead`
 * bits does not determine (symbols.h, kind 3). Returns the number of codes split, from the first on, which may be 0. */
LOOP(size_t, split_classes,
     (const uint32_t *code, size_t n, int width, int lead, uint16_t *symbol, BitWriter *w))

/* Add the counts of one run of codes (`Census`) to `census`. */
LOOP(void, census8, (const uint8_t *code, size_t n, int bits, Census *census))
LOOP(void, census32, (const uint32_t *code, size_t n, int bits, Census *census))

/* Encode and decode rANS (rans.h) with 16 lanes (coder states). A row is 16 symbols, one per lane.
 * slice[symbol] has the bits frequency:16 start:16. `rans_put` writes 16-bit words downwards from `at`, and returns the
 * lowest address written; 16 more bytes below must be writable, and `precision` is at least 12. `rans_get` reads rows of
 * each run (1 or RANS_RUNS of them, of one precision) while 32 bytes or more are left in all runs, and returns the number of rows read. */
LOOP(uint8_t *, rans_put,
     (const uint32_t *slice, int precision, const uint8_t *byte, size_t rows, uint32_t state[16],
      uint8_t *at))
LOOP(size_t, rans_get, (RansRun *run, int runs, size_t rows))
/* Like rans_get, for frequencies of more than RANS_PRECISION bits. */
LOOP(size_t, rans_get_fine, (RansRun *run, int runs, size_t rows))

/* ---- compress/levels/ ---- */

/* Round x to codes at random, without bias: `quantise8` and `quantise32` to the levels of quantise.h, `toss8`
 * to 0 or 1 with the probabilities of coin.h. */
LOOP(void, quantise8, (const float *x, size_t n, Quantiser q, RngKey key, uint32_t first, uint8_t *code))
LOOP(void, quantise32, (const float *x, size_t n, Quantiser q, RngKey key, uint32_t first, uint32_t *code))
LOOP(void, toss8, (const float *x, size_t n, Coin coin, RngKey key, uint32_t first, uint8_t *code))
/* Convert codes to floats. Return false if a level is above d.s, or if a code has a sign but level 0. */
LOOP(bool, dequantise8, (const uint8_t *code, size_t n, Dequantiser d, float *x))
LOOP(bool, dequantise32, (const uint32_t *code, size_t n, Dequantiser d, float *x))

/* `minify` rounds x to codes of floats of a few bits (minifloat.h), `unminify` converts codes to floats: each block of
 * b->size elements with a scale of its own. Element i draws random word `first` + i of *key; NULL: to the nearest.
 * `unminify` returns false if a magnitude is above f->top. `peaks` sets peak[k] to the largest magnitude of block k. */
LOOP(void, minify,
     (const float *x, size_t n, const ScaledBlocks *b, const Minifloat *f, const RngKey *key, uint32_t first, uint8_t *code))
LOOP(bool, unminify, (const uint8_t *code, size_t n, const ScaledBlocks *b, const Minifloat *f, float *x))
LOOP(void, peaks, (const float *x, size_t n, size_t size, float *peak))

/* `climb` rounds x to codes of levels that are powers of two (quantise.h). `descend` converts codes to floats,
 * and returns false if a code has a sign but level 0. */
LOOP(void, climb, (const float *x, size_t n, Ladder l, RngKey key, uint32_t first, uint8_t *code))
LOOP(bool, descend, (const uint8_t *code, size_t n, Ladder l, float *x))

/* Sets *low and *high to the smallest and the largest element, with +0 instead of -0. n > 0. */
LOOP(void, range, (const float *x, size_t n, float *low, float *high))
/* grade8 and grade32 round x - low >= 0 to the levels of quantise.h, without signs; if `key` is NULL, to the
 * nearest level. graded8 and graded32 convert codes back: x = min(low + (level d.unit) d.drop, high). */
LOOP(void, grade8,
     (const float *x, size_t n, float low, Quantiser q, const RngKey *key, uint32_t first, uint8_t *code))
LOOP(void, grade32,
     (const float *x, size_t n, float low, Quantiser q, const RngKey *key, uint32_t first, uint32_t *code))
LOOP(void, graded8, (const uint8_t *code, size_t n, float low, float high, Dequantiser d, float *x))
LOOP(void, graded32, (const uint32_t *code, size_t n, float low, float high, Dequantiser d, float *x))

/* Convert to 16-bit floats, little-endian. Magnitudes beyond the largest finite 16-bit float become that
 * float. The loops `..._random` round at random, without bias. The loops `..._floats` convert back, and
 * return false if a number is infinite or NaN. */
LOOP(void, fp16_nearest, (const float *x, size_t n, uint8_t *out))
LOOP(void, fp16_random, (const float *x, size_t n, RngKey key, uint32_t first, uint8_t *out))
LOOP(bool, fp16_floats, (const uint8_t *in, size_t n, float *x))
LOOP(void, bf16_nearest, (const float *x, size_t n, uint8_t *out))
LOOP(void, bf16_random, (const float *x, size_t n, RngKey key, uint32_t first, uint8_t *out))
LOOP(bool, bf16_floats, (const uint8_t *in, size_t n, float *x))
/* Sets x to floats whose upper halves, turned left by a bit, are in high and low bytes: the exponents, and the upper fractions
 * and signs. `rest` (n) has the lower halves, 16 bits each; NULL: 0. Returns false if an exponent is that of infinities and NaN. */
LOOP(bool, joined, (const uint8_t *high, const uint8_t *low, const uint8_t *rest, size_t n, float *x))

/* `powers` rounds |x_i| at random, without bias, to the next lower or higher power of two. n <= BLOCK. power[i]
 * is the exponent field of the power, or 0 if x_i became zero. sign[i] is 1 if the result is negative. Returns
 * false if some |x_i| is above 2^127. `power_floats` converts back, and returns false if an exponent field is
 * 255 or a zero has a sign. */
LOOP(bool, powers, (const float *x, size_t n, RngKey key, uint8_t *power, uint8_t *sign))
LOOP(bool, power_floats, (const uint8_t *power, const uint8_t *sign, size_t n, float *x))

/* ---- compress/atoms/ ---- */

/* Sets *sum to the sum of |x_i|, added in double. Lists candidates for sampling: all elements that
 * coin_keep(coin, x_i, key, i) would keep with the scale of `coin` or a larger one, and about one in 2^30 of
 * the other elements. Writes their indices to `at` and their elements to `value`, in order, and returns their
 * number. Both arrays have room for n + ROOM_BEHIND elements; n <= BLOCK. */
LOOP(size_t, coin_sift,
     (const float *x, size_t n, Coin coin, const RngKey *key, uint32_t *at, float *value, double *sum))

/* ---- compress/signs/ ---- */

/* Sets sum[0] to the sum of |x_i| over x_i >= 0, and sum[1] over x_i < 0, in double. */
LOOP(void, sign_sums, (const float *x, size_t n, double sum[2]))
/* Adds |x_i| to plus[i] where x_i >= 0, and to minus[i] where x_i < 0, and there 1 to below[i]. The arrays have room for
 * whole rows of 16. */
LOOP(void, sign_columns, (const float *x, size_t n, double *plus, double *minus, uint64_t *below))

/* ---- compress/rotated/ ---- */

/* Sets code[i] to the index of the level nearest to |x_i|, with the sign of x_i in bit s->bits. Returns the sum
 * over i of |x_i| times the value of its level, s->level[index]. */
LOOP(double, nearest_levels, (const float *x, size_t n, const LevelScale *s, uint8_t *code))

/* ---- compress/lowrank/ ---- */

/* Sets out[i] to the sum of in[w][i] over `count` workers w, for from <= i < to, in double and in the order
 * of the workers. Inputs and output are little-endian float32 and need not be aligned. Returns false if an
 * input has a magnitude above `part_most`, or a sum above `most`. */
LOOP(bool, add_up,
     (const uint8_t *const *in, size_t count, size_t from, size_t to, float part_most, double most,
      uint8_t *out))

/* ---- compress/sketch/ ---- */

/* Sets bucket[i] to floor(word * buckets / 2^32), where `word` is random word number first + i. */
LOOP(void, hash_buckets, (RngKey key, uint32_t first, size_t n, uint32_t buckets, uint32_t *bucket))
/* Sets bucket[i] to floor(word * buckets / 2^32), where `word` is random word number at[i]. */
LOOP(void, hash_places, (RngKey key, const uint32_t *at, size_t n, uint32_t buckets, uint32_t *bucket))
/* Sets median[i] to the median of column i of `rows` <= MEDIAN_MOST vectors, which start `stride` >= n floats
 * apart; for even `rows`, to the mean of the two middle values. Writes +0 instead of -0. Reads up to 15
 * elements behind each vector. */
LOOP(void, medians, (const float *x, size_t stride, size_t rows, size_t n, float *median))
/* Sets slot[i] to a random slot of cluster c = code[i]: from[c] + floor(word * size[c] / 2^32), where `word` is
 * random word number first + i. All code[i] < clusters. `from` and `size` have at least ROOM_BEHIND
 * elements. */
LOOP(void, cluster_slots,
     (RngKey key, uint32_t first, size_t n, const uint8_t *code, size_t clusters, const uint32_t *from,
      const uint32_t *size, uint32_t *slot))

/* ---- measure/ ---- */

/* Writes the sums G_... (kernels.h) over x, added in double. `above` are the thresholds on |x_i|; none is
 * negative. */
LOOP(void, gradient_sums, (const float *x, size_t n, const double above[THRESHOLDS], double sum[G_SUMS]))
/* Writes the sums E_... (kernels.h) over x and its estimate y. Sets *largest to the largest |y_i - x_i|. */
LOOP(void, error_sums,
     (const float *x, const float *y, size_t n, const double above[THRESHOLDS], double sum[E_SUMS],
      double *largest))
/* One step of Welford's recurrence for the errors d = y - x of repeat number `count` (from 1). Per element,
 * `half` has half of the mean error and `root` the square root of m2 (sum of squared deviations from the
 * mean); both fit float32 if d does. Writes the sums S_... below S_STEPS for this step, from values not yet
 * rounded to float32. */
LOOP(void, spread_add,
     (const float *x, const float *y, size_t n, double count, float *half, float *root, double sum[S_STEPS]))
/* After the last `spread_add`: writes the sums S_... from S_STEPS on. */
LOOP(void, spread_sums, (const float *x, const float *half, const float *root, size_t n, double sum[S_SUMS]))
