/* atoms.c -- encodes a draw of atoms to a payload, and decodes payloads; see atoms.h. Also the expected bits and variance
 * of a draw: at one water level tau, at the level that meets a number of bits, and at many levels (the curve). */
#include "compress/atoms/atoms.h"
#include "base/parallel.h"
#include "coder/planes.h"

#include <float.h>
#include <math.h>

size_t atoms_bound(const Call *c)
{
    const size_t n = c->shape->n;
    return 1 + 2 * indices_bound(n) + 4 * n + 4 + n / 8 + 1;
}

/* ---- bits and variance at one water level ---- */

/* Returns the expected bits of a list of light atoms (p < 1), if `light` of n atoms are expected in the list.
 * Each listed atom takes an index and `each` more bits, a sign or a phase; a list that is not empty also takes the float
 * tau and, on average, 4 bits of padding. */
static double light_bits(size_t n, double light, int each)
{
    const double any = -expm1(-light); /* about the probability that the list is not empty */
    return indices_mean_bits((double)n, light) + any * (32 + 4) + each * light;
}

double atoms_bits(size_t n, double heavy, double light, bool phases)
{
    return 8 + indices_mean_bits((double)n, heavy) + (phases ? 64 : 32) * heavy + light_bits(n, light, phases ? PHASE_BITS : 1);
}

/* Returns the expected squared error E |estimate - x|^2 for orthonormal atoms and empty=send. It is the sum
 * of |x| (tau - |x|) over the coefficients with |x| <= tau. Sets *m to the moments of the atoms' errors. Sums are taken
 * block by block, so that they are accurate. */
static double atoms_spread(float level, const float *x, size_t n, AtomMoments *m)
{
    const double tau = (double)level;
    double sum = 0;
    *m = (AtomMoments){.none = 1};
    for (size_t b = 0; b < blocks_of(n); b++) {
        AtomMoments own = {.none = 1};
        double variance = 0;
        for (size_t i = b * BLOCK, end = i + block_size(n, b); i < end; i++) {
            const double lambda = fabs((double)x[i]), v = lambda <= tau ? lambda * (tau - lambda) : 0;
            variance += v;
            own.squares += v * v;
            own.fourths += v * tau * tau - 6 * v * v;
            own.weighted += v * lambda * lambda;
            own.none *= lambda < tau ? 1 - lambda / tau : lambda == 0;
        }
        sum += variance;
        m->squares += own.squares;
        m->fourths += own.fourths;
        m->weighted += own.weighted;
        m->none *= own.none;
    }
    return sum;
}

/* ---- the profile: a histogram of magnitudes, with sums.
 *
 * Levels are searched on a profile of the magnitudes |x|: a histogram over the leading bits of the float, with
 * counts and sums for each bin. If the water level is a bin's lower edge v, three numbers are exact: the number
 * of heavy atoms (p = 1), the expected number of kept light atoms (p < 1) S1 / v, and the variance v S1 - S2.
 * S1 and S2 are the sums of |x| and x^2 over |x| < v. ---- */

typedef struct {
    double sum, square;
    uint64_t count;
} Bin;

typedef struct {
    int shift; /* the bin of a magnitude is (bits of the float) >> shift */
    int bins;
    uint32_t largest; /* the bits of the largest |x| as a float */
    Bin *bin;         /* the counts and sums of each bin */
} Profile;

enum { PIECES_MOST = 8 };

typedef struct {
    const float *x;
    size_t n, pieces;
    Profile piece[PIECES_MOST];
} ProfileJob;

static void profile_piece(void *data, size_t p)
{
    ProfileJob *job = data;
    const float *const x = job->x;
    Bin *const bins = job->piece[p].bin;
    const int shift = job->piece[p].shift;
    const Stretch part = stretch_of(job->n, job->pieces, p);
    uint32_t largest = 0;
    memset(bins, 0, (size_t)job->piece[p].bins * sizeof *bins);
    for (size_t i = part.from; i < part.to; i++) {
        const uint32_t bits = float_bits(x[i]) & 0x7fffffffu;
        const double v = (double)bits_float(bits);
        Bin *bin = &bins[bits >> shift];
        bin->count += bits != 0;
        bin->sum += v;
        bin->square += v * v;
        largest = bits > largest ? bits : largest;
    }
    job->piece[p].largest = largest;
}

