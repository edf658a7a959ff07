/* svd_plan.c -- chooses the probabilities p of the atoms, and draws atoms (svd_plan.h). By the ATOMO paper's
 * Algorithm 1, p has the least variance sum lambda^2 (1/p - 1) for sum p = rank.
 *
 * If singular vectors are rounded, an atom's variance is lambda^2 ((1 + w)(1 + w') / p - 1), where w and w' are
 * the mean squared errors of its two vectors. Then the best p is proportional to lambda sqrt((1 + w)(1 + w') /
 * bits), where `bits` is the size of the atom. The square root is nearly the same for all atoms of a matrix, so
 * p is computed from lambda alone. With each atom's own w, the variance on gradients of ResNet-18 would be
 * lower by only one part in 10^4 at 2 bits. And the vectors of all atoms would have to be computed, not only
 * the vectors of the sent atoms. */
#include "compress/atoms/svd_plan.h"
#include "compress/atoms/waterfill.h"

#include <math.h>

void svd_view(const Call *c, size_t *rows, size_t *cols)
{
    matrix_view(c->shape, (Reshape)((const Svd *)c->self->params)->reshape, rows, cols);
}

Status svd_plan_open(const Call *c, const float *x, SvdPlan *plan)
{
    const Svd *o = c->self->params;
    *plan = (SvdPlan){0};
    svd_view(c, &plan->rows, &plan->cols);
    plan->vectors = svd_vectors_of((VectorForm)o->vectors, o->vbits, c->self->other);
    const VectorCost left = svd_vectors_cost(&plan->vectors, c, plan->rows),
                     right = svd_vectors_cost(&plan->vectors, c, plan->cols);
    plan->atom_bits = left.bits + right.bits;
    plan->atom_noise = (1 + left.noise) * (1 + right.noise);
    const Tall a = tall_of(x, plan->rows, plan->cols);
    return o->method == SVD_RANDOMIZED
               ? spectral_open_leading(&plan->s, a, (size_t)o->directions, c->threads, c->scratch, c->err)
               : spectral_open(&plan->s, a, (SpectralMethod)o->method, c->threads, c->scratch, c->err);
}

static double chance_of_none(const SvdPlan *plan, int draw)
{
    double none = 1, sum = 0;
    for (size_t i = 0; i < plan->s.k; i++) {
        none *= 1 - plan->p[i];
        sum += plan->p[i];
    }
    return draw == DRAW_SYSTEMATIC ? fmax(0, 1 - sum) : none;
}

Status svd_plan_level(const Call *c, SvdPlan *plan, double level)
{
    const Svd *o = c->self->params;
    const double *lambda = plan->s.lambda;
    plan->level = level;
    plan->atoms = 0;
    plan->p = NEW(c->scratch, double, plan->s.k);
    TRY(arena_check(plan->p, c->scratch, c->err));
    for (size_t i = 0; i < plan->s.k; i++) {
        plan->p[i] = level > 0 ? fmin(1, lambda[i] / level) : lambda[i] > 0;
        plan->atoms += plan->p[i];
    }
    if (o->empty == EMPTY_RESAMPLE && plan->atoms > 0)
        plan->atoms /= 1 - chance_of_none(plan, o->draw);
    plan->bits = 16 + plan->atoms * plan->atom_bits;
    /* If a plan covers all tensors of a step, water level 0 asks for the exact tensor. Rounded vectors are not
     * exact, so the tensor is sent raw. */
    const bool exact = c->plan && level == 0 && plan->atoms > 0 && plan->atom_noise > 1;
    plan->raw = exact || plan->bits >= 8 * (double)raw_size(c);
    return OK;
}

Status svd_plan_rank(const Call *c, SvdPlan *plan)
{
    const Svd *o = c->self->params;
    double sum = 0, level;
    for (size_t i = 0; i < plan->s.k; i++)
        sum += plan->s.lambda[i];
    level = o->probs == PROBS_CLIP ? sum / o->rank
                                   : waterfill_level(plan->s.lambda, plan->s.k, o->rank, c->scratch);
    if (isnan(level))
        return arena_fail(c->scratch, c->err);
    return svd_plan_level(c, plan, level);
}

/* ---- drawing ---- */

static size_t draw_independent(const Call *c, const SvdPlan *plan, size_t *kept)
{
    size_t count = 0;
    for (size_t i = 0; i < plan->s.k; i++)
        if (plan->p[i] >= 1 || rng_unit(&c->rng, USE_ATOM, i) < plan->p[i])
            kept[count++] = i;
    return count;
}

