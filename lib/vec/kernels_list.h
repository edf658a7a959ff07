/* kernels_list.h -- lists every hot loop once, as LOOP(result, name, (parameters)) under the folder that calls it,
 * with its contract above it. Each file that includes this list defines LOOP first: as a member of the table
 * (kernels.h), as a declaration (vec.h) or as an initialiser (kernels_vec.c).
 *
 * x (n) means that x is a vector of n floats; n may be 0 unless the contract says otherwise. A "word" is a random
 * word of rng.h: element i of x uses word first + i of the block of `key`. A matrix a (rows, cols) is row-major. */

/* ---- sums that files of several folders use ---- */

/* Returns the sum of x_i^2; the squares are exact and added in double. */
LOOP(double, sum_squares, (const float *x, size_t n))
/* Returns the sum of |x_i|, added in double. */
LOOP(double, sum_magnitudes, (const float *x, size_t n))
/* Returns the largest |x_i|; 0 for n = 0. */
LOOP(float, abs_max, (const float *x, size_t n))
/* Writes the sum of x_i to *sum and the sum of x_i^2 to *squares, both added in double. */
LOOP(void, moments, (const float *x, size_t n, double *sum, double *squares))
/* Writes to sum[0] and sum[1] the sums of |x_i| and of x_i^2 over the elements with |x_i| < low, and to sum[2] the
 * sum of all x_i^2; 0 < low. Copies the magnitudes in [low, high), in order, to `between`, which has room for n +
 * ROOM_BEHIND floats, and returns the number of copied magnitudes. */
LOOP(size_t, sums_around, (const float *x, size_t n, float low, float high, float *between, double sum[3]))
/* Sets code[i] to the number of j < count with x_i > above[j], which is the index of the interval that holds x_i;
 * count < 256. */
LOOP(void, stretches, (const float *x, size_t n, const float *above, size_t count, uint8_t *code))
/* Sets y_i to scale x_i, or to -scale x_i where bit i % 32 of random word first + i / 32 is set; y may be x. */
LOOP(void, flip_signs, (const float *x, size_t n, float scale, RngKey key, uint32_t first, float *y))

/* ---- num/ ---- */

/* Returns the sum of |x_i - y_i|, added in double. */
LOOP(double, sum_gaps, (const float *x, const float *y, size_t n))
/* Sets bit i % 64 of bits[i / 64] to 1 where |x_i| >= least, else to 0; bits from n on become 0. Returns the number
 * of set bits. */
LOOP(size_t, mark_from, (const float *x, size_t n, float least, uint64_t *bits))

/* Sets g (cols, cols) = a' a for a (rows, cols), cols <= FEW_COLS; the products are exact and added in double. */
LOOP(void, gram_rows, (const float *a, size_t rows, size_t cols, double *g))
/* Sets u[k] = a v_k for count <= 4 vectors v_k, added in double. v (cols, 4) holds vector v_k in its column k; u[k]
 * receives `rows` floats and needs no alignment. */
LOOP(void, project_rows,
     (const float *a, size_t rows, size_t cols, const double *v, size_t count, uint8_t *const u[4]))
/* Sets x (rows, cols) to the sum of the rank-one matrices u[k] v[k]' for k < count <= 4, plus the old x when
 * `add`. */
LOOP(void, outer_rows,
     (const float *const u[4], const float *const v[4], size_t count, size_t rows, size_t cols, bool add,
      float *x))
/* Sets p[k] = a q[k] for count <= 4 vectors q[k] of floats; the products are exact and added in double. */
LOOP(void, rows_dot,
     (const float *a, size_t rows, size_t cols, const float *const q[4], size_t count, float *const p[4]))
/* Adds a' p[k] to sum[k] for count <= 4 vectors p[k] of floats; the rows of a are `stride` floats apart. The products
 * are exact and added in double. */
LOOP(void, rows_add,
     (const float *a, size_t stride, size_t rows, size_t cols, const float *const p[4], size_t count,
      double *const sum[4]))

/* Applies the Walsh-Hadamard transform, unscaled and in place, to each of `runs` runs of HADAMARD_RUN elements. */
LOOP(void, hadamard_runs, (float *x, size_t runs))
/* Applies the Walsh-Hadamard transform in place to each column of 2^log_rows rows, and multiplies by `scale`. The
 * rows are `cols` long, a multiple of the vector width, start `stride` apart, and have at most HADAMARD_TILE elements
 * together. */
