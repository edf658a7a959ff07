/* counts.c -- reads a list such as "4,8,...,512" from left to right. The dots stand for the numbers between
 * 8 and 512, each twice the previous; they are added when 512 is read. */
#include "base/counts.h"

#include "base/text.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

/* Capacity for one item of the list. It exceeds the digits of any valid number, so that an error message can
 * show the start of a wrong item. */
enum { ITEM_MOST = 24 };

typedef struct {
    Counts *counts;
    const char *what, *text;
    /* before, last: the two numbers that were read last, including repeated numbers */
    size_t most, before, last;
    bool dots;
    Error *err;
} Reading;

static Status add(Reading *r, size_t number)
{
    Counts *c = r->counts;
    for (size_t i = 0; i < c->count; i++)
        if (c->number[i] == number)
            return OK;
    if (c->count == COUNTS_MOST)
        return FAIL(r->err, ERR_USAGE, "%s: more than %d numbers", r->what, COUNTS_MOST);
    c->number[c->count++] = number;
    return OK;
}

static Status add_up_to(Reading *r, size_t end)
{
    const size_t a = r->before, b = r->last;
    if (!a || b % a || b / a < 2)
        return FAIL(r->err, ERR_USAGE,
                    "%s %.60s: want two numbers before the dots, the second a multiple of the first", r->what,
                    r->text);
    size_t next = b;
    while (next < end) {
        next *= b / a;
        TRY(add(r, next));
    }
    if (next != end)
        return FAIL(r->err, ERR_USAGE, "%s %.60s: by steps of %zu times, %zu is not reached", r->what,
                    r->text, b / a, end);
    return OK;
}

static Status add_item(Reading *r, const char *item, bool ends)
{
    int64_t number;
    if (!strcmp(item, "...") && !r->dots && !ends) {
        r->dots = true;
        return OK;
    }
    if (!text_to_int(item, &number) || number < 1 || (uint64_t)number > r->most)
        return FAIL(r->err, ERR_USAGE,
                    "%s %.60s: \"%.20s\": want numbers from 1 to %zu with commas between them", r->what,
                    r->text, item, r->most);
    TRY(r->dots ? add_up_to(r, (size_t)number) : add(r, (size_t)number));
    r->dots = false;
    r->before = r->last;
    r->last = (size_t)number;
    return OK;
}

Status counts_read(Counts *c, const char *what, const char *text, size_t most, Error *err)
{
    assert(most < (size_t)1 << 31); /* the product of two numbers then fits a size_t */
    Reading r = {.counts = c, .what = what, .text = text, .most = most, .err = err};
    c->count = 0;
    for (const char *at = text; at;) {
        char item[ITEM_MOST];
        const char *comma = strchr(at, ',');
        const size_t length = comma ? (size_t)(comma - at) : strlen(at);
        snprintf(item, sizeof item, "%.*s", (int)(length < sizeof item ? length : sizeof item), at);
        TRY(add_item(&r, item, !comma));
        at = comma ? comma + 1 : NULL;
    }
    return OK;
}

size_t counts_largest(const Counts *c)
{
    size_t most = 0;
    for (size_t i = 0; i < c->count; i++)
        most = c->number[i] > most ? c->number[i] : most;
    return most;
}
