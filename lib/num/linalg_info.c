/* linalg_info.c -- which BLAS answers, and whether its kernels suit this CPU.
 *
 * OpenBLAS picks kernels from a table of CPU models; a model newer than the table falls back to SSE3 ones,
 * several times slower than what the CPU could run. Debian's alternatives may also point BLAS at the
 * reference library. */
#include "vec/kernels.h"
#include "num/linalg_blas.h"

#include <dlfcn.h>
#include <string.h>

/* Declared by hand: cblas.h has the first three, LAPACK's own header needs complex types. */
extern void sgemm_(void);
extern void sgesdd_(void);

static const char *file_of(void (*routine)(void))
{
    Dl_info info;
    void *address;
    memcpy(&address, &routine, sizeof address);
    return dladdr(address, &info) && info.dli_fname ? info.dli_fname : "";
}

BlasInfo linalg_blas_info(void)
{
    static const char *const threading[] = {"none", "pthreads", "OpenMP"};
    const int parallel = openblas_get_parallel();
    BlasInfo info = {
        .config = openblas_get_config(),
        .core = openblas_get_corename(),
        .threading = parallel >= 0 && parallel < 3 ? threading[parallel] : "",
        .blas = file_of(sgemm_),
        .lapack = file_of(sgesdd_),
    };
    info.one_library = strstr(info.blas, "openblas") && strstr(info.lapack, "openblas");
    return info;
}

static bool is_among(const char *name, const char *const *names)
{
    while (*names && strcmp(*names, name))
        names++;
    return *names != NULL;
}

const char *linalg_wanted_core(void)
{
    static const char *const wide[] = {"SkylakeX", "Cooperlake", "SapphireRapids", "Zen", NULL};
    static const char *const middle[] = {"Zen", "Haswell", "Excavator", NULL};
    const char *core = openblas_get_corename();
    switch (isa_of_cpu()) {
    case ISA_AVX512:
        return is_among(core, wide) ? NULL : "SkylakeX";
    case ISA_AVX2:
        return is_among(core, middle) ? NULL : "Haswell";
    default:
        return NULL;
    }
}
