/* test_guest.c -- what a host program may have set for its process or its threads changes no result of the library, and
 * the library leaves it as it is. Each setting runs every codec, or every eighth where it
 * changes no arithmetic that others do not change, in a child process, and compares the bytes with those
 * of a plain process. docs/library.md has the table. */
#include "rig/library_rig.h"
#include "rig/scratch_dir.h"

#include <errno.h>
#include <fenv.h>
#include <limits.h>
#include <locale.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#if defined __x86_64__
#include <xmmintrin.h>
#endif

enum { HIGH = 270, WIDE = 260, MANY = HIGH * WIDE, SPECS_MOST = 200, SMALL_STACK = 256 << 10, FEW = 8 };

static float input[2][MANY];
static uint64_t plain[SPECS_MOST]; /* the digests of a plain process */
static uint64_t plain_json;

/* ---- what every codec gives ---- */

static void digest(uint64_t *d, const void *data, size_t size)
{
    for (size_t i = 0; i < size; i++)
        *d = (*d ^ ((const uint8_t *)data)[i]) * UINT64_C(1099511628211);
}

static uint64_t failed(const atomo_error *err, const char *spec)
{
    print_error("%s: %s\n", spec, err->text);
    return 0;
}

/* Digests the payloads, the estimates and the mean of a step of two workers. Returns 0 if a call fails. */
static uint64_t run_codec(const char *spec)
{
    static const size_t dim[] = {HIGH, WIDE};
    atomo_codec *codec;
    atomo_tensor *t[2] = {NULL, NULL};
    atomo_error err;
    const void *sent[2], *learned;
    size_t size, sizes[2];
    int more = 1;
    uint64_t d = UINT64_C(14695981039346656037);
    float *mean[2] = {malloc(4 * MANY), malloc(4 * MANY)};
    uint8_t *out = NULL;
    bool good = atomo_codec_open(&codec, spec, &err) == ATOMO_OK;
    for (int w = 0; w < 2 && good; w++) {
        const atomo_layout l = {
            .name = "w", .rank = 2, .dim = dim, .seed = 3, .worker = w, .workers = 2, .threads = 2};
        good = atomo_tensor_open(&t[w], codec, &l, &err) == ATOMO_OK;
    }
    if (good) {
        const size_t room = atomo_encode_bound(t[0]);
        out = malloc(room);
        good = atomo_encode(t[0], 1, input[0], out, room, &size, &err) == ATOMO_OK &&
               atomo_decode(t[0], 1, 0, out, size, mean[0], &err) == ATOMO_OK;
        digest(&d, out, good ? size : 0);
        digest(&d, mean[0], good ? 4 * MANY : 0);
    }
    if (good && atomo_codec_traits(codec) & ATOMO_TRAINS) {
        good = atomo_train(t[0], 2, input[0], &err) == ATOMO_OK;
        learned = atomo_learned(t[0], &size);
        good = good && atomo_learn(t[1], learned, size, &err) == ATOMO_OK;
    }
    for (int w = 0; w < 2 && good; w++)
        good = atomo_step_begin(t[w], 2, 2, mean[w], &err) == ATOMO_OK;
    while (good && more) {
        for (int w = 0; w < 2 && good; w++)
            good = atomo_step_send(t[w], input[w], &sent[w], &sizes[w], &err) == ATOMO_OK;
        for (int k = 0; k < 4 && good; k++)
            good = atomo_step_take(t[k / 2], k % 2, sent[k % 2], sizes[k % 2], &err) == ATOMO_OK;
        for (int w = 0; w < 2 && good; w++) {
            digest(&d, sent[w], sizes[w]);
            good = atomo_step_end_round(t[w], &more, &err) == ATOMO_OK;
        }
    }
    for (int w = 0; w < 2 && good; w++) {
        good = atomo_step_finish(t[w], input[w], &err) == ATOMO_OK;
        digest(&d, mean[w], good ? 4 * MANY : 0);
    }
    for (int w = 0; w < 2; w++) {
        atomo_tensor_close(t[w]);
        free(mean[w]);
    }
    free(out);
    atomo_codec_close(codec);
    return good ? d : failed(&err, spec);
}

static int never(void *data)
{
    (void)data;
    return 0;
}

