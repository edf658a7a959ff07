/* report_page.h -- writes a folder of results as one HTML page, which needs no network and no other file.
 *
 * Texts from files are escaped (html_text). The same files give the same page, byte for byte. */
#ifndef ATOMO_REPORT_PAGE_H
#define ATOMO_REPORT_PAGE_H

#include "report/report_stored.h"
#include "report/fields.h"
#include "base/csv.h"
#include "base/text.h"

typedef struct {
    const char *folder, *path; /* folder of the results; path of the page to write */
    const char *title;
} PageSpec;

/* Writes the page. Returns ERR_IO if the folder has no result, no figure and no damaged file; then no page is
 * written. Returns ERR_CORRUPT if a file in the folder is damaged; the page is written nevertheless. ERR_STOPPED: file_stopped
 * returned true. */
Status page_write(const PageSpec *spec, Arena *a, Error *err);

/* page.css, page.js and explore.js, each with its SHA-256 hash in base64 for the Content-Security-Policy. */
typedef struct {
    const char *text, *hash;
} PagePart;
extern const PagePart page_css, page_js, explore_js;

/* ---- a result's rows as HTML tables ---- */

/* Most rows of one table, and most cells if it has over 100 rows: browsers become slow with more. */
enum { ROWS_MOST = 1000, CELLS_MOST = 30000 };

typedef struct {
    const char *id;   /* the result's id on the page */
    const char *file; /* name of the file with all rows, for the note on rows left out */
    const Csv *rows;
    const RowRank *rank; /* (rows) */
    const char *usual;   /* columns shown at first; NULL: all */
} PageTable;

/* Writes a table of the rows shown at first (rank ROW_LEAD), and a folded table of the rows shown on request
 * (ROW_MORE). Each has at most ROWS_MOST rows, fewer in wide tables; a note says how many are left out. */
void page_table(TextBuf *out, const PageTable *t, Arena *a);

/* ---- a result's columns as JSON, for the charts of explore.js ---- */

typedef struct {
    const char *id;      /* the result's id on the page */
    const char *file;    /* the name of the result's file */
    const char *kind;    /* the result's kind, such as "compare" */
    const char *command; /* the command line; NULL: unknown */
    const Csv *rows;
} PageData;

/* Appends a <script type="application/json" class="data"> element:
 *
 *     {"id", "file", "kind", "command", "rows": number of rows, "columns": [COLUMN, ...],
 *      "codecs": [{"colour": "#0072b2", "mark": 0, "dash": 0, "family": "ef+topk", "flags": ["unbiased", ...]}, ...]}
 *
 * A COLUMN of numbers is {"name", "heading", "unit", "exact", "values": "1.5,,2.25"}: the rows' values in one text, ""
 * where there is none, so that a browser reads only the columns that it shows. Whole numbers have all their digits,
 * others 6, standard errors 3. A value that all rows have is written once. "exact"
 * names the column with the expected values, where there is one. A COLUMN of texts is {"name", "heading", "unit",
 * "texts": [distinct texts], "index": "0,0,1"}, with the index of each row's text; without "index" if there is one text.
 * "codecs" has an entry for each text of the column `compressor`. Columns without a value, and those with more than 1,000 texts, are left out. Writes nothing for
 * a result without the column `compressor`, or with more than 1,000 specs in it. */
void page_data(TextBuf *out, const PageData *d, Arena *a);

/* ---- text and pictures from untrusted files as HTML ---- */

/* Writes s with the escapes that HTML text and quoted attributes need. Invalid UTF-8, and characters
 * that control a terminal, reverse the direction of writing or have no width (text_steers), become U+FFFD. */
void html_text(TextBuf *out, const char *s);

/* Writes the format, in which each %s stands for a text that is escaped; it has no other conversions. */
void html_addf(TextBuf *out, const char *format, ...) PRINTF(2);

/* Writes a <figure> with the image as a data: URI in an <img>, where browsers run no script of the image and
 * fetch nothing. `type`: media type ("image/svg+xml"); `name`: its caption and alternative text. */
void html_picture(TextBuf *out, const char *type, const char *data, size_t size, const char *name);

#endif