static void add_pieces(Profile *all, const Profile *piece, size_t pieces)
{
    *all = piece[0];
    for (size_t p = 1; p < pieces; p++) {
        for (int b = 0; b < all->bins; b++) {
            all->bin[b].count += piece[p].bin[b].count;
            all->bin[b].sum += piece[p].bin[b].sum;
            all->bin[b].square += piece[p].bin[b].square;
        }
        all->largest = piece[p].largest > all->largest ? piece[p].largest : all->largest;
    }
}

/* Turns the bins' counts and sums into cumulative ones: the number of magnitudes at or above each bin's lower
 * edge, and the sums of the magnitudes below that edge. The last bin is for NaN, so it is empty, and its sums
 * become the sums over all magnitudes. */
static void accumulate(Profile *p)
{
    Bin under = {0};
    uint64_t above = 0;
    for (int b = p->bins - 1; b >= 0; b--) {
        const uint64_t count = p->bin[b].count;
        p->bin[b].count = above += count;
    }
    for (int b = 0; b < p->bins; b++) {
        const Bin own = p->bin[b];
        p->bin[b].sum = under.sum;
        p->bin[b].square = under.square;
        /* skips the empty bins, which are most bins, because every addition to a cumulative sum must wait for
         * the previous one */
        if (own.sum > 0) {
            under.sum += own.sum;
            under.square += own.square;
        }
    }
}

/* Sets *profile to the cumulative profile of x, n > 0, in scratch; false: out of memory. */
static bool make_profile(const float *x, size_t n, int shift, int threads, Arena *scratch, Profile *profile)
{
    const size_t blocks = blocks_of(n);
    const int bins = 1 << (31 - shift);
    ProfileJob job = {.x = x, .n = n, .pieces = blocks < PIECES_MOST ? blocks : PIECES_MOST};
    for (size_t p = 0; p < job.pieces; p++) {
        job.piece[p] = (Profile){shift, bins, 0, NEW(scratch, Bin, (size_t)bins)};
        if (!job.piece[p].bin)
            return false;
    }
    parallel_for(threads, job.pieces, profile_piece, &job);
    add_pieces(profile, job.piece, job.pieces);
    accumulate(profile);
    return true;
}

static double edge(const Profile *p, int bin)
{
    return (double)bits_float((uint32_t)bin << p->shift);
}

/* ---- the water level that meets a number of bits ---- */

enum { LEVEL_SHIFT = 16, LAST_EDGE = 0x7f7f /* the bin of the largest finite floats */ };

static double cost_at(const Profile *p, size_t n, int bin)
{
    return atoms_bits(n, (double)p->bin[bin].count, p->bin[bin].sum / edge(p, bin), false);
}

/* Returns the water level at which the payload is expected to take `bits`. As the expected bits fall when the
 * level rises, bisects the lower edges of the bins, then interpolates between two edges. */
static double search(const Profile *p, size_t n, double bits)
{
    int low = 1, high = LAST_EDGE; /* edge 0 is the magnitude 0, which is not a water level */
    if (bits >= atoms_bits(n, (double)p->bin[0].count, 0, false))
        return 0;
    while (high - low > 1) {
        const int mid = (low + high) / 2;
        if (cost_at(p, n, mid) > bits)
            low = mid;
        else
            high = mid;
    }
    const double from = cost_at(p, n, low), to = cost_at(p, n, high);
    const double share = from > to ? fmin(1, fmax(0, (from - bits) / (from - to))) : 0;
    const double level = edge(p, low) + share * (edge(p, high) - edge(p, low));
    /* at the water level |x|_1, the largest that is used, the probabilities sum to 1 */
    return fmin(level, p->bin[p->bins - 1].sum);
}

