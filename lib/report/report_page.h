/* report_page.h -- writes a folder of results as one HTML page, which needs no network and no other file.
 *
 * Texts from files are escaped (report_html.h). The same files give the same page, byte for byte. */
#ifndef ATOMO_REPORT_PAGE_H
#define ATOMO_REPORT_PAGE_H

#include "report/report_folder.h"

typedef struct {
    const char *folder, *path; /* folder of the results; path of the page to write */
    const char *title;
    bool (*stopped)(void);
    void *data;
    void (*note)(void *data, const char *text); /* called with a note for the user */
} PageSpec;

/* Writes the page. Returns ERR_IO if the folder has no result, no figure and no damaged file; then no page is
 * written. Returns ERR_CORRUPT if a file in the folder is damaged; the page is written nevertheless. */
Status page_write(const PageSpec *spec, Arena *a, Error *err);

/* The text of page.css, page.js and explore.js, and their SHA-256 hashes in base64 for the Content-Security-Policy. */
extern const char page_css[], page_js[], explore_js[], page_css_hash[], page_js_hash[], explore_js_hash[];

#endif
