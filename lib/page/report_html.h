/* report_html.h -- what comes from files, as parts of a page that it cannot break out of. */
#ifndef ATOMO_REPORT_HTML_H
#define ATOMO_REPORT_HTML_H

#include "base/text.h"

/* As text or in a quoted attribute. Bytes that are no UTF-8, and control characters, become U+FFFD. */
void html_text(TextBuf *out, const char *s);

/* data:TYPE;base64,... */
void html_data_uri(TextBuf *out, const char *type, const char *data, size_t size);

/* A figure's <svg> element with `prefix` before every id, so that figures on one page do not clash. False, with
 * nothing added, when it is no plain drawing: an element beyond shapes, text and filters, an event's attribute, or a
 * reference to anything but its own parts. `size` bytes and a NUL. */
bool html_svg(TextBuf *out, const char *svg, size_t size, const char *prefix, const char *label);

#endif
