/* library_rig.h -- checks of the results of the public interface atomo.h, and the tensor that the tests use. */
#ifndef ATOMO_LIBRARY_RIG_H
#define ATOMO_LIBRARY_RIG_H

#include "atomo.h"
#include "base/rng.h"
#include "rig/check.h"

enum { ROWS = 40, COLS = 30, N = ROWS * COLS };

static inline void good(atomo_status status, const atomo_error *err)
{
    if (status != ATOMO_OK)
        print_error("%s\n", err->text);
    check(status == ATOMO_OK);
}

static inline void refused(atomo_status status, atomo_status want, const atomo_error *err, const char *text)
{
    if (status != want || !strstr(err->text, text))
        print_error("got %d \"%s\", want %d \"%s\"\n", (int)status, err->text, (int)want, text);
    check(status == want && strstr(err->text, text));
}

/* Returns the spec with this index: every compressor with its defaults, then wrappers and other forms of payloads.
 * Returns "" for a wrapper by itself and for a codec that is not in this build, NULL after the last spec. */
static inline const char *library_spec(size_t index)
{
    static const char *const more[] = {"ef+topk",   "ef21+topk",  "diana+qsgd",   "induced:with=qsgd+topk",
                                       "zstd+qsgd", "blosc+qsgd", "joint+svd",    "qsgd:bits=12",
                                       "ef+qsgd",   "ef+svd",     "terngrad:share=on"};
    size_t count = 0;
    atomo_codec *codec;
    for (const char *name; (name = atomo_compressor(count, NULL)); count++)
        if (count == index)
            return atomo_codec_open(&codec, name, NULL) == ATOMO_OK ? (atomo_codec_close(codec), name) : "";
    return index - count < countof(more) ? more[index - count] : NULL;
}

static inline void draw(float *x, int worker, int64_t step)
{
    const Rng rng = rng_open(8, 0, worker, step, 0);
    rng_normals(&rng, USE_TEST, 0, N, 1, x);
}

#endif
