/* train_rates.c -- see train_rates.h. */
#include "train_rates.h"

#include <math.h>
#include <string.h>

static Status no_choice(const char *path, const char *why, Error *err)
{
    FAIL(err, ERR_CORRUPT, "%s: %s", path, why);
    return error_hint(err, "want what atomo-train tune -c SPEC... -o FILE wrote");
}

Status rates_load(Stored *out, const char *path, Arena *a, Error *err)
{
    static const char *const wanted[] = {"compressor", "lr", "chosen"};
    TRY(stored_load(out, path, a, err));
    for (size_t i = 0; i < countof(wanted); i++)
        if (!csv_has(&out->table, wanted[i]))
            return no_choice(path, "holds no chosen step sizes", err);
    return OK;
}

Status rates_find(double *lr, const Stored *rates, const char *path, const char *compressor, Error *err)
{
    const Csv *t = &rates->table;
    for (size_t row = 0; row < t->rows; row++) {
        if (strcmp(csv_cell(t, row, "compressor"), compressor) || strcmp(csv_cell(t, row, "chosen"), "true"))
            continue;
        *lr = csv_real(t, row, "lr");
        return isfinite(*lr) && *lr >= 0 ? OK : no_choice(path, "a chosen lr is no step size", err);
    }
    FAIL(err, ERR_USAGE, "--lr-from %s: no step size was chosen for %s", path, compressor);
    return error_hint(err,
                      "name the same -c SPEC to atomo-train tune; none is chosen where every run diverged");
}
