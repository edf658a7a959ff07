/* report_page_data.h -- writes a result's columns as JSON into the page, for the charts of explore.js. */
#ifndef ATOMO_REPORT_PAGE_DATA_H
#define ATOMO_REPORT_PAGE_DATA_H

#include "base/csv.h"
#include "base/text.h"
#include "report/plot_look.h"

typedef struct {
    const char *id;      /* the result's id on the page */
    const char *file;    /* the name of the result's file */
    const char *kind;    /* the result's kind, such as "compare" */
    const char *command; /* the command line; NULL: unknown */
    const Csv *rows;
    LookList *looks;   /* the looks of all specs on the page */
    Arena *looks_keep; /* memory for them, which lasts as long as the page */
} PageData;

/* Appends a <script type="application/json" class="data"> element:
 *
 *     {"id", "file", "kind", "command", "rows": number of rows, "columns": [COLUMN, ...],
 *      "codecs": [{"colour": "#0072b2", "mark": 0, "dash": 0, "family": "ef+topk", "flags": ["unbiased", ...]}, ...]}
 *
 * A COLUMN of numbers is {"name", "heading", "unit", "exact", "values": "1.5,,2.25"}: the rows' values in one text, ""
 * where there is none, so that a browser reads only the columns that it shows. Whole numbers have all their digits,
 * others 6, standard errors 3; no zero stands before a decimal point. A value that all rows have is written once. "exact"
 * names the column with the expected values, where there is one. A COLUMN of texts is {"name", "heading", "unit",
 * "texts": [distinct texts], "index": "0,0,1"}, with the index of each row's text; without "index" if there is one text.
 * "codecs" has an entry for each text of the column `compressor`. Columns without a value, and those with more than 1,000 texts, are left out. Writes nothing for
 * a result without the column `compressor`, or with more than 1,000 specs in it. */
void page_data(TextBuf *out, const PageData *d, Arena *a);

#endif
