/* train_rates.c -- implements train_rates.h. */
#include "app/train_rates.h"

#include "report/report_stored.h"
#include "compress/spec.h"

#include <math.h>
#include <string.h>

static Status no_result(const char *path, const char *why, Error *err)
{
    FAIL(err, ERR_CORRUPT, "%s: %s", path, why);
    return error_hint(err, "want what atomo-train tune -c SPEC... -o FILE wrote");
}

static Status check_columns(const Csv *t, const char *path, Error *err)
{
    static const char *const wanted[] = {"compressor", "lr", "chosen"};
    for (size_t i = 0; i < countof(wanted); i++)
        if (!csv_has(t, wanted[i]))
            return no_result(path, "holds no chosen step sizes", err);
    return OK;
}

static Status find(double *lr, const Csv *t, const char *path, const char *spec, Error *err)
{
    for (size_t row = 0; row < t->rows; row++) {
        if (strcmp(csv_cell(t, row, "chosen"), "true") || !spec_equal(csv_cell(t, row, "compressor"), spec))
            continue;
        *lr = csv_real(t, row, "lr");
        return isfinite(*lr) && *lr >= 0 ? OK : no_result(path, "a chosen lr is no step size", err);
    }
    FAIL(err, ERR_USAGE, "--lr-from %s: no step size was chosen for %s", path, spec);
    return error_hint(err,
                      "name the same -c SPEC to atomo-train tune; none is chosen where every run diverged");
}

Status train_rates_load(double **rate, const char *path, const Codec *const *codec, size_t codecs, Arena *a,
                        Error *err)
{
    Stored tuned;
    TRY(stored_load(&tuned, path, a, err));
    TRY(check_columns(&tuned.table, path, err));
    *rate = NEW(a, double, codecs);
    for (size_t k = 0; k < codecs; k++) {
        const char *name = codec_typed(codec[k], a);
        TRY(arena_check(*rate && name, a, err));
        TRY(find(*rate + k, &tuned.table, path, name, err));
    }
    return OK;
}