/* Systematic sampling with one random offset. Atom i owns the interval from the sum of p before i to the sum
 * that includes i. Atom i is kept if the interval contains the offset plus an integer. Atoms with p = 1 are
 * always kept and left out of the sums: rounding errors of the sums could drop them. */
static size_t draw_systematic(const Call *c, const SvdPlan *plan, size_t *kept)
{
    const double offset = rng_unit(&c->rng, USE_ATOM, 0);
    double sum = 0;
    size_t count = 0;
    for (size_t i = 0; i < plan->s.k; i++) {
        const double before = sum;
        sum += plan->p[i] < 1 ? plan->p[i] : 0;
        if (plan->p[i] >= 1 || ceil(sum - offset) > ceil(before - offset))
            kept[count++] = i;
    }
    return count;
}

/* Draws atoms under the condition that at least one is kept. First draws which atom is the first kept one.
 * Then, for independent draws, draws the later atoms. A systematic draw that can be empty never keeps a
 * second atom. */
static size_t draw_again(const Call *c, const SvdPlan *plan, size_t *kept)
{
    const Svd *o = c->self->params;
    const size_t k = plan->s.k;
    double left = rng_unit(&c->rng, USE_ATOM, k) * (1 - chance_of_none(plan, o->draw)), none = 1;
    size_t first = k, count = 0;
    for (size_t i = 0; i < k; i++) {
        if (plan->p[i] <= 0)
            continue;
        /* rounding errors can leave left >= 0 at the end of the loop; then the last atom is the first kept
         * one */
        first = i;
        left -= none * plan->p[i];
        if (left < 0)
            break;
        none *= o->draw == DRAW_SYSTEMATIC ? 1 : 1 - plan->p[i];
    }
    if (first < k)
        kept[count++] = first;
    for (size_t i = first + 1; i < k && o->draw == DRAW_INDEPENDENT; i++)
        if (rng_unit(&c->rng, USE_ATOM, k + 1 + i) < plan->p[i])
            kept[count++] = i;
    return count;
}

size_t svd_draw(const Call *c, const SvdPlan *plan, size_t *kept)
{
    const Svd *o = c->self->params;
    const size_t count = (o->draw == DRAW_SYSTEMATIC ? draw_systematic : draw_independent)(c, plan, kept);
    return count || o->empty == EMPTY_SEND ? count : draw_again(c, plan, kept);
}

/* ---- the distribution of the number of kept atoms ---- */

/* For k < most, chance[k] is the probability of k atoms; chance[most] is the probability of `most` or more. */
static void count_law(const SvdPlan *plan, const Svd *o, size_t most, double *chance)
{
    double mean = 0;
    chance[0] = 1;
    for (size_t i = 0; i < plan->s.k; i++) {
        const double p = plan->p[i];
        mean += p;
        for (size_t j = most; j > 0 && o->draw == DRAW_INDEPENDENT; j--)
            chance[j] = chance[j] * (j == most ? 1 : 1 - p) + chance[j - 1] * p;
        chance[0] *= 1 - p;
    }
    /* systematic sampling keeps floor(mean) or floor(mean) + 1 atoms */
    if (o->draw == DRAW_SYSTEMATIC) {
        const size_t low = (size_t)mean;
        chance[0] = 0;
        chance[low < most ? low : most] += 1 - (mean - (double)low);
        chance[low + 1 < most ? low + 1 : most] += mean - (double)low;
    }
    for (size_t j = most; j > 0 && o->empty == EMPTY_RESAMPLE && chance[0] < 1; j--)
        chance[j] /= 1 - chance[0];
    chance[0] = o->empty == EMPTY_RESAMPLE ? 0 : chance[0];
}

/* codec_encode sends raw floats if raw floats are shorter, so the result is at most the bits of raw floats. */
static double payload_bits(const Call *c, const SvdPlan *plan, size_t count)
{
    return fmin(8 * (double)raw_size(c),
                8 + 8 * (double)varint_size(count) + (double)count * plan->atom_bits);
}

double svd_excess(const Call *c, const SvdPlan *plan, size_t count)
{
    /* a draw of `most` or more atoms is sent as raw floats, so all such draws take the same number of bits */
    size_t most = 1;
    while (most < plan->s.k && payload_bits(c, plan, most) < 8 * (double)raw_size(c))
        most++;
    double *chance = NEW_ZERO(c->scratch, double, most + 1), mean = 0;
    if (!chance)
        return 0;
    count_law(plan, c->self->params, most, chance);
    for (size_t k = 0; k <= most; k++)
        mean += chance[k] * payload_bits(c, plan, k);
    return payload_bits(c, plan, count) - mean;
}
