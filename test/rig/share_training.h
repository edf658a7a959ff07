/* share_training.h -- gives what one worker's codec has learned to another worker, as ranks do. */
#ifndef RIG_SHARE_TRAINING_H
#define RIG_SHARE_TRAINING_H

#include "exchange/exchange.h"

#include <string.h>

static inline void share_training(const Exchange *x, const ExchangeWorker *from, const ExchangeWorker *to)
{
    size_t size;
    const void *learned = exchange_learned(x, from, &size);
    if (learned)
        memcpy(exchange_learned(x, to, &size), learned, size);
}

#endif
