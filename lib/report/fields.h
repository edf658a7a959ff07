/* fields.h -- what every field of every result is called and means. Tables, LaTeX, --help, the page, the labels of figures and
 * docs/metrics.md take their words from here. */
#ifndef ATOMO_FIELDS_H
#define ATOMO_FIELDS_H

#include "base/text.h"

typedef struct {
    const char
        *name; /* JSON key and CSV header; a name that ends in '_' is continued by a number: "bytes_to_0.9" */
    const char *heading; /* in LaTeX, on the page, in docs; the number of such a name follows it */
    const char *brief;   /* in the terminal and in Markdown; NULL: the heading */
    const char *unit;    /* "ms"; FIELD_BYTES; NULL: a plain number or a text */
    int digits;          /* significant digits in tables; 0: 4 */
    bool text;           /* always a text, even where a value looks like a number */
    const char *exact;   /* field with the value of which this one is a mean over draws; NULL: none */
    const char *meaning;
} Field;

#define FIELD_BYTES "bytes" /* a count of bytes: tables choose kB, MB .. */

extern const Field fields[]; /* ends in {0} */

/* NULL: no command writes such a field. */
const Field *field_find(const char *name);

/* The field of a column of a published result: "published bytes" is of the field behind its last space. `before` (NULL is
 * fine): the number of characters in front of the field's name. */
const Field *field_of_column(const char *column, size_t *before);

/* The number that continues the name of field f: "0.9" of "bytes_to_0.9"; "" for a name that is whole. */
const char *field_number(const Field *f, const char *name);

bool field_counts_bytes(const char *column);

/* Whether `beside` is the standard error of the column, NAME_se, or its exact value. */
bool field_is_se(const char *column, const char *beside);
bool field_is_exact(const char *column, const char *beside);
bool field_is_beside(const char *column, const char *beside); /* either */

int field_digits(const char *column);

/* A column's heading with its unit: "encode, ms", `brief` "encode ms". Bytes go without one, as tables choose it. An unknown
 * column is headed by its name. NULL: out of memory. */
const char *field_heading(const char *column, bool brief, Arena *a);

/* A line "  NAME    meaning" for each name of the list, which has commas between them, as --help prints them. */
void fields_explain(TextBuf *out, const char *names);

#endif
