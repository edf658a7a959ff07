/* param.c -- parses, checks and prints parameters; see param.h. */
#include "base/param.h"
#include "base/text.h"

#include <assert.h>
#include <math.h>
#include <string.h>

static const char *const switches[] = {"off", "on", NULL};

static const char automatic[] = "auto";

static const char *const *choices_of(const Param *p)
{
    return p->type == PARAM_BOOL ? switches : p->choices;
}

/* Stores a parameter's value in `params`. The value of a number, switch or choice comes from `real` or `whole`;
 * NaN or PARAM_NONE means that the key is not set. A text becomes "", and a codec spec becomes its default. */
static void store(const Param *p, void *params, double real, int64_t whole)
{
    void *field = (char *)params + p->offset;
    switch (p->type) {
    case PARAM_INT:
        *(int64_t *)field = whole;
        break;
    case PARAM_REAL:
        *(double *)field = real;
        break;
    case PARAM_BOOL:
        *(bool *)field = whole != 0;
        break;
    case PARAM_CHOICE:
        *(int *)field = (int)whole;
        break;
    case PARAM_SPEC:
        *(const char **)field = p->fallback;
        break;
    case PARAM_TEXT:
        *(char *)field = 0;
        break;
    case PARAM_END:
        assert(0);
    }
}

static bool is_set(const Param *p, const void *params)
{
    const void *field = (const char *)params + p->offset;
    return p->type == PARAM_INT    ? *(const int64_t *)field != PARAM_NONE
           : p->type == PARAM_REAL ? p->automatic || !isnan(*(const double *)field)
           : p->type == PARAM_TEXT ? *(const char *)field
                                   : true;
}

const char *param_value(const Param *p, const void *params, char out[32])
{
    const void *field = (const char *)params + p->offset;
    if (!is_set(p, params))
        return NULL;
    switch (p->type) {
    case PARAM_INT:
        snprintf(out, 32, "%lld", (long long)*(const int64_t *)field);
        return out;
    case PARAM_REAL:
        return isnan(*(const double *)field) ? automatic : text_double(out, *(const double *)field);
    case PARAM_SPEC:
        return *(const char *const *)field;
    case PARAM_BOOL:
        return switches[*(const bool *)field];
    case PARAM_TEXT:
        return field;
    default:
        return p->choices[*(const int *)field];
    }
}

const char *param_type(const Param *p)
{
    static const char *const types[] = {
        [PARAM_INT] = "whole",     [PARAM_REAL] = "real", [PARAM_BOOL] = "switch",
        [PARAM_CHOICE] = "choice", [PARAM_SPEC] = "spec", [PARAM_TEXT] = "text"};
    return types[p->type];
}

const char *param_range(const Param *p, char out[96])
{
    char low[32], high[32];
    if (choices_of(p)) {
        size_t used = 0;
        for (const char *const *name = choices_of(p); *name && used < 96; name++)
            used += (size_t)snprintf(out + used, 96 - used, "%s%s", used ? "|" : "", *name);
    } else if (p->type == PARAM_SPEC) {
        snprintf(out, 96, "a spec, to the end of the stage");
    } else {
        const int used = snprintf(out, 96, p->above ? "above %s, to %s" : "%s to %s",
                                  text_double(low, p->low), text_double(high, p->high));
        if (p->automatic)
            snprintf(out + used, 96 - (size_t)used, ", or %s", automatic);
    }
    return out;
}

const Param *param_find(const Param *schema, const char *key)
{
    for (; schema && schema->key; schema++)
        if (!strcmp(schema->key, key))
            return schema;
    return NULL;
}

const Param *param_rate(const Param *schema)
{
    for (; schema && schema->key; schema++)
        if (schema->rate)
            return schema;
    return NULL;
}

double param_number(const Param *p, const void *params)
{
    const void *field = (const char *)params + p->offset;
    if (!is_set(p, params))
        return NAN;
    return p->type == PARAM_INT ? (double)*(const int64_t *)field : *(const double *)field;
}