static uint64_t run_comparison(void)
{
    static const size_t dim[] = {HIGH, WIDE};
    static const char *const spec[] = {"qsgd:bits=4", "topk:ratio=0.05", "svd"};
    const atomo_gradient g = {.name = "w", .rank = 2, .dim = dim, .x = input[0]};
    const atomo_comparison c = {.spec = spec, .specs = 3, .repeats = 2, .seed = 1, .threads = 2, .stopped = never};
    atomo_error err;
    char *json;
    uint64_t d = UINT64_C(14695981039346656037);
    if (atomo_compare(&c, &g, 1, &json, &err) != ATOMO_OK)
        return failed(&err, "compare");
    const char *records = strstr(json, "\"records\""); /* before them stand the date and the machine */
    digest(&d, records ? records : json, strlen(records ? records : json));
    atomo_free(json);
    return d;
}

/* Returns the number of codecs whose digests differ from those of a plain process: of codec number `first` and every `every`-th
 * after and before it. */
static int run_all(const char *setting, size_t every, size_t first)
{
    int bad = 0;
    for (size_t i = 0; library_spec(i); i++)
        if (i % every == first % every && *library_spec(i) && run_codec(library_spec(i)) != plain[i]) {
            print_error("%s: %s gives other bytes\n", setting, library_spec(i));
            bad++;
        }
    if (run_comparison() != plain_json) {
        print_error("%s: the comparison gives other numbers\n", setting);
        bad++;
    }
    return bad;
}

static int remove_all(void **state)
{
    char command[100];
    snprintf(command, sizeof command, "rm -rf %s/de_DE", scratch_dir); /* the locale is a folder */
    return system(command) || scratch_close(state);
}

/* Makes a locale with a decimal comma, where there is localedef: with ISO-8859-1, which takes a fourth of the time of UTF-8. */
static int make_comma(void)
{
    char command[600];
    snprintf(command, sizeof command, "localedef -i de_DE -f ISO-8859-1 %s >/dev/null 2>&1", in_scratch("de_DE"));
    const int ended = system(command);
    (void)ended;
    return setenv("LOCPATH", scratch_dir, 1);
}

static int learn_plain(void **state)
{
    for (int w = 0; w < 2; w++) {
        const Rng rng = rng_open(8, 0, w, 0, 0);
        rng_normals(&rng, USE_TEST, 0, MANY, 1, input[w]);
        input[w][7] = 1e-41f; /* a subnormal number */
    }
    for (size_t i = 0; library_spec(i); i++) {
        if (i == SPECS_MOST || (*library_spec(i) && !(plain[i] = run_codec(library_spec(i)))))
            return 1;
    }
    return scratch_open(state) || make_comma() || !(plain_json = run_comparison());
}

/* ---- settings ---- */

typedef struct {
    const char *name;
    bool (*set)(void);  /* false: this system does not have the setting */
    bool (*kept)(void); /* true if the setting is as it was; NULL: there is nothing to see */
    size_t stack;       /* of the thread; 0: the default */
    size_t every;       /* one of so many codecs runs */
} Setting;

static bool set_nothing(void)
{
    return true;
}

#define ROUNDING(name, mode)                                                                                 \
    static bool set_##name(void)                                                                             \
    {                                                                                                        \
        return !fesetround(mode);                                                                            \
    }                                                                                                        \
    static bool kept_##name(void)                                                                            \
    {                                                                                                        \
        return fegetround() == (mode);                                                                       \
    }
ROUNDING(up, FE_UPWARD)
ROUNDING(zero, FE_TOWARDZERO)

static bool set_traps(void)
{
#ifdef __GLIBC__
    feclearexcept(FE_ALL_EXCEPT);
    return feenableexcept(FE_ALL_EXCEPT) >= 0 && fegetexcept() == FE_ALL_EXCEPT;
#else
    return false;
#endif
}

static bool kept_traps(void)
{
#ifdef __GLIBC__
    return fegetexcept() == FE_ALL_EXCEPT;
#else
    return true;
#endif
}

static bool kept_comma(void)
{
    char text[8];
    snprintf(text, sizeof text, "%.1f", 0.5);
    return !strcmp(text, "0,5");
}

static bool set_comma(void)
{
    return setlocale(LC_ALL, "de_DE") && kept_comma();
}

static bool set_own_comma(void)
{
    const locale_t own = newlocale(LC_ALL_MASK, "de_DE", (locale_t)0);
    return own && uselocale(own) && kept_comma();
}

