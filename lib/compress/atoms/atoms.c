/* atoms.c -- encodes a draw of atoms to a payload, and decodes payloads; see atoms.h. */
#include "compress/atoms/atoms.h"

#include "base/parallel.h"
#include "coder/signs.h"

#include <math.h>

size_t atoms_bound(size_t n)
{
    return 1 + 2 * indices_bound(n) + 4 * n + 4 + n / 8 + 1;
}

/* ---- index sets of the kept heavy atoms (p = 1) or of the kept light atoms (p < 1) ---- */

static bool is_heavy(const AtomSide *s, float value)
{
    return fabsf(value) > s->draw->tau;
}

static void count_block(void *data, size_t block, size_t slot)
{
    const AtomSide *s = data;
    const AtomPiece p = atoms_kept(s->draw, block, atoms_room(s->draw, slot));
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
    return OK;
}

size_t atom_side_count_heavy(const AtomSide *side)
{
    return side->before[true][blocks_of(side->n)];
}

/* The indices of a side's atoms, as a list or as bits. */
typedef struct {
    const AtomSide *side;
    bool heavy;
    size_t *list;
    uint64_t *bits;
} SideSet;

static void list_block(void *data, size_t block, size_t slot)
{
    const SideSet *set = data;
    const AtomSide *s = set->side;
    const AtomPiece p = atoms_kept(s->draw, block, atoms_room(s->draw, slot));
    size_t *list = set->list + s->before[set->heavy][block];
    for (size_t i = 0; i < p.count; i++)
        if (is_heavy(s, p.value[i]) == set->heavy)
            *list++ = block * BLOCK + p.at[i];
}

static void mark_block(void *data, size_t block, size_t slot)
{
    const SideSet *set = data;
    const AtomSide *s = set->side;
    const AtomPiece p = atoms_kept(s->draw, block, atoms_room(s->draw, slot));
    uint64_t *bits = set->bits + block * (BLOCK / 64);
    memset(bits, 0, BLOCK / 8);
    for (size_t i = 0; i < p.count; i++)
        bits[p.at[i] / 64] |= (uint64_t)(is_heavy(s, p.value[i]) == set->heavy) << p.at[i] % 64;
}

/* A list takes 64 bits for each of `count` atoms, bits take one for each of the n atoms. Up to n / 8 atoms, the list
 * is written faster. */
Status atom_side_put(const Call *c, const AtomSide *side, bool heavy, size_t count, Buf *out)
{
    const size_t n = side->n, blocks = count ? blocks_of(n) : 0;
    const bool few = count <= n / 8;
    const ArenaMark mark = arena_mark(c->scratch);
    SideSet s = {side, heavy, few ? NEW(c->scratch, size_t, count) : NULL,
                 few ? NULL : NEW(c->scratch, uint64_t, blocks * (BLOCK / 64))};
    TRY(arena_check(few ? (void *)s.list : s.bits, c->scratch, c->err));
    parallel_for_slots(side->threads, blocks, few ? list_block : mark_block, &s);
    const Indices set = few ? indices_list(s.list, count) : indices_bits(s.bits, n, count);
    indices_put(&set, n, c->threads, c->scratch, out);
    streams_gaps(c, &set);
    arena_rewind(c->scratch, mark);
    return OK;
}

Status atom_side_get(const Call *c, Reader *in, size_t n, Places *set)
{
    if (!in->bad && !indices_get(in, n, c->scratch, set) && !in->bad)
        return arena_fail(c->scratch, c->err);
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
    const AtomPiece p = atoms_kept(s->draw, block, atoms_room(s->draw, slot));
    uint8_t *to = v->out + sizeof(float) * s->before[true][block];
    for (size_t i = 0; i < p.count; i++)
        if (is_heavy(s, p.value[i])) {
            store_f32(to, p.value[i]);
            to += sizeof(float);
        }
}

static void put_values(const AtomSide *s, size_t blocks, Buf *out)
{
    SideJob v = {s, buf_room(out, sizeof(float) * s->before[true][blocks])};
    parallel_for_slots(s->threads, blocks, values_block, &v);
}

static void signs_block(void *data, size_t block, size_t slot)
{
    const SideJob *v = data;
    const AtomSide *s = v->side;
    const AtomPiece p = atoms_kept(s->draw, block, atoms_room(s->draw, slot));
    SignPen pen = signs_pen(v->out, s->before[false][block]);
    for (size_t i = 0; i < p.count; i++)
        if (!is_heavy(s, p.value[i]))
            signs_add(&pen, p.value[i] < 0);
    signs_flush(&pen);
}

static void put_signs(const AtomSide *s, size_t count, Buf *out)
{
    SideJob v = {s, buf_room(out, signs_size(count))};
    memset(v.out, 0, signs_size(count));
    parallel_for_slots(s->threads, blocks_of(s->n), signs_block, &v);
}

static Status put_heavy(const Call *c, const AtomSide *s, size_t count, size_t n, Buf *out)
{
    TRY(atom_side_put(c, s, true, count, out));
    put_values(s, blocks_of(n), out);
    streams_floats(c->streams, count);
    return OK;
}

static Status put_light(const Call *c, const AtomSide *s, size_t count, Buf *out)
{
    TRY(atom_side_put(c, s, false, count, out));
    if (count) {
        buf_f32(out, s->draw->tau);
        put_signs(s, count, out);
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
    if (mean > 0)
        streams_excess(c->streams, (light - mean) * (atoms_light_bits(n, high) - atoms_light_bits(n, low)) /
                                       (high - low));
}

static Status put(const Call *c, const AtomCoder *coder, const AtomDraw *draw, size_t n, Buf *out)
{
    AtomSide s;
    TRY(atom_side_open(c, draw, n, &s));
    const size_t heavy = atom_side_count_heavy(&s);
    if (coder->light && heavy) /* the level is no bound of an element that the caller has not checked */
        return FAIL(c->err, ERR_NUMERIC, "%s: an element is NaN or infinite", c->self->ops->name);
    buf_u8(out, PAYLOAD_METHOD);
    if (!coder->light)
        TRY(put_heavy(c, &s, heavy, n, out));
    if (coder->plan.empty == EMPTY_SEND)
        note_excess(c, draw, n, (double)(draw->count - heavy));
    return put_light(c, &s, draw->count - heavy, out);
}

static bool goes_raw(const Call *c, const AtomCoder *coder, const AtomDraw *d, size_t n)
{
    const double bits =
        coder->light ? 8 + atoms_light_bits(n, d->light) : atoms_bits(n, (double)d->heavy, d->light);
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
    return coder->plan.empty == EMPTY_RESAMPLE ? NAN : atoms_spread(c, draw.tau, x, n, &m);
}

ErrorLaw atoms_law(const Call *c, const AtomCoder *coder, const float *x, size_t n, AtomMoments *m)
{
    AtomDraw draw;
    *m = (AtomMoments){0};
    if (coder->plan.draw == DRAW_SYSTEMATIC || atoms_open(c, &coder->plan, x, n, &draw) != OK)
        return DEPENDENT;
    if (!goes_raw(c, coder, &draw, n) && isnan(atoms_spread(c, draw.tau, x, n, m)))
        return DEPENDENT;
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
    TRY(atom_side_get(c, in, n, &heavy->set));
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
    TRY(atom_side_get(c, in, n, &light->set));
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
    if (!reader_done(&in))
        return payload_bad(c, "%s", in.bad ? "it is cut short or holds no index set" : "bytes are left over");
    TRY(check_lists(c, &e.heavy, &e.light, n));
    parallel_for(c->threads, blocks_of(n), fill_block, &e);
    return OK;
}
