/* codec_doc.c -- implements codec_doc.h. */
#include "app/codec_doc.h"

#include "compress/spec.h"

const CodecPromise codec_promises[PROMISES] = {{UNBIASED, "unbiased"}, {LINEAR, "linear"}, {MERGEABLE, "mergeable"}};

CodecDoc codec_doc(const Compressor *ops, Arena *a)
{
    Error err;
    CodecDoc doc = {.ops = ops, .alone = !ops->wraps || ops->alone[0]};
    const char *bare = text_format(a, "%s%s", ops->name, doc.alone ? "" : "+none");
    if (!bare || codec_open(&doc.codec, bare, a, &err) != OK)
        doc.codec = NULL;
    doc.promises = doc.codec && doc.alone ? codec_traits(doc.codec) : 0;
    doc.stateful = ops->state_size != NULL;
    return doc;
}

static void put_flag(TextBuf *out, const char *flag)
{
    text_addf(out, "%s%s", out->size ? ", " : "", flag);
}

char *codec_doc_flags(const CodecDoc *doc, Arena *a)
{
    TextBuf out = {.arena = a};
    for (size_t i = 0; i < PROMISES; i++)
        if (doc->promises & codec_promises[i].trait)
            put_flag(&out, codec_promises[i].name);
    if (doc->stateful)
        put_flag(&out, "stateful");
    if (doc->ops->wraps)
        put_flag(&out, "wrapper");
    return text_done(&out);
}
