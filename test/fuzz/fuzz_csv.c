/* fuzz_csv.c -- fuzzes the CSV reader. It must refuse the bytes or return cells. If our writer writes these
 * cells and the reader reads them again, they must stay the same. */
#include "base/csv.h"
#include "report/report_table.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_round_trip(const Csv *csv, Arena *a)
{
    const size_t cells = csv->rows * csv->columns;
    Column *columns = NEW_ZERO(a, Column, csv->columns);
    Value *values = NEW_ZERO(a, Value, cells);
    Error err;
    Csv again;
    if (!columns || !values)
        return;
    for (size_t i = 0; i < csv->columns; i++)
        columns[i].name = csv->name[i];
    for (size_t i = 0; i < cells; i++)
        values[i] = value_text(csv->cell[i]);
    const ReportSpec spec = {.columns = columns, .column_count = csv->columns, .format = FORMAT_CSV};
    const char *text = report_text(&spec, values, csv->rows, a);
    if (!text)
        return;
    if (csv_parse(&again, "again", text, strlen(text), a, &err) != OK || again.rows != csv->rows ||
        again.columns != csv->columns)
        abort();
    for (size_t i = 0; i < cells; i++)
        if (strcmp(csv->cell[i], again.cell[i]) != 0)
            abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Arena *a = arena_open((size_t)1 << 28);
    Error err;
    Csv csv;
    if (csv_parse(&csv, "fuzz", (const char *)data, size, a, &err) == OK)
        check_round_trip(&csv, a);
    arena_close(a);
    return 0;
}