LOOP(void, hadamard_rows, (float *x, size_t stride, int log_rows, size_t cols, float scale))

/* Computes one level of a wavelet transform: smooth_k = sum over taps t of w->smooth[t] x_(2k + t) for k < pairs, and
 * detail_k likewise with w->detail, added in double. Reads 2 pairs + taps - 2 elements of x. */
LOOP(void, wavelet_split,
     (const WaveletFilter *w, const float *x, size_t pairs, float *smooth, float *detail))
/* The transpose of wavelet_split: computes x_2k and x_(2k + 1) for k < pairs, from smooth_i and detail_i for i = k
 * - taps / 2 + 1 .. k. So the taps / 2 - 1 elements in front of `smooth` and of `detail` are also read. */
LOOP(void, wavelet_join,
     (const WaveletFilter *w, const float *smooth, const float *detail, size_t pairs, float *x))

/* Computes one layer of the dynamic program of knots.h. For from <= j < to: next[j] = the minimum of a[i] + (b[i]
 * x[j] - x[i] b[j]) over low <= i <= high with i < j, and back[j] = the first i that attains this minimum. The caller
 * ensures that back[j] does not fall as j rises, low < from and to <= 2^16. Every array has ROOM_BEHIND more elements
 * at its end; these elements of `next` and `back` are overwritten. `next` may be `a` when high < from. */
LOOP(void, knot_layer,
     (const double *x, const double *b, const double *a, size_t low, size_t high, size_t from, size_t to,
      double *next, uint16_t *back))

/* ---- coder/ ---- */

/* Convert groups of 64 codes to bit planes (planes.h) and back: word k of a group holds bit k of each of the group's
 * codes. Bits of a code from `width` on are left out. width <= 8 for pack8 and unpack8. */
LOOP(void, pack8, (const uint8_t *code, size_t groups, int width, uint8_t *plane))
LOOP(void, pack32, (const uint32_t *code, size_t groups, int width, uint8_t *plane))
LOOP(void, unpack8, (const uint8_t *plane, size_t groups, int width, uint8_t *code))
LOOP(void, unpack32, (const uint8_t *plane, size_t groups, int width, uint32_t *code))
/* Adds the codes of `count` sets of bit planes, without unpacking the codes, and writes the sums as planes of `width`
 * bits. Handles groups of 64 codes, the first at element `from`, as many as fill whole vectors and end before element
 * `to`; returns the first element that it has not handled. Sets *above when a code is above the `most` of its set. */
LOOP(size_t, add_planes,
     (const PlaneSet *in, size_t count, size_t from, size_t to, int width, uint8_t *out, bool *above))

/* Convert groups of 320 codes, each 0, 1 or 3, to trits in 64 bytes (planes.h) and back. unpack_trits returns false
 * when a byte is above 242. */
LOOP(void, pack_trits, (const uint8_t *code, size_t groups, uint8_t *byte))
LOOP(bool, unpack_trits, (const uint8_t *byte, size_t groups, uint8_t *code))

/* sign_bits writes a bit for each element of groups of 64, low bits first: 1 where x_i < 0, so 0 for both zeros.
 * sign_values writes `minus` where the bit is 1, else `plus`. */
LOOP(void, sign_bits, (const float *x, size_t groups, uint8_t *bit))
LOOP(void, sign_values, (const uint8_t *bit, size_t groups, float plus, float minus, float *x))

/* Writes the indices of the non-zero codes to `at`, which has room for n + ROOM_BEHIND indices, and returns the
 * number of these indices; n <= BLOCK. */
LOOP(size_t, places32, (const uint32_t *code, size_t n, uint16_t *at))
/* Writes (index + 1) << ENTRY_SHIFT | code to `entry`, which has room for n + ROOM_BEHIND words, for each non-zero
 * code, and returns their number; n <= BLOCK. */
LOOP(size_t, entries8, (const uint8_t *code, size_t n, uint32_t *entry))
/* Writes the bits of as many of the first entries (entries8) as the vector loop can handle, and returns the number of
 * written entries, which may be 0. The first index gap counts from the index in entry[-1]. */
LOOP(size_t, put_entries, (const uint32_t *entry, size_t count, int bits, BitWriter *w))

/* Add the counts of one run of codes to the census; the lengths of the run's Elias codes follow from the counts
 * (levels.h). */
LOOP(void, census8, (const uint8_t *code, size_t n, int bits, Census *census))
LOOP(void, census32, (const uint32_t *code, size_t n, int bits, Census *census))

