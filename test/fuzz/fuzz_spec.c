/* fuzz_spec.c -- fuzzes the parser of codec specs. It must refuse the text, or open a codec
 * each of whose printed specs opens an equal codec, and is printed as it was typed. */
#include "compress/spec.h"

#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must_print_back(const Codec *codec, Arena *a)
{
    Error err;
    const Codec *again;
    const char *canonical = codec_text(codec, a);
    const char *const text[] = {canonical, codec_complete(codec, a), codec_typed(codec, a)};
    for (size_t i = 0; i < countof(text); i++)
        if (codec_open(&again, text[i], a, &err) != OK || strcmp(codec_text(again, a), canonical) != 0 ||
            strcmp(codec_typed(again, a), text[i]) != 0) {
            fprintf(stderr, "does not print back: %s\n", text[i]);
            abort();
        }
}

/* Returns the text to parse. If the first byte is odd, each further byte selects a word from the list `words`:
 * random bytes hardly ever form a valid spec. */
static char *spell(const uint8_t *data, size_t size, Arena *a)
{
    static const char *const words[] = {"ef", "none", "svd", "qsgd", "entry", "topk", "terngrad", "+",
                                        ":",  "=",    ",",   "/",    "bits",  "rank", "ratio",    "decay",
                                        "1",  "2",    ".",   "5",    "e",     "-",    "inf",      "0"};
    if (size == 0 || data[0] % 2 == 0)
        return text_slice(a, (const char *)data, size);
    TextBuf text = {.arena = a};
    for (size_t i = 1; i < size; i++)
        text_add(&text, words[data[i] % countof(words)]);
    return text_done(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Error err;
    Arena *a = arena_open((size_t)256 << 20);
    const char *spec = spell(data, size < 4096 ? size : 4096, a);
    const Codec *codec, **codecs;
    size_t count;
    if (spec && codec_open(&codec, spec, a, &err) == OK)
        must_print_back(codec, a);
    if (spec && codec_list(&codecs, &count, &(TextList){&spec, 1}, a, &err) == OK)
        for (size_t i = 0; i < count; i++)
            must_print_back(codecs[i], a);
    arena_close(a);
    return 0;
}
