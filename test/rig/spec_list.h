/* spec_list.h -- the specs of all compressors that satisfy a condition. */
#ifndef ATOMO_SPEC_LIST_H
#define ATOMO_SPEC_LIST_H

#include "compress/spec.h"
#include "rig/more_specs.h"

typedef struct {
    const char *spec[400];
    size_t count;
} SpecList;

/* Adds `spec` if its codec satisfies `wanted`. `spec` must outlive the list. */
static void spec_list_add(SpecList *list, const char *spec, bool wanted(const Codec *))
{
    Arena *a = arena_open(0);
    Error err;
    const Codec *codec;
    if (list->count < countof(list->spec) && codec_open(&codec, spec, a, &err) == OK && wanted(codec))
        list->spec[list->count++] = spec;
    arena_close(a);
}

/* Adds each compressor's default spec and `more_specs`, if their codecs satisfy `wanted`. */
static void spec_list_fill(SpecList *list, bool wanted(const Codec *))
{
    for (size_t i = 0; compressor_number(i); i++)
        spec_list_add(list, compressor_number(i)->name, wanted);
    for (size_t i = 0; i < countof(more_specs); i++)
        spec_list_add(list, more_specs[i].spec, wanted);
}

#endif
