/* loaders.h -- what all.c lists and the loaders share: one function a family of file formats. */
#ifndef ATOMO_LOADERS_H
#define ATOMO_LOADERS_H

#include "base/bytes.h"
#include "data/dataset.h"

Status digits_load(Dataset *d, const char *dir, uint64_t seed, int threads, Arena *a, Error *err);
Status idx_load(Dataset *d, const char *dir, uint64_t seed, int threads, Arena *a, Error *err);
Status cifar_load(Dataset *d, const char *dir, uint64_t seed, int threads, Arena *a, Error *err);
Status svhn_load(Dataset *d, const char *dir, uint64_t seed, int threads, Arena *a, Error *err);

#endif
