# errors.gp -- relative errors of single elements: a row of marks for each compressor.
#
#     gnuplot -d -c errors.gp DATA.csv FIGURE.{pdf,svg,png,tex}
#
# DATA is what `atomo-bench plot` writes beside a figure, or the CSV of compare.
data = ARG1
figure = ARG2
needs = 'compressor elem_error elem_error_big elem_error_small elem_error_pos elem_error_neg'
folder(path) = strstrt(path, '/') ? path[1 : strstrt(path, '/')].folder(path[strstrt(path, '/') + 1 : *]) : ''
load folder(ARG0).'look.gp'

# ---- which rows are drawn ----

marks = 5
array column_of[5] = [place('elem_error'), place('elem_error_big'), place('elem_error_small'), \
    place('elem_error_pos'), place('elem_error_neg')]
array title_of[5] = ['all elements', tex ? 'the largest 5 \%' : 'the largest 5 %', 'all others', 'too low', 'too high']
array type_of[5] = [2, 7, 6, 11, 9]
half = 30 # characters of each line of a name that takes two lines
x_low = 1e300
x_high = 0
array zero[most]
do for [k = 1:most] { zero[k] = 1 }
reach(c, k) = valid(c) ? (x_low = least(x_low, column(c)), x_high = largest(x_high, column(c)), \
    column(c) > 0 && k > 0 ? (zero[k] = 0) : 0, 1) : 0
note(r) = valid(column_of[1]) + valid(column_of[2]) + valid(column_of[3]) == 0 ? 0 : (k = number(strcol(c_compressor)), \
    sum [m = 1:marks] reach(column_of[m], k))
stats data using (drawn(0) ? note(0) : 0, 1) nooutput
if (n == 0) {
    print 'the data has no row with an elem_error'
    exit status 1
}

# ---- axes: logarithmic where the range asks ----

log_x = x_high > 0 && x_high / x_low > 8
if (log_x) {
    floor_x = 10 ** (log10(x_low) - 0.04 * log10(x_high / x_low))
    eval log_axis('x', floor_x, x_high * 10 ** (0.04 * log10(x_high / x_low)))
} else {
    floor_x = 0
    set xrange [0 : x_high > 0 ? x_high * 1.06 : 1]
}

# ---- a row for each compressor; names are labels, as gnuplot cuts tics at 63 characters ----

lines_of(s) = strlen(s) > half ? shown(s[1 : half])."\n".shown(s[half + 1 : *]) : shown(s)
shown(s) = tex ? escaped(s) : s
said(k) = log_x && zero[k] ? ', error 0' : ''
longest = 0
do for [k = 1:n] { longest = largest(longest, strlen(short(name[k]).said(k)) < half ? strlen(short(name[k]).said(k)) : half) }
eval page(0.5 + (long > half ? 0.24 : 0.16) * n, marks, 15)
set lmargin longest * (tex ? 1.05 : 0.9) + 2
set xlabel 'element error'
set yrange [n + 0.6 : 0.4]
set ytics 1, 1, n scale 0
set format y ''
do for [k = 1:n] { set label lines_of(short(name[k]).said(k)) at graph 0, first k right offset -1, 0 noenhanced }

# ---- marks ----

place_of(c) = drawn(0) && valid(c) ? (column(c) > floor_x ? column(c) : floor_x) : NaN
set output figure
unset datafile columnheaders
plot for [m = 1:marks] data skip 1 using (place_of(column_of[m])):(find(strcol(c_compressor)) + (m - 3) * 0.13) with points \
    pointtype type_of[m] pointsize 0.45 linewidth 0.8 linecolor rgb colour[(m + 5) % 7 + 1] title title_of[m] noenhanced
set output
