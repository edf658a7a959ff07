# rows.gp -- shared by the figures with a row for each compressor: its name stands at the left, in two lines if it is long.
#
# Before it loads this file, a script sets row_high in inches and `ending_of_name`, the longest text behind a name; end_of(k)
# is that of row k.
names_wide = 0.4 * wide
fitting(s, c) = c < 2 || text_width(s[1:c]) <= names_wide ? c : fitting(s, c - 1)
in_lines(s) = text_width(s) <= names_wide ? said(s) : said(s[1:fitting(s, strlen(s))])."\n".said(s[fitting(s, strlen(s)) + 1 : *])
eval fit(1.9 * names_wide - text_width(ending_of_name))
row_name(k) = short(label[k]).end_of(k)
name_inches = 0.0
do for [k = 1:n] {
    name_inches = largest(name_inches, text_width(row_name(k)) > names_wide ? names_wide : text_width(row_name(k)))
    row_high = largest(row_high, (text_width(row_name(k)) > names_wide ? 2.6 : 1.3) * em)
}
axes_high = largest(0.35, row_high * n)
axes_left = name_inches + 1.2 * em
y_title = ''
set yrange [n + 0.5 : 0.5]
set ytics 1, 1, n scale 0
set format y ''
do for [k = 1:n] { set label in_lines(row_name(k)) at screen (axes_left - 0.6 * em) / wide, first k right noenhanced }
