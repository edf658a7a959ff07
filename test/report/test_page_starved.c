/* test_page_starved.c -- results are read, shown, drawn and written as a page with too little memory: each step ends
 * with ERR_MEMORY and leaves no file, and as soon as memory suffices the output is that with plenty. */
#include "rig/page_rig.h"
#include "rig/starve.h"

#include "base/file.h"
#include "report/plot_figure.h"
#include "report/report_stored.h"

enum { SHARE = 8 };

static const char *const results[] = {
    "fuzz_plot/compare.csv",    "fuzz_plot/compare.json", "fuzz_plot/cost.csv",     "fuzz_plot/histogram.csv",
    "fuzz_plot/merge.csv",      "fuzz_plot/run.csv",      "fuzz_plot/spectrum.csv", "fuzz_report/compare.csv",
    "fuzz_report/compare.json", "fuzz_report/doctor.csv", "fuzz_report/list.json",
};

/* Work on one result, with the output that it has with plenty of memory. */
typedef struct {
    const char *path;
    const PlotKind *kind;
    Format format;
    char *plenty;
} Job;

/* The output with plenty of memory is kept; any other output must equal it. */
static void same(Job *job, const char *text)
{
    if (!job->plenty)
        job->plenty = strdup(text);
    else
        assert_string_equal(text, job->plenty);
}

/* Some kinds of figures refuse this result, for the same reason with any memory. */
static Status draw(void *data, Arena *arena, Error *error)
{
    Job *job = data;
    Csv table = {0};
    char *text;
    TRY(plot_load(&table, job->path, arena, error));
    const PlotOptions look = {.x = job->kind->against ? job->kind->against[0] : "", .y = job->kind->up ? job->kind->up[0] : ""};
    PlotFigure f;
    Status status = plot_script(job->kind, &table, &look, ".svg", &f, &text, arena, error);
    if (status == ERR_MEMORY)
        return status;
    same(job, status == OK ? text : error->text);
    return OK;
}

static Status show(void *data, Arena *arena, Error *error)
{
    Job *job = data;
    Stored s;
    const char *why, *text;
    TRY(stored_load(&s, job->path, arena, error));
    const Query query = {.all = true, .people = job->format == FORMAT_TABLE};
    ReportSpec spec = {.schema = "starved/1", .format = job->format, .text = &text};
    TRY(stored_facts(&spec, s.meta, "this", arena, error));
    TRY(query_write(&query, &s.table, result_kind(&s, &why), spec, arena, error));
    same(job, text);
    return OK;
}

PAGE_TEST(results_are_drawn_and_shown_or_refused_for_want_of_memory)
{
    size_t failures = 0;
    for (size_t i = 0; i < countof(results); i++) {
        char path[128];
        snprintf(path, sizeof path, "test/fuzz/corpus/%s", results[i]);
        for (const PlotKind *const *kind = plot_kinds; *kind; kind++) {
            Job job = {.path = path, .kind = *kind};
            check_ok(draw(&job, a, &err), &err);
            failures += starve(results[i], draw, &job, SHARE);
            free(job.plenty);
        }
        for (Format format = FORMAT_TABLE; format <= FORMAT_LATEX; format++) {
            Job job = {.path = path, .format = format};
            check_ok(show(&job, a, &err), &err);
            failures += starve(results[i], show, &job, SHARE);
            free(job.plenty);
        }
    }
    print_message("%zu calls without enough memory\n", failures);
    check(failures > 10 * countof(results));
}

/* A page is written only if all of it fits in memory. */
static Status write_page(void *data, Arena *arena, Error *error)
{
    Job *job = data;
    const PageSpec spec = {.folder = folder, .path = job->path, .title = "starved"};
    Arena *plenty = arena_open(0);
    const char *note;
    Status status = page_write(&spec, &note, arena, error);
    char *text = NULL;
    status = status == ERR_CORRUPT ? OK : status; /* the page is there, and names the damaged file */
    size_t size;
    check(status == OK || access(job->path, F_OK));
    if (status == OK)
        check_ok(file_load(&text, &size, job->path, SIZE_MAX, plenty, error), error);
    if (text)
        same(job, text);
    unlink(job->path);
    arena_close(plenty);
    return status;
}

PAGE_TEST(a_page_is_written_or_refused_for_want_of_memory)
{
    Job job = {.path = path_of("page.html")};
    put("compare.csv", "compressor,bytes,bytes_se,mse\nqsgd,100,2,0.5\nnone,400,0,0\nqsgd:bits=2,60,1,2\n");
    put("other.json",
        "{\"schema\": \"atomo-inspect/1\", \"meta\": {\"command\": \"x\"}, \"results\": [{\"tensor\": \"w\", "
        "\"n\": 6, \"stable_rank\": 2}]}");
    put("damaged.csv", "compressor,bytes\nqsgd,1,2\n");
    put("picture.svg", "<svg></svg>\n");
    check_ok(write_page(&job, a, &err), &err);
    const size_t failures = starve("the page", write_page, &job, 64);
    print_message("%zu calls without enough memory\n", failures);
    check(failures > 10);
    free(job.plenty);
}

CHECK_ALL(NULL, NULL)
