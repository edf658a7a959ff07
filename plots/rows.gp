# rows.gp -- shared by the figures with a row for each compressor: its name stands at the left, in several lines if it is
# long.
#
# Before it loads this file, a script sets row_high in inches.
names_wide = 0.4 * wide
eval fit(2.6 * names_wide)
most_lines(r) = (found = 0, sum [k = 1:n] (found = largest(found, line_count(short(label[k]), names_wide)), 0), found)
while (most_lines(0) > 2 && names_wide < 0.48 * wide) { names_wide = names_wide + 0.02 * wide }
wider(s, c) = largest(text_width(s[1 : c]), c == strlen(s) ? 0 : widest_line(behind_line(s, c)))
widest_line(s) = wider(s, line_end(s, names_wide))
name_inches = 0.0
array row_name[most]
array row_lines[most]
turns = sum [k = 1:n] (row_name[k] = short(label[k]), row_lines[k] = line_count(row_name[k], names_wide), \
    name_inches = largest(name_inches, widest_line(row_name[k])), row_high = largest(row_high, 1.3 * row_lines[k] * em))
axes_high = largest(0.35, row_high * n)
axes_left = name_inches + 1.2 * em
y_title = ''
set yrange [n + 0.5 : 0.5]
set ytics 1, 1, n scale 0
set format y ''
do for [k = 1:n] {
    rest_of_name = row_name[k]
    do for [i = 1:row_lines[k]] {
        row_end = line_end(rest_of_name, names_wide)
        set label said(rest_of_name[1 : row_end]) at screen (axes_left - 0.6 * em) / wide, first k right noenhanced \
            offset graph 0, graph (0.5 * (row_lines[k] + 1) - i) * 1.2 * em / axes_high
        rest_of_name = behind_line(rest_of_name, row_end)
    }
}