#if defined __x86_64__
enum { FLUSH = 0x8040 }; /* FTZ and DAZ */
static bool set_flush(void)
{
    _mm_setcsr(_mm_getcsr() | FLUSH);
    return true;
}
static bool kept_flush(void)
{
    return (_mm_getcsr() & FLUSH) == FLUSH;
}
static uint16_t x87_word(void)
{
    uint16_t word;
    __asm__ volatile("fnstcw %0" : "=m"(word));
    return word;
}
static bool set_single(void)
{
    const uint16_t word = (uint16_t)(x87_word() & ~0x300u);
    __asm__ volatile("fldcw %0" : : "m"(word));
    return true;
}
static bool kept_single(void)
{
    return !(x87_word() & 0x300);
}

/* Rounding up, without subnormal numbers, with single precision of the x87 and a decimal comma of the thread. */
static bool set_odd_arithmetic(void)
{
    set_own_comma();
    return set_up() && set_flush() && set_single();
}
static bool kept_odd_arithmetic(void)
{
    return kept_up() && kept_flush() && kept_single() && (uselocale((locale_t)0) == LC_GLOBAL_LOCALE || kept_comma());
}
#endif

static bool set_blocked(void)
{
    sigset_t all;
    sigfillset(&all);
    return !pthread_sigmask(SIG_BLOCK, &all, NULL);
}

static bool kept_blocked(void)
{
    sigset_t now;
    return !pthread_sigmask(SIG_BLOCK, NULL, &now) && sigismember(&now, SIGINT) && sigismember(&now, SIGCHLD);
}

static bool set_ignored(void)
{
    for (int s = 1; s < NSIG; s++)
        signal(s, SIG_IGN);
    return true;
}

static bool kept_ignored(void)
{
    static const int some[] = {SIGPIPE, SIGCHLD, SIGFPE, SIGSEGV, SIGINT, SIGTERM};
    bool all = true;
    for (size_t i = 0; i < countof(some); i++) {
        struct sigaction now;
        all &= !sigaction(some[i], NULL, &now) && now.sa_handler == SIG_IGN;
    }
    return all;
}

static volatile sig_atomic_t alarms;

static void count_alarm(int signal)
{
    (void)signal;
    alarms = 1;
}

/* Signals that interrupt system calls. */
static bool set_alarms(void)
{
    const struct sigaction a = {.sa_handler = count_alarm};
    const struct itimerval often = {{0, 2000}, {0, 2000}};
    return !sigaction(SIGALRM, &a, NULL) && !setitimer(ITIMER_REAL, &often, NULL);
}

static bool set_low_limit(void)
{
    const struct rlimit low = {SMALL_STACK, SMALL_STACK};
    return !setrlimit(RLIMIT_STACK, &low);
}

static bool set_signals(void)
{
    return set_ignored() && set_alarms();
}

static bool set_traps_to_zero(void)
{
    return set_zero() && set_traps();
}

static bool kept_traps_to_zero(void)
{
    return kept_zero() && kept_traps();
}

/* Settings that cannot hide each other's effect share a run: what one of them changes is seen beside the others. */
static const Setting settings[] = {
    {"a fork of a process with threads", set_nothing, NULL, 0, FEW},
#if defined __x86_64__
    {"rounding up, no subnormal numbers, single precision, a decimal comma, a stack of 256 KiB", set_odd_arithmetic,
     kept_odd_arithmetic, SMALL_STACK, 1},
#else
    {"rounding up", set_up, kept_up, 0, 1},
    {"a thread with a decimal comma", set_own_comma, kept_comma, 0, FEW},
    {"a stack of 256 KiB", set_nothing, NULL, SMALL_STACK, 1},
#endif
    {"rounding to zero, traps", set_traps_to_zero, kept_traps_to_zero, 0, FEW},
    {"a decimal comma", set_comma, kept_comma, 0, FEW},
    {"a limit of 256 KiB on stacks", set_low_limit, NULL, SMALL_STACK, FEW},
    {"blocked signals", set_blocked, kept_blocked, 0, FEW},
    {"ignored signals, many signals", set_signals, kept_ignored, 0, FEW},
};

enum { SKIPPED = 77 };

static void *run_setting(void *data)
{
    const Setting *s = data;
    if (!s->set())
        return (void *)(uintptr_t)SKIPPED;
    const int bad = run_all(s->name, s->every, (size_t)(s - settings));
    const bool kept = !s->kept || s->kept();
    if (!kept)
        print_error("%s: the library has changed it\n", s->name);
    return (void *)(uintptr_t)(bad || !kept);
}

