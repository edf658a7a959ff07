/* tensor_hdf5_load.c -- loads the HDF5 library when a file is first read or written.
 *
 * A program that is linked to libhdf5 loads some forty libraries at every start (Debian's libhdf5 needs curl, which
 * needs ldap, krb5 and more), although most commands read no HDF5, and all others read it in the reader process. */
#include "dump/tensor.h"
#include "dump/tensor_hdf5.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

Hdf5 h5;

/* The macro H5##name may stand for the function's version in an API of HDF5, so it is expanded before it becomes
 * text. */
#define TEXT_OF(x)     #x
#define NAME_OF(x)     TEXT_OF(x)
#define FUNCTION(name) {NAME_OF(H5##name), &h5.name},
#define VARIABLE(name) {NAME_OF(H5##name##_g), &h5.name},
static const LibrarySymbol symbols[] = {
    HDF5_FUNCTIONS(FUNCTION) HDF5_VARIABLES(VARIABLE){"H5_lib_vers_info_g", &h5.lib_vers_info}};
#undef FUNCTION
#undef VARIABLE

static const SharedLibrary library = {
    .title = "the HDF5 library",
    .file = HDF5_FILE,
    .package = HDF5_PACKAGE,
    .symbol = symbols,
    .count = countof(symbols),
};

static struct {
    pthread_once_t once;
    Error err; /* why the library could not be loaded; status OK: it is loaded */
} loading = {.once = PTHREAD_ONCE_INIT};

static void start(void)
{
    void *handle;
    if (library_load(&library, &handle, &loading.err) != OK)
        return;
    /* Must precede any other HDF5 call. Otherwise HDF5's clean-up at exit uses freed memory if closing a file has
     * failed on a full disk. */
    h5.dont_atexit();
    h5.Eset_auto2(H5E_DEFAULT, NULL, NULL);
    if (h5.open() < 0) /* gives the variables their values */
        FAIL(&loading.err, ERR_IO, "%s does not start", library.title);
}

Status hdf5_ready(Error *err)
{
    pthread_once(&loading.once, start);
    if (loading.err.status != OK)
        *err = loading.err;
    return loading.err.status;
}

/* ---- why HDF5 failed ---- */

static herr_t innermost(unsigned n, const H5E_error2_t *error, void *data)
{
    if (n == 0 && error->desc)
        snprintf(data, HDF5_REASON, "%.*s", HDF5_REASON - 1, error->desc);
    return 0;
}

const char *hdf5_reason(char out[HDF5_REASON])
{
    snprintf(out, HDF5_REASON, "the HDF5 library gives no reason");
    h5.Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, innermost, out);
    const char *number = strstr(out, "errno = ");
    const int cause = number ? atoi(number + strlen("errno = ")) : 0;
    /* Keeps only the system's error: the other words of HDF5's message are times and memory addresses. */
    if (cause)
        snprintf(out, HDF5_REASON, "%s%s", strstr(out, "lock file") ? "unable to lock file: " : "",
                 strerror(cause));
    out[strcspn(out, "\n")] = 0;
    return out;
}

/* ---- versions ---- */

/* Returns "1.10.8" for "HDF5 library version: 1.10.8". */
static const char *number_in(const char *version)
{
    const char *space = strrchr(version, ' ');
    return space ? space + 1 : version;
}

const char *hdf5_version(void)
{
    static const char built[] = H5_VERS_INFO;
    return number_in(built);
}

Status hdf5_library(const char **version, Error *err)
{
    TRY(hdf5_ready(err));
    *version = number_in(h5.lib_vers_info);
    return OK;
}
