/* memory.c -- implements memory.h. */
#include "app/memory.h"

#include "base/host.h"
#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>

Status memory_check(uint64_t need, const char *tensor, size_t elements, Error *err)
{
    const uint64_t most = host_memory();
    if (need <= most)
        return OK;
    return FAIL(err, ERR_MEMORY, "%.200s: its %zu elements take %.4g GB of memory, want at most the %.4g GB of this machine",
                tensor, elements, 1e-9 * (double)need, 1e-9 * (double)most);
}

void memory_note(const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    text_make_printable(text);
    fprintf(stderr, "note: %s\n", text);
}
