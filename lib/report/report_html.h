/* report_html.h -- writes text and pictures from untrusted files as HTML. */
#ifndef ATOMO_REPORT_HTML_H
#define ATOMO_REPORT_HTML_H

#include "base/text.h"

/* Writes s with the escapes that HTML text and quoted attributes need. Invalid UTF-8, and characters
 * that control a terminal, reverse the direction of writing or have no width (text_steers), become U+FFFD. */
void html_text(TextBuf *out, const char *s);

/* Writes the format, in which each %s stands for a text that is escaped; it has no other conversions. */
void html_addf(TextBuf *out, const char *format, ...) PRINTF(2);

/* Writes a <figure> with the image as a data: URI in an <img>, where browsers run no script of the image and
 * fetch nothing. `type`: media type ("image/svg+xml"); `label`: alternative text. */
void html_picture(TextBuf *out, const char *type, const char *data, size_t size, const char *label,
                  const char *caption);

#endif
