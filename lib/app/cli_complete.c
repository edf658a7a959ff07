/* cli_complete.c -- completes command lines for shells (cli_parts.h). */
#include "app/cli_parts.h"

#include "compress/spec.h"

#include <ctype.h>
#include <string.h>

/* Prints "BEFORE NAME AFTER", without the spaces, if NAME begins with `typed`. */
static void offer(FILE *to, const char *before, size_t length, const char *typed, const char *name,
                  const char *after)
{
    if (!strncmp(name, typed, strlen(typed)))
        fprintf(to, "%.*s%s%s\n", (int)length, before, name, after);
}

static const char *behind_last(const char *text, char separator)
{
    const char *at = strrchr(text, separator);
    return at ? at + 1 : text;
}

/* ---- specs ---- */

static bool needs_inner(const Compressor *c)
{
    return c->wraps && !c->alone[0];
}

static void offer_names(FILE *to, const char *before, size_t length, const char *typed)
{
    for (const Compressor *const *c = compressors; *c; c++) {
        if (!needs_inner(*c))
            offer(to, before, length, typed, (*c)->name, "");
        if ((*c)->params && (*c)->params->key)
            offer(to, before, length, typed, (*c)->name, ":");
        if ((*c)->wraps)
            offer(to, before, length, typed, (*c)->name, "+");
    }
}

static void offer_values(FILE *to, const char *before, size_t length, const char *typed, const Param *p)
{
    static const char *const switches[] = {"on", "off", NULL};
    const char *const *values = p->type == PARAM_CHOICE ? p->choices
                                : p->type == PARAM_BOOL ? switches
                                                        : NULL;
    for (size_t i = 0; values && values[i]; i++)
        offer(to, before, length, typed, values[i], "");
    if (p->automatic)
        offer(to, before, length, typed, "auto", "");
}

static void offer_keys(FILE *to, const char *before, size_t length, const char *typed, const Param *params)
{
    for (const Param *p = params; p && p->key; p++)
        offer(to, before, length, typed, p->key, "=");
}

/* Returns where the last stage of a spec begins: behind the last '+' that a letter or nothing follows. */
static const char *last_stage(const char *spec)
{
    const char *stage = spec;
    for (const char *s = spec; *s; s++)
        if (*s == '+' && (isalpha((unsigned char)s[1]) || !s[1]))
            stage = s + 1;
    return stage;
}

/* Offers specs: names of codecs, then keys, then values. `before`: the text that stands before the spec in the same word. */
static void offer_spec(const char *before, const char *typed, FILE *to, Arena *a)
{
    const char *word = text_format(a, "%s%s", before, typed);
    if (!word)
        return;
    const char *stage = last_stage(word + strlen(before)), *colon = strchr(stage, ':');
    const char *part = behind_last(colon ? colon + 1 : stage, colon ? ',' : '/');
    if (!colon) {
        offer_names(to, word, (size_t)(part - word), part);
        return;
    }
    const char *name = text_slice(a, stage, (size_t)(colon - stage)), *equals = strchr(part, '=');
    const Compressor *codec = name ? compressor_find(name) : NULL;
    if (!codec)
        return;
    if (!equals) {
        offer_keys(to, word, (size_t)(part - word), part, codec->params);
        return;
    }
    const char *key = text_slice(a, part, (size_t)(equals - part)), *value = behind_last(equals + 1, '/');
    const Param *p = key ? param_find(codec->params, key) : NULL;
    if (p && p->type == PARAM_SPEC)
        offer_spec(text_slice(a, word, (size_t)(equals + 1 - word)), equals + 1, to, a);
    else if (p)
        offer_values(to, word, (size_t)(value - word), value, p);
}

/* ---- values of options and arguments ---- */

static void offer_value(FILE *to, const Option *o, const char *before, const char *typed, Arena *a)
{
    const size_t length = strlen(before);
    if (o->type == CLI_CHOICE)
        for (size_t i = 0; o->choices[i]; i++)
            offer(to, before, length, typed, o->choices[i], "");
    if (o->arg && !strcmp(o->arg, "SPEC"))
        offer_spec(before, typed, to, a);
    const char *last = o->listed ? behind_last(typed, ',') : typed;
    const char *all = text_format(a, "%s%.*s", before, (int)(last - typed), typed);
    for (size_t i = 0; all && o->names && o->names(NULL, i); i++)
        offer(to, all, strlen(all), last, o->names(NULL, i), "");
}

/* Offers values of the first word. Other arguments are names of files. */
static void offer_argument(FILE *to, const Command *command, const char *typed, Arena *a)
{
    if (!strcmp(command->command, "list"))
        offer_spec("", typed, to, a);
    for (size_t i = 0; command->names && command->names(NULL, i); i++)
        offer(to, "", 0, typed, command->names(NULL, i), "");
}

/* ---- words ---- */

void cli_complete(const Command *command, int count, char **words, FILE *to, Arena *a)
{
    size_t rows_count;
    const Option *rows = cli_rows(command, a, &rows_count);
    if (!rows || count < 1)
        return;
    const char *typed = words[count - 1], *equals = strchr(typed, '=');
    const Option *before = count > 1 ? cli_option(rows, words[count - 2]) : NULL,
                 *here = !strncmp(typed, "--", 2) && equals ? cli_option(rows, typed) : NULL;
    if (here)
        offer_value(to, here, text_slice(a, typed, (size_t)(equals + 1 - typed)), equals + 1, a);
    else if (before && before->type != CLI_SWITCH && !strchr(words[count - 2], '='))
        offer_value(to, before, "", typed, a);
    else if (*typed == '-')
        for (const Option *o = rows; o->name; o++)
            offer(to, "--", 2, typed[1] == '-' ? typed + 2 : typed + 1, o->name, "");
    else if (count == 1)
        offer_argument(to, command, typed, a);
}

bool cli_complete_program(const Subcommand *table, int count, char **words, FILE *to, Arena *a)
{
    const char *typed = count ? words[count - 1] : "";
    const bool help = count == 2 && !strcmp(words[0], "help");
    if (count > 1 && !help)
        return false;
    for (; table->name; table++)
        offer(to, "", 0, typed, table->name, "");
    offer(to, "", 0, typed, "help", "");
    if (help)
        offer_spec("", typed, to, a);
    return true;
}
