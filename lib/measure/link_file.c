/* link_file.c -- reads a link from the JSON that `atomo-bench link` writes: of its records, the fit over all
 * exchanges. */
#include "measure/netcost.h"

#include "base/file.h"
#include "base/json.h"

#include <math.h>
#include <string.h>

enum { FILE_MOST = 4 << 20 };

static bool is_text(const Json *v, const char *text)
{
    return v && v->type == JSON_TEXT && !strcmp(v->text, text);
}

static const Json *find_fit(const Json *file)
{
    const Json *results = json_member(file, "results");
    for (const Json *r = results && results->type == JSON_ARRAY ? results->first : NULL; r; r = r->next)
        if (is_text(json_member(r, "record"), "fit") && is_text(json_member(r, "exchange"), "all"))
            return r;
    return NULL;
}

/* Returns a member that is a number from `low` to `high`; NaN: there is no such number. */
static double number(const Json *fit, const char *name, double low, double high)
{
    const Json *v = json_member(fit, name);
    return v && v->type == JSON_NUMBER && v->number >= low && v->number <= high ? v->number : NAN;
}

static Status read_file(Link *out, const char *path, Arena *a, Error *err)
{
    char *data;
    size_t size;
    const Json *file;
    TRY(file_load(&data, &size, path, FILE_MOST, a, err));
    TRY(json_read(&file, data, size, a, err));
    const Json *fit = is_text(json_member(file, "schema"), "atomo-link/1") ? find_fit(file) : NULL;
    const double alpha = number(fit, "alpha_ms", 0, 1e6), beta = number(fit, "beta_gbps", 1e-9, 1e6);
    if (isnan(alpha) || isnan(beta))
        return FAIL(err, ERR_CORRUPT, "no fit of a link");
    *out = (Link){path, alpha / 1e3, beta * 1e9};
    return OK;
}

Status link_load(Link *out, const char *path, Arena *a, Error *err)
{
    const char *name = text_copy(a, path);
    TRY(arena_check(name, a, err));
    if (read_file(out, name, a, err) == OK)
        return OK;
    error_at(err, "link %.200s", path);
    return error_hint(err, "mpirun -n 2 atomo-bench link -o %.60s measures a link and writes such a file",
                      path);
}