/* Encode and decode rows of 16 symbols, one symbol in each of 16 lanes (rANS states, rans.h). slice[symbol] =
 * frequency:16 | start:16; slot[low `precision` bits of a state] = symbol:8 | frequency:12 | offset:12. rans_put
 * writes 16-bit words downwards from `at` and returns the lowest address that it has written; two more bytes below
 * must be free. rans_get reads words upwards from *at while at least 32 bytes are left before `end`, and returns how
 * many rows it has read. */
LOOP(uint8_t *, rans_put,
     (const uint32_t *slice, int precision, const uint8_t *byte, size_t rows, uint32_t state[16],
      uint8_t *at))
LOOP(size_t, rans_get,
     (const uint32_t *slot, int precision, uint8_t *byte, size_t rows, uint32_t state[16], const uint8_t **at,
      const uint8_t *end))
/* Decodes as rans_get does, for tables with frequencies of more than RANS_PRECISION bits: `slot` holds only the
 * symbol and has three unused bytes at its end; slice[symbol] holds frequency and start. */
LOOP(size_t, rans_get_fine,
     (const uint8_t *slot, const uint32_t *slice, int precision, uint8_t *byte, size_t rows,
      uint32_t state[16], const uint8_t **at, const uint8_t *end))

/* ---- compress/levels/ ---- */

/* Round x to codes at random, without bias: quantise8 and quantise32 to levels as quantise.h describes, toss8 to
 * levels 0 and 1 with keep probabilities as in coin.h. */
LOOP(void, quantise8, (const float *x, size_t n, Quantiser q, RngKey key, uint32_t first, uint8_t *code))
LOOP(void, quantise32, (const float *x, size_t n, Quantiser q, RngKey key, uint32_t first, uint32_t *code))
LOOP(void, toss8, (const float *x, size_t n, Coin coin, RngKey key, uint32_t first, uint8_t *code))
/* Convert codes to floats; false when a level is above s or a code has a sign but level 0. */
LOOP(bool, dequantise8, (const uint8_t *code, size_t n, Dequantiser d, float *x))
LOOP(bool, dequantise32, (const uint32_t *code, size_t n, Dequantiser d, float *x))

/* climb rounds x to codes of levels that are powers of two (ladder.h). descend converts codes to floats; false when a
 * code has a sign but level 0. */
LOOP(void, climb, (const float *x, size_t n, Ladder l, RngKey key, uint32_t first, uint8_t *code))
LOOP(bool, descend, (const uint8_t *code, size_t n, Ladder l, float *x))

/* Writes the smallest and the largest element to *low and *high, with +0 for -0; n > 0. */
LOOP(void, range, (const float *x, size_t n, float *low, float *high))
/* grade8 and grade32 round x - low >= 0 to levels as quantise.h does, but without signs; key NULL: to the nearest
 * level. graded8 and graded32 convert codes back: x = min(low + (level unit) drop, high), where unit and drop are
 * members of d. */
LOOP(void, grade8,
     (const float *x, size_t n, float low, Quantiser q, const RngKey *key, uint32_t first, uint8_t *code))
LOOP(void, grade32,
     (const float *x, size_t n, float low, Quantiser q, const RngKey *key, uint32_t first, uint32_t *code))
LOOP(void, graded8, (const uint8_t *code, size_t n, float low, float high, Dequantiser d, float *x))
LOOP(void, graded32, (const uint32_t *code, size_t n, float low, float high, Dequantiser d, float *x))

/* Convert to 16-bit floats, little-endian; a magnitude above the largest finite 16-bit float becomes that float. The
 * loops `..._random` round up or down at random without bias. The loops `..._floats` convert back to float32; false
 * when a number is infinite or NaN. */
LOOP(void, fp16_nearest, (const float *x, size_t n, uint8_t *out))
LOOP(void, fp16_random, (const float *x, size_t n, RngKey key, uint32_t first, uint8_t *out))
LOOP(bool, fp16_floats, (const uint8_t *in, size_t n, float *x))
LOOP(void, bf16_nearest, (const float *x, size_t n, uint8_t *out))
LOOP(void, bf16_random, (const float *x, size_t n, RngKey key, uint32_t first, uint8_t *out))
LOOP(bool, bf16_floats, (const uint8_t *in, size_t n, float *x))

/* powers rounds |x_i| at random, without bias, to one of its two neighbouring powers of two; n <= BLOCK. power[i] is
 * the exponent field of the power, 0 where x_i became zero; sign[i] is 1 where the result is negative. False when an
 * |x_i| is above 2^127. power_floats converts back; false when a field is 255 or a zero has a sign. */
