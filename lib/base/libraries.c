/* libraries.c -- see libraries.h. The few functions needed are declared here, so that each library's own
 * header stays with the one file that works with it. */
#include "base/libraries.h"
#include "base/text.h"

#include <string.h>

extern int H5dont_atexit(void);
extern int H5get_libversion(unsigned *major, unsigned *minor, unsigned *release);
extern const char fftwf_version[];
extern const char *ZSTD_versionString(void);
extern const char *blosc_get_version_string(void);

char *library_hdf5(Arena *a)
{
    unsigned major = 0, minor = 0, release = 0;
    H5dont_atexit(); /* this call starts the library; tensor_hdf5_write.c says what its clean-up at exit does */
    H5get_libversion(&major, &minor, &release);
    return text_format(a, "%u.%u.%u", major, minor, release);
}

/* "fftw-3.3.10-sse2-avx" */
char *library_fftw(Arena *a)
{
    const char *version = fftwf_version + strcspn(fftwf_version, "0123456789");
    return text_slice(a, version, strcspn(version, "-"));
}

char *library_zstd(Arena *a)
{
    return text_copy(a, ZSTD_versionString());
}

char *library_blosc(Arena *a)
{
    return text_copy(a, blosc_get_version_string());
}
