/* test_joint.c -- the wrapper joint, which divides one budget of bits among all tensors of a model. Each tensor
 * has a curve of points (bits, variance), one for each of several water levels tau. An element x is kept with
 * probability min(1, |x| / tau). */
#include "compress/atoms/joint.c"
#include "compress/atoms/atoms.h"
#include "rig/draws.h"
#include "rig/model_rig.h"
#include "rig/sources.h"
#include "compress/spec.h"

static Arena *forever;

/* ---- curves ---- */

/* The library computes a curve from a histogram of the magnitudes, the test from all elements. */
TEST(curves_of_entry_are_those_of_sorted_magnitudes)
{
    Model m;
    model_fill(&m, 1, 6);
    model_step(&m, "entry");
    CurvePoint *point = NEW(forever, CurvePoint, CURVE_MOST);
    for (size_t j = 0; j < m.count; j++) {
        size_t count;
        check_ok(m.call[j].self->ops->curve(&m.call[j], m.x[j], point, &count), &m.err);
        for (size_t k = 0; k + 1 < count; k++) {
            double heavy = 0, T1 = 0, T2 = 0;
            for (size_t i = 0; i < m.shape[j].n; i++) {
                const double v = fabs((double)m.x[j][i]);
                heavy += v > point[k].level;
                T1 += v > point[k].level ? 0 : v;
                T2 += v > point[k].level ? 0 : v * v;
            }
            /* The histogram counts a magnitude equal to the water level as kept with probability 1. So bits are
             * compared only if no element is above the water level. */
            const bool on_edge = heavy != 0;
            check_near(point[k].variance, point[k].level * T1 - T2, 1e-12 * (T2 + point[k].level * T1));
            if (!on_edge)
                check_rel(point[k].bits, atoms_bits(m.shape[j].n, heavy, T1 / point[k].level, false), 1e-9);
            check(k == 0 ||
                  (point[k].bits > point[k - 1].bits && point[k].variance <= point[k - 1].variance));
        }
        check(point[count - 1].variance == 0);
    }
    model_close(&m);
}

/* A tensor is encoded 60 times at each of several points of its curve. The mean size may deviate from the bits
 * of the point by 5 standard errors plus 1 % plus 4 bits (for the padding of the last byte). */
TEST(encoding_at_a_level_costs_what_the_curve_says)
{
    static const char *const specs[] = {"entry", "svd", "svd:reshape=square,method=gesdd"};
    Model m;
    model_fill(&m, 2, 6);
    CurvePoint *point = NEW(forever, CurvePoint, CURVE_MOST);
    for (size_t s = 0; s < countof(specs); s++) {
        const Step step = model_step(&m, specs[s]);
        for (size_t j = 0; j < m.count; j += 5) {
            size_t count;
            check_ok(step.call[j].self->ops->curve(&step.call[j], m.x[j], point, &count), &m.err);
            for (size_t k = 0; k < count; k += count / 6 + 1) {
                Model one = m;
                one.count = 1, one.shape = &m.shape[j], one.x = &m.x[j], one.elements = m.shape[j].n;
                one.call = &m.call[j];
                one.call->plan = &point[k];
                double error;
                if (s > 0 && point[k].level > point[0].level / 1024)
                    /* less than one atom is expected per draw, so 60 draws are too few */
                    continue;
                const double bits = model_bits(&one, 60, &error) * (double)m.shape[j].n;
                check_rel(codec_variance(one.call, m.x[j]), point[k].variance, 1e-5);
                check_near(bits, point[k].bits, 0.01 * point[k].bits + 5 * error * (double)m.shape[j].n + 4);
            }
        }
    }
    model_close(&m);
}

/* ---- tests of the wrapper joint ---- */

/* The plan chooses a codec for each tensor. The payload names the codec, so decoding needs no plan. */
TEST(payloads_are_read_without_the_plan_and_name_their_codec)
{
    Model m;
    size_t used[3] = {0};
    model_fill(&m, 5, 6);
    const Offer *o = model_plan(&m, "joint:bits=1");
    for (size_t j = 0; j < m.count; j++) {
        Rig rig;
        rig_open(&rig, "joint", m.shape[j]);
        rig.call.plan = &o[j];
        check_ok(rig_encode(&rig, m.x[j], 1), &rig.err);
        rig.call.plan = NULL;
        check_ok(rig_decode(&rig), &rig.err);
        if (rig.payload.data[0] == PAYLOAD_METHOD)
            check(rig.payload.data[1] == o[j].codec);
        used[rig.payload.data[0] == PAYLOAD_METHOD ? o[j].codec : 2]++;
        rig_close(&rig);
    }
    check(used[0] > 0 && used[1] > 0);
    model_close(&m);
}

/* Inside error feedback, joint must plan for the sum of each tensor and its residual. */
TEST(error_feedback_plans_on_what_it_will_send)
{
    Model m, sum;
    model_fill(&m, 7, 6);
    model_fill(&sum, 7, 6);
    model_step(&m, "ef+joint+entry");
    float **e = NEW(forever, float *, m.count);
    for (size_t j = 0; j < m.count; j++) {
        e[j] = NEW_ZERO(forever, float, codec_state_size(&m.call[j]) / sizeof(float));
        for (size_t i = 0; i < m.shape[j].n; i++) {
            e[j][i] = (float)rng_normal(&m.call[j].rng, USE_INIT, i) * 1e-3f;
            sum.x[j][i] += 0.5f * e[j][i];
        }
    }
    static const char *const specs[] = {"ef:decay=0.5+joint+entry", "ef+ef:decay=0.5+joint+entry"};
    const Offer *want = model_plan(&sum, "joint+entry");
    for (size_t s = 0; s < countof(specs); s++) {
        const Step step = model_step(&m, specs[s]);
        Offer *got = NEW_ZERO(forever, Offer, m.count);
        for (size_t j = 0; j < m.count; j++) {
            float *own = NEW_ZERO(forever, float, codec_state_size(&m.call[j]) / sizeof(float));
            memcpy(own + (s ? codec_state_size(&m.call[j]) / 2 / sizeof(float) : 0), e[j],
                   m.shape[j].n * sizeof(float));
            m.call[j].state = own;
        }
        check_ok(codec_plan(&step, got), &m.err);
        check(codec_plan_size(step.call->self) == sizeof(Offer) && m.loads == m.count);
        for (size_t j = 0; j < m.count; j++)
            check(got[j].codec == want[j].codec && !memcmp(&got[j].at, &want[j].at, sizeof want[j].at));
    }
    const Step step = model_step(&m, specs[0]);
    e[3][0] = m.x[3][0] = FLT_MAX;
    m.call[3].state = e[3];
    Offer unused[24];
    check(codec_plan(&step, unused) == ERR_NUMERIC && strstr(m.err.text, "beyond float32 at element 0"));
    model_close(&m);
    model_close(&sum);
}

CHECK_ALL_IN(forever)
