/* codec_doc.h -- what there is to say about a codec, drawn from the codec itself: for `list` and
 * docs/compressors.md. */
#ifndef ATOMO_CODEC_DOC_H
#define ATOMO_CODEC_DOC_H

#include "codec/codec.h"
#include "report/report.h"

typedef struct {
    const Compressor *ops;
    const Codec *codec; /* at its defaults, a wrapper alone if it may be or round `none`; NULL: it cannot */
    bool alone;         /* needs nothing behind it, so that what it promises depends on nothing else */
    unsigned promises;  /* of such a codec */
    bool stateful;
} CodecDoc;

CodecDoc codec_doc(const Compressor *ops, Arena *a);

/* "unbiased, linear, mergeable, stateful, wrapper" at the defaults. */
char *codec_doc_flags(const CodecDoc *doc, Arena *a);

/* The choices that change the promises: "rounding=stochastic: unbiased", comma-separated; "" when none does. */
char *codec_doc_choices(const CodecDoc *doc, Arena *a);

/* Variance of gain = <decoded, g>/|g|^2 over draws, for g the DOC_SIDE x DOC_SIDE matrix of normal numbers;
 * NaN where nothing is drawn or nothing promised. With R repeats gain_z beyond 5 shows a bias of 5 sqrt(V1/R). */
enum { DOC_SIDE = 64, DOC_DRAWS = 400 };
double codec_doc_gain_variance(const CodecDoc *doc, Arena *a);

/* One row per key. */
enum { KEY_COLUMNS = 7 };
extern const Column codec_doc_columns[KEY_COLUMNS];
Value *codec_doc_keys(const Compressor *ops, size_t *count, Arena *a); /* NULL: out of memory */

/* Everything about a codec as a page, for the terminal (FORMAT_TABLE) or in Markdown. NULL: out of memory. */
char *codec_doc_page(const CodecDoc *doc, Format format, Arena *a);

#endif
