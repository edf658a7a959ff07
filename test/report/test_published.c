/* test_published.c -- the tables of published results in plots/published/. Each row must name the source of its
 * values. A value printed in a source must equal the number in test/reference/printed.txt. If the source's text
 * is present, the test looks there for each of its numbers in printed.txt. */
#include "rig/check.h"
#include "report/report_stored.h"

#include <ctype.h>
#include <glob.h>

enum { PRINTED_MOST = 256, PARTS_MOST = 16, LINE_MOST = 4096 };

typedef struct {
    const char *file, *source, *row, *column;
    const char *number; /* the number as text, as printed in the source */
    double value;       /* the number in the unit that the table `file` uses */
    size_t line;        /* number of the line in printed.txt */
    bool found;
} Printed;

static Arena *a;
static Printed printed[PRINTED_MOST];
static size_t printed_count;

static size_t cut(char *s, const char *separator, const char **part)
{
    size_t count = 0;
    for (char *end; s; s = end) {
        const size_t length = strlen(separator);
        end = strstr(s, separator);
        if (end) {
            *end = 0;
            end += length;
        }
        while (*s == ' ')
            s++;
        for (size_t n = strlen(s); n > 0 && isspace((unsigned char)s[n - 1]); n--)
            s[n - 1] = 0;
        check(count < PARTS_MOST);
        part[count++] = s;
    }
    return count;
}

static double value_of(const char *number)
{
    char *end;
    const double v = strtod(number, &end);
    check(end != number && (!*end || !strcmp(end, " s")));
    return *end ? 1000 * v : v;
}

static void read_row(Printed p, char *text, const char *const *column, size_t columns)
{
    const char *part[PARTS_MOST];
    assert_int_equal(cut(text, "|", part), columns);
    for (size_t k = 1; k < columns; k++) {
        check(printed_count < PRINTED_MOST);
        p.row = part[0];
        p.column = column[k];
        p.value = value_of(part[k]);
        p.number = text_slice(a, part[k], strcspn(part[k], " "));
        printed[printed_count++] = p;
    }
}

static int read_printed(void **state)
{
    char text[LINE_MOST];
    const char *part[PARTS_MOST], *column[PARTS_MOST];
    Printed p = {0};
    size_t columns = 0;
    FILE *in = fopen("test/reference/printed.txt", "r");
    a = arena_open(0);
    check(in != NULL);
    for (; fgets(text, sizeof text, in); p.line++) {
        char *line = text_copy(a, text);
        if (*line == '#' || *line == '\n')
            continue;
        if (*line == '=') {
            assert_int_equal(cut(line + 1, ":", part), 2);
            p.file = part[0];
            p.source = part[1];
            columns = 0;
        } else if (!columns) {
            columns = cut(line, "|", column);
        } else {
            read_row(p, line, column, columns);
        }
    }
    fclose(in);
    return 0;
}

static int close_printed(void **state)
{
    arena_close(a);
    return 0;
}

/* True when `name` is the column's name, or a value in the row, or "FIELD VALUE" for a field and its value in
 * the row. */
static bool names(const char *name, const Csv *t, size_t row, const char *column)
{
    if (!strcmp(name, column))
        return true;
    for (size_t k = 0; k < t->columns; k++) {
        const char *cell = csv_cell(t, row, t->name[k]);
        if (!strcmp(name, cell) || !strcmp(name, text_format(a, "%s %s", t->name[k], cell)))
            return true;
    }
    return false;
}

static bool all_name(const char *label, const Csv *t, size_t row, const char *column)
{
    const char *part[PARTS_MOST];
    const size_t count = cut(text_copy(a, label), " / ", part);
    for (size_t i = 0; i < count; i++)
        if (!names(part[i], t, row, column))
            return false;
    return true;
}

static void check_value(const char *file, const Csv *t, size_t row, const char *column)
{
    size_t count = 0;
    for (size_t i = 0; i < printed_count; i++) {
        Printed *p = &printed[i];
        if (strcmp(p->file, file) != 0 || !all_name(p->row, t, row, column) ||
            !all_name(p->column, t, row, column))
            continue;
        check_rel(csv_real(t, row, column), p->value, 1e-15);
        p->found = true;
        count++;
    }
    if (count != 1)
        print_error("%s: row %zu, %s: %zu printed numbers\n", file, row + 1, column, count);
    assert_int_equal(count, 1);
}

/* True when the column's values are from the source. Other columns have values that this project computed, or
 * identify the row. */
