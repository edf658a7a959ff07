/* gpt.c -- GPT-2's architecture (Radford et al. 2019), with the parameters that nanoGPT gives it.
 *
 * Token and position embeddings; `layers` blocks of x = x + attention(norm(x)), x = x + mlp(norm(x)); a last
 * norm; output weights tied to the token embeddings. The mlp is width -> 4 width -> width with GELU. Weights
 * begin as N(0, 0.02^2), and those of the two layers that add to x as N(0, 0.02^2 / (2 layers)). */
#include "train/networks.h"

#include "base/param.h"

#include <math.h>
#include <string.h>

#define DEVIATION 0.02

/* Keys without a default keep the value of the preset. */
static const Param schema[] = {
    PARAM(GptShape, layers, NULL, 1, 96, "number of blocks"),
    PARAM(GptShape, heads, NULL, 1, 128, "number of heads of attention; divides the width"),
    PARAM(GptShape, width, NULL, 1, 16384, "number of channels of a token"),
    PARAM(GptShape, context, NULL, 1, 8192, "number of tokens that are read at once"),
    PARAM_SWITCH(GptShape, bias, "off", "linear layers and norms have biases"),
    {0},
};

static int64_t either(int64_t given, int64_t usual)
{
    return given == PARAM_NONE ? usual : given;
}

static Status shape_read(GptShape *out, const char *options, const GptShape *usual, Error *err)
{
    GptShape k;
    const Status status = param_parse(schema, &k, "gpt", options, err);
    if (status != OK && strstr(err->hint, "atomo-bench list")) /* which knows codecs, not networks */
        error_hint(err, "gpt has layers, heads, width, context and bias: docs/networks.md");
    TRY(status);
    *out = (GptShape){either(k.layers, usual->layers), either(k.heads, usual->heads),
                      either(k.width, usual->width), either(k.context, usual->context), k.bias};
    if (out->width % out->heads)
        return FAIL(err, ERR_USAGE, "gpt: width=%lld: want a multiple of the %lld heads",
                    (long long)out->width, (long long)out->heads);
    return OK;
}

Status gpt_context(size_t *out, const char *options, const void *plan, Error *err)
{
    GptShape s;
    TRY(shape_read(&s, options, plan, err));
    *out = (size_t)s.context;
    return OK;
}

static Activation *block(Builder *b, Activation *in, const GptShape *s, size_t i)
{
    const size_t width = (size_t)s->width;
    const double last = DEVIATION / sqrt(2 * (double)s->layers);
    const char *name = build_name(b, "transformer.h.%zu", i);
    Activation *v = build_layer_norm(b, in, build_name(b, "%s.ln_1", name), s->bias);
    v = build_projection(b, v, build_name(b, "%s.attn.c_attn", name), 3 * width, DEVIATION, s->bias);
    v = build_attention(b, v, (size_t)s->heads);
    v = build_projection(b, v, build_name(b, "%s.attn.c_proj", name), width, last, s->bias);
    Activation *sum = build_sum(b, v, in);
    v = build_layer_norm(b, sum, build_name(b, "%s.ln_2", name), s->bias);
    v = build_gelu(b,
                   build_projection(b, v, build_name(b, "%s.mlp.c_fc", name), 4 * width, DEVIATION, s->bias));
    v = build_projection(b, v, build_name(b, "%s.mlp.c_proj", name), width, last, s->bias);
    return build_sum(b, v, sum);
}

Activation *gpt_build(Builder *b, Activation *image, const void *plan)
{
    GptShape s = {0};
    const Slice *tokens;
    b->status = shape_read(&s, b->options, plan, b->err);
    if (b->status == OK && image->columns != (size_t)s.context)
        b->status =
            FAIL(b->err, ERR_USAGE, "windows of %zu tokens: want %lld", image->columns, (long long)s.context);
    if (b->status != OK)
        return build_nothing(b);
    Activation *v =
        build_embedding(b, "transformer.wte", "transformer.wpe", (size_t)s.width, DEVIATION, &tokens);
    for (size_t i = 0; i < (size_t)s.layers; i++)
        v = block(b, v, &s, i);
    return build_tied(b, build_layer_norm(b, v, "transformer.ln_f", s.bias), tokens);
}
