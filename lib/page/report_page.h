/* report_page.h -- a folder of results as one HTML page that needs no network and no other file.
 *
 * Texts from files are escaped (report_html.h). The page's Content-Security-Policy allows only the page's own script and style,
 * by their hashes. Same files, same bytes. */
#ifndef ATOMO_REPORT_PAGE_H
#define ATOMO_REPORT_PAGE_H

#include "page/report_folder.h"

typedef struct {
    const char *folder, *path; /* the results; the page */
    const char *title;
    bool (*stopped)(void);
    void *data;
    void (*note)(void *data, const char *text); /* called with a note for the user */
} PageSpec;

/* ERR_IO where the folder has neither result nor figure. ERR_CORRUPT where a file in it is damaged; the page is written all the
 * same. */
Status page_write(const PageSpec *spec, Arena *a, Error *err);

/* page.css and page.js, built in, and their SHA-256 in base64 as the policy wants them. */
extern const char page_css[], page_js[], page_css_hash[], page_js_hash[];

#endif
