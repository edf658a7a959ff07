/* average.c -- implements average.h. */
#include "exchange/average.h"

#include "compress/compressor.h"
#include "compress/spec.h"

const char *const average_names[] = {"auto", "all", "senders", NULL};
const char average_help[] =
    "senders: divide each element by the number of workers that sent it, for codecs that leave elements out; all: by "
    "that of all workers; auto: senders for chunktopk, else all";

Status average_check(Average average, const Codec *codec, Error *err)
{
    char shown[SPEC_SHOWN];
    if (average != AVERAGE_SENDERS || codec_traits(codec) & LEAVES_OUT)
        return OK;
    return FAIL(err, ERR_USAGE,
                "--average senders: %s does not send some elements and leave the others out, as topk does",
                codec_shown(shown, codec));
}

bool average_over_senders(Average average, const Codec *codec)
{
    const unsigned both = LEAVES_OUT | SENDERS_MEAN;
    return average == AVERAGE_SENDERS || (average == AVERAGE_AUTO && (codec_traits(codec) & both) == both);
}