double atoms_level_of_bits(const float *x, size_t n, double bits, int threads, Arena *scratch)
{
    const ArenaMark mark = arena_mark(scratch);
    Profile profile;
    if (!n)
        return 0;
    if (!make_profile(x, n, LEVEL_SHIFT, threads, scratch, &profile))
        return NAN;
    const double level = search(&profile, n, bits);
    arena_rewind(scratch, mark);
    return level;
}

/* ---- the curve of bits and variance over all water levels ---- */

/* CURVE_SHIFT gives 16 bins per octave (factor 2): between two edges, bits and variance differ from a straight
 * line by less than 2e-4 of their values. */
enum { CURVE_SHIFT = 19 };

typedef struct {
    size_t n;
    double most; /* bits of the shortest payload that keeps every atom */
    CurvePoint *point;
    size_t count;
} AtomCurve;

/* Appends the point of a water level to the curve, after removing previous points that need at least as many
 * bits. Returns false if the level needs at least as many bits as a payload that keeps every atom. */
static bool add_level(AtomCurve *curve, double level, const Bin *at)
{
    const CurvePoint p = {level, atoms_bits(curve->n, (double)at->count, at->sum / level, false),
                          fmax(0, level * at->sum - at->square)};
    if (p.bits >= curve->most)
        return false;
    while (curve->count && curve->point[curve->count - 1].bits >= p.bits)
        curve->count--;
    curve->point[curve->count++] = p;
    return true;
}

/* Appends points at falling water levels, from |x|_1, at which one kept atom is expected. At levels of max |x|
 * or more no atom is heavy (p = 1). */
static void add_levels(AtomCurve *curve, const Profile *p)
{
    const Bin all = {p->bin[p->bins - 1].sum, p->bin[p->bins - 1].square, 0};
    const double top = fmin(all.sum, (double)FLT_MAX), largest = (double)bits_float(p->largest);
    bool beyond = false;
    if (all.sum == 0)
        return;
    add_level(curve, top, &all);
    for (int b = (int)(float_bits((float)top) >> p->shift); b > 0; b--) {
        const double level = edge(p, b);
        if (!beyond && level < largest) {
            beyond = true;
            if (largest < top)
                add_level(curve, largest, &all);
        }
        if (level < top && !add_level(curve, level, &p->bin[b]))
            return;
    }
}

Status atoms_curve(const Call *c, const float *x, size_t n, CurvePoint *point, size_t *count)
{
    AtomCurve curve = {.n = n, .most = 8 * (double)raw_size(c), .point = point};
    Profile profile;
    if (n && !make_profile(x, n, CURVE_SHIFT, c->threads, c->scratch, &profile))
        return arena_fail(c->scratch, c->err);
    const uint64_t atoms = n ? profile.bin[0].count : 0;
    curve.most = fmin(curve.most, atoms_bits(n, (double)atoms, 0, false));
    if (atoms)
        add_levels(&curve, &profile);
    curve.point[curve.count++] = (CurvePoint){0, curve.most, 0};
    *count = curve.count;
    return OK;
}

/* ---- index sets of the kept heavy atoms (p = 1) or of the kept light atoms (p < 1) ---- */

static bool is_heavy(const AtomSide *s, float value)
{
    return fabsf(value) > s->draw->tau;
}

static void count_block(void *data, size_t block, size_t slot)
{
    const AtomSide *s = data;
    const AtomPiece p = atoms_kept(s->draw, block, slot);
    size_t heavy = 0;
    for (size_t i = 0; i < p.count; i++)
        heavy += is_heavy(s, p.value[i]);
    s->before[true][block + 1] = heavy;
    s->before[false][block + 1] = p.count - heavy;
}

