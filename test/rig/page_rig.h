/* page_rig.h -- a temporary folder for the results from which a report page is made. */
#ifndef ATOMO_TEST_PAGE_RIG_H
#define ATOMO_TEST_PAGE_RIG_H

#include "rig/check.h"
#include "report/report_page.h"

#include <stdlib.h>
#include <unistd.h>

#define check_text(condition, text) check_that_at(condition, text, __FILE__, __LINE__)

static Error err;
static Arena *a;
static char folder[] = "/tmp/atomo-page.XXXXXX";

static inline int set_up(void **state)
{
    a = arena_open(0);
    strcpy(folder + sizeof folder - 7, "XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static inline int tear_down(void **state)
{
    arena_close(a);
    char command[64];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

static inline char *path_of(const char *name)
{
    return text_format(a, "%s/%s", folder, name);
}

static inline void put(const char *name, const char *text)
{
    FILE *f = fopen(path_of(name), "w");
    check(f && fputs(text, f) >= 0 && !fclose(f));
}

#define PAGE_TEST(test) TEST_BETWEEN(test, set_up, tear_down)

#endif
