/* linalg_load.c -- loads OpenBLAS when it is first needed, with kernels that suit this CPU.
 *
 * In a program that is linked to OpenBLAS, the library starts before main: it creates threads and allocates
 * buffers, and when memory or threads are short it hangs or ends the program. Since this file loads it
 * instead, only programs that use OpenBLAS start it, and they can ask it for one thread beforehand. */
#include "base/dynamic.h"
#include "math/linalg_blas.h"
#include "math/vec/kernels.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct {
    pthread_once_t once;
    bool may_choose; /* true: the process is a program of atomo, which may set OPENBLAS_CORETYPE */
    pthread_mutex_t lock;
    int borrowers; /* calls of linalg_borrow whose linalg_return is still to come */
    int threads;   /* the number of OpenBLAS's threads before the first pending linalg_borrow */
    bool loaded;
    Blas blas;
    Error err; /* why OpenBLAS could not be loaded */
} loading = {.once = PTHREAD_ONCE_INIT, .lock = PTHREAD_MUTEX_INITIALIZER};

#define SYMBOL(result, name, arguments) {#name, &loading.blas.name},
static const LibrarySymbol symbols[] = {BLAS_ROUTINES(SYMBOL)};
#undef SYMBOL

static const SharedLibrary library = {
    .title = "OpenBLAS",
    .file = OPENBLAS_FILE,
    .package = OPENBLAS_PACKAGE,
    .symbol = symbols,
    .count = countof(symbols),
};

static bool is_among(const char *name, const char *const *names)
{
    while (*names && strcmp(*names, name))
        names++;
    return *names != NULL;
}

/* Returns the OpenBLAS core name whose kernels suit this CPU better than those of `core`; NULL: there is
 * none. */
static const char *better_core(const char *core)
{
    static const char *const wide[] = {"SkylakeX", "Cooperlake", "SapphireRapids", "Zen", NULL};
    static const char *const middle[] = {"Zen", "Haswell", "Excavator", NULL};
    switch (isa_of_cpu()) {
    case ISA_AVX512:
        return is_among(core, wide) ? NULL : "SkylakeX";
    case ISA_AVX2:
        return is_among(core, middle) ? NULL : "Haswell";
    default:
        return NULL;
    }
}

static void use_one_thread(void)
{
    loading.threads = loading.blas.openblas_get_num_threads();
    if (loading.threads != 1)
        loading.blas.openblas_set_num_threads(1);
}

/* Loads the library, and again with kernels that suit this CPU better, if that is allowed. */
static bool load(void)
{
    void *handle;
    Status status = library_load(&library, &handle, &loading.err);
    const char *better = status == OK ? better_core(loading.blas.openblas_get_corename()) : NULL;
    if (better && loading.may_choose && !getenv("OPENBLAS_CORETYPE") &&
        !setenv("OPENBLAS_CORETYPE", better, 1)) {
        /* OpenBLAS reads the environment only when it is loaded */
        dlclose(handle);
        status = library_load(&library, &handle, &loading.err);
    }
    return status == OK;
}

static void load_once(void)
{
    const bool loaded = load();
    pthread_mutex_lock(&loading.lock);
    loading.loaded = loaded;
    if (loaded)
        use_one_thread();
    pthread_mutex_unlock(&loading.lock);
}

static void hold_lock(void)
{
    pthread_mutex_lock(&loading.lock);
}

static void free_lock(void)
{
    pthread_mutex_unlock(&loading.lock);
}

/* The child has none of the threads that have borrowed. */
static void forget_borrowers(void)
{
    loading.borrowers = 0;
    free_lock();
}

static void expect_forks(void)
{
    pthread_atfork(hold_lock, free_lock, forget_borrowers);
}

void linalg_borrow(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, expect_forks);
    hold_lock();
    if (loading.borrowers++ == 0 && loading.loaded)
        use_one_thread();
    free_lock();
}

void linalg_return(void)
{
    hold_lock();
    if (loading.borrowers && --loading.borrowers == 0 && loading.loaded && loading.threads != 1)
        loading.blas.openblas_set_num_threads(loading.threads);
    free_lock();
}

const Blas *blas_routines(void)
{
    pthread_once(&loading.once, load_once);
    return loading.loaded ? &loading.blas : NULL;
}

Status linalg_ready(Error *err)
{
    if (blas_routines())
        return OK;
    *err = loading.err;
    return err->status;
}

void linalg_choose_kernels(void)
{
    loading.may_choose = true;
    setenv("OPENBLAS_NUM_THREADS", "1", 0);
}

Status linalg_blas_info(BlasInfo *info, Error *err)
{
    static const char *const threading[] = {"none", "pthreads", "OpenMP"};
    TRY(linalg_ready(err));
    const Blas *b = blas_routines();
    const int parallel = b->openblas_get_parallel();
    Dl_info from;
    void *address;
    memcpy(&address, &b->cblas_sgemm, sizeof address);
    *info = (BlasInfo){
        .config = b->openblas_get_config(),
        .core = b->openblas_get_corename(),
        .threading = parallel >= 0 && parallel < 3 ? threading[parallel] : "",
        .file = dladdr(address, &from) && from.dli_fname ? from.dli_fname : library.file,
        .wanted = better_core(b->openblas_get_corename()),
    };
    b->ilaver_(&info->lapack[0], &info->lapack[1], &info->lapack[2]);
    return OK;
}