Status atom_side_open(const Call *c, const AtomDraw *draw, size_t n, AtomSide *side)
{
    const size_t blocks = blocks_of(n);
    *side = (AtomSide){.draw = draw, .n = n};
    side->threads = c->threads < ATOM_ROOMS ? c->threads : ATOM_ROOMS;
    for (int heavy = 0; heavy < 2; heavy++)
        side->before[heavy] = NEW_ZERO(c->scratch, size_t, blocks + 1);
    TRY(arena_check(side->before[0] && side->before[1], c->scratch, c->err));
    parallel_for_slots(side->threads, blocks, count_block, side);
    for (size_t b = 0; b < blocks; b++)
        for (int heavy = 0; heavy < 2; heavy++)
            side->before[heavy][b + 1] += side->before[heavy][b];
    side->heavy = side->before[true][blocks];
    return OK;
}

/* The indices of a side's atoms, as a list or as bits. */
typedef struct {
    const AtomSide *side;
    bool heavy;
    size_t *list;
    uint64_t *bits;
} SideSet;

static void note_block(void *data, size_t block, size_t slot)
{
    const SideSet *set = data;
    const AtomSide *s = set->side;
    const AtomPiece p = atoms_kept(s->draw, block, slot);
    if (set->list) {
        size_t *list = set->list + s->before[set->heavy][block];
        for (size_t i = 0; i < p.count; i++)
            if (is_heavy(s, p.value[i]) == set->heavy)
                *list++ = block * BLOCK + p.at[i];
        return;
    }
    uint64_t *bits = set->bits + block * (BLOCK / 64);
    memset(bits, 0, BLOCK / 8);
    for (size_t i = 0; i < p.count; i++)
        bits[p.at[i] / 64] |= (uint64_t)(is_heavy(s, p.value[i]) == set->heavy) << p.at[i] % 64;
}

/* A list takes 64 bits for each of `count` atoms, bits take one for each of the n atoms: where a list is no longer, it
 * is written, which is faster. */
Status atom_side_put(const Call *c, const AtomSide *side, bool heavy, size_t count, Buf *out)
{
    const size_t n = side->n, blocks = count ? blocks_of(n) : 0;
    const bool few = count <= n / 64;
    const ArenaMark mark = arena_mark(c->scratch);
    void *room = arena_take(c->scratch, few ? count : blocks * (BLOCK / 64), sizeof(uint64_t));
    SideSet s = {side, heavy, few ? room : NULL, few ? NULL : room};
    TRY(arena_check(room, c->scratch, c->err));
    parallel_for_slots(side->threads, blocks, note_block, &s);
    const Indices set = few ? indices_list(s.list, count) : indices_bits(s.bits, n, count);
    indices_put(&set, n, out);
    streams_gaps(c, &set);
    arena_rewind(c->scratch, mark);
    return OK;
}

Status atom_sides_apart(const Call *c, const Places *heavy, const Places *light, size_t n)
{
    for (size_t b = 0; b < blocks_of(n) && heavy->count && light->count; b++) {
        size_t l = light->before[b];
        for (size_t h = heavy->before[b]; h < heavy->before[b + 1]; h++) {
            while (l < light->before[b + 1] && light->at[l] < heavy->at[h])
                l++;
            if (l < light->before[b + 1] && light->at[l] == heavy->at[h])
                return payload_bad(c, "atom %zu is there twice", b * BLOCK + heavy->at[h]);
        }
    }
    return OK;
}

/* ---- writing ---- */

typedef struct {
    const AtomSide *side;
    uint8_t *out; /* the values of heavy atoms, or the signs of light ones */
} SideJob;

static void values_block(void *data, size_t block, size_t slot)
{
    const SideJob *v = data;
    const AtomSide *s = v->side;
    if (s->before[true][block] == s->before[true][block + 1])
        return;
    const AtomPiece p = atoms_kept(s->draw, block, slot);
    uint8_t *to = v->out + sizeof(float) * s->before[true][block];
    for (size_t i = 0; i < p.count; i++)
        if (is_heavy(s, p.value[i])) {
            store_f32(to, p.value[i]);
            to += sizeof(float);
        }
}

