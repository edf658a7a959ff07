/* report_html.h -- text and pictures from untrusted files as HTML. */
#ifndef ATOMO_REPORT_HTML_H
#define ATOMO_REPORT_HTML_H

#include "base/text.h"

/* Escapes s for text and for quoted attributes. Bytes that are no UTF-8, and control characters, become U+FFFD. */
void html_text(TextBuf *out, const char *s);

/* A <figure> with the file's bytes as a data: URI in an <img>, where no script of the file runs and nothing is fetched. `type`:
 * its media type, "image/svg+xml"; `label`: its alternative text. */
void html_picture(TextBuf *out, const char *type, const char *data, size_t size, const char *label,
                  const char *caption);

#endif
