# spectrum.gp -- how the singular values of gradients fall, a line for each tensor.
#
#     gnuplot -d -c spectrum.gp DATA.csv FIGURE.{pdf,svg,png,tex} ['' INCHES]
#
# DATA is what `atomo-bench plot` writes beside a figure, or the CSV of inspect --spectrum. One tensor is drawn by
# its singular values, with a line for each step or worker; several tensors by singular value / largest.
data = ARG1
figure = ARG2
asked_width = ARG4
note = ARG5
needs = 'tensor index value'
folder(path) = strstrt(path, '/') ? path[1 : strstrt(path, '/')].folder(path[strstrt(path, '/') + 1 : *]) : ''
home = folder(ARG0)
load home.'look.gp'

# ---- lines ----

c_index = place('index')
c_value = place('value')
floor_y = 1e-4 # smaller shares of the largest value are not drawn
array seen[most] # values above the floor
array bottom[most]
array top[most]
complete(r) = valid(c_index) && valid(c_value)
starts(r) = column(c_index) == 1
opened(k) = (top[k] = bottom[k] = column(c_value), seen[k] = 1)
extended(k) = column(c_value) > top[k] * floor_y ? (seen[k] = column(c_index), bottom[k] = column(c_value)) : 0
least_end = 'steepest: '
most_end = 'flattest: '
load home.'curves.gp'

# ---- axes ----

scale(k) = alone || top[k] == 0 ? 1.0 : top[k]
high = wide_x = 0
low = 1e300
turns = sum [k = 1:lines] (wide_x = largest(wide_x, seen[k]), high = largest(high, top[k] / scale(k)), low = least(low, bottom[k] / scale(k)), 0)
low = largest(low, high * floor_y)
eval log_axis('y', low / 1.4, high * 1.5)
if (wide_x > 12) {
    set logscale x 10
    log_on_x = 1
    set xrange [0.93 : wide_x * 1.08]
    set xtics (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000)
} else {
    set xrange [0.8 : wide_x + 0.2]
    set xtics 1
}
x_title = 'singular value number'
y_title = (alone ? 'singular value' : 'singular value / largest')

axes_high = 1.8
load home.'page.gp'

# ---- lines ----

unset datafile columnheaders
y(k) = column(c_value) > 0 ? column(c_value) / scale(k) : NaN
floored(v) = largest(v, low / 1.4)
c_low = bands ? place('low') : 1
c_high = bands ? place('high') : 1
band_data = bands ? data : '$nothing'
set output figure
plot for [k = 1:lines] data skip 1 every ::first[k]::last[k] using (ends(k) && many ? NaN : thinned(k, line_dash(k), column(c_index), y(k))):(thin_y) \
        with linespoints pointtype (wide_x > 12 ? -1 : 7) pointsize 0.25 linewidth weight(line_width(k), k) dashtype line_dash(k) linecolor rgb line_colour(k) \
        notitle, \
    band_data skip (bands ? 1 : 0) every ::band_from::band_to \
        using (column(c_index)):(floored(column(c_low))):(floored(column(c_high))) \
        with filledcurves fillcolor rgb band('#0072b2') fillstyle solid noborder \
        notitle, \
    band_data skip (bands ? 1 : 0) every ::band_from::band_to using (column(c_index)):(column(c_value)) \
        with lines linewidth 2 linecolor rgb '#0072b2' notitle, \
    for [k = 1:lines] data skip 1 every ::first[k]::last[k] using (ends(k) && many ? thinned(most + k, end_dash(k), column(c_index), y(k)) : NaN):(thin_y) \
        with lines linewidth weight(1.3, role[k] eq 'least') dashtype end_dash(k) linecolor rgb end_colour(k) \
        notitle
set output