static void signs_block(void *data, size_t block, size_t slot)
{
    const SideJob *v = data;
    const AtomSide *s = v->side;
    const AtomPiece p = atoms_kept(s->draw, block, slot);
    SignPen pen = signs_pen(v->out, s->before[false][block]);
    for (size_t i = 0; i < p.count; i++)
        if (!is_heavy(s, p.value[i]))
            signs_add(&pen, p.value[i] < 0);
    signs_flush(&pen);
}

static Status put_heavy(const Call *c, const AtomSide *s, size_t count, Buf *out)
{
    TRY(atom_side_put(c, s, true, count, out));
    SideJob v = {s, buf_room(out, sizeof(float) * count)};
    parallel_for_slots(s->threads, blocks_of(s->n), values_block, &v);
    streams_floats(c->streams, count);
    return OK;
}

static Status put_light(const Call *c, const AtomSide *s, size_t count, Buf *out)
{
    TRY(atom_side_put(c, s, false, count, out));
    if (count) {
        buf_f32(out, s->draw->tau);
        SideJob v = {s, buf_room(out, signs_size(count))};
        memset(v.out, 0, signs_size(count));
        parallel_for_slots(s->threads, blocks_of(s->n), signs_block, &v);
    }
    streams_bits(c->streams, (double)count);
    streams_floats(c->streams, count > 0);
    return OK;
}

/* Reports approximately how many bits longer a payload with `light` light atoms (p < 1) is than the mean
 * payload. The mean of the reported numbers over all draws is 0. */
static void note_excess(const Call *c, const AtomDraw *draw, size_t n, double light)
{
    const double mean = draw->light, low = 0.9 * mean, high = 1.1 * mean;
    if (mean > 0 && c->streams)
        c->streams->excess += (light - mean) * (light_bits(n, high, 1) - light_bits(n, low, 1)) / (high - low);
}

static Status put(const Call *c, const AtomCoder *coder, const AtomDraw *draw, size_t n, Buf *out)
{
    AtomSide s;
    TRY(atom_side_open(c, draw, n, &s));
    const size_t heavy = s.heavy;
    if (coder->light && heavy) /* the level is no bound of an element that the caller has not checked */
        return FAIL(c->err, ERR_NUMERIC, "%s: an element is NaN or infinite", c->self->ops->name);
    buf_u8(out, PAYLOAD_METHOD);
    if (!coder->light)
        TRY(put_heavy(c, &s, heavy, out));
    if (coder->plan.empty == EMPTY_SEND)
        note_excess(c, draw, n, (double)(draw->count - heavy));
    return put_light(c, &s, draw->count - heavy, out);
}

static bool goes_raw(const Call *c, const AtomCoder *coder, const AtomDraw *d, size_t n)
{
    const double bits =
        coder->light ? 8 + light_bits(n, d->light, 1) : atoms_bits(n, (double)d->heavy, d->light, false);
    return bits >= 8 * (double)raw_size(c);
}

Status atoms_encode(const Call *c, const AtomCoder *coder, const float *x, size_t n, const float *raw,
                    Buf *out)
{
    AtomDraw draw;
    TRY(atoms_open(c, &coder->plan, x, n, &draw));
    if (goes_raw(c, coder, &draw, n))
        return raw_put(c, raw, out);
    TRY(atoms_toss(&coder->plan, &draw));
    return put(c, coder, &draw, n, out);
}

double atoms_variance(const Call *c, const AtomCoder *coder, const float *x, size_t n)
{
    AtomDraw draw;
    AtomMoments m;
    if (atoms_open(c, &coder->plan, x, n, &draw) != OK)
        return NAN;
    if (goes_raw(c, coder, &draw, n))
        return 0;
    return coder->plan.empty == EMPTY_RESAMPLE ? NAN : atoms_spread(draw.tau, x, n, &m);
}

