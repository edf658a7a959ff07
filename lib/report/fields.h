/* fields.h -- the name, heading, unit and meaning of every field of every result, for tables, figures and
 * documentation. */
#ifndef ATOMO_FIELDS_H
#define ATOMO_FIELDS_H

#include "base/text.h"

typedef struct {
    const char
        *name; /* JSON key and CSV header; a name that ends in '_' is followed by a number: "bytes_to_0.9" */
    /* heading in LaTeX, on the HTML page and in docs; the number at the end of a name such as "bytes_to_0.9"
     * follows */
    const char *heading;
    const char *brief; /* heading in the terminal and in Markdown; NULL: `heading` */
    const char *unit;  /* such as "ms", or FIELD_BYTES; NULL: a plain number or a text */
    int digits;        /* significant digits in tables; 0 means 4 */
    bool text;         /* true: values are texts, even those that look like numbers */
    /* for a mean over random draws: name of the field with its expected value; NULL: there is none */
    const char *exact;
    const char *meaning;
    const char *se; /* the meaning of its standard error, the field NAME_se; NULL: there is none */
} Field;

#define FIELD_BYTES "bytes" /* a number of bytes, which tables show in kB, MB and so on */

extern const Field fields[]; /* ends in {0} */

/* a callback for text_nearest and options that returns the name of field i; ignores `data` */
const char *field_name(const void *data, size_t i);

/* Returns the field of a column of a result, NAME or NAME_se; NULL: no command writes it. The text after the last space is the
 * field's name: the column "published bytes" has the field `bytes`. If `before` is not NULL, sets *before to the number of
 * characters in front of the field's name. */
const Field *field_of_column(const char *column, size_t *before);

const char *field_meaning(const char *column); /* "": unknown */

bool field_counts_bytes(const char *column);

/* What one column has beside another: its standard errors (NAME_se), the exact expected values of its means over random draws
 * (Field.exact), or the standard errors of those, which are missing or 0 where the expected values are exact. */
typedef enum { BESIDE_NOT, BESIDE_SE, BESIDE_EXACT, BESIDE_EXACT_SE } FieldBeside;
FieldBeside field_beside(const char *column, const char *beside);

int field_digits(const char *column);

/* Returns a column's heading with its unit: "encode, ms"; if `brief`, "encode ms". Columns of bytes get no
 * unit, because tables choose it. An unknown column's heading is its name. NULL: out of memory. */
const char *field_heading(const char *column, bool brief, Arena *a);

#endif
