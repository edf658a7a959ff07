/* test_plot_curves.c -- figures with a curve per tensor (spectrum, histogram). Tests which curves are drawn
 * and which get a name. Many curves are replaced by a band between quartiles. */
#include "rig/plot_rig.h"

static size_t count_role(const Value *rows, size_t count, size_t columns, const char *role)
{
    size_t found = 0;
    for (size_t i = 0; i < count; i++)
        found += !strcmp(rows[i * columns].text, role);
    return found;
}

static void few_spectra_are_all_named_and_vectors_left_out(void **state)
{
    Value *rows;
    const char *text = "tensor,index,value\nw,1,4\nw,2,2\nw,3,1\nbias,1,3\nbias,2,1\nlost,,\n"
                       "w,1,2\nw,2,1\nw,3,0\nzeros,1,0\nzeros,2,0\nzeros,3,0\n";
    assert_string_equal(picked(&plot_spectrum, text), "role,index,value,low,high,cell,tensor\n"
                                                      "named,1,4,,,,w\nnamed,2,2,,,,w\nnamed,3,1,,,,w\n"
                                                      "named,1,2,,,,w\nnamed,2,1,,,,w\nnamed,3,0,,,,w\n");
    assert_int_equal(rows_of(&plot_spectrum, "tensor,index,value\nb,1,3\nb,2,1\n", &rows), 2);
}

/* Tensor t = 0 .. 10 has the singular values 1, p, p^2, p^3 with p = (t + 1) / 12. So tensor 5 has the
 * median curve. The quartiles of the second singular value are 3.5/12 and 8.5/12. Only two tensors have a
 * fifth value. The band must end before it, as these are fewer than half of the tensors. */
static void many_spectra_have_a_band_and_two_ends(void **state)
{
    TextBuf text = {.arena = a};
    Value *rows;
    text_add(&text, "tensor,index,value\n");
    for (int t = 0; t < 11; t++)
        for (int i = 0; i < (t < 2 ? 5 : 4); i++)
            text_addf(&text, "t%d,%d,%.17g\n", t, i + 1, 3 * pow((t + 1) / 12.0, i));
    const size_t count = rows_of(&plot_spectrum, text_done(&text), &rows);
    assert_int_equal(count_role(rows, count, 7, "least"), 5);
    assert_int_equal(count_role(rows, count, 7, "most"), 4);
    assert_int_equal(count_role(rows, count, 7, "other"), 9 * 4 + 1);
    assert_int_equal(count_role(rows, count, 7, "band"), 4);
    assert_string_equal(rows[6].text, "t0");
    const Value *second = rows + (count - 3) * 7;
    assert_true(value_number(&second[1]) == 2);
    check_rel(second[2].real, 0.5, 1e-14);
    check_rel(second[3].real, 3.5 / 12, 1e-14);
    check_rel(second[4].real, 8.5 / 12, 1e-14);
}

static void more_than_a_figure_holds_is_thinned_but_counts(void **state)
{
    TextBuf text = {.arena = a};
    Value *rows;
    text_add(&text, "tensor,index,value\n");
    for (int t = 0; t < 1000; t++)
        text_addf(&text, "t%d,1,1\nt%d,2,%.17g\nt%d,3,0\n", t, t, (t + 0.5) / 1000, t);
    const size_t count = rows_of(&plot_spectrum, text_done(&text), &rows);
    const size_t others = count_role(rows, count, 7, "other") / 3;
    check(others >= 148 && others <= 150);
    check_near(rows[(count - 2) * 7 + 2].real, 0.5, 1e-12); /* the median is over all 1000 tensors */
}

static void thin_bins_are_put_together(void **state)
{
    const char *text = "tensor,bin_low,bin_high,count\n"
                       "w,-4,-3,1\nw,-3,-2,0\nw,-2,-1,9\nw,-1,0,500\nw,0,1,480\nw,1,2,12\nw,2,3,3\nw,3,4,1\n"
                       "few,0,1,3\nfew,1,2,3\nconstant,1,1,5000\n";
    assert_string_equal(picked(&plot_histogram, text),
                        "role,bin_low,bin_high,count,low,high,cell,tensor\n"
                        "named,-4,-1,10,,,,w\nnamed,-1,0,500,,,,w\nnamed,0,1,480,,,,w\nnamed,1,4,16,,,,w\n");
}

