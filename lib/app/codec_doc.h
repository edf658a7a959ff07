/* codec_doc.h -- what a codec promises, for `list` and the manual page. */
#ifndef ATOMO_CODEC_DOC_H
#define ATOMO_CODEC_DOC_H

#include "compress/codec.h"
#include "base/text.h"

typedef struct {
    const Compressor *ops;
    /* the codec, opened with default parameters; NULL if opening failed. A wrapper that needs an inner codec
     * gets the codec `none`. */
    const Codec *codec;
    bool alone;        /* true: needs no inner codec, so its promises depend on no other codec */
    unsigned promises; /* the codec's promises (bits of codec.h: UNBIASED, ...); 0 unless `alone` */
    bool stateful;
} CodecDoc;

CodecDoc codec_doc(const Compressor *ops, Arena *a);

/* Returns the codec's flags with default parameters, for example "unbiased, linear, mergeable, stateful,
 * wrapper". */
char *codec_doc_flags(const CodecDoc *doc, Arena *a);

/* The promises by which codecs are described. */
enum { PROMISES = 3 };
typedef struct {
    unsigned trait;
    const char *name;
} CodecPromise;
extern const CodecPromise codec_promises[PROMISES];

#endif
