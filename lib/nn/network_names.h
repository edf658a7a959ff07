/* network_names.h -- what networks are called, for who knows nothing else of them. */
#ifndef ATOMO_NETWORK_NAMES_H
#define ATOMO_NETWORK_NAMES_H

#include "base/base.h"

/* data: NULL; NULL behind the last. */
const char *network_name(const void *data, size_t i);

#endif
