/* error.c -- fills in Error. Texts are cut to their field and made printable, since names in them come from files. */
#include "base/base.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* A control character in a name could add a line or control the terminal. */
static void make_printable(char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < 0x20 || *text == 0x7f)
            *text = '?';
}

Status error_set(Error *err, Status status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    err->status = status;
    err->hint[0] = 0;
    vsnprintf(err->text, sizeof err->text, format, args);
    va_end(args);
    make_printable(err->text);
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
    make_printable(err->text);
    return err->status;
}

Status error_hint(Error *err, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(err->hint, sizeof err->hint, format, args);
    va_end(args);
    make_printable(err->hint);
    return err->status;
}
