/* tensor_hdf5_load.c -- loads the HDF5 library when a file is first read or written.
 *
 * A program that is linked to libhdf5 loads some forty libraries at every start (Debian's libhdf5 needs curl, which
 * needs ldap, krb5 and more), although most commands read no HDF5, and all others read it in the reader process. */
#include "dump/tensor.h"
#include "dump/tensor_hdf5.h"

#include <pthread.h>

Hdf5 h5;

/* the text in which the library gives its version, and the addresses of its variables */
static struct {
    const char *version;
#define VARIABLE(name, symbol) const hid_t *name;
    HDF5_VARIABLES(VARIABLE)
#undef VARIABLE
} at;

/* The macro H5##name may stand for the function's version in an API of HDF5, so it is expanded before it becomes
 * text. */
#define TEXT_OF(x)             #x
#define NAME_OF(x)             TEXT_OF(x)
#define FUNCTION(name)         {NAME_OF(H5##name), &h5.name},
#define VARIABLE(name, symbol) {#symbol, &at.name},
static const LibrarySymbol symbols[] = {HDF5_FUNCTIONS(FUNCTION)
                                            HDF5_VARIABLES(VARIABLE){"H5_lib_vers_info_g", &at.version}};
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
    pthread_once_t found, started;
    Error err; /* why the library could not be loaded; status OK: it is loaded */
} loading = {.found = PTHREAD_ONCE_INIT, .started = PTHREAD_ONCE_INIT};

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

/* Returns the length of "1.10." in "1.10.8": structures and types of HDF5's headers stay as they are within such a
 * series. */
static size_t series(const char *version)
{
    const char *dot = strchr(version, '.');
    const char *second = dot ? strchr(dot + 1, '.') : NULL;
    return second ? (size_t)(second - version) + 1 : strlen(version);
}

/* Calls no function of HDF5, because its initialisation can crash when memory is short. */
static void find(void)
{
    void *handle;
    const char *built = hdf5_version();
    if (library_load(&library, &handle, &loading.err) == OK &&
        strncmp(number_in(at.version), built, series(built))) {
        const int length = (int)series(built) - 1;
        library_refuse(&library, &loading.err,
                       "%s is version %s, and this program is built for %.*s", library.file,
                       number_in(at.version), length, built);
        error_hint(&loading.err, "install HDF5 %.*s, or build atomo anew", length, built);
    }
}

static void start(void)
{
    /* Must precede any other HDF5 call. Otherwise HDF5's clean-up at exit uses freed memory if closing a file has
     * failed on a full disk. */
    h5.dont_atexit();
    h5.Eset_auto2(H5E_DEFAULT, NULL, NULL);
    if (h5.open() < 0) /* gives the variables their values */
        library_refuse(&library, &loading.err, "it does not start");
#define VARIABLE(name, symbol) h5.name = *at.name;
    HDF5_VARIABLES(VARIABLE)
#undef VARIABLE
}

static Status outcome(Error *err)
{
    if (loading.err.status != OK)
        *err = loading.err;
    return loading.err.status;
}

Status hdf5_library(const char **version, Error *err)
{
    pthread_once(&loading.found, find);
    *version = loading.err.status == OK ? number_in(at.version) : NULL;
    return outcome(err);
}

Status hdf5_ready(Error *err)
{
    const char *version;
    TRY(hdf5_library(&version, err));
    pthread_once(&loading.started, start);
    return outcome(err);
}
