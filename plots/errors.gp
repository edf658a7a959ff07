# errors.gp -- relative errors of single elements: a row for each compressor, with a lane for each of its five marks.
#
#     gnuplot -d -c errors.gp DATA.csv FIGURE.{pdf,svg,png,tex} ['' INCHES]
#
# DATA is what `atomo-bench plot` writes beside a figure, or the CSV of compare.
data = ARG1
figure = ARG2
asked_width = ARG4
note = ARG5
needs = 'compressor elem_error elem_error_big elem_error_small elem_error_pos elem_error_neg'
folder(path) = strstrt(path, '/') ? path[1 : strstrt(path, '/')].folder(path[strstrt(path, '/') + 1 : *]) : ''
home = folder(ARG0)
load home.'look.gp'

# ---- which rows are drawn ----

marks = 5
array column_of[5] = [place('elem_error'), place('elem_error_big'), place('elem_error_small'), \
    place('elem_error_pos'), place('elem_error_neg')]
array se_of[5] = [place('elem_error_se'), place('elem_error_big_se'), place('elem_error_small_se'), \
    place('elem_error_pos_se'), place('elem_error_neg_se')]
array title_of[5] = ['all elements', 'the largest 5 %', 'all others', 'too low', 'too high']
array type_of[5] = [2, 7, 6, 11, 9]
x_low = 1e300
x_high = bars = 0
array zero[most]
turns = sum [k = 1:most] (zero[k] = 1)
reach(c, se, k) = valid(c) ? (x_low = least(x_low, column(c)), x_high = largest(x_high, column(c) + half_interval(se)), \
    bars = bars || half_interval(se) > 0, \
    column(c) > 0 && k > 0 ? (zero[k] = 0) : 0, 1) : 0
note(r) = valid(column_of[1]) + valid(column_of[2]) + valid(column_of[3]) == 0 ? 0 : (k = number(strcol(c_compressor)), \
    sum [m = 1:marks] reach(column_of[m], se_of[m], k))
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

# ---- rows and key ----

row_high = n > 12 ? 0.26 : 0.36
load home.'rows.gp'
array mark_rgb[5] = ['#000000', '#d55e00', '#e69f00', '#0072b2', '#56b4e9']
do for [m = 1:marks] { key_entry = enter(title_of[m], mark_rgb[m], 1, 0, type_of[m]) }
x_title = 'element error'
heading = bars ? 'bars: 95 % intervals of means over repeats' : ''
load home.'page.gp'

# ---- marks ----

# A logarithmic axis has no 0: marks of errors of 0 are at its left end.
do for [k = 1:n] { if (log_x && zero[k]) { set label 'error 0' at graph 0, first k left offset 1.2, 0 noenhanced } }

do for [k = 2:n] { set arrow from graph 0, first k - 0.5 to graph 1, first k - 0.5 nohead linewidth 0.5 linecolor rgb '#bbbbbb' back }
unset grid
set grid x linewidth 0.4 linecolor rgb '#dddddd' linetype 1
place_of(c) = drawn(0) && valid(c) ? shown(column(c)) : NaN
lane(m) = find(strcol(c_compressor)) + (m - 3) * 0.17
shown(v) = v > floor_x ? v : floor_x
set output figure
unset datafile columnheaders
plot for [m = 1:(bars ? marks : 0)] data skip 1 using (half_interval(se_of[m]) > 0 ? place_of(column_of[m]) : NaN):(lane(m)):\
        (shown(column(column_of[m]) - half_interval(se_of[m]))):(column(column_of[m]) + half_interval(se_of[m])) \
        with xerrorbars pointtype -1 linewidth 0.7 linecolor rgb mark_rgb[m] notitle, \
    for [m = 1:marks] data skip 1 using (place_of(column_of[m])):(lane(m)) with points \
    pointtype type_of[m] pointsize 0.45 linewidth 0.8 linecolor rgb mark_rgb[m] notitle
set output
