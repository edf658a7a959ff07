/* codec_doc.h -- the description of a codec for `list` and docs/compressors.md, made from the codec itself. */
#ifndef ATOMO_CODEC_DOC_H
#define ATOMO_CODEC_DOC_H

#include "codec/codec.h"
#include "report/report.h"

typedef struct {
    const Compressor *ops;
    const Codec *
        codec; /* at its defaults; a wrapper around `none`, unless it may be used alone; NULL: cannot be opened */
    bool alone;        /* needs no inner codec, so that its promises depend on no other codec */
    unsigned promises; /* 0 unless `alone` */
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

/* The codec's page, for the terminal (FORMAT_TABLE) or in Markdown. NULL: out of memory. */
char *codec_doc_page(const CodecDoc *doc, Format format, Arena *a);

#endif
