/* memory.c -- implements memory.h. */
#include "app/memory.h"

#include "base/host.h"

Status memory_check(uint64_t need, const char *tensor, size_t elements, Error *err)
{
    const HostRoom room = host_room();
    if (need <= room.bytes)
        return OK;
    FAIL(err, ERR_MEMORY,
         "%.200s: its %zu elements take %.4g GB of memory, want at most the %.4g GB that %s has free", tensor,
         elements, 1e-9 * (double)need, 1e-9 * (double)room.bytes, room.by);
    return error_hint(err, "-t GLOB selects smaller tensors; close programs or raise the limit");
}