static Status assign(const Param *p, void *params, const char *owner, const char *value, Error *err)
{
    char range[96];
    double real = 0;
    int64_t whole = 0;
    if (p->type == PARAM_TEXT) {
        if (!*value || strlen(value) > (size_t)p->high)
            return FAIL(err, ERR_USAGE, "%s: %s=%s: want %s, at most %.0f characters", owner, p->key, value,
                        param_range(p, range), p->high);
        strcpy((char *)params + p->offset, value);
        return OK;
    }
    if (choices_of(p)) {
        const char *const *names = choices_of(p);
        while (names[whole] && strcmp(names[whole], value))
            whole++;
        if (!names[whole])
            return text_unknown(err, value, text_list_name, names, "%s: %s=%s: want %s", owner, p->key, value,
                                param_range(p, range));
    } else if (p->automatic && !strcmp(value, automatic)) {
        real = NAN;
    } else if (p->type != PARAM_SPEC) {
        const bool parsed = p->type == PARAM_INT ? text_to_int(value, &whole) : text_to_real(value, &real);
        if (!parsed)
            return FAIL(err, ERR_USAGE, "%s: %s=%s: want a %s, %s", owner, p->key, value,
                        p->type == PARAM_INT ? "whole number" : "number", param_range(p, range));
        if (p->type == PARAM_INT)
            real = (double)whole;
        if (real < p->low || real > p->high || (p->above && real <= p->low))
            return FAIL(err, ERR_USAGE, "%s: %s=%s is out of range: want %s", owner, p->key, value,
                        param_range(p, range));
        if (real == 0)
            real = 0; /* turns -0 into 0, so that equal settings are equal bit for bit */
    }
    store(p, params, real, whole);
    return OK;
}

/* Fills `params` with the defaults. */
static void param_defaults(const Param *schema, void *params)
{
    for (const Param *p = schema; p && p->key; p++) {
        Error err;
        if (p->fallback) {
            const Status status = assign(p, params, "", p->fallback, &err);
            assert(status == OK && "a schema's default must satisfy its own range");
            (void)status;
        } else {
            store(p, params, NAN, PARAM_NONE);
        }
    }
}

static const char *key_name(const void *schema, size_t i)
{
    return ((const Param *)schema)[i].key;
}

Status param_set(const Param *schema, void *params, const char *owner, const char *key, const char *value,
                 Error *err)
{
    static const Param none[] = {{0}};
    schema = schema ? schema : none;
    const Param *p = param_find(schema, key);
    if (!p) {
        text_unknown(err, key, key_name, schema, "%s has no key \"%s\"", owner, key);
        return error_hint(err, "atomo-bench list %s shows its keys", owner);
    }
    TRY(assign(p, params, owner, value, err));
    for (const Param *other = schema; other->key; other++)
        if (p->group && other->group == p->group && other != p)
            store(other, params, NAN, PARAM_NONE);
    return OK;
}

Status param_parse(const Param *schema, void *params, const char *owner, const char *keys, Error *err)
{
    char one[256];
    uint64_t named = 0; /* bit i is set when the key schema[i] has been given */
    param_defaults(schema, params);
    for (const char *end; *keys; keys = *end ? end + 1 : end) {
        end = keys + strcspn(keys, ",");
        const size_t length = (size_t)(end - keys);
        if (length == 0 || (*end && !end[1]))
            return FAIL(err, ERR_USAGE, "%s: an empty key (a comma too many)", owner);
        if (length >= sizeof one)
            return FAIL(err, ERR_USAGE, "%s: a key of %zu characters: want under %zu", owner, length,
                        sizeof one);
        memcpy(one, keys, length);
        one[length] = 0;
        char *value = strchr(one, '=');
        if (!value)
            return FAIL(err, ERR_USAGE, "%s: \"%s\" has no value: want KEY=VALUE", owner, one);
        *value++ = 0;
        TRY(param_set(schema, params, owner, one, value, err));
        const Param *p = param_find(schema, one);
        for (const Param *other = schema; other->key; other++) {
            if (!(named >> (other - schema) & 1))
                continue;
            if (other == p)
                return FAIL(err, ERR_USAGE, "%s: %s is given twice", owner, one);
            if (p->group && other->group == p->group)
                return FAIL(err, ERR_USAGE, "%s: %s and %s exclude each other", owner, other->key, one);
        }
        named |= UINT64_C(1) << (p - schema);
    }
    return OK;
}

bool param_is_default(const Param *p, const void *params)
{
    char now[32], untouched[32];
    union {
        int64_t whole;
        double real;
        bool on;
        int choice;
    } field;
    Error err;
    const char *value = param_value(p, params, now);
    if (!value || !p->fallback)
        /* an unset key counts as default, whatever its default; a set key whose default is NULL does not */
        return !value;
    if (p->type == PARAM_SPEC)
        return !strcmp(value, p->fallback);
    Param alone = *p;
    alone.offset = 0;
    if (assign(&alone, &field, "", p->fallback, &err) != OK)
        return false;
    return !strcmp(value, param_value(&alone, &field, untouched));
}
