/* notes.c -- implements notes.h. */
#include "app/notes.h"

void notes_dump(const Dump *d, Progress *p)
{
    const char *first;
    const size_t skipped = dump_skipped(d), twins = dump_twins(d, &first);
    if (skipped)
        progress_note(p, "note: %s: %zu datasets hold no floats and are left out", dump_file(d), skipped);
    if (twins)
        progress_note(p,
                      "note: %s: %zu step or worker groups have the number of another one; they draw random "
                      "numbers of their own (the first: %s)",
                      dump_file(d), twins, first);
}

bool notes_cold(const Codec *codec, const char *name, const VectorList *list, Progress *p)
{
    bool one_step = codec_starts_cold(codec);
    for (size_t i = 1; one_step && i < list->count; i++)
        one_step = list->item[i].step_address == list->item[0].step_address;
    if (one_step)
        progress_note(
            p,
            "note: %s starts cold, as all codecs that learn from step to step: the vectors are of one "
            "step, so its residual, shift or warm start is empty",
            name);
    return one_step;
}
