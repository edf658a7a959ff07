# merge.gp -- the time to aggregate payloads against the number of workers: a line for each compressor.
#
#     gnuplot -d -c merge.gp DATA.csv FIGURE.{pdf,svg,png,tex} ['' INCHES]
#
# DATA is what `atomo-bench plot` writes beside a figure, or the CSV of merge. Thick lines with filled marks: merge all
# payloads, then decode the merged payload. Thin lines with open marks: decode every payload. Dashes are the codec's, as elsewhere.
data = ARG1
figure = ARG2
asked_width = ARG4
note = ARG5
needs = 'compressor workers merge_ms decode_ms decode_each_ms'
folder(path) = strstrt(path, '/') ? path[1 : strstrt(path, '/')].folder(path[strstrt(path, '/') + 1 : *]) : ''
home = folder(ARG0)
load home.'look.gp'

# ---- which rows are drawn ----

c_x = place('workers')
c_merge = place('merge_ms')
c_decode = place('decode_ms')
c_each = place('decode_each_ms')
c_merge_se = place('merge_ms_se')
c_decode_se = place('decode_ms_se')
c_each_se = place('decode_each_ms_se')
half_each(r) = half_interval(c_each_se)
half_together(r) = sqrt(half_interval(c_merge_se) ** 2 + half_interval(c_decode_se) ** 2)
array merges[most]
turns = sum [k = 1:most] (merges[k] = 0)
x_low = y_low = 1e300
x_high = y_high = aggregates = bars = 0
reach(y, half) = (y_low = least(y_low, y), y_high = largest(y_high, y + half), bars = bars || half > 0, 1)
note(k) = (x_low = least(x_low, column(c_x)), x_high = largest(x_high, column(c_x)), reach(column(c_each), half_each(0)), \
    k > 0 && valid(c_merge) && valid(c_decode) ? (merges[k] = aggregates = 1, reach(column(c_merge) + column(c_decode), half_together(0))) : 1)
stats data using (drawn(0) && valid(c_x) && valid(c_each) ? note(number(strcol(c_compressor))) : 1) nooutput
if (n == 0 || x_high == 0 || y_high == 0) {
    print 'the data has no row with both workers and decode_each_ms'
    exit status 1
}

# ---- axes and key ----

heading = (aggregates ? 'filled marks, thick: merged, then decoded once; open, thin: every payload decoded' : 'every payload decoded').\
    (bars ? '; bars: 95 % intervals' : '')
thin(i) = weight(0.6, i)
thick(i) = weight(1.42, i)
turns = sum [i = 1:n] enter(label[i], rgb(i), dash(i), merges[i] ? thick(i) : thin(i), merges[i] ? solid(i) : hollow(i))
typical = sqrt(y_low * y_high)
unit = per_unit(typical)
x_title = 'workers'
y_title = time_label(typical)
set logscale x 2
set xrange [x_low / 1.2 : x_high * 1.2]
floor_y = y_low / unit / 2
eval log_axis('y', floor_y, y_high / unit * 2)
axes_high = 1.85
load home.'page.gp'

mine(i) = drawn(0) && strcol(c_compressor) eq name[i]
together(i) = mine(i) && valid(c_merge) && valid(c_decode) ? (column(c_merge) + column(c_decode)) / unit : NaN

set output figure
unset datafile columnheaders
low_end(v) = v > floor_y ? v : floor_y
plot for [i = 1:(bars ? n : 0)] data skip 1 using (mine(i) && half_each(0) > 0 ? column(c_x) : NaN):(column(c_each) / unit):\
        (low_end((column(c_each) - half_each(0)) / unit)):((column(c_each) + half_each(0)) / unit) \
        with yerrorbars pointtype -1 linewidth 0.7 linecolor rgb rgb(i) notitle, \
    for [i = 1:(bars ? n : 0)] data skip 1 using (half_together(0) > 0 ? together(i) / together(i) * column(c_x) : NaN):(together(i)):\
        (low_end(together(i) - half_together(0) / unit)):(together(i) + half_together(0) / unit) \
        with yerrorbars pointtype -1 linewidth 0.7 linecolor rgb rgb(i) notitle, \
    for [i = 1:n] data skip 1 using (mine(i) ? column(c_x) : NaN):(column(c_each) / unit) with linespoints linewidth thin(i) \
        dashtype dash(i) linecolor rgb rgb(i) pointtype hollow(i) pointsize 0.5 notitle, \
    for [i = 1:n] data skip 1 using (mine(i) ? column(c_x) : NaN):(together(i)) with linespoints linewidth thick(i) \
        dashtype dash(i) linecolor rgb rgb(i) pointtype solid(i) pointsize 0.55 notitle
set output
