/* gpt_pass.c -- loss, outputs and gradient of a gpt with weights from a file, for PyTorch to compare.
 *
 *     gpt_pass NETWORK WEIGHTS LETTERS CONTEXT <tokens >numbers
 *
 * Reads windows of CONTEXT tokens and then as many labels, both as uint32. Writes the loss as a double; for each
 * token and letter the output less that of letter 0, as doubles; and the gradient as floats, in the order of the
 * parameters. An output follows from the loss with another label: the mean over all labels changes by the difference of
 * two outputs, divided by the number of labels. */
#include "train/weights.h"

#include <stdio.h>
#include <stdlib.h>

enum { MOST = 4096 };

static double loss_of(Model *m, const Batch *batch, const float *weights)
{
    Score score;
    Error err;
    if (model_score(m, batch, weights, NULL, 1, &score, &err) != OK)
        exit(1);
    return score.loss;
}

static void write_outputs(Model *m, const Batch *batch, uint32_t *labels, size_t count, uint32_t letters,
                          const float *weights)
{
    for (size_t i = 0; i < count; i++) {
        const uint32_t label = labels[i];
        double first = 0;
        for (labels[i] = 0; labels[i] < letters; labels[i]++) {
            const double loss = loss_of(m, batch, weights);
            first = labels[i] ? first : loss;
            const double output = (first - loss) * (double)count;
            fwrite(&output, sizeof output, 1, stdout);
        }
        labels[i] = label;
    }
}

int main(int argc, char **argv)
{
    static uint32_t token[2 * MOST];
    static float x[MOST];
    Error err;
    Model *m;
    Score score;
    if (argc != 5)
        return fputs("usage: gpt_pass NETWORK WEIGHTS LETTERS CONTEXT\n", stderr), 2;
    const size_t letters = strtoul(argv[3], NULL, 10), context = strtoul(argv[4], NULL, 10);
    const size_t count = fread(token, sizeof *token, 2 * MOST, stdin) / 2;
    for (size_t i = 0; i < count; i++)
        x[i] = (float)token[i];
    const ModelSpec spec = {argv[1], 1, 1, context, letters, count / context, NULL, .text = true};
    const Batch batch = {x, token + count, count / context};
    Status status = model_open(&m, &spec, &err);
    if (status != OK)
        return fprintf(stderr, "gpt_pass: %s\n", err.text), 1;
    const size_t floats = model_parameters(m)->floats;
    float *weights = malloc(floats * sizeof *weights), *gradient = malloc(floats * sizeof *gradient);
    const Rng rng = rng_open(1, 0, 0, 0, 0);
    status = weights_read(m, argv[2], weights, NULL, &err);
    if (status == OK)
        status = model_gradient(m, &batch, weights, NULL, &rng, 1, gradient, &score, &err);
    if (status != OK)
        return fprintf(stderr, "gpt_pass: %s\n", err.text), 1;
    fwrite(&score.loss, sizeof score.loss, 1, stdout);
    write_outputs(m, &batch, token + count, count, (uint32_t)letters, weights);
    fwrite(gradient, sizeof *gradient, floats, stdout);
    free(weights);
    free(gradient);
    model_close(m);
    return fclose(stdout) == 0 ? 0 : 1;
}
