/* error.c -- fills in an Error. Texts are cut to the size of their field, and unprintable characters are
 * replaced, since a message can contain names read from untrusted files. */
#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

Status error_set(Error *err, Status status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    err->status = status;
    err->hint[0] = 0;
    vsnprintf(err->text, sizeof err->text, format, args);
    va_end(args);
    text_make_printable(err->text);
    return status;
}

Status error_at(Error *err, const char *format, ...)
{
    char where[sizeof err->text / 2], what[sizeof err->text];
    va_list args;
    va_start(args, format);
    vsnprintf(where, sizeof where, format, args);
    va_end(args);
    memcpy(what, err->text, sizeof what);
    const size_t used = strlen(where);
    memcpy(err->text, where, used);
    snprintf(err->text + used, sizeof err->text - used, ": %.*s", (int)(sizeof err->text - used - 3), what);
    text_make_printable(err->text);
    return err->status;
}

Status error_hint(Error *err, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(err->hint, sizeof err->hint, format, args);
    va_end(args);
    text_make_printable(err->hint);
    return err->status;
}
