# runtime.gp -- the time of an iteration and a worker's payload for each compressor, at the largest number of workers in
# the data: above the times to compute, encode, communicate and decode, below the payload.
#
#     gnuplot -d -c runtime.gp DATA.csv FIGURE.{pdf,svg,png,tex}
#
# DATA is what `atomo-bench plot` writes beside a figure, or the CSV of cost with one link and topology.
data = ARG1
figure = ARG2
folder(path) = strstrt(path, '/') ? path[1 : strstrt(path, '/')].folder(path[strstrt(path, '/') + 1 : *]) : ''
load folder(ARG0).'bars.gp'

p_high = y_high = s_high = 0
s_low = 1e300
do for [i = 1:workers] { p_high = largest(p_high, worker[i]) }
mine(r) = valid(c_total) && column(c_x) == p_high
array size[most]
do for [k = 1:most] { size[k] = -1 }
stats data using (valid(c_total) && valid(c_x) && mine(0) ? (y_high = largest(y_high, column(c_total)), \
    valid(c_bytes) ? (size[find(strcol(c_compressor))] = column(c_bytes)) : 0, \
    s_high = largest(s_high, column(c_bytes)), s_low = least(s_low, column(c_bytes)), 1) : 1) nooutput
middle(r) = mine(0) ? find(strcol(c_compressor)) - 0.5 : NaN

# The decimal unit in which the largest size is below 1000.
scale = 0
while (scale < 3 && s_high >= 999.5 * 1000.0 ** scale) { scale = scale + 1 }
unit = 1000.0 ** scale
unit_name = word('B kB MB GB', scale + 1)

heading = sprintf('%d worker', p_high).(p_high == 1 ? '' : 's').said_of_computing
upper = 1.75
lower = 0.95
eval page(upper + lower + below, 4, 11)
foot_high = foot(4, 11) + below
tall = upper + lower + foot_high
up(inches) = inches / tall
set output figure
set multiplot
set lmargin at screen 0.18
set rmargin at screen 0.97
set xrange [0 : n]
unset xtics
unset grid
set grid y linewidth 0.4 linecolor rgb '#dddddd' linetype 1

# ---- times ----

set tmargin at screen 0.98
set bmargin at screen up(foot_high + lower + 0.12)
set ylabel time_label(y_high) offset -0.6, 0
set yrange [0 : y_high / per_unit(y_high) * 1.05]
unset datafile columnheaders
plot for [p = part_one:4] data skip 1 using (middle(0)):(low(p) + part(p) / 2):(middle(0) - 0.38):(middle(0) + 0.38):(low(p)):(low(p) + part(p)) \
        with boxxyerror fillstyle solid 1 noborder linecolor rgb part_rgb(p) title word(heights, p)

# ---- sizes ----

unset key
unset label
set tmargin at screen up(foot_high + lower - 0.02)
set bmargin at screen up(foot_high)
set ylabel 'payload, '.unit_name offset -0.6, 0
upright = n > 8 # no room for numbers side by side
set yrange [0 : s_high / unit * (upright ? 1.6 : 1.25)]
ends_at(i) = i - 0.4
eval name_bars
do for [i = 1:n] {
    size_text = size[i] < 0 ? '' : sprintf('%.3g', size[i] / unit)
    if (upright) { set label size_text at first i - 0.5, first size[i] / unit left rotate by 90 offset 0, 0.4 font key_font }
    else { set label size_text at first i - 0.5, first size[i] / unit center offset 0, 0.45 font key_font }
}
plot data skip 1 using (middle(0)):(column(c_bytes) / unit / 2):(middle(0) - 0.38):(middle(0) + 0.38):(0):(column(c_bytes) / unit) \
        with boxxyerror fillstyle solid 1 noborder linecolor rgb '#cc79a7'
unset multiplot
set output