LOOP(bool, powers, (const float *x, size_t n, RngKey key, uint8_t *power, uint8_t *sign))
LOOP(bool, power_floats, (const uint8_t *power, const uint8_t *sign, size_t n, float *x))

/* ---- compress/atoms/ ---- */

/* Writes the sum of |x_i|, added in double, and lists candidates for sampling: every element that coin_keep(coin,
 * x_i, key, i) keeps, with the scale of `coin` or a larger scale, and about one in 2^30 of the other elements. Writes
 * the candidates' indices to `at` and their elements to `value`, in order, and returns their number; `at` and `value`
 * have room for n + ROOM_BEHIND elements; n <= BLOCK. */
LOOP(size_t, coin_sift,
     (const float *x, size_t n, Coin coin, const RngKey *key, uint32_t *at, float *value, double *sum))

/* ---- compress/signs/ ---- */

/* Sets sum[0] to the sum of |x_i| over x_i >= 0, and sum[1] to that over x_i < 0, both added in double. */
LOOP(void, sign_sums, (const float *x, size_t n, double sum[2]))

/* ---- compress/rotated/ ---- */

/* Sets code[i] to the index of the level nearest to |x_i|, with the sign of x_i in bit s->bits. Returns the sum of
 * |x_i| times the level of x_i. */
LOOP(double, nearest_levels, (const float *x, size_t n, const LevelScale *s, uint8_t *code))

/* ---- compress/lowrank/ ---- */

/* Sets out[i] to the sum of in[w][i] over `count` workers w, for from <= i < to, added in double in the order of the
 * workers. Inputs and output are little-endian float32 and need no alignment. False when the magnitude of an input is
 * above part_most or that of a sum above `most`. */
LOOP(bool, add_up,
     (const uint8_t *const *in, size_t count, size_t from, size_t to, float part_most, double most,
      uint8_t *out))

/* ---- compress/sketch/ ---- */

/* Sets bucket[i] = floor(word * buckets / 2^32), where `word` is random word first + i. */
LOOP(void, hash_buckets, (RngKey key, uint32_t first, size_t n, uint32_t buckets, uint32_t *bucket))
/* Sets bucket[i] = floor(word * buckets / 2^32), where `word` is random word at[i]: hash_buckets for listed
 * elements. */
LOOP(void, hash_places, (RngKey key, const uint32_t *at, size_t n, uint32_t buckets, uint32_t *bucket))
/* Sets median[i] to the median of column i of `rows` <= MEDIAN_MOST vectors, which start `stride` >= n apart; for an
 * even number of rows to the mean of the two middle values; +0 for -0. Reads up to 15 elements behind each vector. */
LOOP(void, medians, (const float *x, size_t stride, size_t rows, size_t n, float *median))
/* Sets slot[i] = from[c] + floor(word * size[c] / 2^32), a random slot of cluster c = code[i] < clusters, where
 * `word` is random word first + i. `from` and `size` are arrays of at least ROOM_BEHIND elements. */
LOOP(void, cluster_slots,
     (RngKey key, uint32_t first, size_t n, const uint8_t *code, size_t clusters, const uint32_t *from,
      const uint32_t *size, uint32_t *slot))

/* ---- measure/ ---- */

/* Writes the sums G_... (kernels.h) over x, added in double. `above` holds thresholds on |x_i|, none negative. */
LOOP(void, gradient_sums, (const float *x, size_t n, const double above[THRESHOLDS], double sum[G_SUMS]))
/* Writes the sums E_... (kernels.h) that compare an estimate y with x, and the largest |y_i - x_i| as a double. */
LOOP(void, error_sums,
     (const float *x, const float *y, size_t n, const double above[THRESHOLDS], double sum[E_SUMS],
      double *largest))
/* One step of Welford's recurrence for the error d = y - x of repeat `count` (from 1). Stores for each element half
 * of the mean error, and the square root of m2, the sum of squared deviations from the mean: halves and roots are in
 * float32's range if d is. Writes the sums S_... of this step, from values not yet rounded to float32. */
LOOP(void, spread_add,
     (const float *x, const float *y, size_t n, double count, float *half, float *root, double sum[S_STEPS]))
/* Writes the remaining sums S_..., those from S_STEPS on; called after the last spread_add. */
LOOP(void, spread_sums, (const float *x, const float *half, const float *root, size_t n, double sum[S_SUMS]))