ErrorLaw atoms_law(const Call *c, const AtomCoder *coder, const float *x, size_t n, AtomMoments *m)
{
    AtomDraw draw;
    *m = (AtomMoments){0};
    if (coder->plan.draw == DRAW_SYSTEMATIC || atoms_open(c, &coder->plan, x, n, &draw) != OK)
        return DEPENDENT;
    if (!goes_raw(c, coder, &draw, n))
        atoms_spread(draw.tau, x, n, m);
    if (coder->plan.empty == EMPTY_RESAMPLE)
        m->none = 0;
    return ATOMWISE;
}

/* ---- reading ---- */

/* The heavy atoms (p = 1) or the light atoms (p < 1) read from a payload: `value` has the coefficients of heavy
 * atoms; `sign` and `tau` are set for light atoms. */
typedef struct {
    Places set;
    const uint8_t *value, *sign;
    float tau;
} ReadAtoms;

typedef struct {
    ReadAtoms heavy, light;
    size_t n;
    float *x;
} AtomEstimate;

/* Sets the estimate in a block of elements to zeros and then stores the block's atoms, while the block is in
 * the cache. */
static void fill_block(void *data, size_t block)
{
    const AtomEstimate *e = data;
    const ReadAtoms h = e->heavy, l = e->light;
    float *const x = e->x + block * BLOCK;
    const uint32_t tau = float_bits(l.tau);
    memset(x, 0, block_size(e->n, block) * sizeof *x);
    for (size_t k = l.set.before[block]; k < l.set.before[block + 1]; k++)
        x[l.set.at[k]] = bits_float(tau | (uint32_t)signs_bit(l.sign, k) << 31);
    for (size_t k = h.set.count ? h.set.before[block] : 0; h.set.count && k < h.set.before[block + 1]; k++)
        x[h.set.at[k]] = load_f32(h.value + 4 * k);
}

static Status take_heavy(const Call *c, Reader *in, size_t n, ReadAtoms *heavy)
{
    TRY(payload_set(c, in, n, &heavy->set));
    heavy->value = in->bad ? NULL : take_bytes(in, 4 * heavy->set.count);
    for (size_t k = 0; !in->bad && k < heavy->set.count; k++) {
        const float v = load_f32(heavy->value + 4 * k);
        if (!isfinite(v) || v == 0)
            return payload_bad(c, "%g as an atom's coefficient, want a finite number that is not 0",
                               (double)v);
    }
    return OK;
}

static Status take_light(const Call *c, Reader *in, size_t n, ReadAtoms *light)
{
    TRY(payload_set(c, in, n, &light->set));
    if (in->bad || light->set.count == 0)
        return OK;
    light->tau = take_f32(in);
    light->sign = take_bytes(in, signs_size(light->set.count));
    if (!in->bad && !(light->tau > 0 && isfinite(light->tau)))
        return payload_bad(c, "common magnitude %g, want a finite number above 0", (double)light->tau);
    if (!in->bad && !signs_clean(light->sign, light->set.count))
        return payload_bad(c, "padding behind the signs is not zero");
    return OK;
}

static Status check_lists(const Call *c, const ReadAtoms *heavy, const ReadAtoms *light, size_t n)
{
    for (size_t h = 0; h < heavy->set.count && light->set.count; h++)
        if (!(fabsf(load_f32(heavy->value + 4 * h)) > light->tau))
            return payload_bad(c, "a coefficient under the common magnitude travels as a float");
    return atom_sides_apart(c, &heavy->set, &light->set, n);
}

Status atoms_decode(const Call *c, bool light, Bytes bytes, size_t n, float *x)
{
    Reader in = reader_open(bytes);
    AtomEstimate e = {.n = n, .x = x};
    TRY(payload_kind(c, take_u8(&in), PAYLOAD_METHOD));
    if (!light)
        TRY(take_heavy(c, &in, n, &e.heavy));
    TRY(take_light(c, &in, n, &e.light));
    TRY(payload_end(c, &in));
    TRY(check_lists(c, &e.heavy, &e.light, n));
    parallel_for(c->threads, blocks_of(n), fill_block, &e);
    return OK;
}
