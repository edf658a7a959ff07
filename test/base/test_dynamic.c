/* test_dynamic.c -- a shared library is loaded with its functions and variables, or the error says what is missing.
 * The library is zlib, which every build has. */
#include "base/dynamic.h"
#include "rig/check.h"

#include <dlfcn.h>
#include <zlib.h>

static struct {
    __typeof__(crc32) *crc32;
    __typeof__(zlibVersion) *version, *none;
} zlib;

static const LibrarySymbol there[] = {{"crc32", &zlib.crc32}, {"zlibVersion", &zlib.version}};
static const LibrarySymbol one_missing[] = {{"crc32", &zlib.crc32}, {"no_such_name", &zlib.none}};

static Error err;
static void *handle;

TEST(each_pointer_is_set_to_its_symbol)
{
    const SharedLibrary l = {"zlib", "libz.so.1", "zlib1g", there, countof(there), false};
    check_ok(library_load(&l, &handle, &err), &err);
    assert_int_equal(zlib.crc32(0, (const Bytef *)"123456789", 9),
                     0xcbf43926); /* the check value of CRC-32 */
    assert_string_equal(zlib.version(), zlibVersion());
    dlclose(handle);
}

TEST(a_missing_library_is_named_with_its_package)
{
    const SharedLibrary l = {
        "the zzz library", "libzzz.so.9", "libzzz-dev", there, countof(there), false};
    assert_int_equal(library_load(&l, &handle, &err), ERR_IO);
    assert_string_equal(err.text, "the zzz library cannot be loaded: libzzz.so.9: cannot open shared object "
                                  "file: No such file or directory");
    assert_non_null(strstr(err.hint, "install libzzz-dev"));
}

TEST(a_missing_symbol_is_named)
{
    const SharedLibrary l = {"zlib", "libz.so.1", "zlib1g", one_missing, countof(one_missing), false};
    assert_int_equal(library_load(&l, &handle, &err), ERR_IO);
    assert_non_null(strstr(err.text, "no_such_name"));
    assert_null(zlib.none);
}

CHECK_ALL(NULL, NULL)
