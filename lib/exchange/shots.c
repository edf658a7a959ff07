/* shots.c -- implements shots.h. */
#include "exchange/shots.h"

#include "compress/compressor.h"
#include "compress/spec.h"

Status shots_check(Shots shots, const Codec *codec, bool senders, Error *err)
{
    const char *why = codec_rounds(codec) > 1                  ? "has several rounds"
                      : codec_traits(codec) & DECODES_STATE    ? "decodes with the senders' states"
                      : shots == SHOTS_HOPS && senders         ? "takes the mean over the workers that sent an element"
                                                               : NULL;
    if (!shots_used(shots, codec) || !why)
        return OK;
    FAIL(err, ERR_USAGE, "--topology %s: %s %s, so its sums are not quantised again",
         shots == SHOTS_TWO ? "twoshot" : "ring", codec->typed, why);
    return error_hint(err, "--topology allgather takes every codec");
}

/* Returns the elements that share a scale; 1: no key says it. */
static size_t bucket_of(const Codec *codec)
{
    static const char *const keys[] = {"bucket", "block"};
    while (codec->inner)
        codec = codec->inner;
    for (size_t k = 0; codec->ops->params && k < countof(keys); k++) {
        const Param *p = param_find(codec->ops->params, keys[k]);
        if (p && p->type == PARAM_INT && param_number(p, codec->params) >= 1)
            return (size_t)param_number(p, codec->params);
    }
    return 1;
}

size_t shots_cut(const Codec *codec, size_t n, size_t workers, size_t shard)
{
    const size_t bucket = bucket_of(codec), buckets = (n + bucket - 1) / bucket;
    if (codec_traits(codec) & WHOLE)
        return shard ? n : 0;
    const size_t at = bucket * (buckets / workers * shard + buckets % workers * shard / workers);
    return at < n ? at : n;
}

size_t shots_chain(const bool *sends, size_t workers, size_t owner, size_t *chain)
{
    size_t count = 0;
    for (size_t i = 1; i < workers; i++)
        if (!sends || sends[(owner + i) % workers])
            chain[count++] = (owner + i) % workers;
    chain[count++] = owner;
    return count;
}

Status shots_add(Exchange *x, const ExchangeWorker *from, Bytes payload, float *sum)
{
    TRY(exchange_decode(x, EXCHANGE_ESTIMATE, from, payload));
    for (size_t i = 0; i < x->call.shape->n; i++)
        sum[i] += x->y[i];
    return OK;
}

void shots_divide(float *mean, const float *sum, size_t n, double count)
{
    for (size_t i = 0; i < n; i++)
        mean[i] = (float)((double)sum[i] / count);
}

Exchange shots_mean(const Exchange *x, const Codec *codec)
{
    Exchange mean = *x;
    mean.call.self = codec;
    mean.call.workers = 1;
    mean.call.round = 0;
    mean.rounds = 1;
    mean.again = true;
    return mean;
}
