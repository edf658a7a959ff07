/* report_terms.h -- what the fields of results mean to people: a plain name, a unit, a definition. */
#ifndef ATOMO_REPORT_TERMS_H
#define ATOMO_REPORT_TERMS_H

#include <stdbool.h>
#include <stddef.h>

typedef struct {
    const char
        *name; /* of the field; one that ends in '_' stands for all that begin so and end in a number */
    const char *title; /* "encode time"; an accuracy follows where the name ends in one */
    const char *unit;  /* "ms"; NULL: a plain number, a text, or bytes, whose unit stands with the number */
    const char *says;
    bool text; /* never a number, whatever it looks like */
} Term;

extern const Term terms[]; /* ends in {0} */

/* NULL: nobody here writes such a field. */
const Term *term_find(const char *name);

/* The same of a column: in one laid across or beside, "svd bytes", the field is what follows the last space; `before`
 * (NULL is fine) is how many characters stand before it. */
const Term *term_of_column(const char *name, size_t *before);

/* What follows the term's name in a field's: "0.9" of "bytes_to_0.9"; "" where the name is whole. */
const char *term_rest(const Term *t, const char *name);

#endif
