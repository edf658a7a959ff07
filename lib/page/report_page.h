/* report_page.h -- a set of results as one HTML page that needs nothing else: no network, no file beside it.
 *
 * What comes from files is escaped (report_html.h), and the page's policy lets no script and no style run but its own,
 * whose hashes it names. Same files, same bytes. */
#ifndef ATOMO_REPORT_PAGE_H
#define ATOMO_REPORT_PAGE_H

#include "page/report_folder.h"

typedef struct {
    const char *folder, *path; /* what is read, and the page */
    const char *title;
    bool (*stopped)(void);
    void *data;
    void (*note)(void *data, const char *text); /* what people should know beside the page */
} PageSpec;

/* ERR_CORRUPT, with the page written, where a file in the folder is damaged. */
Status page_write(const PageSpec *spec, Arena *a, Error *err);

/* The parts of a page that do not change, built in from page/. The hashes are their SHA-256 as a policy wants them. */
extern const char page_css[], page_js[], page_css_hash[], page_js_hash[];

#endif