static int in_child(void *(*run)(void *), const void *arg, size_t stack)
{
    int state = 0;
    const pid_t child = fork();
    if (child == 0) {
        pthread_attr_t a;
        pthread_t thread;
        void *result = (void *)(uintptr_t)1;
        pthread_attr_init(&a);
        if (stack)
            pthread_attr_setstacksize(&a, stack);
        if (!pthread_create(&thread, &a, run, (void *)(uintptr_t)arg))
            pthread_join(thread, &result);
        _exit((int)(uintptr_t)result);
    }
    check(child > 0);
    while (waitpid(child, &state, 0) < 0 && errno == EINTR)
        ;
    if (WIFSIGNALED(state))
        print_error("the child ended by signal %d\n", WTERMSIG(state));
    return WIFEXITED(state) ? WEXITSTATUS(state) : 1;
}

TEST(settings_change_nothing)
{
    for (size_t i = 0; i < countof(settings); i++) {
        const int ended = in_child(run_setting, &settings[i], settings[i].stack);
        if (ended == SKIPPED)
            print_message("skip: %s, which this system does not have\n", settings[i].name);
        else if (ended)
            print_error("%s\n", settings[i].name);
        check(!ended || ended == SKIPPED);
    }
}

/* ---- coroutines ---- */

static ucontext_t outside, inside;
static int coroutine_bad;

static void coroutine(void)
{
    coroutine_bad = run_all("a coroutine", FEW, 3);
}

static void *run_coroutine(void *unused)
{
    static char stack[SMALL_STACK];
    (void)unused;
    if (getcontext(&inside))
        return (void *)(uintptr_t)1;
    inside.uc_stack.ss_sp = stack;
    inside.uc_stack.ss_size = sizeof stack;
    inside.uc_link = &outside;
    makecontext(&inside, coroutine, 0);
    swapcontext(&outside, &inside);
    return (void *)(uintptr_t)coroutine_bad;
}

TEST(coroutines_have_their_stack)
{
    check(!in_child(run_coroutine, NULL, 0));
}

/* ---- forks, cancelled threads ---- */

static atomic_bool over;

static void *encode_on(void *data)
{
    while (!atomic_load(&over))
        if (!run_codec(data))
            return data;
    return NULL;
}

/* Makes plans of Fourier transforms for most of its time. */
static bool plan(void)
{
    static const size_t dim[] = {7, 194};
    const atomo_layout l = {.name = "w", .rank = 2, .dim = dim, .workers = 1, .threads = 1};
    atomo_codec *codec = NULL;
    atomo_tensor *t = NULL;
    uint8_t out[1 << 13];
    size_t size;
    const bool good = atomo_codec_open(&codec, "fourier", NULL) == ATOMO_OK &&
                      atomo_tensor_open(&t, codec, &l, NULL) == ATOMO_OK &&
                      atomo_encode(t, 1, input[0], out, sizeof out, &size, NULL) == ATOMO_OK;
    atomo_tensor_close(t);
    atomo_codec_close(codec);
    return good;
}

static void *plan_on(void *unused)
{
    while (!atomic_load(&over))
        if (!plan())
            return &over;
    return unused;
}

/* Children are made while other threads make plans and work with the pool. OpenBLAS's own locks are not ours to hold. */
static void *fork_on(void *unused)
{
    static const char *const busy[] = {"eden", "qsgd"};
    pthread_t thread[countof(busy)], planner;
    int bad = 0;
    (void)unused;
    for (size_t i = 0; i < countof(busy); i++)
        bad += pthread_create(&thread[i], NULL, encode_on, (void *)(uintptr_t)busy[i]) != 0;
    bad += pthread_create(&planner, NULL, plan_on, NULL) != 0;
    for (int turn = 0; turn < 30 && !bad; turn++) {
        int state;
        const pid_t child = fork();
        if (child == 0) {
            alarm(300); /* a child that hangs ends */
            _exit(!plan() || (turn % 10 == 0 && !run_codec(busy[turn % 20 == 0])));
        }
        bad += waitpid(child, &state, 0) != child || state != 0;
    }
    void *result;
    atomic_store(&over, true);
    bad += pthread_join(planner, &result) || result;
    for (size_t i = 0; i < countof(busy); i++) {
        bad += pthread_join(thread[i], &result) || result;
    }
    return (void *)(uintptr_t)(bad != 0);
}

TEST(forks_meet_no_lock)
{
#ifdef __SANITIZE_ADDRESS__
    print_message("skip: forks beside threads: a child finds AddressSanitizer's own allocator locked\n");
    return;
#endif
    check(!in_child(fork_on, NULL, 0));
}

