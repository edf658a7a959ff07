/* loss.c -- cross-entropy of a softmax, summed over the rows, and the gradient of its mean: the softmax
 * probabilities, minus 1 at the label, divided by the number of rows. */
#include "train/layer.h"

#include <math.h>

void softmax_loss(const Activation *v, const uint32_t *labels, size_t count, double *loss, size_t *correct)
{
    const size_t classes = v->channels;
    *loss = 0;
    *correct = 0;
    for (size_t i = 0; i < count; i++) {
        const float *x = v->x + i * classes;
        float *d = v->dx + i * classes;
        size_t best = 0;
        for (size_t k = 1; k < classes; k++)
            if (x[k] > x[best])
                best = k;
        double sum = 0;
        for (size_t k = 0; k < classes; k++)
            sum += exp((double)x[k] - (double)x[best]);
        for (size_t k = 0; k < classes; k++) {
            const double e = exp((double)x[k] - (double)x[best]);
            d[k] = (float)((e / sum - (k == labels[i])) / (double)count);
        }
        *loss += log(sum) + (double)x[best] - (double)x[labels[i]];
        *correct += best == labels[i];
    }
}
