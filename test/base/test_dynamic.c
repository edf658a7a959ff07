/* test_dynamic.c -- a shared library is loaded with its functions and variables, or the error says what is missing.
 * The library is zlib, which every build has. */
#include "base/dynamic.h"
#include "rig/scratch_dir.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>

static struct {
    __typeof__(crc32) *crc32;
    __typeof__(zlibVersion) *version, *none;
} zlib;

static const LibrarySymbol there[] = {{"crc32", &zlib.crc32}, {"zlibVersion", &zlib.version}};
static const LibrarySymbol one_missing[] = {{"crc32", &zlib.crc32}, {"no_such_name", &zlib.none}};

static Error err;
static void *handle;

static void each_pointer_is_set_to_its_symbol(void **state)
{
    const SharedLibrary l = {"zlib", "libz.so.1", "zlib1g", there, countof(there), 0, false, NULL};
    (void)state;
    check_ok(library_load(&l, &handle, &err), &err);
    assert_int_equal(zlib.crc32(0, (const Bytef *)"123456789", 9),
                     0xcbf43926); /* the check value of CRC-32 */
    assert_string_equal(zlib.version(), zlibVersion());
    dlclose(handle);
}

static void a_missing_library_is_named_with_its_package(void **state)
{
    const SharedLibrary l = {
        "the zzz library", "libzzz.so.9", "libzzz-dev", there, countof(there), 0, false, NULL};
    (void)state;
    assert_int_equal(library_load(&l, &handle, &err), ERR_IO);
    assert_string_equal(err.text, "the zzz library cannot be loaded: libzzz.so.9: cannot open shared object "
                                  "file: No such file or directory");
    assert_non_null(strstr(err.hint, "install libzzz-dev"));
}

static void a_missing_symbol_is_named(void **state)
{
    const SharedLibrary l = {"zlib", "libz.so.1", "zlib1g", one_missing, countof(one_missing),
                             0,      false,       NULL};
    (void)state;
    assert_int_equal(library_load(&l, &handle, &err), ERR_IO);
    assert_non_null(strstr(err.text, "no_such_name"));
    assert_null(zlib.none);
}

static void a_library_that_is_cut_short_crashes_a_child_process_alone(void **state)
{
    Dl_info from;
    size_t size;
    SharedLibrary l = {"zlib", "libz.so.1", "zlib1g", there, countof(there), 0, false, NULL};
    void *address = dlsym(RTLD_DEFAULT, "zlibVersion");
    (void)state;
    assert_true(address && dladdr(address, &from));
    check_ok(library_try(&l, &err), &err);
    uint8_t *whole = file_load(from.dli_fname, &size);
    l.file = in_scratch("libcut.so");
    file_save(l.file, whole, size / 2);
    assert_int_equal(library_try(&l, &err), ERR_IO);
    assert_non_null(strstr(err.text, "libcut.so crashes when it is loaded (signal"));
    assert_non_null(strstr(err.hint, "install zlib1g again"));
    free(whole);
}

static void a_child_process_finds_what_is_missing(void **state)
{
    const SharedLibrary l = {"zlib", "libz.so.1", "zlib1g", one_missing, countof(one_missing),
                             0,      false,       NULL};
    (void)state;
    assert_int_equal(library_try(&l, &err), ERR_IO);
    assert_non_null(strstr(err.text, "no_such_name"));
}

static Status crashes(Error *e)
{
    (void)e;
    abort();
}

static Status ends(Error *e)
{
    (void)e;
    _exit(0);
}

static Status fails(Error *e)
{
    return FAIL(e, ERR_NUMERIC, "a wrong result");
}

static void only_a_library_that_works_in_its_trial_passes(void **state)
{
    SharedLibrary l = {"zlib", "libz.so.1", "zlib1g", there, countof(there), 0, false, crashes};
    (void)state;
    assert_int_equal(library_try(&l, &err), ERR_IO);
    assert_string_equal(err.text, "zlib cannot be used: libz.so.1 crashes in a small trial (signal 6)");
    l.trial = ends;
    assert_int_equal(library_try(&l, &err), ERR_IO);
    assert_string_equal(err.text,
                        "zlib cannot be used: libz.so.1 ends the process in a small trial (exit 0)");
    l.trial = fails;
    assert_int_equal(library_try(&l, &err), ERR_NUMERIC);
    assert_string_equal(err.text, "a wrong result");
}

static Status runs_out(Error *e)
{
    const SharedLibrary l = {.title = "zlib", .package = "zlib1g"};
    return library_unusable(&l, e, "libz.so.1: out of memory: 80 bytes were asked for");
}

static void a_library_that_ran_out_of_memory_is_not_called_damaged(void **state)
{
    const SharedLibrary l = {"zlib", "libz.so.1", "zlib1g", there, countof(there), 0, false, runs_out};
    (void)state;
    assert_int_equal(library_try(&l, &err), ERR_MEMORY);
    assert_string_equal(err.text, "zlib cannot be used: libz.so.1: out of memory: 80 bytes were asked for");
    assert_string_equal(err.hint, "free some memory, and run the command again");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_pointer_is_set_to_its_symbol),
        cmocka_unit_test(a_missing_library_is_named_with_its_package),
        cmocka_unit_test(a_missing_symbol_is_named),
        cmocka_unit_test(a_library_that_is_cut_short_crashes_a_child_process_alone),
        cmocka_unit_test(a_child_process_finds_what_is_missing),
        cmocka_unit_test(only_a_library_that_works_in_its_trial_passes),
        cmocka_unit_test(a_library_that_ran_out_of_memory_is_not_called_damaged),
    };
    return cmocka_run_group_tests(tests, scratch_open, scratch_close) ? 1 : 0;
}
