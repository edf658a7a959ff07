# runtime.gp -- the time of an iteration and a worker's payload for each compressor, at the largest number of workers in
# the data: at the left the times to compute, encode, communicate and decode, at the right the payload.
#
#     gnuplot -d -c runtime.gp DATA.csv FIGURE.{pdf,svg,png,tex} ['' INCHES]
#
# DATA is what `atomo-bench plot` writes beside a figure, or the CSV of cost with one link and topology.
data = ARG1
figure = ARG2
asked_width = ARG4
note = ARG5
folder(path) = strstrt(path, '/') ? path[1 : strstrt(path, '/')].folder(path[strstrt(path, '/') + 1 : *]) : ''
home = folder(ARG0)
mine(r) = column(c_x) == p_high
load home.'bars.gp'

s_high = 0
array size[most]
turns = sum [k = 1:most] (size[k] = -1)
stats data using (valid(c_total) && valid(c_x) && mine(0) && valid(c_bytes) ? \
    (size[find(strcol(c_compressor))] = column(c_bytes), s_high = largest(s_high, column(c_bytes)), 1) : 1) nooutput
middle(r) = mine(0) ? find(strcol(c_compressor)) : NaN

# The decimal unit in which the largest size is below 1000.
scale = 0
while (scale < 3 && s_high >= 999.5 * 1000.0 ** scale) { scale = scale + 1 }
unit = 1000.0 ** scale
unit_name = word('B kB MB GB', scale + 1)

heading = sprintf('%d worker', p_high).(p_high == 1 ? '' : 's').said_of_computing.said_of_bars
eval key_of_parts
row_high = 0.17
load home.'rows.gp'
full = wide - 0.14
axes_right = axes_left + 0.55 * (full - axes_left)
x_title = time_label(y_high)
load home.'page.gp'
set output figure
set multiplot
unset grid
set grid x linewidth 0.4 linecolor rgb '#dddddd' linetype 1

# ---- times ----

set xrange [0 : y_high / per_unit(y_high) * 1.05]
eval tics_of(y_high / per_unit(y_high) * 1.05, 0.5)
unset datafile columnheaders
plot for [p = part_one:4] data skip 1 using (low(p) + part(p) / 2):(middle(0)):(low(p)):(low(p) + part(p)):(middle(0) - 0.36):(middle(0) + 0.36) \
        with boxxyerror fillstyle solid 1 noborder linecolor rgb part_rgb(p) notitle, \
    for [p = 1:(bars ? 1 : 0)] data skip 1 using (half_end(0) > 0 ? end_of_bar(0) : NaN):(middle(0)):\
        (end_of_bar(0) - half_end(0)):(end_of_bar(0) + half_end(0)) with xerrorbars pointtype -1 linewidth 0.7 linecolor rgb '#000000' notitle, \
    for [p = 1:(measured > 0 ? 1 : 0)] data skip 1 using (measured_end(0)):(middle(0)) with points pointtype measured_mark pointsize 0.8 linecolor rgb '#000000' notitle

# ---- sizes: a number at the end of each bar ----

unset label
unset arrow
unset object
axes_left = axes_right + 0.3
axes_right = full
set lmargin at screen across(axes_left)
set rmargin at screen across(axes_right)
set label 'payload, '.unit_name at screen across(0.5 * (axes_left + axes_right)), screen up(foot_high + 0.7 * em) center
number_wide = text_width('44.7') + 0.05
size_high = s_high > 0 ? s_high / unit * (axes_right - axes_left) / largest(0.1, axes_right - axes_left - number_wide) : 1
set xrange [0 : size_high]
eval tics_of(size_high, 0.8)
do for [i = 1:n] {
    if (size[i] >= 0) { set label sprintf('%.3g', size[i] / unit) at first size[i] / unit, first i left offset 0.3, 0 }
}
plot data skip 1 using (column(c_bytes) / unit / 2):(middle(0)):(0):(column(c_bytes) / unit):(middle(0) - 0.36):(middle(0) + 0.36) \
        with boxxyerror fillstyle solid 1 noborder linecolor rgb '#cc79a7' notitle
unset multiplot
set output