/* A thread that is cancelled in a call ends after it, and leaves nothing locked. */
static void *cancel_on(void *unused)
{
    pthread_t thread;
    void *result;
    (void)unused;
    for (int turn = 0; turn < 4; turn++) {
        if (pthread_create(&thread, NULL, encode_on, (void *)(uintptr_t) "qsgd"))
            return (void *)(uintptr_t)1;
        usleep(1000 * (useconds_t)turn);
        pthread_cancel(thread);
        atomic_store(&over, turn == 3);
        /* the loop of the thread has a point of cancellation only inside the library and its messages */
        atomic_store(&over, true);
        pthread_join(thread, &result);
        atomic_store(&over, false);
    }
    return (void *)(uintptr_t)run_all("cancelled threads", FEW, 7);
}

TEST(cancelled_threads_leave_no_lock)
{
    check(!in_child(cancel_on, NULL, 0));
}

/* ---- the host's own function ---- */

static int seen; /* the rounding modes that `stopped` saw */

static int see_rounding(void *data)
{
    (void)data;
    seen |= fegetround() == FE_UPWARD ? 1 : 2;
    return 0;
}

TEST(callbacks_find_the_hosts_settings)
{
    static const size_t dim[] = {ROWS, COLS};
    static const char *const spec[] = {"qsgd"};
    const atomo_gradient g = {.name = "w", .rank = 2, .dim = dim, .x = input[0]};
    const atomo_comparison c = {.spec = spec, .specs = 1, .repeats = 2, .threads = 1, .stopped = see_rounding};
    atomo_error err;
    char *json;
    fesetround(FE_UPWARD);
    good(atomo_compare(&c, &g, 1, &json, &err), &err);
    check(fegetround() == FE_UPWARD && seen == 1);
    fesetround(FE_TONEAREST);
    atomo_free(json);
}

/* ---- files ---- */

static const char *doubles; /* a file whose reader process converts big-endian float64 */

static void *open_doubles(void *data)
{
    return atomo_dump_open(data, doubles, NULL) == ATOMO_OK ? data : NULL;
}

static void write_doubles(void)
{
    static const char head[] = "\x93NUMPY\1\0\x76\0{'descr': '>f8', 'fortran_order': False, 'shape': (3,), }";
    uint8_t all[128 + 24];
    memset(all, ' ', 128);
    memcpy(all, head, sizeof head - 1);
    all[127] = '\n';
    for (int i = 0; i < 3; i++) {
        const double v = i + 0.5;
        uint64_t bits;
        memcpy(&bits, &v, 8);
        for (int k = 0; k < 8; k++)
            all[128 + 8 * i + k] = (uint8_t)(bits >> (56 - 8 * k));
    }
    FILE *to = fopen(doubles = in_scratch("doubles.npy"), "wb");
    check(to && fwrite(all, 1, sizeof all, to) == sizeof all && !fclose(to));
}

static void *use_file(void *unused)
{
    pthread_t thread;
    void *opened;
    atomo_dump *d;
    float x[3] = {0};
    atomo_error err;
    int state;
    (void)unused;
    /* the thread that opens a file may end before the file is read */
    if (pthread_create(&thread, NULL, open_doubles, &d) || pthread_join(thread, &opened) || !opened)
        return (void *)(uintptr_t)1;
    const pid_t child = fork();
    if (child == 0) /* a child of the process has no reader: one clear error */
        _exit(atomo_dump_read(d, 0, x, &err) == ATOMO_USAGE && strstr(err.text, "forked") ? (atomo_dump_close(d), 0)
                                                                                          : 1);
    if (waitpid(child, &state, 0) != child || state)
        return (void *)(uintptr_t)2;
    if (atomo_dump_read(d, 0, x, &err) != ATOMO_OK || x[2] != 2.5f)
        return (void *)(uintptr_t)3;
    /* a host that waits for all children may have waited for the reader */
    atomo_dump_close(d);
    signal(SIGCHLD, SIG_IGN);
    const bool again = open_doubles(&d) && atomo_dump_read(d, 0, x, &err) == ATOMO_OK && x[1] == 1.5f;
    atomo_dump_close(d);
    return (void *)(uintptr_t)(again ? 0 : 4);
}

TEST(files_outlive_their_thread)
{
    write_doubles();
    check(!in_child(use_file, NULL, SMALL_STACK));
}

CHECK_ALL(learn_plain, remove_all)