static bool is_of_source(const char *column)
{
    return strncmp(column, "corrected ", 10) != 0 && strncmp(column, "computed ", 9) != 0 &&
           !text_listed("workers,target_bits", column);
}

static void check_file(const char *path)
{
    Stored stored;
    Error err;
    const char *file = strrchr(path, '/') + 1;
    check_ok(stored_load(&stored, path, a, &err), &err);
    const Csv *t = &stored.table;
    check(t->rows > 0);
    for (size_t row = 0; row < t->rows; row++) {
        const char *how = csv_cell(t, row, "how");
        check(*how && text_listed("printed,read off,computed,inferred", how));
        check(*csv_cell(t, row, "place"));
        for (size_t k = 0; k < t->columns; k++) {
            if (!is_of_source(t->name[k]) || isnan(csv_real(t, row, t->name[k])))
                continue;
            check(strcmp(how, "computed") != 0);
            if (!strcmp(how, "printed"))
                check_value(file, t, row, t->name[k]);
        }
    }
}

TEST(values_that_are_called_printed_are_printed)
{
    glob_t found;
    assert_int_equal(glob("plots/published/*.json", 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++)
        check_file(found.gl_pathv[i]);
    globfree(&found);
    for (size_t i = 0; i < printed_count; i++)
        check(printed[i].found);
}

/* Checks the values in fork-payload.json that this project computed, rounded to a thousandth. A printed size
 * gives 8 bits for each byte. qsgd with b bits takes 1 + b bits for each element, and 32 bits for the norm of
 * each 512 elements. */
TEST(computed_bits_follow_from_the_printed_bytes)
{
    Stored stored;
    Error err;
    check_ok(stored_load(&stored, "plots/published/fork-payload.json", a, &err), &err);
    const Csv *t = &stored.table;
    assert_int_equal(t->rows, 6);
    for (size_t row = 0; row < t->rows; row++) {
        const char *method = csv_cell(t, row, "method");
        const double bytes = csv_real(t, row, "published bytes"),
                     levels = strtod(strchr(method, ',') + 1, NULL);
        check_near(csv_real(t, row, "computed bits_per_element"), 8 * bytes / 55703780, 0.00051);
        if (!strncmp(method, "qsgd", 4))
            check_near(csv_real(t, row, "corrected bits_per_element"), 1 + levels + 32 / 512., 0.00051);
        else
            check(isnan(csv_real(t, row, "corrected bits_per_element")));
    }
}

/* Returns the text that follows the first occurrence of `number` as a complete number ("13.96" and "3.961" do
 * not count as 3.96), or NULL if there is none. */
static const char *behind_number(const char *text, const char *number)
{
    const size_t length = strlen(number);
    const char *start = text;
    for (const char *at = strstr(text, number); at; at = strstr(at + 1, number)) {
        const char *end = at + length;
        const bool begins = at == start || (!isdigit((unsigned char)at[-1]) && at[-1] != '.');
        const bool ends = !isdigit((unsigned char)*end) && !(*end == '.' && isdigit((unsigned char)end[1])) &&
                          !(*end == 'e' && (end[1] == '-' || isdigit((unsigned char)end[1])));
        if (begins && ends)
            return end;
    }
    return NULL;
}

/* True when a line of the source has all these numbers, in this order. */
static bool source_has(FILE *in, const Printed *p, size_t count)
{
    char text[LINE_MOST];
    rewind(in);
    while (fgets(text, sizeof text, in)) {
        const char *at = text;
        for (size_t i = 0; i < count && at; i++)
            at = behind_number(at, p[i].number);
        if (at)
            return true;
    }
    return false;
}

TEST(printed_numbers_are_in_their_sources)
{
    for (size_t i = 0, count; i < printed_count; i += count) {
        for (count = 1; i + count < printed_count && printed[i + count].line == printed[i].line; count++)
            ;
        const char *path = text_format(a, "../shared/sources/%s", printed[i].source);
        FILE *in = fopen(path, "r");
        if (!in) {
            if (!i || strcmp(printed[i].source, printed[i - 1].source))
                print_message("skip: %s, which is not part of the project, is not here\n", printed[i].source);
            continue;
        }
        const bool found = source_has(in, printed + i, count);
        fclose(in);
        if (!found)
            print_error("%s: line %zu of printed.txt is not in it\n", path, printed[i].line + 1);
        check(found);
    }
}

CHECK_ALL(read_printed, close_printed)
