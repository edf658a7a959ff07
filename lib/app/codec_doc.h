/* codec_doc.h -- describes a codec for `list` and docs/compressors.md, from the codec's own tables. */
#ifndef ATOMO_CODEC_DOC_H
#define ATOMO_CODEC_DOC_H

#include "compress/codec.h"
#include "report/report.h"

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

/* Returns the parameter values that change the codec's promises, with the changed promises, comma-separated.
 * For example "rounding=stochastic: unbiased"; "" if there are none. */
char *codec_doc_choices(const CodecDoc *doc, Arena *a);

/* Sample variances of <h, g> / |g|^2 (`gain`) and of <h, sign g> / |g|_1 (`gain_l1`) over DOC_DRAWS draws. g is
 * a square matrix of normal numbers; h is the codec's decoded estimate of g. Both are NaN if the codec is
 * stateful, not random, or not unbiased. */
enum { DOC_DRAWS = 100 };
typedef struct {
    double gain, gain_l1;
} CodecSight;
CodecSight codec_doc_sight(const CodecDoc *doc, size_t side);

/* The table of a codec's keys: one row per key. */
enum { KEY_COLUMNS = 7 };
extern const Column codec_doc_columns[KEY_COLUMNS];
/* returns the table's rows; NULL: out of memory */
Value *codec_doc_keys(const Compressor *ops, size_t *count, Arena *a);

/* Returns the page about the codec, for a terminal of `width` characters a line (FORMAT_TABLE; 0: any width) or
 * in Markdown. NULL: out of memory. */
char *codec_doc_page(const CodecDoc *doc, Format format, size_t width, Arena *a);

#endif