/* Ten tensors of normal numbers have different means and variances. If x is in units of the standard
 * deviation, they must have the same histogram. */
static void the_band_of_normal_tensors_is_the_normal_density(void **state)
{
    TextBuf text = {.arena = a};
    Value *rows;
    text_add(&text, "tensor,bin_low,bin_high,count\n");
    for (int t = 1; t <= 10; t++)
        for (int b = -100; b < 100; b++)
            text_addf(&text, "t%d,%.17g,%.17g,%.17g\n", t, t * (1 + 0.05 * b), t * (1 + 0.05 * (b + 1)),
                      round(1e7 * (0.5 * erfc(-0.05 * (b + 1) / M_SQRT2) - 0.5 * erfc(-0.05 * b / M_SQRT2))));
    const size_t count = rows_of(&plot_histogram, text_done(&text), &rows);
    const size_t band = count_role(rows, count, 8, "band");
    check(band > 30 && band <= 2 * 5 * 4 + 1);
    for (size_t i = count - band; i < count; i++) {
        const Value *row = rows + i * 8;
        const double x = 0.5 * (row[1].real + row[2].real);
        /* bins are 0.05 wide; a shift of x by half a bin changes the density by a factor of 1 +- 0.025 |x| */
        if (fabs(x) < 4)
            check_rel(row[3].real, exp(-0.5 * x * x) / sqrt(2 * M_PI), 0.01 + 0.03 * fabs(x));
        check(row[4].real <= row[3].real && row[3].real <= row[5].real);
    }
}

static void what_is_no_spectrum_or_histogram_is_refused(void **state)
{
    static const struct {
        const PlotKind *kind;
        const char *text, *why;
    } rows[] = {
        {&plot_spectrum, "tensor\n", "no column \"index\""},
        {&plot_spectrum, "tensor,index\nw,1\n", "no column \"value\""},
        {&plot_spectrum, "tensor,index,value\n", "no rows"},
        {&plot_spectrum, "tensor,index,value\nw,,\n", "nothing to draw"},
        {&plot_spectrum, "tensor,index,value\nw,1,0\nw,2,0\n", "above 0"},
        {&plot_spectrum, "tensor,index,value\nw,1,2\nw,3,1\n", "record 2"},
        {&plot_spectrum, "tensor,index,value\nw,1,2\nw,2,-1\n", "record 2"},
        {&plot_spectrum, "tensor,index,value\nw,1,inf\n", "record 1"},
        {&plot_histogram, "tensor,bin_low,bin_high\nw,1,2\n", "no column \"count\""},
        {&plot_histogram, "tensor,bin_low,bin_high,count\nw,1,1,5\n", "more than one value"},
        {&plot_histogram, "tensor,bin_low,bin_high,count\nw,1,2,0\n", "more than one value"},
        {&plot_histogram, "tensor,bin_low,bin_high,count\nw,2,1,5\n", "record 1"},
        {&plot_histogram, "tensor,bin_low,bin_high,count\nw,1,2,-5\n", "record 1"},
        {&plot_histogram, "tensor,bin_low,bin_high,count\nw,x,2,5\n", "record 1"},
    };
    for (size_t i = 0; i < countof(rows); i++)
        check_refused(rows[i].kind, rows[i].text, rows[i].why);
}

static const struct CMUnitTest tests[] = {
    IN_FOLDER(few_spectra_are_all_named_and_vectors_left_out),
    IN_FOLDER(many_spectra_have_a_band_and_two_ends),
    IN_FOLDER(more_than_a_figure_holds_is_thinned_but_counts),
    IN_FOLDER(thin_bins_are_put_together),
    IN_FOLDER(the_band_of_normal_tensors_is_the_normal_density),
    IN_FOLDER(what_is_no_spectrum_or_histogram_is_refused),
};
CHECK_MAIN(tests)
