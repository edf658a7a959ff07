/* train_earlier.c -- implements train_earlier.h. */
#include "app/train_earlier.h"

#include "base/file.h"
#include "report/report_stored.h"

#include <math.h>
#include <string.h>
#include <sys/stat.h>

/* ---- loading ---- */

/* Every JSON result of `run` begins with this; another file, perhaps a large one, is not read. */
static bool is_result(const char *path)
{
    static const char start[] = "{\"schema\": \"atomo-run/1\"";
    char head[sizeof start] = "";
    FILE *f = fopen(path, "re");
    const bool read = f && fread(head, 1, sizeof start - 1, f) == sizeof start - 1;
    if (f)
        fclose(f);
    return read && !strcmp(head, start);
}

static bool same_value(const Value *v, const Value *w)
{
    if (v->type == VALUE_TEXT || w->type == VALUE_TEXT)
        return v->type == w->type && !strcmp(v->text, w->text);
    const double x = value_number(v), y = value_number(w);
    return x == y || (isnan(x) && isnan(y));
}

/* Sets e->why if the result is of a run with other options. A longer run may have more seeds. */
static Status compare_options(TrainEarlier *e, const TrainJob *j, const Json *meta)
{
    Fact fact[TRAIN_FACTS], setting[TRAIN_FACTS];
    train_job_facts(j, fact);
    TRY(train_job_settings(j, setting));
    for (size_t i = 0; i < TRAIN_FACTS && !e->why; i++) {
        const Value was = stored_json(json_member(meta, fact[i].name));
        if (strcmp(fact[i].name, "seeds") != 0 && !same_value(&was, &fact[i].value)) {
            e->why = text_format(j->a, "is the result of a run that differs in %s", setting[i].name);
            TRY(arena_check(e->why, j->a, j->err));
        }
    }
    return OK;
}

static Status take_records(TrainEarlier *e, const TrainJob *j, const Json *results)
{
    size_t count = 0;
    for (const Json *record = results ? results->first : NULL; record; record = record->next)
        count++;
    e->record = NEW(j->a, const Json *, count);
    TRY(arena_check(e->record, j->a, j->err));
    for (const Json *record = results ? results->first : NULL; record; record = record->next)
        e->record[e->count++] = record;
    return OK;
}

Status train_earlier_load(TrainEarlier *e, const TrainJob *j)
{
    struct stat now;
    char *text;
    size_t size;
    const Json *all;
    Error why;
    *e = (TrainEarlier){0};
    if (!j->common.resume || !j->common.output || stat(j->common.output, &now) || !S_ISREG(now.st_mode))
        return OK;
    e->path = j->common.output;
    e->why = "is there, and only a JSON result can be made longer, since it names the options of its run";
    if (!is_result(e->path))
        return OK;
    Status status = file_load(&text, &size, e->path, SIZE_MAX, j->a, &why);
    if (status == OK)
        status = json_read(&all, text, size, j->a, &why);
    if (status == ERR_MEMORY || status == ERR_STOPPED) {
        *j->err = why;
        return status;
    }
    if (status != OK)
        return OK;
    e->why = NULL;
    TRY(compare_options(e, j, json_member(all, "meta")));
    return e->why ? OK : take_records(e, j, json_member(all, "results"));
}

/* ---- records ---- */

bool train_record_of(const Json *record, const char *compressor, int64_t seed)
{
    const Json *name = json_member(record, "compressor"), *number = json_member(record, "seed");
    return name && name->type == JSON_TEXT && !strcmp(name->text, compressor) && number && number->is_whole &&
           number->whole == seed;
}

static size_t positive(const Json *record, const char *field)
{
    const Json *v = json_member(record, field);
    return v && v->is_whole && v->whole > 0 ? (size_t)v->whole : 0;
}

size_t train_record_step(const Json *record)
{
    const Json *kind = json_member(record, "record");
    const bool step = kind && kind->type == JSON_TEXT && !strcmp(kind->text, "step");
    return step && positive(record, "epoch") ? positive(record, "step") : 0;
}

/* ---- refusing ---- */

static Status hint(const TrainEarlier *e, Error *err)
{
    return error_hint(err, "another -o FILE keeps it; --force replaces %.200s", e->path);
}

Status train_earlier_refuse(const TrainEarlier *e, Error *err)
{
    FAIL(err, ERR_USAGE, "%s: %s", e->path, e->why);
    return hint(e, err);
}

static Status check_record(const TrainEarlier *e, const Json *record, const TrainSpan *s, Error *err)
{
    const size_t step = train_record_step(record), last = s->steps > s->done ? s->steps : s->done;
    const Value rate = stored_json(json_member(record, "lr"));
    if (step > last)
        FAIL(err, ERR_USAGE, "%s: has a record of step %zu of %s, but this run ends after step %zu", e->path,
             step, s->compressor, last);
    else if (step && value_number(&rate) != optimizer_rate(&s->optimizer, step))
        FAIL(err, ERR_USAGE, "%s: has a record of step %zu of %s with another step size", e->path, step,
             s->compressor);
    else
        return OK;
    return hint(e, err);
}

const TrainSpan *train_span_of(const Json *record, const char *path, const TrainSpan *span, size_t spans,
                               Error *err)
{
    for (size_t i = 0; i < spans; i++)
        if (train_record_of(record, span[i].compressor, span[i].seed))
            return &span[i];
    const Json *name = json_member(record, "compressor"), *seed = json_member(record, "seed");
    FAIL(err, ERR_USAGE, "%s: has records of %.200s with seed %s, which this run would not have", path,
         name && name->text ? name->text : "no codec", seed && seed->text ? seed->text : "unknown");
    return NULL;
}

Status train_earlier_check(const TrainEarlier *e, const TrainSpan *span, size_t spans, Error *err)
{
    for (size_t i = 0; i < e->count; i++) {
        const TrainSpan *s = train_span_of(e->record[i], e->path, span, spans, err);
        if (!s)
            return hint(e, err);
        TRY(check_record(e, e->record[i], s, err));
    }
    return OK;
}
